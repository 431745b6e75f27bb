// Graph: orders, dominators, uses and edits; the builder's blocks.
#include "compiler/ir/graph.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "compiler/ir/attr.h"
#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/verifier.h"
#include "compiler/passes/graph_edits.h"
#include "compiler/passes/pass_runner.h"
#include "tests/graph/graph_text.h"
#include "tests/graph/sample_operators.h"
#include "tests/support/build_folder.h"

namespace galatea::testing {
namespace {

using namespace ir;

/// Blocks with the given edges and no contents.
Graph skeleton(const std::vector<std::vector<BlockId>>& targets) {
  Graph graph;
  op::GraphBuilder builder(graph);
  for (size_t b = 0; b < targets.size(); ++b) builder.add_block();
  for (BlockId b = 0; b < targets.size(); ++b) {
    graph.blocks[b].terminator.kind = targets[b].empty() ? TerminatorKind::kReturn : TerminatorKind::kJump;
    graph.blocks[b].terminator.targets = targets[b];
    for (BlockId target : targets[b]) graph.blocks[target].predecessors.push_back(b);
  }
  return graph;
}

/// By definition: a dominates b if taking a away makes b unreachable.
bool dominates_by_definition(const Graph& graph, BlockId a, BlockId b) {
  std::set<BlockId> seen;
  std::vector<BlockId> work;
  if (a != 0) work.push_back(0);
  while (!work.empty()) {
    BlockId at = work.back();
    work.pop_back();
    if (at == a || !seen.insert(at).second) continue;
    for (BlockId next : graph.block(at).terminator.targets) work.push_back(next);
  }
  return !seen.count(b);
}

TEST(Graph, DominatorsAgreeWithTheirDefinition) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    size_t n = 2 + random() % 9;
    std::vector<std::vector<BlockId>> targets(n);
    for (BlockId b = 0; b + 1 < n; ++b) {
      std::set<BlockId> some;
      for (int k = 0; k < 2; ++k) some.insert(b + 1 + static_cast<BlockId>(random() % (n - b - 1)));
      targets[b].assign(some.begin(), some.end());
    }
    Graph graph = skeleton(targets);
    std::vector<BlockId> order = graph.topological_order();
    std::set<BlockId> reachable(order.begin(), order.end());
    EXPECT_EQ(reachable.size(), order.size());
    std::vector<size_t> position(n, 0);
    for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    for (BlockId b : order)
      for (BlockId target : targets[b]) EXPECT_LT(position[b], position[target]);
    std::vector<BlockId> idom = graph.immediate_dominators();
    for (BlockId b = 0; b < n; ++b) {
      EXPECT_EQ(idom[b] == kNoId, !reachable.count(b));
      if (!reachable.count(b)) continue;
      for (BlockId a : order)
        EXPECT_EQ(graph.dominates(a, b), dominates_by_definition(graph, a, b)) << a << " " << b;
    }
  }
}

TEST(Graph, ALongChainOfBlocksNeedsNoStack) {
  std::vector<std::vector<BlockId>> targets(100'000);
  for (BlockId b = 0; b + 1 < targets.size(); ++b) targets[b] = {b + 1};
  Graph graph = skeleton(targets);
  EXPECT_EQ(graph.topological_order().size(), targets.size());
  EXPECT_EQ(graph.immediate_dominators().back(), targets.size() - 2);
  EXPECT_EQ(graph.exit_block(), targets.size() - 1);
}

const char* kChoice = R"(pipeline @p() {
^0:
  %x = uniform() key=0x1
  %h = constant() {value=0.5}
  %c = less(%x, %h)
  branch %c ^1, ^2
^1(^0):
  %a = add(%x, %h)
  jump ^3
^2(^0):
  %b = mul(%x, %x)
  jump ^3
^3(^1, ^2):
  %r = merge(%a, %h) : f32[]
  return %r, %x
}
)";

Graph choice() { return graph_of(kChoice); }

ValueId value_named(const Graph& graph, const std::string& name) {
  for (ValueId v = 0; v < graph.values.size(); ++v)
    if (graph.value(v).variable == name) return v;
  return kNoId;
}

TEST(Graph, CountsEveryKindOfUse) {
  Graph graph = choice();
  auto uses = graph.count_uses();
  EXPECT_EQ(uses[value_named(graph, "x")], 5u);  // less, add, mul twice, result
  EXPECT_EQ(uses[value_named(graph, "h")], 3u);  // less, add, merge
  EXPECT_EQ(uses[value_named(graph, "c")], 1u);  // selector
  EXPECT_EQ(uses[value_named(graph, "b")], 0u);
}

TEST(Graph, ReplacesEveryKindOfUse) {
  Graph graph = choice();
  ValueId x = value_named(graph, "x"), h = value_named(graph, "h");
  graph.replace_uses(x, h);
  auto uses = graph.count_uses();
  EXPECT_EQ(uses[x], 0u);
  EXPECT_EQ(uses[h], 8u);
  EXPECT_TRUE(verify(graph));
}

