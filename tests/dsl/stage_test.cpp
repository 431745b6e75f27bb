// Staging: parameters, options, random keys, limits, imports, and what a host may ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

const char* kStagedHead = "from nvidia.dali import pipeline_def, fn, types, math\nimport galatea\n";

Staged stage_with(const std::string& text, std::vector<std::pair<std::string, std::string>> parameters,
                  std::string pipeline = "p") {
  FrontendOptions options;
  options.parameters = std::move(parameters);
  options.pipeline = std::move(pipeline);
  return stage("test.dali-dsl", kStagedHead + text, options);
}

std::set<uint64_t> keys_of(const Staged& staged) {
  std::set<uint64_t> keys;
  for (const auto& graph : staged.result.graphs) {
    for (const ir::Node& node : graph->nodes) {
      if (node.key != 0) keys.insert(node.key);
    }
  }
  return keys;
}

// ---- parameters ----

TEST(Parameters, AreConvertedByAnnotationDefaultOrLiteral) {
  std::string text =
      "@pipeline_def\ndef p(a: int, b: float, c: str, d: bool, e: list, f=1, g=2.5, h='x', i=None, j: "
      "list[int] = []):\n"
      "    print(repr(a), repr(b), repr(c), repr(d), repr(e), repr(f), repr(g), repr(h), repr(i), repr(j))\n "
      "   return 1\n";
  Staged staged = stage_with(text, {{"a", "3"},
                                    {"b", "2"},
                                    {"c", "7"},
                                    {"d", "true"},
                                    {"e", "1,2"},
                                    {"f", "9"},
                                    {"g", "1"},
                                    {"h", "5"},
                                    {"i", "[1, 'a']"},
                                    {"j", "[4]"}});
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.result.diagnostics[0].message, "3 2.0 '7' True [1, 2] 9 1.0 '5' [1, 'a'] [4]");
}

TEST(Parameters, WithoutTypeTheyAreLiteralsOrText) {
  Staged staged = stage_with("@pipeline_def\ndef p(a, b):\n    print(repr(a), repr(b))\n    return 1\n",
                             {{"a", "1e3"}, {"b", "photos/"}});
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.result.diagnostics[0].message, "1000.0 'photos/'");
}

TEST(Parameters, WhatDoesNotConvertIsAnError) {
  std::string text = "@pipeline_def\ndef p(a: int = 1, b: bool = True, c=2):\n    return a\n";
  EXPECT_EQ(stage_with(text, {{"a", "x"}}).codes, std::vector<std::string>{"G0267"});
  EXPECT_EQ(stage_with(text, {{"a", "1.5"}}).codes, std::vector<std::string>{"G0267"});
  EXPECT_EQ(stage_with(text, {{"b", "maybe"}}).codes, std::vector<std::string>{"G0267"});
  EXPECT_EQ(stage_with(text, {{"c", "1 +"}}).codes, std::vector<std::string>{"G0267"});
  const Staged worded = stage_with(text, {{"a", "x"}});
  EXPECT_NE(worded.diagnostics.find("write it as in `--set a=224`"), std::string::npos) << worded.diagnostics;
  // What 64 bits do not hold is told as that alone.
  EXPECT_EQ(stage_with(text, {{"a", "99999999999999999999"}}).codes, std::vector<std::string>{"G0207"});
  Staged unknown = stage_with(text, {{"aa", "1"}});
  EXPECT_EQ(unknown.codes, std::vector<std::string>{"G0270"});
  EXPECT_NE(unknown.diagnostics.find("did you mean `a`"), std::string::npos) << unknown.diagnostics;
}

TEST(Parameters, MissingOnesAreRefusedOrUnknown) {
  std::string text =
      "@pipeline_def\ndef p(data: str, size: int):\n    x, _ = fn.readers.file(file_root=data)\n    y = "
      "fn.resize(fn.decoders.image(x), size=[size, size])\n    return y\n";
  EXPECT_EQ(stage_with(text, {}).codes, (std::vector<std::string>{"G0268", "G0268"}));
  FrontendOptions options;
  options.unknown_parameters_allowed = true;
  Staged checked = stage("test.dali-dsl", kStagedHead + text, options);
  EXPECT_TRUE(checked.result.ok) << checked.diagnostics;
  EXPECT_NE(checked.diagnostics.find("G0269"), std::string::npos);
  EXPECT_TRUE(checked.result.graphs.empty());
}

