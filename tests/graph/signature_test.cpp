// Signatures: equal for nodes that compute the same, different where anything that counts differs.
#include <gtest/gtest.h>

#include "compiler/passes/graph_edits.h"
#include "tests/graph/sample_operators.h"

namespace galatea::testing {
namespace {

using ir::Attr;

ir::Node node_with(const std::string& op, std::vector<ir::Arg> args) {
  ir::Node node;
  node.op = sample_registry().find(op);
  EXPECT_NE(node.op, nullptr);
  node.args = std::move(args);
  return node;
}

TEST(Signature, TellsEveryAttributeFromEveryOther) {
  const std::vector<Attr> attrs = {
      Attr(ir::None()),
      Attr(true),
      Attr(false),
      Attr(int64_t{0}),
      Attr(int64_t{1}),
      Attr(0.0),
      Attr(-0.0),
      Attr(1.0),
      Attr(1.0000000000000002),
      Attr(std::string()),
      Attr(std::string("1")),
      Attr(DType::kU8),
      Attr(DType::kI8),
      Attr(std::vector<int64_t>()),
      Attr(std::vector<int64_t>{1}),
      Attr(std::vector<int64_t>{1, 0}),
      Attr(std::vector<double>()),
      Attr(std::vector<double>{1}),
      Attr(std::vector<std::string>()),
      Attr(std::vector<std::string>{"a", "b"}),
      Attr(std::vector<std::string>{"ab"}),
      Attr(std::vector<std::string>{"ab", ""}),
  };
  for (size_t i = 0; i < attrs.size(); ++i)
    for (size_t k = 0; k < attrs.size(); ++k)
      EXPECT_EQ(passes::signature(node_with("constant", {{"value", attrs[i], {}}})) ==
                    passes::signature(node_with("constant", {{"value", attrs[k], {}}})),
                i == k)
          << to_text(attrs[i]) << " " << to_text(attrs[k]);
}

TEST(Signature, DoesNotMindTheOrderOfArgumentsNamesAndPlaces) {
  const ir::Arg a{"a", Attr(1.0), {}}, b{"b", ir::ValueId{7}, {}};
  ir::Node one = node_with("add", {a, b}), other = node_with("add", {b, a});
  one.inputs = other.inputs = {1, 2};
  other.name = "named";
  other.span = {1, 2, 3};
  EXPECT_EQ(passes::signature(one), passes::signature(other));
  other.inputs = {2, 1};
  EXPECT_NE(passes::signature(one), passes::signature(other));
  other = node_with("mul", {a, b});
  other.inputs = one.inputs;
  EXPECT_NE(passes::signature(one), passes::signature(other)) << "another operator";
  other = one;
  other.key = 1;
  EXPECT_NE(passes::signature(one), passes::signature(other)) << "another stream of draws";
  other = one;
  other.args[1].value = Attr(int64_t{7});
  EXPECT_NE(passes::signature(one), passes::signature(other)) << "a value is not its number";
}

TEST(Signature, IsThatOfTheOperandsThatStandForOthers) {
  ir::Graph graph;
  graph.values.resize(10);
  passes::Replacements replacements(graph);
  replacements.add(5, 4);
  replacements.add(4, 1);
  ir::Node one = node_with("add", {{"b", ir::ValueId{5}, {}}}),
           other = node_with("add", {{"b", ir::ValueId{1}, {}}});
  one.inputs = {4, 2};
  other.inputs = {1, 2};
  EXPECT_NE(passes::signature(one), passes::signature(other));
  EXPECT_EQ(passes::signature(one, replacements), passes::signature(other));
}

}  // namespace
}  // namespace galatea::testing
