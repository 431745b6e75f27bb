// What values look like in messages and prints, and library functions that are one thing for numbers and
// another for data.
#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include "compiler/ir/text/printer.h"
#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

const char* kPrelude =
    "from typing import List\nimport numpy as np\nimport galatea\n"
    "from nvidia.dali import fn, math, newaxis, ops, pipeline_def, types\n"
    "from nvidia.dali.pipeline import Pipeline\n"
    "def f(a):\n    return a\n"
    "@pipeline_def(batch_size=2, num_threads=3, seed=7)\ndef other():\n    return 1\n";

// What `print` says of an expression that stands in a file.
std::string printed(const std::string& expression) {
  Staged staged = stage("t.dali-dsl", kPrelude + ("print(" + expression + ")\n"));
  EXPECT_TRUE(staged.result.ok) << expression << "\n" << staged.diagnostics;
  return staged.result.diagnostics.empty() ? "" : staged.result.diagnostics.front().message;
}

struct Shown {
  const char *expression, *text;
};

TEST(Values, AreShownByWhatTheyAre) {
  for (const Shown& shown : {Shown{"f", "<function f>"},
                             {"[f, len]", "[<function f>, <built-in len>]"},
                             {"fn", "<module fn>"},
                             {"fn.flip", "<operator fn.flip>"},
                             {"ops.Flip", "<operator fn.flip>"},
                             {"ops.Flip(device='cpu')", "<operator fn.flip>"},
                             {"other", "<pipeline other>"},
                             {"types.FLOAT", "types.FLOAT"},
                             {"[types.INTERP_CUBIC]", "[types.INTERP_CUBIC]"},
                             {"types.INTERP_CUBIC.name, types.INTERP_CUBIC.value", "INTERP_CUBIC 2"},
                             {"types.NHWC", "HWC"},
                             {"...", "Ellipsis"},
                             {"range(2, 8, 3), range(4)", "range(2, 8, 3) range(0, 4)"},
                             {"galatea.struct(a=1, b='x')", "struct(a=1, b='x')"},
                             {"f.__name__", "f"},
                             {"newaxis", "<newaxis>"},
                             {"pipeline_def(batch_size=1)", "<decorator>"},
                             {"List[int]", "<built-in List>"}})
    EXPECT_EQ(printed(shown.expression), shown.text) << shown.expression;
}

TEST(Values, OfTheLibraryCompareAndAreKeys) {
  for (const Shown& shown :
       {Shown{"types.FLOAT == types.FLOAT, types.FLOAT == types.UINT8", "True False"},
        {"types.INTERP_NN == types.INTERP_NN, types.INTERP_NN == types.RGB", "True False"},
        {"{types.FLOAT: 1, types.RGB: 2}[types.RGB]", "2"},
        {"{other: 1}[other], {f: 3}[f]", "1 3"},
        {"galatea.struct(a=1) == galatea.struct(a=1.0), galatea.struct(a=1) == galatea.struct(b=1)",
         "True False"},
        {"galatea.struct(a=1) == galatea.struct(a=1, b=2)", "False"},
        {"np.arange(2) in [np.arange(2)]", "True"},
        {"hasattr(galatea.struct(a=1), 'a'), hasattr(galatea.struct(a=1), 'b')", "True False"},
        {"getattr(galatea.struct(a=1), 'a'), getattr(galatea.struct(a=1), 'b', 5)", "1 5"},
        {"isinstance(np.float32(1), np.float32), isinstance(np.float32(1), np.int8)", "True False"},
        {"isinstance(np.arange(2), list), callable(fn.flip), callable(ops.Flip)", "False True True"},
        {"str(np.array(3)), int(np.array([4])), float(np.array([2.5]))", "3 4 2.5"}})
    EXPECT_EQ(printed(shown.expression), shown.text) << shown.expression;
}

