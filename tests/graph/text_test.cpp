// The text form: everything it can say comes back; what is wrong is said where it is.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/ir/attr.h"
#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/reader.h"
#include "tests/graph/graph_text.h"
#include "tests/graph/sample_operators.h"

namespace galatea::testing {
namespace {

using namespace ir;

TEST(GraphText, KeepsEverything) {
  std::string text =
      R"(pipeline @train(batch_size=64, num_threads=3, seed=-1, prefetch_queue_depth=4, exact=false, on_error=skip, memory_limit=1000000, outputs=["image", "say \"so\""]) {
^0:
  %file, %label = files() {root="a\\b\n\"c\""} : u8[?], i32[1] name="Reader"
  %image = decode(%file) : u8[?,?,3] HWC
  %0 = uniform() {range=[-1.0, 1e+300]} : f32[] key=0xfedcba9876543210 own_seed
  %c = constant() {value=[1.5, -0.0, inf, -inf], shape=[2, 2]} : f32[2,2]
  %i = constant() {value=[-9223372036854775808, 9223372036854775807], dtype=i64, shape=[2]} : i64[2]
  %image.1 = brighten(%image) {by=%0} : u8[?,?,3] HWC
  %n = convert(%0) {dtype=u16} : u16[]
  switch %n [^1, ^2, ^3]
^1(^0):
  jump ^4
^2(^0):
  %image.2 = flip(%image) : u8[?,?,3] HWC
  jump ^4
^3(^0):
  %b = less(%0, %0) : bool[]
  branch %b ^5, ^6
^5(^3):
  jump ^4
^6(^3):
  jump ^4
^4(^2, ^1, ^6, ^5):
  %image.3 = merge(%image.2, %image, %image.1, %image) : u8[?,?,3] HWC
  return %image.3, %label, %c, %i
}
)";
  Graph graph = graph_of(text);
  std::string once = to_text(graph);
  // Blocks are numbered in topological order, merges' results where they stand; the rest is as written.
  EXPECT_EQ(to_text(graph_of(once)), once);
  for (const char* part :
       {"exact=false, on_error=skip, memory_limit=1000000", "outputs=[\"image\", \"say \\\"so\\\"\"]",
        "{root=\"a\\\\b\\n\\\"c\\\"\"}", "name=\"Reader\"",
        "{range=[-1.0, 1e+300]} : f32[] key=0xfedcba9876543210 own_seed", "value=[1.5, -0.0, inf, -inf]",
        "value=[-9223372036854775808, 9223372036854775807]", "merge(%image.2, %image, %image.1, %image)",
        "switch %n [^1, ^2, ^3]"})
    EXPECT_NE(once.find(part), std::string::npos) << part << "\n" << once;
  EXPECT_EQ(graph.options.batch_size, 64);
  EXPECT_EQ(graph.options.on_error, OnError::kSkip);
  EXPECT_EQ(graph.node(0).name, "Reader");
}

TEST(GraphText, AttributesReadBack) {
  std::mt19937_64 random(5);
  auto check = [](const Attr& attr) {
    Graph graph = graph_of("pipeline @p() {\n^0:\n %a = constant() {value=" + to_text(attr) +
                           ", shape=[0]} : f32[0]\n return %a\n}");
    ASSERT_EQ(graph.nodes.size(), 1u) << to_text(attr);
    EXPECT_EQ(graph.node(0).args[0].as_attr(), attr) << to_text(attr);
  };
  for (int n = 0; n < 300; ++n) {
    auto bits = random();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (number == number) check(Attr(number));
    check(Attr(static_cast<int64_t>(bits)));
    check(Attr(std::vector<int64_t>{static_cast<int64_t>(bits), 0}));
    std::string text;
    for (int k = 0; k < 6; ++k) text += static_cast<char>(random() % 128);
    check(Attr(text));
    check(Attr(std::vector<std::string>{text, "", "ü→"}));
  }
  for (const Attr& attr :
       {Attr(true), Attr(false), Attr(DType::kF16), Attr(std::vector<double>{}), Attr(std::vector<int64_t>{}),
        Attr(std::vector<std::string>{}), Attr(1e15), Attr(100.0)})
    check(attr);
}

