// The catalogue of diagnostics: every code has a page, and every example does what its page says. Where texts
// are blessed (./dev docs), docs/diagnostics.md is made of the pages.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "dsl/frontend.h"
#include "stdlib_ops/register_all.h"
#include "tests/catalogue/scratch.h"
#include "tests/support/bless.h"
#include "tools/diagnostic_page.h"

namespace galatea::tools {
namespace {

using galatea::testing::Scratch;

std::string path_of(const std::string& name) { return std::string(GALATEA_SOURCE_DIR) + "/" + name; }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

const op::Registry& registry() {
  static const op::Registry* all = [] {
    auto* made = new op::Registry;
    ops::register_all(*made);
    return made;
  }();
  return *all;
}

struct Report {
  std::set<std::string> codes;
  std::string text;
};

// What `galatea check example.dali-dsl` would say.
Report check(const std::string& text) {
  SourceMap sources;
  dsl::FrontendOptions options;
  options.unknown_parameters_allowed = true;
  dsl::FrontendResult result = dsl::stage_all("example.dali-dsl", text, options, registry(), sources);
  Report report;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    report.codes.insert(diagnostic.code);
    report.text += render_text(diagnostic, sources);
  }
  // The folder of the file is this process's: pages show one that they can all have.
  const std::string here = std::filesystem::current_path().string();
  for (size_t at = report.text.find(here); at != std::string::npos; at = report.text.find(here, at))
    report.text.replace(at, here.size(), "/home/me/pipelines");
  return report;
}

TEST(Catalogue, EveryCodeHasAPageAndEveryPageACode) {
  std::set<std::string> coded, paged;
  for (const DiagnosticPage& entry : all_diagnostic_pages()) coded.emplace(entry.code);
  for (const PageText& page : page_texts()) paged.insert(page.code);
  for (const std::string& code : coded)
    EXPECT_TRUE(paged.contains(code)) << "docs/diagnostics/" << code << ".md is missing";
  for (const std::string& code : paged)
    EXPECT_TRUE(coded.contains(code)) << code << " stands in no messages.def";
}

TEST(Catalogue, MalformedPagesAreRefused) {
  const std::string good =
      "# Title\n\nText.\n\n## Fails\n\n```python\nx\n```\n\n## Passes\n\n```python\ny\n```\n";
  ASSERT_TRUE(parse_page("G0001", good));
  EXPECT_EQ(parse_page("G0001", good)->fails.text, "x\n");
  const std::string shown = "# Title\n\nText.\n\nShown by the test `A.B` in\n`tests/c.cpp`.\n";
  ASSERT_TRUE(parse_page("G0001", shown));
  EXPECT_EQ(parse_page("G0001", shown)->test_file, "tests/c.cpp");
  auto refused = [](const std::string& text) { return !parse_page("G0001", text).has_value(); };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("# Title\n\n## Fails\n\n```python\nx\n```\n"));
  EXPECT_TRUE(refused("# Title\n\nText.\n"));
  EXPECT_TRUE(refused(good.substr(0, good.find("## Passes"))));
  EXPECT_TRUE(refused(good.substr(0, good.size() - 4)));
  EXPECT_TRUE(refused(good + "\n```python\nz\n```\n"));
  EXPECT_TRUE(refused(good + "\nmore\n"));
  EXPECT_TRUE(refused("# Title\n\nText.\n\n```python\nx\n```\n"));
}

TEST(Catalogue, PagesHelp) {
  for (const PageText& page : page_texts()) {
    EXPECT_GE(page.meaning.size(), 60u) << page.code;
    EXPECT_FALSE(page.title.ends_with('.')) << page.code;
  }
}

