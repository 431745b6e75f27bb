// Lowering nodes: arguments as expressions, draws, checks, locals, outputs.
#include "compiler/op/recipe.h"

#include <gtest/gtest.h>

#include "compiler/op/lineage.h"
#include "tests/graph/graph_text.h"
#include "tests/graph/sample_operators.h"

namespace galatea::testing {
namespace {

using namespace ir;
using kernel::Expr;
using kernel::ExprKind;
using kernel::SymbolKind;
using op::LoweredOutput;
using op::RecipeBuilder;

/// A graph of one probe node (last), which takes an image, its arguments, and whatever definition a test
/// gives it.
struct Probe {
  op::Operator op;
  Graph graph;
  NodeId node = 0;

  Probe(std::vector<op::ArgSpec> args, std::vector<Arg> given,
        Type output = {DType::kF32, 0, {}, Device::kCpu, {}}) {
    op.name = "probe";
    op.random = true;
    op.min_inputs = op.max_inputs = 1;
    op.inputs = {{"image", "", {"HWC"}}};
    op.args = std::move(args);
    op.type_rule = [output](const op::TypeContext&) -> Result<std::vector<Type>> {
      return std::vector{output};
    };
    graph = graph_of(
        "pipeline @p() {\n^0:\n %f, %l = files() {root=\"a\"}\n %x = decode(%f)\n %u = uniform() key=0x2\n "
        "return %x, %u\n}");
    op::GraphBuilder builder(graph);
    auto made = builder.add_node({&op, {x()}, std::move(given), {}, {}, 0x77});
    EXPECT_TRUE(made) << made.error().message();
    node = *made;
  }
  ValueId x() const { return graph.node(1).outputs[0]; }
  ValueId u() const { return graph.node(2).outputs[0]; }
};

TEST(Recipe, StaticArgumentsAreConstants) {
  Probe probe({{"by", op::ArgKind::kFloat, 1.5, false, true},
               {"sizes", op::ArgKind::kIntList, ir::None{}, false, true},
               {"flag", op::ArgKind::kBool, true}},
              {{"sizes", Attr(std::vector<int64_t>{300})}});
  RecipeBuilder b(probe.graph, probe.node);
  EXPECT_EQ(cell_to_double(DType::kF32, b.arg("by", DType::kF32)->value), 1.5);
  EXPECT_EQ(kernel::const_value(b.arg("by", DType::kI32)), 2) << "rounds half to even";
  EXPECT_EQ(kernel::const_value(b.arg("flag", DType::kBool)), 1);
  auto sizes = b.arg_list("sizes", 3, DType::kU8);
  ASSERT_EQ(sizes.size(), 3u);
  for (const Expr& size : sizes)
    EXPECT_EQ(kernel::const_value(size), 255) << "one element is repeated, and saturates";
  EXPECT_EQ(b.arg_length("sizes"), 1);
  EXPECT_EQ(b.arg_length("by"), 1);
  EXPECT_FALSE(b.given("by"));
  EXPECT_TRUE(b.given("sizes"));
  EXPECT_THROW(b.arg("typo", DType::kF32), InternalError);
}

TEST(Recipe, PerSampleArgumentsAreElements) {
  Probe probe({{"by", op::ArgKind::kFloat, 1.5, false, true}}, {});
  probe.graph.nodes[probe.node].args.push_back({"by", probe.u()});
  RecipeBuilder b(probe.graph, probe.node);
  Expr by = b.arg("by", DType::kF32);
  EXPECT_EQ(by->kind, ExprKind::kSymbol);
  EXPECT_EQ(by->symbol, SymbolKind::kElement);
  EXPECT_EQ(by->a, probe.u());
  Expr wide = b.arg("by", DType::kI64);
  EXPECT_EQ(wide->op, ScalarOp::kSaturate);
  EXPECT_TRUE(b.is_per_sample("by"));
}

TEST(Recipe, ExtentsAreSymbolsOrConstants) {
  Probe probe({}, {});
  RecipeBuilder b(probe.graph, probe.node);
  EXPECT_EQ(b.extent(0, 0)->symbol, SymbolKind::kExtent);
  EXPECT_EQ(b.extent(0, 0)->a, probe.x());
  EXPECT_EQ(b.extent(0, 1)->b, 1);
  EXPECT_EQ(kernel::const_value(b.extent(0, 2)), 3);
  EXPECT_THROW(b.element(0, 0), InternalError) << "an image of unknown size has no elements";
}

/// The words of a draw with key and sample put in, by folding.
uint64_t word(const Expr& e, uint64_t key, uint64_t sample) {
  Expr folded = kernel::rewrite(e, [&](const Expr& part) -> Expr {
    if (part->kind != ExprKind::kSymbol) return {};
    return kernel::constant(part->type, {part->symbol == SymbolKind::kNodeKey ? key : sample});
  });
  EXPECT_TRUE(kernel::is_const(folded));
  return folded->value.bits;
}

TEST(Recipe, DrawsAreWordsOfTheNodesStream) {
  Probe probe({}, {});
  RecipeBuilder b(probe.graph, probe.node);
  const uint64_t kKey = 0x0123456789abcdef, kSample = 41;
  for (int64_t element : {0, 1, 2, 3, 4, 7, 1000}) {
    auto at = static_cast<uint64_t>(element);
    uint32_t expected = philox(kKey, at / 4, kSample, static_cast<int>(element % 4));
    EXPECT_EQ(word(b.random_u32(kernel::const_int(element)), kKey, kSample), expected);
    // The same element by an expression that is known only later.
    Expr late = b.random_u32(kernel::symbol(SymbolKind::kBatchSlot, DType::kI64, 0));
    Expr put_in = kernel::rewrite(late, [&](const Expr& part) -> Expr {
      return part->kind == ExprKind::kSymbol && part->symbol == SymbolKind::kBatchSlot
                 ? kernel::const_int(element)
                 : Expr();
    });
    EXPECT_EQ(word(put_in, kKey, kSample), expected);
    float unit = static_cast<float>(
        cell_to_double(DType::kF32, {word(b.random_unit(kernel::const_int(element)), kKey, kSample)}));
    EXPECT_EQ(unit, static_cast<float>(expected >> 8) / 16777216.0f);
    EXPECT_EQ(word(b.random_below(kernel::const_int(element), kernel::const_int(10)), kKey, kSample),
              uint64_t{expected} * 10 >> 32);
  }
  Expr one = b.random_u32(kernel::const_int(5));
  EXPECT_EQ(one->kind, ExprKind::kPhilox);
  EXPECT_EQ(one->args[0]->a, probe.node);
  EXPECT_EQ(one->args[2]->a, 0) << "numbered by the reader that the image comes from";
}

TEST(Recipe, ChecksThatHoldVanish) {
  Probe probe({}, {});
  RecipeBuilder b(probe.graph, probe.node);
  b.check(kernel::const_bool(true), "never");
  b.check(kernel::equal(b.extent(0, 2), kernel::const_int(3)), "never");
  b.check(kernel::const_bool(false), "always");
  b.check(b.extent(0, 0) > kernel::const_int(4), "{} rows are too few", {b.extent(0, 0)},
          "take a larger image");
  auto locals = b.native_scalars("probe.native", {0}, {}, "{}", {DType::kI64, DType::kF32});
  b.output_scalars(0, {kernel::convert(locals[1], DType::kF32)});
  op::Lowering lowering = b.take();
  ASSERT_EQ(lowering.checks.size(), 2u);
  EXPECT_EQ(lowering.checks[0].message, "always");
  ASSERT_EQ(lowering.native_scalars.size(), 1u);
  EXPECT_EQ(lowering.native_scalars[0].order, 2u);
  EXPECT_EQ(lowering.native_scalars[0].locals[1], locals[1]->a);
  // Locals of two nodes never meet.
  EXPECT_NE(op::lower_node(probe.graph, 1).native_scalars[0].locals[0], lowering.native_scalars[0].locals[0]);
}

TEST(Recipe, OutputsMustBeDefinedOnce) {
  Probe probe({}, {});
  RecipeBuilder none(probe.graph, probe.node);
  EXPECT_THROW(none.take(), InternalError);
  RecipeBuilder twice(probe.graph, probe.node);
  twice.output_scalars(0, {kernel::const_float(1)});
  EXPECT_THROW(twice.output_scalars(0, {kernel::const_float(1)}), InternalError);
  RecipeBuilder wrong(probe.graph, probe.node);
  EXPECT_THROW(wrong.output_scalars(0, {kernel::const_int(1)}), InternalError) << "of another type";
}

TEST(Recipe, PermutedOutput) {
  Probe probe({}, {}, {DType::kU8, 3, "CHW", Device::kCpu, {3, -1, -1}});
  RecipeBuilder b(probe.graph, probe.node);
  auto stage =
      b.map("copy", DType::kU8, b.extents(0), [&](const std::vector<Expr>& axes) { return b.load(0, axes); });
  b.output_stage(0, stage, {2, 0, 1});
  op::Lowering lowering = b.take();
  EXPECT_EQ(kernel::const_value(lowering.outputs[0].extents[0]), 3);
  EXPECT_TRUE(kernel::same(lowering.outputs[0].extents[1], b.extent(0, 0)));
  EXPECT_EQ(lowering.stages[0].body->target.index, 0);
  EXPECT_THROW(
      RecipeBuilder(probe.graph, probe.node)
          .map("wrong", DType::kF32, {}, [](const std::vector<Expr>&) { return kernel::const_int(1); }),
      InternalError);
}

TEST(Lineage, FindsTheSourceThatCounts) {
  Graph graph = graph_of(R"(pipeline @p() {
^0:
  %f, %l = files() {root="a"}
  %g, %m = files() {root="b"}
  %x = decode(%g)
  %u = uniform() key=0x1
  branch %u ^1, ^2
^1(^0):
  %y = flip(%x)
  jump ^2
^2(^0, ^1):
  %z = merge(%x, %y) : u8[?,?,3] HWC
  %r = random_zoom(%z) {size=[2, 2]} key=0x2
  return %r
})");
  EXPECT_EQ(op::counting_source(graph, 5), 1) << "through the merge, to the second reader";
  EXPECT_EQ(op::counting_source(graph, 3), 0) << "a draw from nothing counts by the first reader";
  op::Lineage lineage(graph);
  for (ir::NodeId node : {5u, 3u, 4u, 2u, 5u})
    EXPECT_EQ(lineage.counting_source(node), op::counting_source(graph, node))
        << "in any order, node " << node;
  Graph none = graph_of("pipeline @p() {\n^0:\n %u = uniform() key=0x1\n return %u\n}");
  EXPECT_EQ(op::counting_source(none, 0), -1);
}

}  // namespace
}  // namespace galatea::testing
