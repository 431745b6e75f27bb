// The language server over every text that the project has: no place gives an error, and a long session takes no
// more memory than a short one.
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dsl/formatter/formatter.h"
#include "tests/fmt/random_program.h"
#include "tests/fuzz/token_mutator.h"
#include "tests/lsp/session.h"
#include "tests/support/cases.h"

namespace galatea::tools::lsp {
namespace {

namespace fs = std::filesystem;

/// Examples, and the texts behind the golden files.
std::vector<fs::path> corpus() {
  std::vector<fs::path> files;
  for (const char* folder : {"/examples", "/tests/golden"})
    for (const auto& entry : fs::recursive_directory_iterator(GALATEA_SOURCE_DIR + std::string(folder)))
      if (entry.path().extension() == ".dali-dsl") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool is_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; });
}

TEST(LspCorpus, EveryPlaceOfEveryTextIsAnswered) {
  const std::vector<fs::path> files = corpus();
  ASSERT_GT(files.size(), 50u);
  // All places with `--all`; otherwise some of each file, others in each.
  const uint32_t stride = testing::scale() == testing::kWhole ? 1 : 211;
  uint32_t first = 0;
  size_t asked = 0;
  for (const fs::path& file : files) {
    if (!testing::takes(file.filename().string())) continue;
    Session session;
    const std::string text = read(file);
    session.open(file.string(), text);
    session.diagnostics(file.string());
    const TextBuffer buffer(text);
    for (uint32_t offset = first++ % stride; offset <= text.size(); offset += stride) {
      const Json place = {{"textDocument", {{"uri", uri_of(file.string())}}},
                          {"position", to_json(buffer.position(offset, Encoding::kUtf16))}};
      for (const char* method :
           {"textDocument/hover", "textDocument/completion", "textDocument/definition"}) {
        const Json answer = session.request(method, place);
        ASSERT_FALSE(answer.is_object() && answer.contains("error"))
            << file << ":" << offset << " " << method << " " << answer;
        ++asked;
      }
    }
  }
  EXPECT_GT(asked, files.size() / 3);
}

/// Types a text, a letter a change, and asks at every so many letters and at the end.
void type(Session& session, const std::string& path, const std::string& text) {
  constexpr size_t kBetweenQuestions = 64;
  session.open(path, "");
  Position at;
  for (size_t k = 0; k < text.size(); ++k) {
    session.notify("textDocument/didChange",
                   {{"textDocument", {{"uri", uri_of(path)}, {"version", k + 2}}},
                    {"contentChanges", {{{"range", to_json(Range{at, at})}, {"text", text.substr(k, 1)}}}}});
    at = text[k] == '\n' ? Position{at.line + 1, 0} : Position{at.line, at.character + 1};
    if (k % kBetweenQuestions != 0 && k + 1 != text.size()) continue;
    for (const char* method :
         {"textDocument/hover", "textDocument/completion", "textDocument/signatureHelp"}) {
      const Json answer = session.of_document(method, {{"position", to_json(at)}});
      ASSERT_FALSE(answer.is_object() && answer.contains("error")) << method << "\n" << text;
    }
  }
  session.diagnostics(path);
  session.notify("textDocument/didClose", {{"textDocument", {{"uri", uri_of(path)}}}});
}

/// A text with edits of whole lines done.
std::string with_edits(const std::string& text, Json edits) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  std::string out;
  size_t next = 0;
  for (const Json& edit : edits) {
    const size_t first = edit["range"]["start"]["line"], end = edit["range"]["end"]["line"];
    for (; next < first; ++next) out += lines.at(next);
    out += edit["newText"].get<std::string>();
    next = end;
  }
  for (; next < lines.size(); ++next) out += lines[next];
  return out;
}

