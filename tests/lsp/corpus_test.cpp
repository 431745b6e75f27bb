// The language server over every text that the project has: no place gives an error, and a long session takes no
// more memory than a short one.
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

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

TEST(LspCorpus, EveryPlaceOfEveryTextIsAnswered) {
  const std::vector<fs::path> files = corpus();
  ASSERT_GT(files.size(), 50u);
  // All places with `--all`; otherwise some of each file, others in each.
  const uint32_t stride = testing::scale() == testing::kWhole ? 1 : 101;
  uint32_t first = 0;
  size_t asked = 0;
  for (const fs::path& file : files) {
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
  EXPECT_GT(asked, files.size());
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