/// A reader that looks at its data while it is compiled does not look for a path that nobody gave.
TEST(Parameters, DataThatIsNotNamedIsNotLookedAt) {
  FrontendOptions options;
  options.unknown_parameters_allowed = true;
  const std::string head =
      "from galatea import fn, types, pipeline_def\n\n@pipeline_def(batch_size=2)\ndef p(data: str):\n"
      "    x = fn.readers.numpy(file_root=data";
  const Staged looked = stage("arrays.dali-dsl", head + ")\n    return fn.flip(x)\n", options);
  EXPECT_EQ(looked.codes, std::vector<std::string>{}) << looked.diagnostics;
  const Staged declared =
      stage("arrays.dali-dsl", head + ", dtype=types.UINT8, ndim=1)\n    return fn.flip(x)\n", options);
  EXPECT_EQ(declared.codes, std::vector<std::string>{"G0458"}) << "what depends on it is checked";
}

// ---- which pipeline ----

TEST(Pipelines, OneIsChosen) {
  std::string two = "@pipeline_def\ndef p():\n    return 1\n@pipeline_def\ndef q(size=3):\n    return size\n";
  Staged chosen = stage_with(two, {}, "q");
  ASSERT_EQ(chosen.result.graphs.size(), 1u);
  EXPECT_EQ(chosen.result.graphs[0]->name, "q");
  ASSERT_EQ(chosen.result.pipelines.size(), 2u);
  EXPECT_EQ(chosen.result.pipelines[1].parameters, std::vector<std::string>{"size"});
  EXPECT_EQ(stage_with(two, {}, "r").codes, std::vector<std::string>{"G0273"});
  SourceMap sources;
  op::Registry none;
  EXPECT_EQ(stage_pipeline("t.dali-dsl", kStagedHead + two, {}, none, sources).diagnostics.at(0).code,
            "G0272");
  EXPECT_EQ(stage_pipeline("t.dali-dsl", "x = 1\n", {}, none, sources).diagnostics.at(0).code, "G0271");
  EXPECT_TRUE(stage_all("t.dali-dsl", "x = 1\n", {}, none, sources).ok);
}

TEST(Pipelines, OptionsComeFromTheTextAndTheHost) {
  std::string text =
      "@pipeline_def(batch_size=3, num_threads=2, seed=5, prefetch_queue_depth={'cpu_size': 4, 'gpu_size': "
      "1}, exact=False, on_error='skip', memory_limit=100)\ndef p():\n    return 1\n";
  Staged staged = stage_with(text, {});
  ASSERT_EQ(staged.result.graphs.size(), 1u) << staged.diagnostics;
  const ir::PipelineOptions& options = staged.result.graphs[0]->options;
  EXPECT_EQ(options.batch_size, 3);
  EXPECT_EQ(options.num_threads, 2);
  EXPECT_EQ(options.seed, 5);
  EXPECT_EQ(options.prefetch_queue_depth, 4);
  EXPECT_FALSE(options.exact);
  EXPECT_EQ(options.on_error, ir::OnError::kSkip);
  EXPECT_EQ(options.memory_limit, 100);
  FrontendOptions host;
  host.host.batch_size = 7;
  host.host.seed = 11;
  host.host.on_error = ir::OnError::kRaise;
  Staged overridden = stage("test.dali-dsl", kStagedHead + text, host);
  EXPECT_EQ(overridden.result.graphs.at(0)->options.batch_size, 7);
  EXPECT_EQ(overridden.result.graphs.at(0)->options.seed, 11);
  EXPECT_EQ(overridden.result.graphs.at(0)->options.on_error, ir::OnError::kRaise);
}

TEST(Pipelines, OutputsWithoutADataNodeAreConstants) {
  const Staged staged = stage_body(
      "x = fn.random.uniform()\nreturn x, [1, 2, 3], (1, 2.5), [True, False], [[1, 2], [3, 4]], []\n");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  for (const char* type : {"i32[3]", "f32[2]", "bool[2]", "i32[2,2]", "f32[0]"})
    EXPECT_NE(staged.graphs.find(type), std::string::npos) << type << staged.graphs;
  EXPECT_TRUE(stage_body("return [1, 2, 3]\n").result.ok);
  const Staged listed = stage_body("x = fn.random.uniform()\nreturn [x, 2]\n");
  ASSERT_TRUE(listed.result.ok) << listed.diagnostics;
  EXPECT_EQ(listed.result.graphs.at(0)->output_names.size(), 2u);
  EXPECT_EQ(stage_body("x = fn.random.uniform()\nreturn x, (x, 2)\n").codes,
            std::vector<std::string>{"G0263"});
  EXPECT_EQ(stage_body("return 1, ['a']\n").codes, std::vector<std::string>{"G0412"});
  EXPECT_EQ(stage_body("return 1, [[1], [2, 3]]\n").codes, std::vector<std::string>{"G0412"});
  EXPECT_EQ(stage_body("x = [1]\nx.append(x)\nreturn 1, x\n").codes, std::vector<std::string>{"G0412"});
}

// ---- random keys ----