TEST(Values, NodesAreDataNodes) {
  Staged staged = stage_body(
      "import numpy as np\nfrom nvidia.dali.data_node import DataNode\nx = fn.random.uniform()\n"
      "print(isinstance(x, DataNode), isinstance(x, np.ndarray), isinstance(np.arange(2), np.ndarray), "
      "isinstance(1, DataNode))\nreturn x");
  EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
  ASSERT_FALSE(staged.result.diagnostics.empty());
  EXPECT_EQ(staged.result.diagnostics.front().message, "True False True False");
}

TEST(Values, PrintedNodesShowTheirTypesAlsoInsideLists) {
  Staged staged = stage_body(
      "x = fn.random.uniform()\nprint(x, [x, 1], (x,), sep='; ')\nprint(sum([x, x]), max([1, 2]))\nreturn x");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  ASSERT_EQ(staged.result.diagnostics.size(), 2u) << staged.diagnostics;
  const std::string& first = staged.result.diagnostics[0].message;
  const std::string type = first.substr(0, first.find(';'));
  EXPECT_NE(type.find("f32[]"), std::string::npos) << first;
  EXPECT_EQ(first, type + "; [" + type + ", 1]; (" + type + ",)");
  EXPECT_EQ(staged.result.diagnostics[1].message, type + " 2");
}

// ---- math and constants ----

TEST(MathOnData, EachFunctionIsItsOperator) {
  for (const char* name :
       {"sqrt", "rsqrt", "cbrt", "exp",  "log",  "log2", "log10", "abs",  "fabs",  "floor", "ceil", "sin",
        "cos",  "tan",   "asin", "acos", "atan", "sinh", "cosh",  "tanh", "asinh", "acosh", "atanh"}) {
    Staged staged = stage_body(std::string("x = fn.random.uniform()\nreturn math.") + name + "(x)");
    ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
    EXPECT_NE(staged.graphs.find(std::string("math.") + name + "("), std::string::npos) << staged.graphs;
  }
  for (const char* name : {"pow", "fpow", "min", "max", "atan2"}) {
    Staged staged = stage_body(std::string("x = fn.random.uniform()\nreturn math.") + name + "(x, 2)");
    ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
    EXPECT_NE(staged.graphs.find(std::string("math.") + name + "("), std::string::npos) << staged.graphs;
  }
  Staged clamped = stage_body("x = fn.random.uniform()\nreturn math.clamp(x, 0.25, 0.5)");
  EXPECT_NE(clamped.graphs.find("math.clamp("), std::string::npos) << clamped.diagnostics;
}

TEST(MathOnData, ALogarithmWithABaseIsAQuotientAndAnAngleAProduct) {
  Staged staged =
      stage_body("x = fn.random.uniform()\nreturn math.log(x, 2), math.radians(x), math.degrees(x), abs(x)");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  for (const char* part : {"math.log(", "arith.div(", "arith.mul(", "math.abs("})
    EXPECT_NE(staged.graphs.find(part), std::string::npos) << part << staged.graphs;
}

TEST(MathOnNumbers, OfDaliIsPythonsWithMinMaxAndClamp) {
  for (const Shown& shown :
       {Shown{"math.min(2, 1), math.min(1, 2), math.max(2, 1), math.max(1, 2.5)", "1 1 2 2.5"},
        {"math.clamp(5, 0, 3), math.clamp(-1, 0, 3), math.clamp(2, 0, 3)", "3 0 2"},
        {"math.rsqrt(4), math.abs(-3), math.abs(-2.5), math.fpow(2, 3)", "0.5 3 2.5 8.0"},
        {"math.atan2(0, 1), math.log(8, 2), math.floor(2.5)", "0.0 3.0 2"}})
    EXPECT_EQ(printed(shown.expression), shown.text) << shown.expression;
}

