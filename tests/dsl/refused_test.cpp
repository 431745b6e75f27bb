// Python outside the language: each construct is refused by its name, once, with what to write instead. Each has a
// twin that says the same within the language and is accepted.
#include <gtest/gtest.h>

#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

struct Refused {
  const char *text, *construct, *instead, *right;
};

class RefusedSyntax : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedSyntax, IsNamedWithWhatToWriteInsteadAndHasATwin) {
  const Refused& refused = GetParam();
  Staged staged = stage("t.dali-dsl", std::string(refused.text) + "\nlast = 1\n");
  ASSERT_EQ(staged.result.diagnostics.size(), 1u) << staged.diagnostics;
  const Diagnostic& diagnostic = staged.result.diagnostics[0];
  EXPECT_EQ(diagnostic.code, "G0102") << staged.diagnostics;
  EXPECT_NE(diagnostic.message.find(refused.construct), std::string::npos) << diagnostic.message;
  EXPECT_NE(diagnostic.help.find(refused.instead), std::string::npos) << diagnostic.help;
  const Staged twin = stage("t.dali-dsl", std::string(refused.right) + "\nlast = 1\n");
  EXPECT_TRUE(twin.result.diagnostics.empty()) << refused.right << "\n" << twin.diagnostics;
}

INSTANTIATE_TEST_SUITE_P(
    Constructs, RefusedSyntax,
    ::testing::Values(
        Refused{"class A:\n    x = 1\nA.x\ny = A()", "`class`", "struct",
                "import galatea\na = galatea.struct(x=1)\ny = a.x"},
        Refused{"@dataclass\nclass A:\n    x: int = 1", "`class`", "struct",
                "import galatea\ndef a(x=1): return galatea.struct(x=x)\ny = a(x=2).x"},
        Refused{"try:\n    x = f()\nexcept ValueError as e:\n    x = 2\nx", "`try`", "if",
                "def f(): return None\nx = f()\nif x is None:\n    x = 2"},
        Refused{"try:\n    x = 1 + 1\nfinally:\n    y = 2\ny", "`try`", "if", "x = 1 + 1\ny = 2"},
        Refused{
            "with open('x') as f, g() as h:\n    y = f.read()\ny\nh", "`with`", "opens no files",
            "from nvidia.dali import fn, pipeline_def\n@pipeline_def(batch_size=1)\ndef p(path=\"x\"):\n    y, label = fn.readers.file(files=[path])\n    return y"},
        Refused{
            "with g() as h:\n    y = h.read()\ny\nh", "`with`", "host program",
            "from nvidia.dali import fn, pipeline_def, types\n@pipeline_def(batch_size=1)\ndef p():\n    return fn.external_source(name=\"y\", dtype=types.FLOAT, ndim=0)"},
        Refused{"def f():\n    yield 1\nf()", "`yield`", "return", "def f():\n    return 1\nx = f()"},
        Refused{"def f():\n    x = yield\nf()", "`yield`", "return", "def f(x):\n    return x\ny = f(1)"},
        Refused{"def f():\n    yield from g", "`yield`", "return",
                "def f(g):\n    return list(g)\nx = f([1])"},
        Refused{"async def f():\n    return 1\nf()", "`async`", "def", "def f():\n    return 1\nx = f()"},
        Refused{"async def f():\n    async with a as b: pass\nf", "`async`", "def",
                "def f(b):\n    return b"},
        Refused{"def f():\n    return await g()\nf()", "`await`", "without",
                "def g():\n    return 1\ndef f():\n    return g()\nx = f()"},
        Refused{"n = 0\ndef f():\n    global n\n    n += 1\nf()", "`global`", "return",
                "n = 0\ndef f(n):\n    return n + 1\nn = f(n)"},
        Refused{"def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    g()\nf()",
                "`nonlocal`", "return",
                "def f():\n    n = 0\n    def g(n):\n        return n + 1\n    return g(n)\nx = f()"},
        Refused{"x = [1]\ndel x[0]", "`del`", "pop", "x = [1]\nx.pop(0)"},
        Refused{"x = 1\ndel x", "`del`", "function", "def f():\n    x = 1\n    return x\ny = f()"},
        Refused{"x = {1, 2}", "a set", "list", "x = [1, 2]"},
        Refused{"x = {i for i in range(3)}", "a set", "list", "x = [i for i in range(3)]"},
        Refused{"match 1:\n    case 1:\n        y = 2\n    case _:\n        y = 3\ny", "`match`", "if",
                "x = 1\nif x == 1:\n    y = 2\nelse:\n    y = 3"},
        Refused{"x = b'abc'", "bytes", "string", "x = 'abc'"},
        Refused{"x = 2j", "complex", "real", "x = 2.0"},
        Refused{"x = 1 @ 2", "matrix multiplication", "fn.transforms",
                "import numpy as np\nx = np.eye(2) @ np.ones((2, 1))"},
        Refused{"x = '\\N{BULLET}'", "\\N{", "character", "x = '\u2022'"},
        Refused{"x = [i async for i in [1]]", "`async for`", "for", "x = [i for i in [1]]"}));

