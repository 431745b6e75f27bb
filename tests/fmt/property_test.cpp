// What holds for every program: the form is stable, comments are kept, and CPython and the stager see the
// same program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include <unistd.h>

#include "dsl/formatter/formatter.h"
#include "tests/dsl/support.h"
#include "tests/fmt/random_program.h"
#include "tests/fuzz/token_mutator.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"

namespace galatea::dsl::testing {
namespace {
namespace fs = std::filesystem;

// Fails the test if the text does not parse.
std::string formatted(const std::string& name, const std::string& text) {
  SourceMap sources;
  FormatResult result = format_source(name, text, sources);
  for (const Diagnostic& diagnostic : result.diagnostics)
    ADD_FAILURE() << render_text(diagnostic, sources) << text;
  return result.text;
}

// Random programs hold `#` only where a comment begins; two comments may come to share a line.
int count_comments(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '#'));
}

class Property : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = galatea::testing::make_own_folder("galatea_fmt"); }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  fs::path folder_;
};

TEST_F(Property, CarelessSpellings) {
  const auto programs = static_cast<uint32_t>(galatea::testing::cases(600, 20));
  for (uint32_t seed = 0; seed < programs; ++seed) {
    const std::string program = random_program(seed);
    int comments = 0;
    const std::string careless = careless_spelling(program, seed, comments);
    const std::string once = formatted("careless " + std::to_string(seed), careless);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    EXPECT_EQ(formatted("again", once), once) << "seed " << seed << "\n" << careless;
    EXPECT_EQ(count_comments(once), comments) << "seed " << seed << "\n" << careless << "\n---\n" << once;
    write(std::to_string(seed) + ".before", careless);
    write(std::to_string(seed) + ".after", once);
    if (HasFailure()) return;
  }
  if (!python_available()) GTEST_SKIP() << "python3 is not installed";
  // An independent reader of both texts. Docstrings may differ in their blanks.
  auto output = run_python(
      "import ast, pathlib, sys\n"
      "def tree(path):\n"
      "    module = ast.parse(path.read_text())\n"
      "    for node in ast.walk(module):\n"
      "        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and "
      "isinstance(node.value.value, str):\n"
      "            node.value.value = ''.join(node.value.value.split())\n"
      "    return ast.dump(module)\n"
      "count = 0\n"
      "for before in sorted(pathlib.Path(sys.argv[1]).glob('*.before')):\n"
      "    assert tree(before) == tree(before.with_suffix('.after')), before\n"
      "    count += 1\n"
      "print(count)\n",
      folder_.string());
  ASSERT_TRUE(output.has_value()) << "CPython sees another program";
  EXPECT_EQ(std::stoul(*output), programs);
}

// The goldens, spelled carelessly and formatted, stage to the same graphs.
TEST_F(Property, GraphsStay) {
  int compared = 0;
  for (const std::string& path : golden_files("stage")) {
    const std::string text = read_file(path);
    const Staged before = stage("same.dali-dsl", text);
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      int comments = 0;
      const std::string once = formatted(path, careless_spelling(text, seed, comments));
      const Staged after = stage("same.dali-dsl", once);
      if (HasFailure()) return;
      // Places differ; what comes before ` @` or the diagnostics' lines does not. Graph text has no places.
      EXPECT_EQ(before.graphs, after.graphs) << path << " seed " << seed << "\n" << once;
      compared += before.graphs.empty() ? 0 : 1;
    }
  }
  EXPECT_GE(compared, 20);
}

// Our own files are in canonical form.
TEST(Canonical, ExamplesAndGoldens) {
  std::vector<std::string> paths;
  for (const char* folder : {"stage", "static"}) {
    for (std::string& path : golden_files(folder)) paths.push_back(std::move(path));
  }
  for (const auto& entry : fs::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/examples")) {
    if (entry.path().extension() == ".dali-dsl") paths.push_back(entry.path().string());
  }
  EXPECT_GE(paths.size(), 15u);
  for (const std::string& path : paths) {
    const std::string text = read_file(path);
    const std::string once = formatted(path, text);
    EXPECT_EQ(formatted(path, once), once) << path;
    const bool example = path.find("/examples/") != std::string::npos;
    EXPECT_TRUE(!example || once == text) << unified_diff(path, text, once);
  }
}

// Texts with mistakes in them, of which many still parse; the form of those is stable too.
TEST(Canonical, MutatedTexts) {
  std::vector<std::string> texts;
  for (const char* folder : {"/examples", "/tests/golden"})
    for (const auto& entry : fs::recursive_directory_iterator(GALATEA_SOURCE_DIR + std::string(folder)))
      if (entry.path().extension() == ".dali-dsl") texts.push_back(read_file(entry.path().string()));
  std::ranges::sort(texts);
  ASSERT_GT(texts.size(), 50u);
  std::mt19937 random(11);
  const auto any = [&]() -> const std::string& { return texts[random() % texts.size()]; };
  const int64_t count = galatea::testing::cases(2'000, 100);
  int64_t parsed = 0;
  for (int64_t k = 0; k < count; ++k) {
    const std::string text =
        k < std::ssize(texts) ? texts[static_cast<size_t>(k)] : fuzz::mutate_tokens(any(), any(), random);
    SourceMap sources;
    const FormatResult once = format_source("mutated", text, sources);
    if (!once.diagnostics.empty()) continue;
    ++parsed;
    ASSERT_EQ(formatted("again", once.text), once.text) << text;
  }
  EXPECT_GT(parsed, count / 20);
}

}  // namespace
}  // namespace galatea::dsl::testing