TEST(RandomKeys, EveryDrawHasItsOwn) {
  Staged staged = stage_body(
      "u = fn.random.uniform\n"
      "def one(): return fn.random.uniform()\n"
      "def two(): return one() + one() + fn.random.uniform()\n"
      "a = [fn.random.uniform() for _ in range(3)]\n"
      "b = list(map(lambda i: fn.random.uniform(), range(3)))\n"
      "for i in range(2):\n"
      "    for j in range(2): a.append(one())\n"
      "c = two() + two() + u() + u() + fn.random.uniform() + fn.random.uniform()\n"
      "return *a, *b, c");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(keys_of(staged).size(), 3u + 3u + 4u + 6u + 4u);
}

TEST(RandomKeys, DependOnTheCallPathOnly) {
  Staged plain = stage_body("x = fn.random.uniform()\nreturn x");
  Staged moved = stage_body(
      "\n# a comment\nn = 1\nfor i in range(3): n += fn.random.coin_flip()\n\nrenamed = "
      "fn.random.uniform()\nreturn renamed, n");
  ASSERT_TRUE(moved.result.ok) << moved.diagnostics;
  uint64_t key = *keys_of(plain).begin();
  EXPECT_TRUE(keys_of(moved).contains(key));
}

TEST(RandomKeys, SeedOfAnOperatorIsMixedIn) {
  Staged a = stage_body("return fn.random.uniform(seed=1)"),
         b = stage_body("return fn.random.uniform(seed=2)"),
         c = stage_body("return fn.random.uniform(seed=-1)");
  EXPECT_TRUE(a.result.graphs.at(0)->nodes[0].has_own_seed);
  EXPECT_FALSE(c.result.graphs.at(0)->nodes[0].has_own_seed);
  EXPECT_NE(keys_of(a), keys_of(b));
  EXPECT_NE(keys_of(a), keys_of(c));
}

TEST(RandomKeys, SameSeedSameDraw) {
  const auto staged = [](const std::string& option) {
    return stage("p.dali-dsl", std::string(kStagedHead) + "@pipeline_def(batch_size=2" + option +
                                   ")\n"
                                   "def p():\n"
                                   "    a = fn.random.uniform(seed=7)\n"
                                   "    b = fn.random.normal(seed=7)\n"
                                   "    c = fn.random.uniform(seed=8)\n"
                                   "    return a, b, c, fn.random.uniform()\n");
  };
  EXPECT_EQ(keys_of(staged("")).size(), 4u);
  Staged alike = staged(", same_seed_same_draw=True");
  ASSERT_TRUE(alike.result.ok) << alike.diagnostics;
  EXPECT_EQ(keys_of(alike).size(), 3u);
  EXPECT_EQ(alike.diagnostics.find("G0425"), std::string::npos) << alike.diagnostics;
}

// ---- branches ----

TEST(Branches, StaticConditionsStageOneArm) {
  Staged staged =
      stage_body("flag = True\nif flag:\n    y = fn.random.uniform()\nelse:\n    y = unknown_name\nreturn y");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.result.graphs[0]->blocks.size(), 1u);
}

TEST(Branches, DeepNestingAndManyArmsVerify) {
  std::string body = "x = fn.random.uniform()\nc = fn.random.coin_flip(dtype=types.BOOL)\n";
  std::string indent;
  for (int i = 0; i < 30; ++i) {
    body += indent + "if c:\n";
    indent += "  ";
    body += indent + "x = x + " + std::to_string(i) + "\n";
  }
  body += "return x";
  Staged staged = stage_body(body);
  EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.verdict, "");
}

TEST(Branches, ClosuresSeeMergedVariables) {
  Staged staged = stage_body(
      "c = fn.random.coin_flip(dtype=types.BOOL)\n"
      "x = fn.random.uniform()\n"
      "def read(): return x\n"
      "def make(c, x):\n"
      "    y = x\n"
      "    def get(): return y\n"
      "    if c:\n"
      "        y = x + 1\n"
      "        return get\n"
      "    y = x + 2\n"
      "    return get\n"
      "if c:\n"
      "    x = x * 2\n"
      "return read(), make(c, x)()");
  // The two ways return different functions, which is refused; nothing reaches the graph in an illegal place.
  EXPECT_EQ(staged.verdict, "");
  Staged same = stage_body(
      "c = fn.random.coin_flip(dtype=types.BOOL)\n"
      "def make(c, x):\n"
      "    get = lambda: y\n"
      "    if c:\n"
      "        y = x + 1\n"
      "        return get\n"
      "    y = x + 2.0\n"
      "    return get\n"
      "return make(c, fn.random.uniform())()");
  EXPECT_TRUE(same.result.ok) << same.diagnostics;
  EXPECT_EQ(same.verdict, "");
}