TEST(Catalogue, PipelineExamplesGiveTheirCodeAndNothingElse) {
  int tried = 0;
  for (const PageText& page : page_texts()) {
    if (page.fails.kind != ExampleKind::kPipeline) continue;
    ++tried;
    const Report failing = check(page.fails.text), passing = check(page.passes.text);
    EXPECT_EQ(failing.codes, std::set<std::string>{page.code}) << page.code << "\n" << failing.text;
    EXPECT_EQ(passing.codes, std::set<std::string>{}) << page.code << "\n" << passing.text;
  }
  EXPECT_GT(tried, 120);
}

// What the help of a page's diagnostics says to write makes its example one that passes.
TEST(Catalogue, EditsOfPipelineExamplesMendThem) {
  size_t tried = 0;
  for (const PageText& page : page_texts()) {
    if (page.fails.kind != ExampleKind::kPipeline) continue;
    SourceMap sources;
    dsl::FrontendOptions options;
    options.unknown_parameters_allowed = true;
    const dsl::FrontendResult wrong =
        dsl::stage_all("example.dali-dsl", page.fails.text, options, registry(), sources);
    uint32_t file = 0;
    for (const Diagnostic& diagnostic : wrong.diagnostics)
      for (const Edit& edit : diagnostic.edits) file = edit.span.file;
    if (file == 0) continue;
    ++tried;
    size_t applied = 0;
    const std::string mended = with_edits(page.fails.text, file, wrong.diagnostics, true, applied);
    EXPECT_GE(applied, 1u) << page.code;
    Report after = check(mended);
    after.codes.erase("G0253");  // what `print` says
    EXPECT_EQ(after.codes, std::set<std::string>{}) << page.code << "\n" << mended << after.text;
  }
  EXPECT_GE(tried, 11u);
}

struct Session {
  std::string transcript;  ///< commands, and what the last one prints
  std::string output;
  int status = 0;
};

Session run_commands(const Example& example) {
  Scratch scratch;
  for (const auto& [name, text] : example.files) scratch.write(name, text);
  Session session;
  std::istringstream lines(example.text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("$ ")) continue;
    const Scratch::Outcome outcome = scratch.run(line.substr(2));
    session.transcript += line + "\n";
    session.output = outcome.output;
    session.status = outcome.status;
  }
  if (!session.output.empty() && !session.output.ends_with('\n')) session.output += "\n";
  session.transcript += session.output;
  return session;
}

// Writes a transcript into the page of its code.
void rewrite(const PageText& page, const std::string& transcript) {
  const std::string path = path_of("docs/diagnostics/" + page.code + ".md");
  std::string text = read_file(path);
  text.replace(text.find(page.fails.text), page.fails.text.size(), transcript);
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Catalogue, CommandsPrintWhatTheirPageSays) {
  int tried = 0;
  for (const PageText& page : page_texts()) {
    if (page.fails.kind != ExampleKind::kConsole) continue;
    ++tried;
    const Session failing = run_commands(page.fails), passing = run_commands(page.passes);
    EXPECT_NE(failing.output.find(page.code), std::string::npos) << page.code << "\n" << failing.output;
    if (galatea::testing::is_blessing()) {
      rewrite(page, failing.transcript);
    } else {
      EXPECT_EQ(failing.transcript, page.fails.text) << page.code;
    }
    EXPECT_EQ(passing.status, 0) << page.code << "\n" << passing.output;
    EXPECT_EQ(passing.output.find("error["), std::string::npos) << page.code << "\n" << passing.output;
  }
  EXPECT_GT(tried, 20);
}

// What neither a text nor a command can provoke is provoked by a test, which names the code.
TEST(Catalogue, TestsThatShowACodeExist) {
  for (const PageText& page : page_texts()) {
    if (page.test.empty()) continue;
    const size_t dot = page.test.find('.');
    const std::string suite = page.test.substr(0, dot), name = page.test.substr(dot + 1);
    const std::string source = read_file(path_of(page.test_file));
    const bool exists = source.find("(" + suite + ", " + name + ")") != std::string::npos;
    EXPECT_TRUE(exists) << page.code << ": " << page.test_file << " has no test " << page.test;
    EXPECT_NE(source.find(page.code), std::string::npos)
        << page.test_file << " does not speak of " << page.code;
  }
}

