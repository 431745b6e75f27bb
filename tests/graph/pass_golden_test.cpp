// Every pass, text in and text out: tests/golden/pass/PASS/NAME.graph gives NAME.expected. GALATEA_BLESS=1
// rewrites the expectations.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/verifier.h"
#include "compiler/passes/pass_list.h"
#include "compiler/passes/pass_runner.h"
#include "tests/graph/graph_text.h"
#include "tests/graph/sample_operators.h"
#include "tests/support/bless.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

const passes::PassEntry* find_pass(const std::string& name) {
  for (const passes::PassEntry& pass : passes::pass_list())
    if (pass.name == name) return &pass;
  return nullptr;
}

void run_case(const fs::path& file) {
  SCOPED_TRACE(file.string());
  std::string folder = file.parent_path().filename();
  std::string text = read_file(file);
  ir::Graph graph = graph_of(text);
  ASSERT_FALSE(graph.blocks.empty());
  std::string before = to_text(graph);
  // The folder `all` runs the whole list.
  if (folder == "all") {
    auto reports = passes::run_passes(graph, sample_registry(), {});
    ASSERT_TRUE(reports) << reports.error().message();
  } else {
    const passes::PassEntry* pass = find_pass(folder);
    ASSERT_NE(pass, nullptr) << "there is no pass " << folder;
    values::SharedTable table(graph);
    bool changed = pass->run(graph, {sample_registry(), table});
    EXPECT_EQ(changed, to_text(graph) != before) << "the pass must say whether it changed the graph";
    table.forget();
    EXPECT_FALSE(pass->run(graph, {sample_registry(), table})) << "a second run finds nothing left to do";
  }
  auto legal = verify(graph);
  EXPECT_TRUE(legal) << legal.error().message();
  std::string after = to_text(graph);
  fs::path expected = fs::path(file).replace_extension(".expected");
  if (galatea::testing::is_blessing()) {
    std::ofstream(expected) << after;
    return;
  }
  ASSERT_TRUE(fs::exists(expected)) << "no expectation yet: run with GALATEA_BLESS=1 and read what it writes";
  EXPECT_EQ(after, read_file(expected));
}

std::vector<fs::path> cases() {
  std::vector<fs::path> found;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(GALATEA_SOURCE_DIR) / "tests/golden/pass"))
    if (entry.path().extension() == ".graph") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(PassGolden, EveryCase) {
  auto found = cases();
  ASSERT_GE(found.size(), 15u);
  for (const fs::path& file : found) run_case(file);
}

TEST(PassGolden, EveryPassHasCases) {
  for (const passes::PassEntry& pass : passes::pass_list()) {
    fs::path folder = fs::path(GALATEA_SOURCE_DIR) / "tests/golden/pass" / std::string(pass.name);
    EXPECT_TRUE(fs::exists(folder) && !fs::is_empty(folder)) << folder;
  }
}

/// Printing and reading every graph of the tests gives the same text, and the same again after the passes.
TEST(GraphText, RoundTrip) {
  for (const fs::path& file : cases()) {
    SCOPED_TRACE(file.string());
    std::string once = to_text(graph_of(read_file(file)));
    EXPECT_EQ(to_text(graph_of(once)), once);
    std::string after = read_file(fs::path(file).replace_extension(".expected"));
    EXPECT_EQ(to_text(graph_of(after)), after);
  }
}

}  // namespace
}  // namespace galatea::testing