TEST(Branches, ListsMadeInAnArmMayChangeThere) {
  Staged staged = stage_body(
      "c = fn.random.coin_flip(dtype=types.BOOL)\n"
      "if c:\n"
      "    xs = []\n"
      "    for i in range(3):\n"
      "        xs.append(fn.random.uniform() + i)\n"
      "    y = xs[-1]\n"
      "else:\n"
      "    y = fn.random.uniform()\n"
      "ys = [y]\n"
      "ys.append(y)\n"
      "return tuple(ys)");
  EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.verdict, "");
}

// ---- limits ----

TEST(Limits, AreReportedWithTheirCode) {
  FrontendOptions options;
  options.limits.max_file_bytes = 10;
  EXPECT_EQ(stage("t.dali-dsl", "value = 123456\n", options).codes, std::vector<std::string>{"G0710"});
  EXPECT_EQ(stage("t.dali-dsl", std::string("x = '\xff'\n")).codes, std::vector<std::string>{"G0127"});
  EXPECT_EQ(stage("t.dali-dsl", std::string("x = 1\0\n", 7)).codes, std::vector<std::string>{"G0108"});
  EXPECT_EQ(stage("t.dali-dsl", std::string("x\0=\0 \0001\0\n\0", 10)).codes,
            std::vector<std::string>{"G0127"});
  EXPECT_EQ(stage("/no/such/file.dali-dsl", std::nullopt).codes, std::vector<std::string>{"G0604"});
  EXPECT_EQ(stage(std::string(GALATEA_SOURCE_DIR) + "/tests", std::nullopt).codes,
            std::vector<std::string>{"G0604"});
  Staged memory = stage("t.dali-dsl", "xs = []\nfor i in range(300):\n    xs.append('x' * 60000000)\n");
  EXPECT_FALSE(memory.result.ok);
  options = {};
  options.limits.max_imports = 1;
  EXPECT_EQ(
      stage(std::string(GALATEA_SOURCE_DIR) + "/tests/golden/error/lib/cycle.dali-dsl", std::nullopt, options)
          .codes,
      std::vector<std::string>{"G0711"});
}

TEST(Limits, SharedAndCyclicValuesEnd) {
  for (const char* text :
       {"x = []\nx.append(x)\nprint(x)\nprint(x == x)\n",
        "x = [1]\nfor i in range(60):\n    x = [x, x]\nprint(len(repr(x)) > 0, x == [x])\n",
        "x = ()\nfor i in range(100000):\n    x = (x,)\nprint(1)\n", "d = {}\nd['d'] = d\nprint(d)\n",
        "x = (1,)\nfor i in range(60):\n    x = (x, x)\nd = {}\nd[x] = 1\n"}) {
    Staged staged = stage("t.dali-dsl", text);
    EXPECT_LE(staged.codes.size(), 1u) << staged.diagnostics;
  }
  Staged merged = stage_body(
      "c = fn.random.coin_flip(dtype=types.BOOL)\nx = [fn.random.uniform()]\ny = [fn.random.uniform()]\nfor "
      "i in range(60):\n    x = [x, x]\n    y = [y, y]\nz = x if c else y\nreturn c");
  EXPECT_TRUE(merged.result.ok) << merged.diagnostics;  // what is shared is merged once
}

TEST(Limits, ErrorsEndAtFifty) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "unknown_" + std::to_string(i) + "\n";
  EXPECT_LE(stage("t.dali-dsl", text).codes.size(), 51u);
}

// ---- text ----

TEST(Text, LineEndingsAndMarksAreAsInPython) {
  Staged crlf = stage("t.dali-dsl",
                      "\xEF\xBB\xBFx = 1\r\nif x:\r\n\ty = (1 +\r\n  2)\r\n\tz = '''a\r\nb'''; w = \\\r\n "
                      "3\r\nprint(x, y, repr(z), w)");
  ASSERT_TRUE(crlf.result.ok) << crlf.diagnostics;
  EXPECT_EQ(crlf.result.diagnostics.at(0).message, "1 3 'a\\nb' 3");
}

TEST(Text, EmptyFilesAreFine) {
  for (const char* text : {"", "\n\n", "# only a comment", "   ", "\\\n", "\"\"\"doc\"\"\""})
    EXPECT_TRUE(stage("t.dali-dsl", text).result.ok || std::string(text) == "\\\n") << text;
}

TEST(PrintAst, WhatCannotBeReadIsAnError) {
  SourceMap sources;
  std::vector<Diagnostic> diagnostics;
  EXPECT_EQ(print_ast("no such folder/x.dali-dsl", std::nullopt, sources, diagnostics), "");
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].code, "G0604");
  diagnostics.clear();
  EXPECT_EQ(print_ast("x.dali-dsl", "x = '\xff'\n", sources, diagnostics), "");
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].code, "G0127");
}

}  // namespace
}  // namespace galatea::dsl::testing