// A code without an example is named here, with the reason on its page.
TEST(Catalogue, CodesWithoutAnyExampleAreFew) {
  std::set<std::string> without;
  for (const PageText& page : page_texts()) {
    if (!page.no_example.empty()) without.insert(page.code);
  }
  EXPECT_EQ(without, (std::set<std::string>{"G0852", "G0876", "G0877", "G0932", "G0941"}));
}

struct Chapter {
  std::string_view prefixes, title;
};
constexpr Chapter kChapters[] = {{"G01", "Syntax"},
                                 {"G02", "Names, values and pipelines"},
                                 {"G03", "Branches on data"},
                                 {"G04", "Operators"},
                                 {"G05", "Inside the compiler"},
                                 {"G06", "Modules and files"},
                                 {"G07", "Limits"},
                                 {"G08", "Data sets, codecs, the command line"},
                                 {"G09", "While a pipeline runs"},
                                 {"G10", "Policies"}};

std::string wording(const std::string& code) {
  std::string out;
  for (const DiagnosticPage& entry : all_diagnostic_pages()) {
    if (entry.code != code) continue;
    if (std::string text = with_dots(entry.text); text != "…") out += fmt::format("> {}\n", text);
  }
  return out.empty() ? "" : out + "\n";
}

std::string section(const PageText& page) {
  std::string out =
      fmt::format("### {}: {}\n\n{}{}", page.code, page.title, wording(page.code), page.meaning);
  if (page.fails.kind != ExampleKind::kNone) {
    out += "\nFails:\n\n" + example_markdown(page.fails);
    if (page.fails.kind == ExampleKind::kPipeline)
      out += fmt::format("\n```text\n{}```\n", check(page.fails.text).text);
    out += "\nPasses:\n\n" + example_markdown(page.passes);
  }
  if (!page.test.empty()) out += fmt::format("\nShown by the test `{}`.\n", page.test);
  if (!page.no_example.empty()) out += fmt::format("\nNo example: {}\n", page.no_example);
  return out + "\n";
}

std::string catalogue() {
  std::string out =
      "# Diagnostics\n\n"
      "Every code that galatea reports, with what it means, an example that causes it, what is then printed, "
      "and one that\n"
      "is accepted. `galatea explain G0203` prints one entry. The examples run as tests.\n\n"
      "This file is made from `docs/diagnostics/` by `./dev docs`; change it there. Dots stand for what a "
      "message fills in.\n\n";
  for (const Chapter& chapter : kChapters) {
    out += fmt::format("- **{}… {}**\n", chapter.prefixes, chapter.title);
  }
  for (const Chapter& chapter : kChapters) {
    out += fmt::format("\n## {}… {}\n\n", chapter.prefixes, chapter.title);
    for (const PageText& page : page_texts()) {
      if (page.code.starts_with(chapter.prefixes)) out += section(page);
    }
  }
  return out;
}

TEST(Catalogue, TheDocumentHasEveryPageInAChapter) {
  const std::string made = catalogue();
  if (galatea::testing::is_blessing())
    std::ofstream(path_of("docs/diagnostics.md"), std::ios::binary) << made;
  for (const PageText& page : page_texts())
    EXPECT_NE(made.find("### " + page.code + ":"), std::string::npos) << page.code << " is in no chapter";
}

TEST(Catalogue, PagesForTheTerminal) {
  for (const PageText& page : page_texts()) {
    const std::string text = page_for_terminal(page, all_diagnostic_pages());
    EXPECT_TRUE(text.starts_with(page.code + ": " + page.title + "\n"));
    EXPECT_NE(text.find(page.meaning), std::string::npos);
    if (page.fails.kind != ExampleKind::kNone) {
      EXPECT_LT(text.find("This fails:"), text.find("This passes:"));
    }
  }
}

}  // namespace
}  // namespace galatea::tools
