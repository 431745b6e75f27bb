// Corners of the syntax: what CPython refuses is refused, and what it takes is taken.
#include <gtest/gtest.h>

#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

bool parses(const std::string& text) {
  SourceMap sources;
  std::vector<Diagnostic> diagnostics;
  print_ast("t.dali-dsl", text, sources, diagnostics);
  return diagnostics.empty();
}

TEST(Syntax, RefusedAsInCPython) {
  for (const char* text : {"x := 1",
                           "return x := 1",
                           "f(x for x in n, )",
                           "f(x for x in n, 1)",
                           "f(a=1, 2)",
                           "f(**a, *b)",
                           "f(a=1, a=2)",
                           "def f(a=1, b): pass",
                           "def f(a, a): pass",
                           "def f(*): pass",
                           "def f(**k, a): pass",
                           "def f(/, a): pass",
                           "lambda *: 1",
                           "x = ",
                           "1 = x",
                           "f() = x",
                           "x + 1 = y",
                           "(a, b) += 1",
                           "[x] : int = 1",
                           "*a",
                           "for f() in x: pass",
                           "if x = 1: pass",
                           "if x\n  pass",
                           "if x:\npass",
                           "  x = 1",
                           "if x:\n    a\n  b",
                           "else: pass",
                           "x = (1, 2",
                           "x = 1)",
                           "x = [1, 2)",
                           "'abc",
                           "'''abc",
                           "0777",
                           "1_",
                           "1__0",
                           "0x",
                           "1e",
                           "1.5.2",
                           "x = 5y",
                           "a b",
                           "a.1",
                           "a..b",
                           "x = not",
                           "x = a if b",
                           "import",
                           "import a.",
                           "from a import",
                           "from a import (",
                           "from . import *, a",
                           "from a import b,",
                           "@x\ny = 1",
                           "f'{'",
                           "f'{}'",
                           "f'{a!z}'",
                           "f'}'",
                           "f'{a:{b:{c}}}'",
                           "'\\x1'",
                           "'\\u12'",
                           "x = \\ 1",
                           "$",
                           "?",
                           "a ! b",
                           "x = `1`",
                           "class",
                           "while x pass",
                           "a = b = ",
                           "[*a for a in b]x",
                           "{**a for a in b}",
                           "{1: 2, 3}"})
    EXPECT_FALSE(parses(text)) << text;
}

TEST(Syntax, TakenAsInCPython) {
  for (const char* text : {"(x := 1)",
                           "f(x := 1)",
                           "[x := 1]",
                           "a[x := 1]",
                           "if (x := 1): pass",
                           "if x := 1: pass",
                           "while x := 1: pass",
                           "f(*a, b)",
                           "f(**a, b=1)",
                           "f(b=1, *a)",
                           "f((x for x in n), 1)",
                           "a, = b",
                           "a, *b = c",
                           "[a, b] = c",
                           "(a) = 1",
                           "a: int",
                           "(a): int = 1",
                           "a.b: int = 1",
                           "x = yy if zz else lambda: 1",
                           "not not x",
                           "- - x",
                           "a if b else c if d else e",
                           "x = 1;",
                           "x = 1; y = 2;",
                           "if x: a; b",
                           "lambda: (1, 2)",
                           "lambda x: x if x else 0",
                           "for x in 1, 2: pass",
                           "for x, in y: pass",
                           "for (x, y) in z: pass",
                           "for x.y in z: pass",
                           "x = 1,",
                           "return",
                           "return 1, *x",
                           "f(a)(b)(c)",
                           "a[1:2, ::3]",
                           "a[:]",
                           "a[()]",
                           "''",
                           "'' ''",
                           "rf'{a}\\d'",
                           "f'{a}{{}}'",
                           "f'{a!r:>{w}}'",
                           "f'{a:%Y}'",
                           "f'{a = }'",
                           "f'{ {1: 2}[1] }'",
                           "f'{a[\"b\"]}'",
                           "0",
                           "00",
                           "0_0",
                           "1_000.5e1_0",
                           ".5",
                           "5.",
                           "1.e5",
                           "a\n\n\n",
                           "# c",
                           "if x:\n\ta\n\tb",
                           "if x:\n    a\n# c\n    b",
                           "x = (\n1\n)",
                           "x = 1 \\\n + 2",
                           "def f(a, /, b, *, c, **d): pass",
                           "def f(*a, b): pass",
                           "def f(*, a): pass",
                           "def f(a,): pass",
                           "@a\n@b(1)\ndef f(): pass",
                           "import a.b as c, d",
                           "from . import a",
                           "from .a import (b as c,)",
                           "from ... import a",
                           "raise X from y",
                           "assert a, b",
                           "print(x, end='')",
                           "a @ b",
                           "a < b > c is not d not in e",
                           "if a:\n  pass\nelif b:\n  pass\nelse:\n  pass",
                           "x = [\n  1,  # one\n  2,\n]",
                           "match = 1",
                           "case = match",
                           "match(x)",
                           "match[1]",
                           "type = 1",
                           "_ = 1"})
    EXPECT_TRUE(parses(text)) << text;
}

// Also where the text ends too early.
TEST(Syntax, SpansStayInsideTheText) {
  for (const char* text :
       {"(", "x = (1,\n", "f'{a", "def f(", "if", "[1, 2", "{'a': ", "lambda", "@", "'\\", "x = 1 +", "\\"}) {
    SourceMap sources;
    std::vector<Diagnostic> diagnostics;
    print_ast("t.dali-dsl", text, sources, diagnostics);
    ASSERT_FALSE(diagnostics.empty()) << text;
    for (const Diagnostic& diagnostic : diagnostics)
      EXPECT_LE(diagnostic.span.end, std::string(text).size()) << text;
  }
}

}  // namespace
}  // namespace galatea::dsl::testing
