// When graphs are verified between the passes, and what is said of a pass that leaves an illegal one.
#include "compiler/passes/pass_runner.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/compile.h"
#include "compiler/ir/text/verifier.h"
#include "tests/graph/graph_text.h"
#include "tests/graph/sample_operators.h"

namespace galatea::testing {
namespace {

using passes::VerifyPasses;

/// An operator whose type rule changes its mind: what a pass does to a graph whose node it forgets to look
/// after.
bool gives_integers = false;
const op::Operator& moody() {
  static const op::Operator kMoody = [] {
    op::Operator made;
    made.name = "moody";
    made.min_inputs = made.max_inputs = 1;
    made.inputs.push_back({"in", "", {}, {}});
    made.type_rule = [](const op::TypeContext&) -> Result<std::vector<ir::Type>> {
      return std::vector{ir::Type{gives_integers ? DType::kI32 : DType::kF32, 0, {}, ir::Device::kCpu, {}}};
    };
    return made;
  }();
  return kMoody;
}

/// Constants that fold, and a node that is legal for as long as its type rule says so.
ir::Graph graph_with_moods() {
  gives_integers = false;
  ir::Graph graph = graph_of(R"(pipeline @p() {
^0:
  %x = uniform() key=0x1
  %a = constant() {value=0.5}
  %b = constant() {value=0.25}
  %c = add(%a, %b)
  return %c, %x
}
)");
  op::GraphBuilder builder(graph);
  builder.set_insertion_block(0);
  auto node =
      builder.add_node({&moody(), {graph.block(0).terminator.results.at(1)}, {}, {}, {}, 0, false, ""});
  EXPECT_TRUE(node);
  graph.blocks[0].terminator.results.push_back(graph.node(*node).outputs[0]);
  graph.output_names.emplace_back("moody");
  EXPECT_TRUE(verify(graph));
  return graph;
}

Result<std::vector<passes::PassReport>> run(ir::Graph graph, VerifyPasses verify) {
  passes::PassOptions options;
  options.verify = verify;
  gives_integers = true;
  return passes::run_passes(graph, sample_registry(), options);
}

TEST(VerifyPasses, FormAfterEachTypesAtTheEnd) {
  const ir::Graph graph = graph_with_moods();
  const auto at_end = run(graph, VerifyPasses::kTypesAtEnd);
  ASSERT_FALSE(at_end);
  EXPECT_EQ(at_end.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(at_end.error().diagnostics.front().notes.back(), "after the passes");
  const auto after_each = run(graph, VerifyPasses::kAfterEach);
  ASSERT_FALSE(after_each);
  EXPECT_EQ(after_each.error().diagnostics.front().notes.back(), "after the pass fold_constants");
  EXPECT_TRUE(run(graph, VerifyPasses::kNever));
}

/// What is wrong with the graph's form is known at once, whoever asks.
TEST(VerifyPasses, TheFormIsMoreThanTypes) {
  ir::Graph graph = graph_with_moods();
  gives_integers = true;
  EXPECT_FALSE(verify(graph));
  EXPECT_TRUE(verify_form(graph));
  graph.blocks[0].nodes.push_back(graph.blocks[0].nodes.front());
  EXPECT_FALSE(verify_form(graph)) << "a node that stands twice";
}

/// Which pass it was is found out when something is wrong, by passing again.
TEST(VerifyPasses, TheCompilerNamesThePass) {
  const std::string before = std::getenv("GALATEA_VERIFY") ? std::getenv("GALATEA_VERIFY") : "";
  for (const auto& [setting, note] : {std::pair("1", "after the pass fold_constants"),
                                      std::pair("each", "after the pass fold_constants")}) {
    ::setenv("GALATEA_VERIFY", setting, 1);
    EXPECT_EQ(passes::default_pass_options().verify,
              std::string(setting) == "each" ? VerifyPasses::kAfterEach : VerifyPasses::kTypesAtEnd);
    const ir::Graph graph = graph_with_moods();
    gives_integers = true;
    CompileOptions options;
    options.registry = &sample_registry();
    options.check = false;
    const auto program = compile(graph, SourceMap(), options);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().kind, ErrorKind::kInternal);
    EXPECT_EQ(program.error().diagnostics.front().notes.back(), note);
  }
  ::setenv("GALATEA_VERIFY", "0", 1);
  EXPECT_EQ(passes::default_pass_options().verify, VerifyPasses::kNever);
  ::setenv("GALATEA_VERIFY", before.c_str(), 1);
}

}  // namespace
}  // namespace galatea::testing
