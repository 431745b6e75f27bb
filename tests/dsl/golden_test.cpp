// Golden files of the language: syntax trees, graphs, diagnostics, and static programs against CPython.
#include <gtest/gtest.h>

#include <set>

#include "dsl/messages.h"
#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

std::string beside(const std::string& path, const std::string& extension) {
  return path.substr(0, path.size() - std::string(".dali-dsl").size()) + extension;
}

TEST(Golden, SyntaxTrees) {
  for (const std::string& path : golden_files("parse")) {
    SourceMap sources;
    std::vector<Diagnostic> diagnostics;
    std::string tree = print_ast(path, std::nullopt, sources, diagnostics);
    for (const Diagnostic& diagnostic : diagnostics) ADD_FAILURE() << render_text(diagnostic, sources);
    expect_golden(beside(path, ".ast"), tree);
  }
}

TEST(Golden, Graphs) {
  for (const std::string& path : golden_files("stage")) {
    Staged staged = stage(path, std::nullopt);
    EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
    EXPECT_EQ(staged.verdict, "") << path;
    expect_golden(beside(path, ".graph"), staged.graphs);
  }
}

// That every code is reached is shown by its page (tests/catalogue); these show places, labels and notes.
TEST(Golden, Diagnostics) {
  for (const std::string& path : golden_files("error")) {
    Staged staged = stage(path, std::nullopt);
    EXPECT_FALSE(staged.result.ok) << path << " is accepted";
    EXPECT_EQ(staged.verdict, "") << path;
    expect_golden(beside(path, ".diag"), staged.diagnostics);
  }
}

// What people who come from DALI or torchvision type first.
TEST(Golden, Newcomers) {
  std::vector<std::string> paths = golden_files("newcomer");
  EXPECT_GE(paths.size(), 20u);
  for (const std::string& path : paths) {
    Staged staged = stage(path, std::nullopt);
    EXPECT_FALSE(staged.result.ok) << path << " is accepted";
    EXPECT_EQ(staged.verdict, "") << path;
    for (const Diagnostic& diagnostic : staged.result.diagnostics) {
      if (diagnostic.severity == Severity::kError) {
        EXPECT_NE(diagnostic.help, "") << path << ": " << diagnostic.message;
      }
    }
    expect_golden(beside(path, ".diag"), staged.diagnostics);
  }
}

// The printed tree is source with all its brackets: CPython must read both texts as the same tree.
TEST(Golden, SyntaxTreesAgreeWithCPython) {
  if (!python_available()) GTEST_SKIP() << "python3 is not installed";
  std::string path = std::string(GALATEA_SOURCE_DIR) + "/tests/golden/parse/expressions.dali-dsl";
  auto output = run_python(
      "import ast, sys\n"
      "path = sys.argv[1]\n"
      "ours = open(path.replace('.dali-dsl', '.ast')).read().splitlines()\n"
      "theirs = ast.parse(open(path).read()).body\n"
      "assert len(ours) == len(theirs), (len(ours), len(theirs))\n"
      "compared = 0\n"
      "for line, statement in zip(ours, theirs):\n"
      "    if 'f(\"' in line or '1:2' in line: continue\n"  // f-strings and slices have no bracketed spelling
                                                            // in Python
      "    if line.startswith('p: ') or line.startswith('q: '): line = line.strip()\n"
      "    assert ast.dump(ast.parse(line).body[0]) == ast.dump(statement), line\n"
      "    compared += 1\n"
      "print(compared)\n",
      path);
  ASSERT_TRUE(output.has_value()) << "the trees differ";
  EXPECT_GE(std::stoi(*output), 25);
}

// What is printed while building must be what CPython prints.
TEST(Golden, StaticProgramsAgreeWithCPython) {
  if (!python_available()) GTEST_SKIP() << "python3 is not installed";
  for (const std::string& path : golden_files("static")) {
    Staged staged = stage(path, std::nullopt);
    EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
    std::string printed;
    for (const Diagnostic& diagnostic : staged.result.diagnostics) printed += diagnostic.message + "\n";
    auto expected = run_python(
        "import sys\nexec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'), {'__name__': 'm'})\n",
        path);
    ASSERT_TRUE(expected.has_value()) << path;
    EXPECT_EQ(printed, *expected) << path;
  }
}

// What is printed of arrays must be what numpy printed; tests/oracle/make_numpy.py records it.
TEST(Golden, ArraysAgreeWithNumpy) {
  for (const std::string& path : golden_files("numpy")) {
    Staged staged = stage(path, std::nullopt);
    EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
    std::string printed;
    for (const Diagnostic& diagnostic : staged.result.diagnostics) printed += diagnostic.message + "\n";
    std::string recorded = read_file(beside(path, ".out"));
    ASSERT_TRUE(recorded.starts_with("numpy ")) << path;
    EXPECT_EQ(printed, recorded.substr(recorded.find('\n') + 1)) << path;
  }
}

// The language is a subset of Python's syntax.
TEST(Golden, AcceptedTextsParseWithCPython) {
  if (!python_available()) GTEST_SKIP() << "python3 is not installed";
  std::string list;
  for (const char* folder : {"parse", "stage", "static", "numpy"}) {
    for (const std::string& path : golden_files(folder)) list += path + "\n";
  }
  auto output = run_python(
      "import ast, sys\nfor path in sys.argv[1].split():\n    ast.parse(open(path, newline='').read(), "
      "path)\nprint('parsed')\n",
      list);
  ASSERT_TRUE(output.has_value()) << "CPython refuses a text";
  EXPECT_EQ(*output, "parsed\n");
}

TEST(Golden, StagingTwiceGivesTheSameText) {
  for (const std::string& path : golden_files("stage")) {
    Staged first = stage(path, std::nullopt), second = stage(path, std::nullopt);
    EXPECT_EQ(first.graphs, second.graphs) << path;
    EXPECT_EQ(first.diagnostics, second.diagnostics) << path;
  }
}

TEST(Messages, CodesAreUnique) {
  std::set<std::string_view> codes;
  for (const MessageEntry& entry : all_messages()) EXPECT_TRUE(codes.insert(entry.code).second) << entry.code;
}

}  // namespace
}  // namespace galatea::dsl::testing