TEST(Constants, TakeTheirTypeShapeLayoutAndDevice) {
  Staged staged = stage_body(
      "a = types.Constant(3, dtype=types.UINT8)\n"
      "b = types.Constant([1, 2, 3, 4], types.FLOAT, [2, 2], 'HW', 'cpu')\n"
      "c = types.Constant(0.5, shape=3, device='gpu')\n"
      "return a, b, c");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  for (const char* type : {"u8[]", "f32[2,2] HW", "f32[3]"})
    EXPECT_NE(staged.graphs.find(type), std::string::npos) << type << staged.graphs;
  ASSERT_EQ(staged.result.diagnostics.size(), 1u) << staged.diagnostics;
  EXPECT_EQ(staged.result.diagnostics[0].code, "G0275");
}

TEST(Constants, OutsideAPipelineAreArrays) {
  EXPECT_EQ(printed("types.Constant([1, 2], dtype=types.FLOAT)"),
            printed("np.array([1, 2], dtype=np.float32)"));
  EXPECT_EQ(printed("types.Constant(3)"), "3");
}

// ---- numbers that become data ----

// What an expression over a node `x` of INT64 is typed as; its codes where it is refused.
std::string as_data(const std::string& expression) {
  Staged staged = stage("t.dali-dsl", std::string(kPrelude) +
                                          "@pipeline_def(batch_size=1)\ndef p():\n"
                                          "    x = fn.external_source(name='x', dtype=types.INT64, ndim=0)\n"
                                          "    return " +
                                          expression + "\n");
  if (!staged.result.ok) return fmt::format("{}", fmt::join(staged.codes, " "));
  const ir::Graph& graph = *staged.result.graphs.back();
  return ir::to_text(graph.type(graph.block(graph.exit_block()).terminator.results.at(0)));
}

// DALI gives a Python integer the type INT32 whatever it meets, and refuses what that cannot hold; recorded
// as refused_large_… in tests/oracle.
TEST(Constants, BeyondTheirTypeAreRefusedWhereverTheyMeetData) {
  for (const char* expression : {"x * 4294967296",
                                 "4294967296 * x",
                                 "x + 2147483648",
                                 "x - -2147483649",
                                 "x < 4294967296",
                                 "-4294967296 == x",
                                 "x * (1 << 40)",
                                 "x // 9223372036854775807",
                                 "x & 4294967296",
                                 "x ** 4294967296",
                                 "x * [4294967296, 1]",
                                 "x * np.array([1, -4294967296])",
                                 "np.int64(4294967296) * x",
                                 "x + types.Constant(4294967296)",
                                 "types.Constant([4294967296])",
                                 "types.Constant(300, dtype=types.UINT8)",
                                 "types.Constant(-1, dtype=types.UINT64)",
                                 "types.Constant(1e300, dtype=types.INT64)",
                                 "types.Constant(float('nan'), dtype=types.INT32)",
                                 "types.Constant(2, dtype=types.BOOL)",
                                 "math.max(x, 4294967296)",
                                 "4294967296 if x < 3 else x",
                                 "fn.stack(x, 4294967296)",
                                 "fn.cast(4294967296, dtype=types.INT64)"})
    EXPECT_EQ(as_data(expression), "G0413") << expression;
}

TEST(Constants, AtTheEdgesOfTheirTypeAreData) {
  for (const Shown& shown : {Shown{"x * 2147483647", "i64[]"},
                             {"x * -2147483648", "i64[]"},
                             {"x * types.Constant(4294967296, dtype=types.INT64)", "i64[]"},
                             {"types.Constant(9223372036854775807, dtype=types.INT64)", "i64[]"},
                             {"types.Constant(4294967295, dtype=types.UINT32)", "u32[]"},
                             {"x * 1e300", "f32[]"},
                             {"types.Constant(1e18, dtype=types.INT64)", "i64[]"}})
    EXPECT_EQ(as_data(shown.expression), shown.text) << shown.expression;
}

TEST(Constants, NumpyScalarsKeepTheirTypeOnTheRightOfData) {
  for (const Shown& shown : {Shown{"x * np.int64(4294967296)", "i64[]"},
                             {"(x < 3) + np.int64(2)", "i64[]"},
                             {"(x < 3) * np.uint64(2)", "u64[]"},
                             {"(x < 3) * np.uint8(2)", "u8[]"},
                             {"np.int64(2) * (x < 3)", "i32[]"},
                             {"np.uint8(2) * (x < 3)", "i32[]"},
                             {"(x < 3) * np.array([2])", "i32[1]"},
                             {"types.Constant(np.int64(4294967296))", "i64[]"}})
    EXPECT_EQ(as_data(shown.expression), shown.text) << shown.expression;
}

