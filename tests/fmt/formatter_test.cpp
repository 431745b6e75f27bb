// Corners of the formatter that black's record does not show: line ends, what is kept, errors, diffs.
#include <gtest/gtest.h>

#include "dsl/formatter/formatter.h"
#include "dsl/formatter/literals.h"
#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

std::string format(const std::string& text) {
  SourceMap sources;
  FormatResult result = format_source("t.dali-dsl", text, sources);
  EXPECT_TRUE(result.diagnostics.empty()) << text;
  EXPECT_EQ(result.changed, result.text != text);
  return result.text;
}

/// A region without an end, whose last block ends together with the one around it.
TEST(Formatter, KeepsARegionToTheEndOfItsBlock) {
  SourceMap sources;
  const FormatResult result =
      format_source("p", "def f():\n    # fmt: off\n    a  =  1\n    if  a:\n       b\nw  =  4\n", sources);
  EXPECT_EQ(result.text, "def f():\n    # fmt: off\n    a  =  1\n    if  a:\n       b\n\n\nw = 4\n");
}

TEST(Format, LineEndsAndByteOrderMarkStay) {
  EXPECT_EQ(format("x=1\r\nif x:\r\n  y=2\r\n"), "x = 1\r\nif x:\r\n    y = 2\r\n");
  EXPECT_EQ(format("x=1\ny=2\r\n"), "x = 1\ny = 2\n");
  EXPECT_EQ(format("x=1\r\ny='''a\r\nb'''\r\n"), "x = 1\r\ny = \"\"\"a\r\nb\"\"\"\r\n");
  EXPECT_EQ(format("\xEF\xBB\xBFx=1"), "\xEF\xBB\xBFx = 1\n");
  EXPECT_EQ(format("\xEF\xBB\xBF# c\nx=1"), "\xEF\xBB\xBF# c\nx = 1\n");
}

TEST(Format, EmptyFiles) {
  EXPECT_EQ(format(""), "");
  EXPECT_EQ(format("\n\n"), "");
  EXPECT_EQ(format("   "), "");
  EXPECT_EQ(format("#c"), "# c\n");
  EXPECT_EQ(format("\n\n\n# a\n\n\n\n# b\n\n"), "# a\n\n\n# b\n");
}

TEST(Format, AFileWithASyntaxErrorIsNotTouched) {
  for (const char* text :
       {"x = (1", "x = ", "def f(:\n    pass\n", "class A: pass\n", "x = 'a\n", "if x:\npass\n", "\xFF"}) {
    SourceMap sources;
    FormatResult result = format_source("t.dali-dsl", text, sources);
    EXPECT_FALSE(result.diagnostics.empty()) << text;
    EXPECT_FALSE(result.changed) << text;
    EXPECT_EQ(result.text, "") << text;
  }
  SourceMap sources;
  EXPECT_EQ(format_source("t", std::string((4 << 20) + 1, ' '), sources).diagnostics.at(0).code, "G0710");
}

// A warning of the parser is no reason to leave a file as it is.
TEST(Format, WhatNeverRunsIsFormatted) {
  EXPECT_EQ(format("def f(x):\n  return x\n  y  = 1\n"), "def f(x):\n    return x\n    y = 1\n");
}

TEST(Format, DirectivesKeepText) {
  EXPECT_EQ(format("# fmt: off\nm = [1,0,\n     0,1]\n# fmt: on\nx=1\n"),
            "# fmt: off\nm = [1,0,\n     0,1]\n# fmt: on\nx = 1\n");
  // Without an end: to the end of the block.
  EXPECT_EQ(format("def f():\n    # fmt: off\n    a  = 1\ny  = 2\n"),
            "def f():\n    # fmt: off\n    a  = 1\n\n\ny = 2\n");
  EXPECT_EQ(format("# fmt: off\nx  = 1\ny  = 2\n"), "# fmt: off\nx  = 1\ny  = 2\n");
  EXPECT_EQ(format("x  = [1,2]  # fmt: skip\ny  = 2\n"), "x  = [1,2]  # fmt: skip\ny = 2\n");
  EXPECT_EQ(format("if  a :  # fmt: skip\n  b  = 1\n"), "if  a :  # fmt: skip\n    b = 1\n");
  // Inside brackets the whole statement is kept.
  EXPECT_EQ(format("x  = [\n  # fmt: off\n  1,2\n]\ny  = 2\n"), "x  = [\n  # fmt: off\n  1,2\n]\ny = 2\n");
  // A kept region moves with its block.
  EXPECT_EQ(format("if x:\n  # fmt: off\n  a  = 1\n  if  a:\n     b  = 2\n  # fmt: on\n  c  = 3\n"),
            "if x:\n    # fmt: off\n    a  = 1\n    if  a:\n       b  = 2\n    # fmt: on\n    c = 3\n");
}