TEST(Graph, RemovedNodesLeaveHoles) {
  Graph graph = choice();
  ValueId b = value_named(graph, "b");
  graph.remove_node(graph.value(b).node);
  EXPECT_TRUE(verify(graph));
  EXPECT_THROW(graph.remove_node(graph.value(b).node), InternalError);
  EXPECT_EQ(to_text(graph_of(to_text(graph))), to_text(graph));
}

TEST(Graph, TypesAsText) {
  EXPECT_EQ(to_text(Type{DType::kU8, 3, "HWC", Device::kCpu, {-1, -1, 3}}), "u8[?,?,3] HWC");
  EXPECT_EQ(to_text(Type{DType::kF32, 0, {}, Device::kGpu, {}}), "f32[] gpu");
  EXPECT_EQ((Type{DType::kF32, 2, {}, Device::kCpu, {3, 4}}.static_volume()), 12);
  EXPECT_EQ((Type{DType::kF32, 2, {}, Device::kCpu, {3, -1}}.static_volume()), -1);
  EXPECT_EQ((Type{DType::kF32, 0, {}, Device::kCpu, {}}.static_volume()), 1);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();  // its square is 1 modulo 2^64
  EXPECT_EQ((Type{DType::kF32, 2, {}, Device::kCpu, {kMost, kMost}}.static_volume()), kMost);
  EXPECT_EQ((Type{DType::kF32, 3, {}, Device::kCpu, {kMost, 2, 0}}.static_volume()), 0);
}

TEST(Attr, Reading) {
  EXPECT_EQ(attr_integer(Attr(3.0)), 3);
  EXPECT_EQ(attr_number(Attr(int64_t{3})), 3.0);
  EXPECT_EQ(attr_integers(Attr(int64_t{3})), std::vector<int64_t>{3});
  EXPECT_EQ(attr_integers(Attr(None{})), std::vector<int64_t>{});
  EXPECT_EQ(attr_numbers(Attr(std::vector<int64_t>{1, 2})), (std::vector<double>{1, 2}));
  EXPECT_TRUE(attr_flag(Attr(int64_t{1})));
  EXPECT_EQ(attr_length(Attr(std::vector<double>{1, 2})), 2);
  EXPECT_THROW(attr_integer(Attr(3.5)), InternalError);
  EXPECT_THROW(attr_integer(Attr(std::string("3"))), InternalError);
}

TEST(Builder, BlocksHaveOneEnd) {
  Graph graph;
  op::GraphBuilder builder(graph);
  BlockId a = builder.add_block(), b = builder.add_block();
  builder.jump(a, b, {});
  EXPECT_THROW(builder.jump(a, b, {}), InternalError);
  EXPECT_THROW(builder.add_merge(b, Type{}, {0, 1}, {}), InternalError) << "two operands for one predecessor";
}

TEST(PassRunner, SkipsStopsAndReports) {
  Graph graph = choice();
  passes::PassOptions options;
  options.skip = {"remove_dead_nodes", "push_region_into_decode"};
  options.stop_after = "merge_duplicates";
  auto reports = passes::run_passes(graph, sample_registry(), options);
  ASSERT_TRUE(reports);
  std::vector<std::string> names;
  for (const auto& report : *reports) names.push_back(report.name);
  EXPECT_EQ(names, (std::vector<std::string>{"fold_constants", "merge_duplicates", "hoist_over_branch",
                                             "merge_duplicates"}));
}

TEST(PassRunner, UnknownNamesAreErrors) {
  Graph graph = choice();
  passes::PassOptions options;
  options.skip = {"merge_duplicate"};
  auto reports = passes::run_passes(graph, sample_registry(), options);
  ASSERT_FALSE(reports);
  EXPECT_EQ(reports.error().kind, ErrorKind::kUser);
  EXPECT_EQ(reports.error().diagnostics[0].code, "G0510");
  EXPECT_NE(reports.error().diagnostics[0].help.find("merge_duplicates"), std::string::npos);
}

TEST(PassRunner, DumpsWhatChanged) {
  Graph graph = choice();
  passes::PassOptions options;
  options.dump_folder = build_folder() + "/pass_runner_dump";
  auto reports = passes::run_passes(graph, sample_registry(), options);
  ASSERT_TRUE(reports);
  std::string last;
  int number = 0;
  for (const auto& report : *reports) {
    ++number;
    if (report.changed)
      last = options.dump_folder + "/0" + std::to_string(number) + "-" + report.name + ".graph";
  }
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(read_file(last), to_text(graph));
}

TEST(PassRunner, AFolderThatCannotBeMadeIsTheSystems) {
  Graph graph = choice();
  passes::PassOptions options;
  options.dump_folder = "/dev/null/dump";
  auto reports = passes::run_passes(graph, sample_registry(), options);
  ASSERT_FALSE(reports);
  EXPECT_EQ(reports.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(reports.error().diagnostics[0].code, "G0511");
}

}  // namespace
}  // namespace galatea::testing