// ---- inputs whose type a host tells ----

TEST(Inputs, TakeTheTypesThatTheHostKnows) {
  const std::string text =
      "from nvidia.dali import pipeline_def, fn, types\n@pipeline_def(batch_size=1)\ndef p():\n"
      "    return fn.external_source(name='image')\n";
  FrontendOptions options;
  Staged unknown = stage("t.dali-dsl", text, options);
  EXPECT_EQ(unknown.result.diagnostics.at(0).code, "G0440") << unknown.diagnostics;
  options.input_types["image"] = {DType::kU8, 3, Layout("HWC")};
  Staged known = stage("t.dali-dsl", text, options);
  ASSERT_TRUE(known.result.ok) << known.diagnostics;
  EXPECT_NE(known.graphs.find("u8[?,?,?] HWC"), std::string::npos) << known.graphs;
  options.input_types["image"] = {DType::kF32, 1, Layout()};
  Staged plain = stage("t.dali-dsl", text, options);
  EXPECT_NE(plain.graphs.find("f32[?]"), std::string::npos) << plain.graphs;
}

/// An anchor is no picture: what all inputs together cannot be is not what they are.
TEST(Inputs, MayBeOfDifferentKindsBeforeTheHostTells) {
  const Staged unknown = stage("t.dali-dsl",
                               "from nvidia.dali import pipeline_def, fn, types\n"
                               "@pipeline_def(batch_size=1)\ndef p():\n"
                               "    x = fn.external_source(name='image')\n"
                               "    at = fn.external_source(name='at')\n"
                               "    return fn.slice(x, at, [0.5, 0.5], axis_names='HW')\n");
  for (const auto& diagnostic : unknown.result.diagnostics) EXPECT_EQ(diagnostic.code, "G0440");
  EXPECT_EQ(unknown.result.diagnostics.size(), 2U) << unknown.diagnostics;
}

/// What is wrong with images of bytes alone is not wrong with all that a host may feed.
TEST(Inputs, MayHaveAnyTypeBeforeTheHostTells) {
  for (const char* type : {"INT8", "UINT16", "INT64", "FLOAT64", "UINT32"}) {
    const Staged unknown =
        stage("t.dali-dsl", std::string("from nvidia.dali import pipeline_def, fn, types\n"
                                        "@pipeline_def(batch_size=1)\ndef p():\n"
                                        "    x = fn.external_source(name='image')\n"
                                        "    return fn.crop(x, crop=[2, 2], dtype=types.") +
                                type + ")\n");
    EXPECT_EQ(unknown.diagnostics.find("G0460"), std::string::npos) << unknown.diagnostics;
  }
}

// ---- names without effect ----

TEST(Host, AutoserializeIsNoted) {
  Staged staged =
      stage("t.dali-dsl",
            "from nvidia.dali import pipeline_def\nfrom nvidia.dali.plugin.triton import autoserialize\n"
            "@autoserialize\n@pipeline_def(batch_size=1)\ndef p():\n    return 1\n");
  EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
  ASSERT_EQ(staged.result.diagnostics.size(), 1u) << staged.diagnostics;
  EXPECT_EQ(staged.result.diagnostics[0].code, "G0274");
  Staged wrong =
      stage("t.dali-dsl", "from nvidia.dali.plugin.triton import autoserialize\nautoserialize()\n");
  ASSERT_EQ(wrong.codes.size(), 1u) << wrong.diagnostics;
  EXPECT_EQ(wrong.result.diagnostics[0].message, "`autoserialize` is called with 0 arguments; it takes 1");
}

}  // namespace
}  // namespace galatea::dsl::testing