TEST(GraphText, RemarksNameLaterValues) {
  Graph graph = graph_of(
      "pipeline @p() {\n^0:\n %f, %l = files() {root=\"a\"}\n %x = decode(%f) {region_from=[%y]}\n %y = "
      "crop(%x) {size=[2, 2]}\n return %y\n}");
  const Arg* remark = graph.node(1).find_arg("region_from");
  ASSERT_NE(remark, nullptr);
  EXPECT_EQ(attr_integers(remark->as_attr()), std::vector<int64_t>{graph.node(2).outputs[0]});
  EXPECT_NE(to_text(graph).find("{region_from=[%y]}"), std::string::npos);
}

TEST(GraphText, PlacesAreComments) {
  SourceMap sources;
  std::string text = "pipeline @p() {\n^0:\n %a = uniform() key=0x1\n return %a\n}";
  auto graph = read_graph(text, sources, sample_registry());
  ASSERT_TRUE(graph);
  std::string with_places = to_text(*graph, sources);
  EXPECT_NE(with_places.find("key=0x1  # <graph>:3:2"), std::string::npos) << with_places;
  EXPECT_EQ(to_text(graph_of(with_places)), to_text(*graph));
}

struct Wrong {
  const char* body;   ///< after the line "^0:", which is line 2
  const char* error;  ///< line:column: message
};

TEST(GraphText, ErrorsSayWhereTheyAre) {
  const Wrong kWrong[] = {
      {" return %a", "3:9: in the text of a graph: %a is not defined before this"},
      {" %a = uniform() key=12\n return %a", "4:2: in the text of a graph: a key is hexadecimal, as in 0x1f"},
      {" %a = uniforn() key=0x1\n return %a", "3:2: there is no operator uniforn"},
      {" %a = uniform() key=0x1\n %a = uniform() key=0x2\n return %a",
       "5:2: in the text of a graph: %a is defined twice"},
      {" %a, %b = uniform() key=0x1\n return %a",
       "4:2: in the text of a graph: uniform has 1 outputs, but 2 names stand before it"},
      {" %a = uniform() {rang=[0, 1]} key=0x1\n return %a", "3:18: fn.uniform has no argument rang"},
      {" %a = uniform() {range=[0, \"b\"]} key=0x1\n return %a",
       "3:18: argument range of fn.uniform must be a number or a list of numbers, but is the list [0, "
       "\"b\"]"},
      {" %a = uniform() {range=[[0]]} key=0x1\n return %a",
       "3:18: argument range of fn.uniform must be a number or a list of numbers, but is the list [[0]]"},
      {" %a = uniform() {range={\"a\": 1, \"a\": [0, {}]}} key=0x1\n return %a",
       "3:36: in the text of a graph: the dictionary has \"a\" twice"},
      {" %a = uniform() {range=[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]} key=0x1\n return %a",
       "3:41: in the text of a graph: lists and dictionaries lie too deep in each other"},
      {" %a = uniform() {range=\"x} key=0x1\n return %a",
       "3:24: in the text of a graph: the text does not end on its line"},
      {" %a = uniform() : f33[] key=0x1\n return %a",
       "3:22: in the text of a graph: an element type is expected"},
      {" %a = uniform() : i32[] key=0x1\n return %a",
       "3:2: in the text of a graph: the type is i32[], but uniform gives f32[]"},
      {" %a = uniform()\n return %a", "3:2: illegal graph: the random operator uniform has no key"},
      {" jump ^0", "4:1: in the text of a graph: ^0 stands before this block"},
      {" jump ^1", "4:2: in the text of a graph: ^1 is used, but there is no such block"},
      {" %a = uniform() key=0x1\n branch %a ^1, ^1\n^1:\n return %a",
       "5:1: in the text of a graph: both ways of the branch are one"},
      {" jump ^1\n^1(^2):\n return",
       "4:7: in the text of a graph: the blocks before this one do not go to ^1 as it says"},
      {" jump ^1\n^1(^0):\n %b = merge(%b) : f32[]\n return",
       "5:13: in the text of a graph: %b is not defined before this"},
      {" %a = uniform() key=0x1\n jump ^1\n^1(^0):\n %b = merge(%a) : f32[]\n return %b",
       "6:2: illegal graph: block 1 has merges, but fewer than two predecessors"},
      {" jump ^1\n^1(^0):\n %f, %l = files() {root=\"a\"}\n return %f",
       "5:2: illegal graph: the source files stands outside the entry block"},
      {" %f, %l = files() {root=\"a\"}\n branch %l ^1, ^2\n^1(^0):\n jump ^2\n^2(^0, ^1):\n return %f",
       "4:2: illegal graph: the selector %l is i32[1], not a scalar"},
      {" %u = uniform() key=0x1\n switch %u [^1, ^2]\n^1(^0):\n jump ^2\n^2(^0, ^1):\n return %u",
       "4:2: illegal graph: the selector %u is f32[], not an integer"},
      {" %u = uniform() key=0x1\n branch %u ^1, ^2\n^1(^0):\n %a = add(%u, %u)\n jump ^2\n^2(^0, ^1):\n "
       "return %a",
       "9:2: illegal graph: %a is used where its definition does not come before on every path"},
      {" %u = uniform() key=0x1\n %i = convert(%u) {dtype=i32}\n branch %u ^1, ^2\n^1(^0):\n jump ^2\n^2(^0, "
       "^1):\n %m = merge(%u, %i) : f32[]\n return %m",
       "9:2: illegal graph: %m is f32[], but merges %i of type i32[]"},
      {" %u = uniform() key=0x1\n branch %u ^1, ^2\n^1(^0):\n return\n^2(^0):\n return",
       "illegal graph: 2 blocks end in return, not one"},
      {" return\n^1:\n return", "5:2: illegal graph: no path leads to block 1, which is not empty"},
      {" return } x", "3:11: in the text of a graph: nothing may follow the pipeline"},
      {" %a = constant() {value=1, value=2}\n return %a",
       "3:28: argument value of fn.constant is given twice"},
      {" %a = constant() {value=99999999999999999999}\n return %a", ""},
      {" %a = constant() {value=9e999}\n return %a", "3:25: in the text of a graph: a value is expected"},
  };
  for (const Wrong& wrong : kWrong) {
    std::string text = std::string("pipeline @p() {\n^0:\n") + wrong.body + "\n}";
    EXPECT_EQ(error_of(text), wrong.error) << text;
  }
  auto code_of = [](const std::string& body) {
    SourceMap sources;
    auto graph = read_graph("pipeline @p() {\n^0:\n" + body + "\n}", sources, sample_registry());
    return graph ? std::string() : graph.error().diagnostics[0].code;
  };
  EXPECT_EQ(code_of(" %a = uniform()\n return %a"), "G0500");
  EXPECT_EQ(code_of(" return %a"), "G0501");
  EXPECT_EQ(code_of(" %a = uniforn() key=0x1\n return %a"), "G0502");
}

