// What branches on data compute, clause by clause: conditions of every type, laziness, merged leaves, paths
// that end early, sources in arms, and how the graph grows.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "tests/branch/harness.h"
#include "tests/dsl/support.h"

namespace galatea::testing {
namespace {

const char* const kHead = "from nvidia.dali import pipeline_def, fn, types, math\nimport galatea\n\n\n";

/// A pipeline with the bool `c` and the int `v` per sample; `body` is indented by four blanks.
std::string text_of(const std::string& body, const std::string& functions = "") {
  return kHead + functions +
         "\n\n@pipeline_def(batch_size=4, seed=1)\ndef p():\n"
         "    c = fn.external_source(name=\"c\", dtype=types.BOOL, ndim=0)\n"
         "    v = fn.external_source(name=\"v\", dtype=types.INT32, ndim=0)\n" +
         body;
}

using Formula = std::function<std::vector<double>(bool c, int v)>;

void expect_values(const std::string& body, const Formula& formula, const std::string& functions = "") {
  std::vector<Input> inputs = {{"c", DType::kBool, {}}, {"v", DType::kI32, {}}};
  std::vector<std::vector<double>> expected;
  for (int v = -2; v < 8; ++v) {
    for (bool c : {false, true}) {
      inputs[0].values.push_back(c);
      inputs[1].values.push_back(v);
      expected.push_back(formula(c, v));
    }
  }
  Outcome outcome = run_text(text_of(body, functions), inputs);
  EXPECT_EQ(outcome.error, "") << body;
  EXPECT_EQ(outcome.samples, expected) << body;
}

// ---- conditions ----

struct TypedValues {
  DType dtype;
  const char* name;
  std::vector<double> values;
};

TEST(Conditions, AreTrueWhereTheyAreNotZeroForEveryType) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = HUGE_VAL;
  std::vector<TypedValues> cases = {{DType::kBool, "BOOL", {0, 1}},
                                    {DType::kU8, "UINT8", {0, 1, 2, 255}},
                                    {DType::kI8, "INT8", {0, 1, -1, -128}},
                                    {DType::kU16, "UINT16", {0, 1, 256, 65535}},
                                    {DType::kI16, "INT16", {0, -1, 256, -32768}},
                                    {DType::kU32, "UINT32", {0, 1, 65536, 4294967295.0}},
                                    {DType::kI32, "INT32", {0, -1, 65536, -2147483648.0}},
                                    {DType::kU64, "UINT64", {0, 1, 4294967296.0, 9223372036854775808.0}},
                                    {DType::kI64, "INT64", {0, -1, 4294967296.0, -9223372036854775808.0}},
                                    {DType::kF16, "FLOAT16", {0, -0.0, 0.5, 6e-8, nan, -infinity}},
                                    {DType::kF32, "FLOAT", {0, -0.0, 0.25, 1e-45, nan, infinity}},
                                    {DType::kF64, "FLOAT64", {0, -0.0, 0.25, 1e-320, nan, -infinity}}};
  for (const TypedValues& one : cases) {
    std::string text = kHead + fmt::format(R"(
@pipeline_def(batch_size=4)
def p():
    x = fn.external_source(name="x", dtype=types.{}, ndim=0)
    if x:
        a = 1
    else:
        a = 2
    b = 1 if x else 2
    if not x:
        d = 2
    elif x:
        d = 1
    else:
        d = 3
    return a, b, not x, d
)",
                                           one.name);
    std::vector<std::vector<double>> expected;
    for (double value : one.values) {
      double way = value != 0 ? 1 : 2;  // NaN, too, is not zero
      expected.push_back({way, way, way - 1, way});
    }
    for (const char* backend : {"interpreter", "llvm"}) {
      Outcome outcome = run_text(text, {{"x", one.dtype, one.values}}, {.backend = backend});
      EXPECT_EQ(outcome.error, "") << one.name;
      EXPECT_EQ(outcome.samples, expected) << one.name << " " << backend;
    }
  }
}