TEST(Format, TabsBecomeBlanks) {
  EXPECT_EQ(format("if x:\n\ty = 1\n\tif y:\n\t\tz = 1\n"), "if x:\n    y = 1\n    if y:\n        z = 1\n");
}

TEST(Format, CommentsGoWithTheirBlock) {
  EXPECT_EQ(format("if a:\n  b = 1\n  # inner\n # between\n# outer\nc = 1\n"),
            "if a:\n    b = 1\n    # inner\n# between\n# outer\nc = 1\n");
}

TEST(Format, HostCodeThatIsNotUnderstoodIsKept) {
  EXPECT_EQ(format("if __name__ == '__main__':\n  match x:\n    case [1, *_] if y:\n      pass\n"),
            "if __name__ == \"__main__\":\n    match x:\n        case [1, *_] if y:\n            pass\n");
}

TEST(Format, DeepNestingEnds) {
  std::string brackets = "x = " + std::string(90, '[') + "1, 2" + std::string(90, ']') + "\n";
  const std::string once = format(brackets);
  EXPECT_EQ(format(once), once);
  std::string ternary = "1";
  for (int i = 0; i < 60; ++i) ternary = "(aaaaaaaaaaaaaaaa if " + ternary + " else bbbbbbbbbbbbbbbbbbbb)";
  EXPECT_NE(format("x = " + ternary + "\n"), "");
  // Brackets around each of these would be more than Python reads.
  std::string ternaries = "x = ";
  for (int i = 0; i < 400; ++i) ternaries += "aaaaaaaaaaa if b else ";
  const std::string wrapped = format(ternaries + "c\n");
  EXPECT_EQ(format(wrapped), wrapped);
  const std::string deep = "x  =  " + std::string(199, '[') + "1" + std::string(199, ']') + "\n";
  EXPECT_EQ(format(deep), deep) << "kept as it is written";
  std::string chain = "x = a";
  for (int i = 0; i < 400; ++i) chain += ".b(c)";
  EXPECT_NE(format(chain + "\n"), "");
  std::string sum = "x = a";
  for (int i = 0; i < 1500; ++i) sum += " + b[1]";
  EXPECT_NE(format(sum + "\n"), "");
}

TEST(Literals, Strings) {
  const std::pair<const char*, const char*> kCases[] = {{"'a'", "\"a\""},
                                                        {"'\"'", "'\"'"},
                                                        {"'it\\'s'", "\"it's\""},
                                                        {"\"\\'\"", "\"'\""},
                                                        {"R'a'", "R\"a\""},
                                                        {"Rb'a'", "Rb\"a\""},
                                                        {"bR'a'", "Rb\"a\""},
                                                        {"r'\"'", "r'\"'"},
                                                        {"u'a'", "\"a\""},
                                                        {"f'{x[\"a\"]}'", "f'{x[\"a\"]}'"},
                                                        {"'''a\"'''", "'''a\"'''"},
                                                        {"'\\\\'", "\"\\\\\""},
                                                        {"''", "\"\""},
                                                        {"'\\xAB'", "\"\\xab\""}};
  for (const auto& [text, expected] : kCases) EXPECT_EQ(formatter::normalize_string(text), expected);
}

TEST(Diff, TextsThatShareNothingAreReplacedWhole) {
  constexpr int kLines = 2100;
  std::string before, after, removed, added;
  for (int i = 0; i < kLines; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
    removed += "-a" + std::to_string(i) + "\n";
    added += "+b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(unified_diff("f", before, after), "--- f\n+++ f\n@@ -1,2100 +1,2100 @@\n" + removed + added);
}

TEST(Diff, IsUnified) {
  EXPECT_EQ(unified_diff("f", "a\n", "a\n"), "");
  EXPECT_EQ(unified_diff("f", "a\nb\nc\n", "a\nB\nc\n"), "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  EXPECT_EQ(unified_diff("f", "a", "a\n"),
            "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  EXPECT_EQ(unified_diff("f", "", "a\n"), "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unified_diff("f", "a\n", ""), "--- f\n+++ f\n@@ -1 +0,0 @@\n-a\n");
  std::string before, after;
  for (int i = 0; i < 30; ++i) {
    before += std::to_string(i) + "\n";
    after += (i == 3 || i == 20 ? "x" : "") + std::to_string(i) + "\n";
  }
  EXPECT_EQ(unified_diff("f", before, after),
            "--- f\n+++ f\n@@ -1,7 +1,7 @@\n 0\n 1\n 2\n-3\n+x3\n 4\n 5\n 6\n"
            "@@ -18,7 +18,7 @@\n 17\n 18\n 19\n-20\n+x20\n 21\n 22\n 23\n");
}

}  // namespace
}  // namespace galatea::dsl::testing