// What is no syntax of its own but is out all the same: functions of Python that a pipeline file has no use
// for.
TEST(RefusedNames, AreUnknownWithAHintAndHaveATwin) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"open('x')", "def read(path='x'): return path"},
      {"input()", "def read(value): return value"},
      {"eval('1')", "y = 1"},
      {"exec('x = 1')", "x = 1"},
      {"globals()", "y = {'x': x}"},
      {"locals()", "y = dict(x=x)"},
      {"iter([1])", "for i in [1]: pass"},
      {"next(x)", "y = [x][0]"},
      {"set([1])", "y = dict.fromkeys([1])"},
      {"object()", "import galatea\ny = galatea.struct()"},
      {"super()", "def base(): return x\ndef more(): return base() + 1"},
      {"vars()", "y = {'x': x}.items()"},
      {"__import__('os')", "import os"}};
  for (const auto& [wrong, right] : kNames) {
    const Staged refused = stage("t.dali-dsl", std::string("x = 1\n") + wrong + "\n");
    ASSERT_EQ(refused.codes.size(), 1u) << wrong << refused.diagnostics;
    EXPECT_EQ(refused.codes[0], "G0201") << wrong;
    EXPECT_FALSE(refused.result.diagnostics[0].help.empty()) << wrong;
    const Staged accepted = stage("t.dali-dsl", std::string("x = 1\n") + right + "\n");
    EXPECT_TRUE(accepted.result.diagnostics.empty()) << right << "\n" << accepted.diagnostics;
  }
}

/// A model and a training loop beside a pipeline are no mistakes; what a pipeline runs of them is, once.
TEST(HostCode, IsToldWhereAPipelineComesBy) {
  const std::string beside = R"(from nvidia.dali import fn, pipeline_def
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return self.layer(x)


def train(net):
    global best
    with torch.no_grad():
        best = net(1)
    try:
        del best
    finally:
        pass
    return best


def enter(x):
    with torch.no_grad():
        return x


@pipeline_def(batch_size=1)
def p():
    data, label = fn.readers.file(files=["a.jpg"])
    return )";
  EXPECT_EQ(stage("t.dali-dsl", beside + "data\n").diagnostics, "");
  const auto told = [&](const std::string& returned) {
    const Staged staged = stage("t.dali-dsl", beside + returned + "\n");
    std::vector<std::string> out;
    for (const Diagnostic& diagnostic : staged.result.diagnostics)
      out.push_back(diagnostic.code + " " + diagnostic.message);
    return out;
  };
  using Messages = std::vector<std::string>;
  EXPECT_EQ(told("enter(data), enter(label)"), Messages{"G0102 `with` is not part of the language"});
  EXPECT_EQ(told("Net()(data)"),
            Messages{"G0286 `Net` belongs to the host program, not into a pipeline file"});
  EXPECT_EQ(told("train(data)"), (Messages{"G0102 `global` is not part of the language",
                                           "G0102 `with` is not part of the language",
                                           "G0102 `try` is not part of the language"}));
}

}  // namespace
}  // namespace galatea::dsl::testing