// Element v of a list of three exists only for some samples: reading another is an error of the run.
TEST(Conditions, WhatIsNotNeededIsNotComputed) {
  const std::string list = "    xs = types.Constant([10, 20, 30])\n";
  Formula guarded = [](bool, int v) -> std::vector<double> {
    return {v >= 0 && v < 3 ? static_cast<double>(10 * (v + 1) > 15) : 0.0};
  };
  expect_values(list + "    return v >= 0 and v < 3 and xs[v] > 15,\n", guarded);
  expect_values(list + "    return not (v < 0 or v > 2 or xs[v] <= 15),\n", guarded);
  expect_values(list + "    return (xs[v] > 15 if v >= 0 and v < 3 else False),\n", guarded);
  expect_values(list + "    return -1 < v < 3 and xs[v] > 15,\n", guarded);
  expect_values(list + "    y = False\n    if 0 <= v < 3:\n        y = xs[v] > 15\n    return y,\n", guarded);
}

// The guard above is what keeps the read away.
TEST(Conditions, ANeedlessReadWouldFail) {
  std::vector<Input> inputs = {{"c", DType::kBool, {1, 1}}, {"v", DType::kI32, {1, 7}}};
  Outcome outcome = run_text(text_of("    xs = types.Constant([10, 20, 30])\n    return xs[v],\n"), inputs);
  EXPECT_TRUE(outcome.codes.empty());
  EXPECT_NE(outcome.error.find("xs[v]"), std::string::npos) << outcome.error;
}

// ---- what arms leave behind ----

TEST(Merges, LeavesThatAreEqualStayStatic) {
  Formula two = [](bool, int v) -> std::vector<double> { return {v + 2.0 + 2.0, 3}; };
  expect_values(
      "    if c:\n        n, mode, t = 2, \"add\", (1, [2, {\"k\": 3}])\n"
      "    else:\n        n, mode, t = 2, \"add\", (1, [2, {\"k\": 3}])\n"
      "    for i in range(n):\n        v = v + (2 if mode == \"add\" else 100)\n"
      "    assert n == 2 and t == (1, [2, {\"k\": 3}])\n"
      "    return v, t[1][1][\"k\"]\n",
      two);
}

TEST(Merges, UnequalNumbersPromote) {
  expect_values(
      "    a = True if c else False\n    b = 1 if c else 2\n    d = 1 if c else 2.5\n"
      "    e = True if c else 7\n    if c:\n        f = -1.5\n    elif v > 2:\n        f = 2\n"
      "    else:\n        f = True\n    return a, b, d, e, f\n",
      [](bool c, int v) -> std::vector<double> {
        return {c ? 1.0 : 0.0, c ? 1.0 : 2.0, c ? 1.0 : 2.5, c ? 1.0 : 7.0, c ? -1.5 : v > 2 ? 2.0 : 1.0};
      });
}

TEST(Merges, ChainsOfNumbersPromoteAsAWhole) {
  expect_values(
      "    a = 1 if c else 2.5 if v > 2 else True\n    b = 2\n    if c:\n        b = 3\n    if v > 3:\n      "
      "  b = 0.5\n"
      "    return a, b, kind(c, v)\n",
      [](bool c, int v) -> std::vector<double> {
        return {c ? 1.0 : v > 2 ? 2.5 : 1.0, v > 3 ? 0.5 : c ? 3.0 : 2.0, c ? 1.0 : v > 4 ? 7.0 : 1.5};
      },
      "def kind(c, v):\n    if c:\n        return True\n    if v > 4:\n        return 7\n    return 1.5\n");
}

TEST(Merges, ContainersMergeLeafByLeafAndKeepTheirIdentity) {
  expect_values(
      "    if c:\n        r = galatea.struct(size=(v, 2), rest={\"k\": [v, 5]})\n        xs = [v]\n        "
      "ys = xs\n"
      "    else:\n        r = galatea.struct(size=(v + 1, 2), rest={\"k\": [v - 1, 5]})\n        xs = [v * "
      "2]\n"
      "        ys = xs\n"
      "    ys.append(9)\n    pair = (xs, ys)\n    pair[0].append(8)\n"
      "    assert r.size[1] == 2 and r.rest[\"k\"][1] == 5 and len(ys) == 3\n"
      "    return r.size[0], r.rest[\"k\"][0], *xs, *ys\n",
      [](bool c, int v) -> std::vector<double> {
        double x = c ? v : v * 2;
        return {c ? v : v + 1.0, c ? v : v - 1.0, x, 9, 8, x, 9, 8};
      });
}

