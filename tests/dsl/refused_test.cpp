// Python outside the language: each construct is refused by its name, once, with what to write instead.
#include <gtest/gtest.h>

#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

struct Refused {
  const char *text, *construct, *instead;
};

class RefusedSyntax : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedSyntax, IsNamedWithWhatToWriteInstead) {
  const Refused& refused = GetParam();
  Staged staged = stage("t.dali-dsl", std::string(refused.text) + "\nlast = 1\n");
  ASSERT_EQ(staged.result.diagnostics.size(), 1u) << staged.diagnostics;
  const Diagnostic& diagnostic = staged.result.diagnostics[0];
  EXPECT_EQ(diagnostic.code, "G0102") << staged.diagnostics;
  EXPECT_NE(diagnostic.message.find(refused.construct), std::string::npos) << diagnostic.message;
  EXPECT_NE(diagnostic.help.find(refused.instead), std::string::npos) << diagnostic.help;
}

INSTANTIATE_TEST_SUITE_P(
    Constructs, RefusedSyntax,
    ::testing::Values(
        Refused{"class A:\n    x = 1\nA.x\ny = A()", "`class`", "struct"},
        Refused{"class A(B, metaclass=C):\n    def f(self): return self.x", "`class`", "functions"},
        Refused{"@dataclass\nclass A:\n    x: int = 1", "`class`", "struct"},
        Refused{"try:\n    x = f()\nexcept ValueError as e:\n    x = 2\nx", "`try`", "if"},
        Refused{"try:\n    x = 1 + 1\nfinally:\n    y = 2\ny", "`try`", "if"},
        Refused{"with open('x') as f, g() as h:\n    y = f.read()\ny\nh", "`with`", "opens no files"},
        Refused{"with g() as h:\n    y = h.read()\ny\nh", "`with`", "host program"},
        Refused{"def f():\n    yield 1\nf()", "`yield`", "return"},
        Refused{"def f():\n    x = yield\nf()", "`yield`", "return"},
        Refused{"def f():\n    yield from g", "`yield`", "return"},
        Refused{"async def f():\n    return 1\nf()", "`async`", "def"},
        Refused{"async def f():\n    async with a as b: pass\nf", "`async`", "def"},
        Refused{"def f():\n    return await g()\nf()", "`await`", "without"},
        Refused{"n = 0\ndef f():\n    global n\n    n += 1\nf()", "`global`", "return"},
        Refused{"def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    g()\nf()",
                "`nonlocal`", "return"},
        Refused{"x = [1]\ndel x[0]", "`del`", "pop"}, Refused{"x = 1\ndel x", "`del`", "function"},
        Refused{"x = {1, 2}", "a set", "list"}, Refused{"x = {i for i in range(3)}", "a set", "list"},
        Refused{"match 1:\n    case 1:\n        y = 2\n    case _:\n        y = 3\ny", "`match`", "if"},
        Refused{"x = b'abc'", "bytes", "string"}, Refused{"x = 2j", "complex", "real"},
        Refused{"x = 1 @ 2", "matrix multiplication", "fn.transforms"},
        Refused{"x = '\\N{BULLET}'", "\\N{", "character"},
        Refused{"x = [i async for i in [1]]", "`async for`", "for"}));

// What is no syntax of its own but is out all the same: functions of Python that a pipeline file has no use
// for.
TEST(RefusedNames, AreUnknownWithAHint) {
  for (const char* text :
       {"open('x')", "input()", "eval('1')", "exec('x = 1')", "globals()", "locals()", "iter([1])", "next(x)",
        "set([1])", "object()", "super()", "vars()", "__import__('os')"}) {
    Staged staged = stage("t.dali-dsl", std::string("x = 1\n") + text + "\n");
    ASSERT_EQ(staged.codes.size(), 1u) << text << staged.diagnostics;
    EXPECT_EQ(staged.codes[0], "G0201") << text;
    EXPECT_FALSE(staged.result.diagnostics[0].help.empty()) << text;
  }
}

}  // namespace
}  // namespace galatea::dsl::testing
