// Graphs of real pipelines (the examples, the example of every operator, the stager's goldens): their text
// reads back, every pass leaves them legal and says whether it changed them, and a second run of the passes
// changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/reader.h"
#include "compiler/ir/text/verifier.h"
#include "compiler/op/recipe.h"
#include "compiler/passes/pass_runner.h"
#include "compiler/values/windows.h"
#include "dsl/frontend.h"
#include "stdlib_ops/register_all.h"

namespace galatea {
namespace {

namespace fs = std::filesystem;

const op::Registry& registry() {
  static const op::Registry kRegistry = [] {
    op::Registry all;
    ops::register_all(all);
    return all;
  }();
  return kRegistry;
}

std::string read_back(const std::string& text) {
  SourceMap sources;
  auto graph = ir::read_graph(text, sources, registry());
  if (graph) return to_text(*graph);
  return render_text(graph.error().diagnostics.front(), sources);
}

/// Each pass with a table of its own: the passes share one as long as none says that it changed the graph.
std::string text_after_single_passes(ir::Graph graph) {
  for (const passes::PassEntry& pass : passes::pass_list()) {
    const std::string before = to_text(graph);
    values::SharedTable table(graph);
    const bool changed = pass.run(graph, {registry(), table});
    EXPECT_TRUE(changed || to_text(graph) == before) << pass.name << " says that it changed nothing";
  }
  return to_text(graph);
}

void check_graph(ir::Graph& graph) {
  auto legal = verify(graph);
  ASSERT_TRUE(legal) << legal.error().message() << "\n" << to_text(graph);
  std::string before = to_text(graph);
  EXPECT_EQ(read_back(before), before);
  ir::Graph silent = graph;
  const std::string with_own_tables = text_after_single_passes(graph);
  auto reports = passes::run_passes(graph, registry(), {});
  ASSERT_TRUE(reports) << reports.error().message() << "\n"
                       << reports.error().diagnostics.front().notes.front() << "\n"
                       << before << to_text(graph);
  std::string after = to_text(graph);
  EXPECT_EQ(read_back(after), after);
  EXPECT_EQ(with_own_tables, after) << "what passes do depends on the table that they share";
  ASSERT_TRUE(passes::run_passes(graph, registry(), {}));
  EXPECT_EQ(to_text(graph), after) << "the passes find more to do in a second run";
  passes::PassOptions quiet;
  quiet.remarks = false;
  auto unread = passes::run_passes(silent, registry(), quiet);
  ASSERT_TRUE(unread);
  EXPECT_EQ(to_text(silent), after) << "what passes do depends on whether their remarks are read";
  for (const passes::PassReport& report : *unread) EXPECT_TRUE(report.remarks.empty()) << report.name;
}

/// Every pipeline of a text; how many there were.
size_t check_text(const std::string& name, const std::string& text) {
  SCOPED_TRACE(name);
  SourceMap sources;
  dsl::FrontendOptions options;
  options.unknown_parameters_allowed = true;
  auto staged = dsl::stage_all(name, text, options, registry(), sources);
  if (!staged.ok) {
    for (const Diagnostic& diagnostic : staged.diagnostics)
      if (diagnostic.severity == Severity::kError) ADD_FAILURE() << render_text(diagnostic, sources);
    return 0;
  }
  for (auto& graph : staged.graphs) check_graph(*graph);
  return staged.graphs.size();
}

size_t check_folder(const std::string& folder) {
  size_t graphs = 0;
  std::vector<fs::path> files;
  if (!fs::exists(fs::path(GALATEA_SOURCE_DIR) / folder)) return 0;
  for (const auto& entry : fs::directory_iterator(fs::path(GALATEA_SOURCE_DIR) / folder))
    if (entry.path().extension() == ".dali-dsl") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    graphs += check_text(file, text.str());
  }
  return graphs;
}

TEST(StagedGraphs, Examples) { EXPECT_GE(check_folder("examples"), 7u); }

TEST(StagedGraphs, Goldens) {
  if (check_folder("tests/golden/stage") == 0) GTEST_SKIP() << "there are no goldens of the stager";
}

TEST(StagedGraphs, ExamplesOfEveryOperator) {
  size_t graphs = 0;
  for (const auto& op : registry().all()) {
    if (op->example.empty()) continue;
    std::string body;
    std::stringstream lines(op->example);
    for (std::string line; std::getline(lines, line);) body += "    " + line + "\n";
    graphs +=
        check_text(op->name,
                   "from nvidia.dali import pipeline_def, fn, types, math\n\n\n@pipeline_def(batch_size=4, "
                   "num_threads=1, seed=3)\ndef example(data: str = \"photos\"):\n" +
                       body);
  }
  EXPECT_GE(graphs, 35u);
}

/// How many nodes are computed for a window only.
size_t windows_of(const std::string& body) {
  SourceMap sources;
  auto staged = dsl::stage_pipeline("p.dali-dsl",
                                    "from galatea import fn, pipeline_def, types\n"
                                    "from galatea.auto_aug import timm\n"
                                    "\n"
                                    "@pipeline_def(batch_size=4, num_threads=1, seed=3)\n"
                                    "def p():\n"
                                    "    encoded, label = fn.readers.file(file_root=\"photos\")\n"
                                    "    image = fn.decoders.image(encoded)\n"
                                    "    image = fn.resize(image, size=[256, 256])\n" +
                                        body + "    return image\n",
                                    {}, registry(), sources);
  EXPECT_TRUE(staged.ok) << render_text(staged.diagnostics.front(), sources);
  if (!staged.ok || !passes::run_passes(*staged.graphs[0], registry(), {})) return SIZE_MAX;
  size_t count = 0;
  for (const ir::Block& block : staged.graphs[0]->blocks)
    for (ir::NodeId id : block.nodes)
      count += staged.graphs[0]->node(id).find_arg(values::kRegionFromArg) != nullptr;
  return count;
}

// A window that is the whole by its numbers is none: a mirror behind a policy leaves its arms alone.
TEST(StagedGraphs, MirrorsAskForAllOfTheirImage) {
  const std::string mirror =
      "    image = fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), dtype=types.FLOAT{})\n";
  auto with = [&](const std::string& more) {
    return std::string(mirror).replace(mirror.find("{}"), 2, more);
  };
  const std::string policy = "    image = timm.transform(\"rand-m9-mstd0.5-inc1\")(image)\n";
  const size_t without = windows_of("");  // of the decoder, by what the resize reads
  const std::string brighter = "    image = fn.brightness(image, brightness=0.5)\n";
  EXPECT_EQ(windows_of(brighter + with("")), without);
  EXPECT_EQ(windows_of(policy + with("")), without);
  EXPECT_GT(windows_of(brighter + with(", crop=[224, 224]")), without);
}

}  // namespace
}  // namespace galatea