TEST(Merges, AListOfItselfMerges) {
  expect_values(
      "    if c:\n        xs = [v]\n        xs.append(xs)\n    else:\n        xs = [v + 1]\n"
      "        xs.append(xs)\n    return xs[1][1][0],\n",
      [](bool c, int v) -> std::vector<double> { return {c ? v : v + 1.0}; });
}

TEST(Merges, ArraysMergeAsConstants) {
  std::string head = "    import numpy as np\n";
  expect_values(
      head +
          "    a = np.array([1, 2], dtype=np.int32)\n    b = a\n    if c:\n"
          "        a = np.array([3, 4], dtype=np.int32)\n        b = np.array([1, 2], dtype=np.int32)\n"
          "    assert len(b) == 2\n    return a,\n",
      [](bool c, int) -> std::vector<double> {
        return c ? std::vector<double>{3, 4} : std::vector<double>{1, 2};
      });
}

// After all paths have met again, whatever ended them, what was made before may change again.
TEST(Merges, ListsChangeAgainWhereAllSamplesAreTogether) {
  expect_values(
      "    xs = []\n    for i in range(3):\n        xs.append(v + i)\n        if c:\n            continue\n"
      "        if v > i:\n            v = v + 1\n    for i in range(2):\n        if v > 3:\n            "
      "break\n"
      "        v = v + 10\n    else:\n        v = v - 1\n    xs.append(v)\n    ys = early(c, v)\n    "
      "ys.append(3)\n"
      "    xs += ys\n    return *xs,\n",
      [](bool c, int v) -> std::vector<double> {
        std::vector<double> xs;
        for (int i = 0; i < 3; ++i) {
          xs.push_back(v + i);
          if (!c && v > i) ++v;
        }
        bool broken = false;
        for (int i = 0; i < 2 && !broken; ++i) {
          broken = v > 3;
          if (!broken) v += 10;
        }
        if (!broken) --v;
        xs.insert(xs.end(), {static_cast<double>(v), static_cast<double>(v), c && v > 3 ? 1.0 : 2.0, 3.0});
        return xs;
      },
      "def early(c, k):\n    if c:\n        if k > 3:\n            return [k, 1]\n    return [k, 2]\n");
}

// ---- functions ----

TEST(Functions, BranchWhereverTheyAreWritten) {
  expect_values(
      "    @twice\n    def add(x, by=(2 if c else 3)):\n        return x + by if x < 20 else x\n"
      "    pick = lambda x, flip=c: -x if flip else x\n"
      "    xs = [pick(e) if e > v else bounded(e) for e in [v, 1, 2]]\n"
      "    ys = list(map(lambda e: e * 2 if c else e, xs))\n"
      "    def counter(n):\n        def inner(k):\n            return k + n if c else k - total\n"
      "        total = n * 2\n        if v > 3:\n            total = v\n        return inner\n"
      "    return add(v), *ys, counter(5)(1), collatz(bounded(v), 6)\n",
      [](bool c, int v) -> std::vector<double> {
        auto add = [&](int x) { return x < 20 ? x + (c ? 2 : 3) : x; };
        auto bounded = [](int x) { return x < 0 ? 0 : x > 4 ? 4 : x; };
        std::vector<double> out = {static_cast<double>(add(add(v)))};
        for (int e : {v, 1, 2}) out.push_back((e > v ? (c ? -e : e) : bounded(e)) * (c ? 2 : 1));
        out.push_back(c ? 6 : 1 - (v > 3 ? v : 10));
        int x = bounded(v);
        for (int n = 6; n > 0 && x > 1; --n) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        out.push_back(x);
        return out;
      },
      "def twice(f):\n    return lambda x: f(f(x))\n\n\ndef bounded(x):\n    if x < 0:\n        return 0\n"
      "    if x > 4:\n        return 4\n    return x\n\n\ndef collatz(x, n):\n    if n == 0 or x <= 1:\n"
      "        return x\n    if x % 2 == 0:\n        return collatz(x // 2, n - 1)\n"
      "    return collatz(3 * x + 1, n - 1)\n");
}