TEST(GraphText, ErrorsOfTheHeader) {
  EXPECT_EQ(error_of(""), "1:1: in the text of a graph: a graph begins with `pipeline @name(…) {`");
  EXPECT_EQ(error_of("pipeline @p(batch_siz=3) {"),
            "1:24: in the text of a graph: there is no option batch_siz");
  EXPECT_EQ(error_of("pipeline @p(batch_size=-3) {"),
            "1:26: in the text of a graph: batch_size is out of range");
  EXPECT_EQ(error_of("pipeline @p(on_error=ignore) {"),
            "1:22: in the text of a graph: `raise`, `skip` or `replace` is expected");
  EXPECT_EQ(error_of("pipeline @p() {\n}"), "2:2: in the text of a graph: the pipeline has no blocks");
  EXPECT_EQ(error_of("pipeline @p() {\n^0:\n return"),
            "3:8: in the text of a graph: `}` is expected at the end of the pipeline");
}

/// Text with pieces cut out, doubled or changed never crashes the reader; what it accepts is legal and
/// prints.
TEST(GraphText, MutilatedTextIsRefusedOrLegal) {
  std::string good =
      read_file(std::string(GALATEA_SOURCE_DIR) + "/tests/golden/pass/hoist_over_branch/switch.graph");
  std::mt19937 random(11);
  int accepted = 0;
  for (int n = 0; n < 3000; ++n) {
    std::string text = good;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      size_t at = random() % text.size(), length = random() % 12;
      switch (random() % 4) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(random() % text.size(), length));
          break;
        case 2:
          text[at] = static_cast<char>(random() % 256);
          break;
        default:
          text[at] = "%^(){}[]:,=0\"\\#."[random() % 16];
      }
      if (text.empty()) text = " ";
    }
    SourceMap sources;
    auto graph = read_graph(text, sources, sample_registry());
    if (!graph) continue;
    ++accepted;
    std::string once = to_text(*graph);
    EXPECT_EQ(to_text(graph_of(once)), once);
  }
  EXPECT_GT(accepted, 30);
}

}  // namespace
}  // namespace galatea::testing