TEST(LspCorpus, FormattingALineIsThatPartOfFormattingAll) {
  const auto count = static_cast<uint32_t>(testing::cases(200, 2));
  size_t edited_lines = 0;
  for (uint32_t seed = 0; seed < count; ++seed) {
    int comments = 0;
    const std::string text =
        dsl::testing::careless_spelling(dsl::testing::random_program(seed), seed, comments);
    SourceMap sources;
    const dsl::FormatResult expected = dsl::format_source("a.dali-dsl", text, sources);
    ASSERT_TRUE(expected.diagnostics.empty()) << text;
    Session session;
    const Json document = {{"uri", uri_of("/p/a.dali-dsl")}};
    session.notify("textDocument/didOpen",
                   {{"textDocument",
                     {{"uri", document["uri"]}, {"languageId", "galatea"}, {"version", 1}, {"text", text}}}});
    const Json all = session.request("textDocument/formatting", {{"textDocument", document}});
    ASSERT_EQ(with_edits(text, all), expected.text) << text;
    const auto lines = static_cast<uint32_t>(std::ranges::count(text, '\n'));
    for (uint32_t line = 0; line < lines; ++line) {
      if (!testing::takes_turn(line, seed % 4, 4)) continue;
      Json of_line = Json::array();
      for (const Json& edit : all) {
        const uint32_t first = edit["range"]["start"]["line"], end = edit["range"]["end"]["line"];
        if (first == end ? first == line : first <= line && line < end) of_line.push_back(edit);
      }
      edited_lines += of_line.empty() ? 0 : 1;
      // The line's letters, or all of it with its end, as editors choose.
      for (const Range& range : {Range{{line, 0}, {line, 1}}, Range{{line, 0}, {line + 1, 0}}})
        ASSERT_EQ(session.request("textDocument/rangeFormatting",
                                  {{"textDocument", document}, {"range", to_json(range)}}),
                  of_line)
            << "seed " << seed << " line " << line;
    }
  }
  EXPECT_GT(edited_lines, size_t{count});
}

TEST(LspCorpus, MutatedTextsAreTyped) {
  constexpr size_t kLongest = 800;  // bytes; mistakes of longer texts are no others
  std::vector<std::string> texts;
  for (const fs::path& file : corpus())
    if (std::string text = read(file); text.size() <= kLongest && is_ascii(text))
      texts.push_back(std::move(text));
  ASSERT_GT(texts.size(), 10u);
  std::mt19937 random(5);
  const auto any = [&]() -> const std::string& { return texts[random() % texts.size()]; };
  Session session;
  const int64_t count = testing::scale() == testing::kWhole ? 5'000 : testing::scaled(1'000);
  for (int64_t k = 0; k < count; ++k)
    type(session, fmt::format("/p/typed{}.dali-dsl", k % 3), fuzz::mutate_tokens(any(), any(), random));
}

TEST(LspCorpus, MemoryIsFlatOverEdits) {
  if (testing::kSanitized) GTEST_SKIP() << "SKIPPED: a sanitizer keeps what was given back";
  const std::string path = GALATEA_SOURCE_DIR "/examples/03_conditional.dali-dsl";
  const std::string text = read(path);
  Session session;
  session.open(path, text);
  const auto lines = static_cast<uint32_t>(std::ranges::count(text, '\n'));
  std::mt19937 random(7);
  int version = 1;
  const auto edit_once = [&] {
    // A character comes and goes again, so that the text stays of one length.
    const uint32_t line = random() % lines;
    for (const auto& [end, word] : {std::pair{0u, "x"}, {1u, ""}})
      session.notify(
          "textDocument/didChange",
          {{"textDocument", {{"uri", uri_of(path)}, {"version", ++version}}},
           {"contentChanges", {{{"range", to_json(Range{{line, 0}, {line, end}})}, {"text", word}}}}});
    // Staging is what a pause in typing asks for.
    if (version % 64 == 1) session.diagnostics(path);
  };
  const auto bytes_in_use = [] { return static_cast<double>(mallinfo2().uordblks); };
  for (int edit = 0; edit < 256; ++edit) edit_once();
  session.diagnostics(path);
  const double before = bytes_in_use();
  const int64_t edits = testing::scaled(50'000);  // of two changes each
  for (int64_t edit = 0; edit < edits; ++edit) edit_once();
  session.diagnostics(path);
  EXPECT_LT(bytes_in_use() - before, 512.0 * 1024) << "after " << 2 * edits << " changes";
}

}  // namespace
}  // namespace galatea::tools::lsp
