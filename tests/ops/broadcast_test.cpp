// Extents that are known to be equal because they come from one place: no check, no stretching.
#include "compiler/op/recipe.h"
#include "stdlib_ops/common/pointwise.h"
#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

class Builder {
 public:
  Builder() { builder_.set_insertion_block(builder_.add_block()); }
  ir::ValueId source(const std::string& layout) {
    return add("external_source", {}, {{"dtype", DType::kU8, {}}, {"layout", layout, {}}});
  }
  ir::ValueId add(const std::string& name, std::vector<ir::ValueId> inputs, std::vector<ir::Arg> args = {}) {
    op::GraphBuilder::NodeSpec spec;
    spec.op = registry().find(name);
    spec.inputs = std::move(inputs);
    spec.args = std::move(args);
    auto node = builder_.add_node(std::move(spec));
    EXPECT_TRUE(node.has_value()) << name << ": " << (node ? "" : node.error().message());
    return graph.node(*node).outputs[0];
  }
  ir::Graph graph;

 private:
  op::GraphBuilder builder_{graph};
};

TEST(ExtentRoots, FollowOperatorsThatKeepExtents) {
  Builder b;
  const ir::ValueId image = b.source("HWC"), other = b.source("HWC");
  const ir::ValueId half = b.add("constant", {}, {{"value", 0.5, {}}, {"shape", std::vector<int64_t>{}, {}}});
  const ir::ValueId edges = b.add("laplacian", {b.add("flip", {image})});
  const ir::ValueId mixed =
      b.add("arith.add", {b.add("arith.mul", {half, image}), b.add("arith.mul", {half, edges})});
  const ir::ValueId cropped = b.add("crop", {image}, {{"crop", std::vector<double>{4, 4}, {}}});
  EXPECT_EQ(ops::extent_root(b.graph, mixed, 1), ops::extent_root(b.graph, image, 1));
  EXPECT_NE(ops::extent_root(b.graph, cropped, 1), ops::extent_root(b.graph, image, 1));
  EXPECT_NE(ops::extent_root(b.graph, other, 1), ops::extent_root(b.graph, image, 1));
  const op::Lowering same = op::lower_node(b.graph, b.graph.value(mixed).node);
  EXPECT_TRUE(same.checks.empty());
  const ir::ValueId sum = b.add("arith.add", {image, other});
  EXPECT_EQ(op::lower_node(b.graph, b.graph.value(sum).node).checks.size(), 3u);
}

}  // namespace
}  // namespace galatea::ops_test
