// What definitions said is used again only where they would say it again.
#include "compiler/op/known_lowerings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/check_graph.h"
#include "compiler/kernel/expr_text.h"
#include "compiler/passes/pass_runner.h"
#include "compiler/values/shared_table.h"
#include "tests/passes/staged.h"
#include "tests/support/cases.h"

namespace galatea::op {
namespace {

using testing::staged;

const std::string kNumber = "    number = fn.external_source(name=\"y\", dtype=types.FLOAT, ndim=0)\n";

/// For kPolicies.
constexpr const char* kImports = "from galatea.auto_aug import timm, torchvision\n";

/// Every expression of a lowering.
std::string text_of(const Lowering& lowering) {
  std::string out;
  auto add = [&](const Expr& e) { out += (e ? kernel::to_text(e) : "-") + "\n"; };
  auto add_all = [&](const std::vector<Expr>& list) {
    out += fmt::format("{}:\n", list.size());
    for (const Expr& e : list) add(e);
  };
  for (const kernel::KernelInput& input : lowering.inputs) add_all(input.extents);
  for (const kernel::Stage& stage : lowering.stages) {
    out += fmt::format("{} {} {} {}\n", stage.name, static_cast<int>(stage.form), short_name(stage.type),
                       stage.span.begin);
    add_all(stage.extents);
    add_all(stage.reduce_extents);
    for (const Expr* e :
         {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.source, &stage.finish})
      add(*e);
  }
  for (const Check& check : lowering.checks) {
    out += check.message + check.help + check.arg;
    add(check.condition);
    add_all(check.values);
  }
  for (const NativeScalars& native : lowering.native_scalars) {
    out += native.function + native.config;
    add_all(native.scalars);
  }
  for (const NativeOutput& native : lowering.natives) {
    out += native.function + native.config;
    add_all(native.scalars);
  }
  for (const LoweredOutput& output : lowering.outputs)
    for (const auto* list : {&output.extents, &output.step, &output.start, &output.elements}) add_all(*list);
  add(lowering.least_scale);
  return out;
}

/// Of the nodes that are known, each as its definition has it now; how many these are.
size_t expect_all_fresh(const ir::Graph& graph, const KnownLowerings& known) {
  Lineage lineage(graph);
  size_t count = 0;
  for (const ir::Block& block : graph.blocks)
    for (const ir::NodeId node : block.nodes) {
      const Lowering* found = known.find(graph, node, &lineage);
      if (found == nullptr) continue;
      ++count;
      EXPECT_EQ(text_of(*found), text_of(lower_node(graph, node))) << graph.node(node).op->name;
    }
  return count;
}

constexpr const char* kPolicies[] = {"timm.transform('rand-m9-mstd0.5-inc1')(image)",
                                     "timm.transform('augmix-m5-w4-d2')(image)",
                                     "torchvision.AugMix()(image)", "torchvision.AutoAugment()(image)"};

TEST(KnownLowerings, AreWhatDefinitionsSayBeforeAndAfterThePasses) {
  for (int64_t number = 0; const char* policy : kPolicies) {
    if (!testing::takes_turn(number++, 0, 2)) continue;
    const auto graph = staged(fmt::format("    image = {}\n"
                                          "    return fn.crop(image, crop=[32, 32])\n",
                                          policy),
                              kImports);
    ASSERT_TRUE(graph);
    values::SharedTable table(*graph);
    EXPECT_TRUE(check_graph(*graph, &table.known()).empty());
    const size_t before = expect_all_fresh(*graph, table.known());
    EXPECT_GT(before, graph->nodes.size() / 2) << "most of what was checked is known";
    ASSERT_TRUE(passes::run_passes(*graph, testing::all_operators(), {}, table));
    EXPECT_GT(expect_all_fresh(*graph, table.known()), before / 2) << "passes leave most nodes as they are";
  }
}

/// A plan knows the same of every value, wherever the lowerings come from.
TEST(KnownLowerings, GiveTheSameTable) {
  for (int64_t number = 0; const char* policy : kPolicies) {
    if (!testing::takes_turn(number++, 1, 2)) continue;
    const auto graph = staged(fmt::format("    return {}\n", policy), kImports);
    ASSERT_TRUE(graph);
    KnownLowerings known;
    check_graph(*graph, &known);
    values::ValueTable with(*graph, values::TableUse::kPlan, {}, &known), without(*graph);
    with.fill();
    without.fill();
    for (ir::ValueId v = 0; v < static_cast<ir::ValueId>(graph->values.size()); ++v) {
      const values::ValueInfo &a = with.info(v), &b = without.info(v);
      ASSERT_EQ(a.elements.size(), b.elements.size());
      ASSERT_EQ(a.extents.size(), b.extents.size());
      for (size_t i = 0; i < a.elements.size(); ++i)
        EXPECT_TRUE(kernel::same_meaning(a.elements[i], b.elements[i]));
      for (size_t d = 0; d < a.extents.size(); ++d)
        EXPECT_TRUE(kernel::same_meaning(a.extents[d], b.extents[d]));
    }
  }
}

/// The node that makes the first output, which was known before `change`.
void expect_forgotten(const std::string& body, void (*change)(ir::Graph&, ir::NodeId)) {
  const auto graph = staged(body);
  ASSERT_TRUE(graph);
  KnownLowerings known;
  check_graph(*graph, &known);
  const ir::NodeId node = graph->value(graph->block(0).terminator.results.at(0)).node;
  {
    Lineage lineage(*graph);
    ASSERT_TRUE(known.find(*graph, node, &lineage)) << body;
  }
  change(*graph, node);
  Lineage lineage(*graph);
  EXPECT_FALSE(known.find(*graph, node, &lineage)) << body;
}

TEST(KnownLowerings, AreForgottenWithWhateverADefinitionLooksAt) {
  const std::string crop = "    return fn.crop(image, crop=[8, 8])\n";
  expect_forgotten(crop, [](ir::Graph& graph, ir::NodeId node) {
    graph.values[graph.node(node).inputs[0]].type.extents[0] = 32;
  });
  expect_forgotten(crop, [](ir::Graph& graph, ir::NodeId node) {
    graph.values[graph.node(node).outputs[0]].type.extents[0] = -1;
  });
  expect_forgotten(crop, [](ir::Graph& graph, ir::NodeId node) {
    graph.nodes[node].args.push_back({"region_from", ir::Attr(std::vector<int64_t>{1}), {}});
  });
  expect_forgotten(crop, [](ir::Graph& graph, ir::NodeId node) { graph.nodes[node].args.pop_back(); });
  expect_forgotten(crop, [](ir::Graph& graph, ir::NodeId node) { graph.nodes[node].span.begin += 1; });
  expect_forgotten(kNumber + "    return number + 1.0\n", [](ir::Graph& graph, ir::NodeId node) {
    std::swap(graph.nodes[node].inputs[0], graph.nodes[node].inputs[1]);
  });
  // What resamples a scaled image asks its decoder.
  expect_forgotten("    return fn.resize(image, size=[8, 8])\n", [](ir::Graph& graph, ir::NodeId node) {
    const ir::NodeId source = graph.value(graph.node(node).inputs[0]).node;
    graph.nodes[source].args.push_back({kScaledForArg, ir::Attr(std::vector<int64_t>{1}), {}});
  });
}

/// Which source draws count with may change far above them.
TEST(KnownLowerings, AreForgottenWhenDrawsCountOtherwise) {
  const auto graph = staged(kNumber +
                            "    other = fn.external_source(name=\"z\", dtype=types.FLOAT, ndim=0)\n"
                            "    return fn.random.coin_flip(probability=other * 0.5)\n");
  ASSERT_TRUE(graph);
  KnownLowerings known;
  check_graph(*graph, &known);
  const ir::NodeId coin = graph->value(graph->block(0).terminator.results.at(0)).node;
  const ir::NodeId product = graph->value(graph->node(coin).find_arg("probability")->as_value()).node;
  std::vector<ir::ValueId> sources;
  for (const ir::NodeId node : graph->block(0).nodes)
    if (graph->node(node).op->source) sources.push_back(graph->node(node).outputs[0]);
  ASSERT_EQ(sources.size(), 3u);
  Lineage before(*graph);
  ASSERT_TRUE(known.find(*graph, coin, &before));
  graph->nodes[product].inputs[0] = sources[1];
  Lineage after(*graph);
  EXPECT_FALSE(known.find(*graph, coin, &after));
  EXPECT_TRUE(known.find(*graph, coin, nullptr)) << "for those who do not mind";
}

/// Sums of images ask where the extents of their operands come from.
TEST(KnownLowerings, OfDefinitionsThatLookAroundAreNotKept) {
  const auto graph = staged("    return image + image\n");
  ASSERT_TRUE(graph);
  const ir::NodeId sum = graph->value(graph->block(0).terminator.results.at(0)).node;
  EXPECT_TRUE(lower_node(*graph, sum).looks_around);
  KnownLowerings known;
  check_graph(*graph, &known);
  Lineage lineage(*graph);
  EXPECT_FALSE(known.find(*graph, sum, &lineage));
}

}  // namespace
}  // namespace galatea::op