TEST(Functions, NamesOfOneArmMayGoUnused) {
  expect_values(
      "    if c:\n        only = [v, \"text\"]\n        kind = \"a\"\n        f = len\n    else:\n"
      "        kind = None\n        f = lambda x: x\n    for i in range(2):\n        if v > 1:\n            "
      "break\n"
      "        late = v\n    return v,\n",
      [](bool, int v) -> std::vector<double> { return {static_cast<double>(v)}; });
}

// ---- sources and files in arms ----

// A reader in an arm advances for every sample: a sample gets the file that it would get outside.
TEST(Sources, InArmsAreReadForEverySample) {
  namespace fs = std::filesystem;
  fs::path folder = fs::temp_directory_path() /
                    fmt::format("galatea_branch_{}", ::testing::UnitTest::GetInstance()->random_seed());
  fs::remove_all(folder);
  for (int i = 0; i < 12; ++i) {
    fs::path group = folder / fmt::format("class{}", i % 3);
    fs::create_directories(group);
    std::FILE* file = std::fopen((group / fmt::format("{:02}.jpg", i)).c_str(), "wb");
    ASSERT_NE(file, nullptr);
    for (int k = 0; k <= i; ++k) std::fputc(i, file);
    std::fclose(file);
  }
  std::string read =
      fmt::format("fn.readers.file(file_root=\"{}\", random_shuffle=True, name=\"R\")", folder.string());
  std::string coin = "    coin = fn.random.uniform() < 0.5\n";
  std::string begin = std::string(kHead) + "@pipeline_def(batch_size=5, seed=3)\ndef p():\n" + coin;
  std::string outside = begin + "    data, label = " + read +
                        "\n    x = -1\n    n = 0\n    if coin:\n        x = label[0]\n        n = data[0]\n"
                        "    else:\n        n = fn.cast(0, dtype=types.UINT8)\n    return x, n, coin\n";
  std::string inside = begin + "    x = -1\n    if coin:\n        data, label = " + read +
                       "\n        x = label[0]\n        n = data[0]\n"
                       "    else:\n        n = fn.cast(0, dtype=types.UINT8)\n    return x, n, coin\n";
  Outcome expected = run_text(outside, {}), actual = run_text(inside, {});
  EXPECT_EQ(expected.error, "");
  EXPECT_EQ(actual.error, "");
  EXPECT_EQ(expected.samples.size(), 12U);
  EXPECT_EQ(actual.samples, expected.samples);
  dsl::testing::Staged staged = dsl::testing::stage("inside.dali-dsl", inside);
  ASSERT_EQ(staged.result.diagnostics.size(), 1U) << staged.diagnostics;
  EXPECT_EQ(staged.result.diagnostics[0].code, "G0312");
  fs::remove_all(folder);
}

// What an arm feeds on is fed for every sample, too.
TEST(Sources, OfTheHostInArmsAreFedForEverySample) {
  std::string text = kHead + std::string(R"(@pipeline_def(batch_size=4)
def p():
    c = fn.external_source(name="c", dtype=types.BOOL, ndim=0)
    if c:
        w = fn.external_source(name="v", dtype=types.INT32, ndim=0)
    else:
        w = -1
    return w
)");
  Outcome outcome =
      run_text(text, {{"c", DType::kBool, {0, 1, 1, 0, 0, 1}}, {"v", DType::kI32, {0, 1, 2, 3, 4, 5}}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.samples, (std::vector<std::vector<double>>{{-1}, {1}, {2}, {-1}, {-1}, {5}}));
}

// ---- growth ----

struct Size {
  size_t nodes = 0, blocks = 0, merges = 0;
  bool operator==(const Size&) const = default;
};

/// Of the graph, when it may take `steps` evaluated statements and expressions.
Size size_of_graph(const std::string& text, int64_t steps) {
  dsl::FrontendOptions options;
  options.limits.max_steps = steps;
  dsl::testing::Staged staged = dsl::testing::stage("growth.dali-dsl", text, options);
  EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.verdict, "");
  Size size;
  for (const auto& graph : staged.result.graphs) {
    size.nodes += graph->nodes.size();
    size.blocks += graph->blocks.size();
    for (const ir::Block& block : graph->blocks) size.merges += block.merges.size();
  }
  return size;
}

