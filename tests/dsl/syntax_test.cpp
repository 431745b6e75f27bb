// Corners of the syntax: what CPython refuses is refused, and what it takes is taken.
#include <gtest/gtest.h>

#include "dsl/lexer.h"
#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

bool parses(const std::string& text) {
  SourceMap sources;
  std::vector<Diagnostic> diagnostics;
  print_ast("t.dali-dsl", text, sources, diagnostics);
  return diagnostics.empty();
}

/// The longest operator that fits, by a list of them all.
TEST(Syntax, OperatorsAreTheLongestThatFit) {
  const std::vector<std::string> operators = {
      "**=", "//=", "<<=", ">>=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->",
      "+=",  "-=",  "*=",  "/=",  "%=",  "&=", "|=", "^=", "@=", ":=", "+",  "-",  "*",  "/",
      "%",   "@",   "&",   "|",   "^",   "~",  "<",  ">",  ",",  ":",  ".",  ";",  "="};
  // Without those of other languages, of which `!` alone is one.
  const std::string signs = "+-*/%@&|^~<>,:.;=!";
  const auto is_foreign = [](const std::string& text) {
    const auto has = [&](const char* part) { return text.contains(part); };
    std::string rest = text;
    for (size_t at = 0; (at = rest.find("!=", at)) != std::string::npos;) rest.replace(at, 2, " ");
    return rest.contains('!') || has("/*") || has("~=") || has("&&") || has("||") || has("<>") ||
           has("===") || has("!==");
  };
  std::vector<std::string> texts = {""};
  for (size_t from = 0; texts.size() < 1 + 18 + 18 * 18 + 18 * 18 * 18; ++from) {
    const std::string text = texts[from];
    for (const char c : signs) texts.push_back(text + c);
  }
  for (const std::string& text : texts) {
    if (is_foreign(text)) continue;
    std::vector<std::string> expected;
    for (size_t at = 0; at < text.size();) {
      size_t length = 0;
      for (const std::string& op : operators)
        if (op.size() > length && text.compare(at, op.size(), op) == 0) length = op.size();
      expected.push_back((length == 0 ? "bad " : "") + text.substr(at, std::max<size_t>(length, 1)));
      at += std::max<size_t>(length, 1);
    }
    std::vector<Diagnostic> diagnostics;
    std::vector<std::string> found;
    for (const Token& token : lex(0, text, diagnostics))
      if (token.kind == TokenKind::kOperator || token.kind == TokenKind::kError)
        found.push_back((token.kind == TokenKind::kError ? "bad " : "") + std::string(token.text));
    ASSERT_EQ(found, expected) << text;
  }
}

TEST(Syntax, KeywordsAreThePythonOnes) {
  for (const char* word :
       {"False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
        "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
        "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
        "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"}) {
    EXPECT_TRUE(is_keyword(word)) << word;
    EXPECT_FALSE(is_keyword(std::string(word) + "s")) << word;
    EXPECT_FALSE(is_keyword("s" + std::string(word))) << word;
  }
  EXPECT_FALSE(is_keyword(""));
  EXPECT_FALSE(is_keyword("match"));
}

/// The tree of `text` is that of `bracketed`, but for the brackets.
TEST(Syntax, OperatorsBindAsInPython) {
  auto tree = [](const std::string& text) {
    SourceMap sources;
    std::vector<Diagnostic> diagnostics;
    return print_ast("t.dali-dsl", text, sources, diagnostics);
  };
  for (const auto& [text, bracketed] :
       {std::pair("a | b ^ c & d << e + f * g", "(a | (b ^ (c & (d << (e + (f * g))))))"),
        std::pair("a * b + c << d & e ^ f | g", "((((((a * b) + c) << d) & e) ^ f) | g)"),
        std::pair("a - b - c + d", "(((a - b) - c) + d)"),
        std::pair("a / b * c // d % e @ f", "(((((a / b) * c) // d) % e) @ f)"),
        std::pair("a + b * c - d * e ** f", "((a + (b * c)) - (d * (e ** f)))"),
        std::pair("-a ** -b * c", "((-(a ** (-b))) * c)"),
        std::pair("a << b >> c << d", "(((a << b) >> c) << d)"),
        std::pair("a + b < c | d == e", "((a + b) < (c | d) == e)"),
        std::pair("not a + b in c and d or e", "(((not ((a + b) in c)) and d) or e)")}) {
    EXPECT_FALSE(tree(text).empty());
    std::string one = tree(text), other = tree(bracketed);
    EXPECT_EQ(one, other) << text;
  }
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