/// A text of size n must take a graph and a number of steps that are linear in n.
void expect_linear(const std::function<std::string(int)>& text) {
  constexpr int kSteps = 60;  // generous, per round
  Size a = size_of_graph(text(50), 50 * kSteps), b = size_of_graph(text(100), 100 * kSteps);
  Size d = size_of_graph(text(200), 200 * kSteps);
  EXPECT_EQ(d.nodes - b.nodes, 2 * (b.nodes - a.nodes));
  EXPECT_EQ(d.blocks - b.blocks, 2 * (b.blocks - a.blocks));
  EXPECT_EQ(d.merges - b.merges, 2 * (b.merges - a.merges));
  EXPECT_GT(b.blocks, a.blocks);
}

TEST(Growth, IsLinearInTheNumberOfBranches) {
  expect_linear([](int n) {  // one after the other
    std::string body;
    for (int i = 0; i < n; ++i)
      body += fmt::format("    if v > {0}:\n        v = v + {0}\n    else:\n        x = {0}\n", i);
    return text_of(body + "    return v\n");
  });
  expect_linear([](int n) {  // in an unrolled loop
    return text_of(
        fmt::format("    for i in range({}):\n        if v > i:\n            v = v + i\n"
                    "            if c:\n                continue\n        v = v ^ 1\n    return v\n",
                    n));
  });
  expect_linear([](int n) {  // paths that leave
    return text_of(
        fmt::format("    for i in range({}):\n        if v == i:\n            return v + i\n"
                    "        if v > 2 * i:\n            break\n    return v\n",
                    n));
  });
  expect_linear([](int n) {  // a variable that nobody reads until the end
    return text_of(fmt::format(
        "    x = 0\n    for i in range({}):\n        if c:\n            x = i\n    return x\n", n));
  });
}

TEST(Growth, TwentyBranchesInsideEachOther) {
  std::string body;
  for (int i = 0; i < 20; ++i)
    body += fmt::format("{:{}}if v > {}:\n{:{}}v = v + 1\n", "", 4 * i + 4, i, "", 4 * i + 8);
  expect_values(body + "    return v,\n", [](bool, int v) -> std::vector<double> {
    for (int i = 0; i < 20 && v > i; ++i) ++v;
    return {static_cast<double>(v)};
  });
}

// A chain of merges that is read only at its end is built without recursion.
TEST(Growth, AHundredThousandPendingMergesResolve) {
  dsl::FrontendOptions options;
  std::string text =
      text_of("    x = 0\n    for i in range(100000):\n        if c:\n            x = i\n    return x\n");
  dsl::testing::Staged staged = dsl::testing::stage("chain.dali-dsl", text, options);
  EXPECT_LE(staged.codes.size(), 1U) << staged.diagnostics;
  for (const std::string& code : staged.codes) EXPECT_TRUE(code == "G0706" || code == "G0707") << code;
}

// Both ends of every branch; nothing is left to stage behind them.
TEST(Paths, CodeBehindThemIsNotStaged) {
  expect_values(
      "    for i in range(5):\n        if c:\n            break\n        else:\n            break\n"
      "        undefined_name\n    if v > 2:\n        return v, 1\n    else:\n        return v, 2\n"
      "    undefined_name\n",
      [](bool, int v) -> std::vector<double> { return {static_cast<double>(v), v > 2 ? 1.0 : 2.0}; });
  expect_values(
      "    if c:\n        pass\n    elif v > 2:\n        pass\n    else:\n        pass\n    return v,\n",
      [](bool, int v) -> std::vector<double> { return {static_cast<double>(v)}; });
}

}  // namespace
}  // namespace galatea::testing
