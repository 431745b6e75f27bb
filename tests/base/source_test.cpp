#include "base/source.h"

#include <gtest/gtest.h>

namespace galatea {
namespace {

TEST(SourceFile, PositionsCountCharacters) {
  SourceFile file("a", "ab\näö x\r\n\nend");
  EXPECT_EQ(file.num_lines(), 4u);
  EXPECT_EQ(file.line(2), "äö x");
  EXPECT_EQ(file.line(3), "");
  EXPECT_EQ(file.line(4), "end");
  EXPECT_EQ(file.line(5), "");
  LineColumn x = file.position(static_cast<uint32_t>(file.text().find('x')));
  EXPECT_EQ(x.line, 2u);
  EXPECT_EQ(x.column, 4u);
  LineColumn past = file.position(10000);
  EXPECT_EQ(past.line, 4u);
  EXPECT_EQ(past.column, 4u);
}

TEST(SourceMap, DescribesAndCovers) {
  SourceMap sources;
  uint32_t a = sources.add("a.dali-dsl", "x = 1\ny = 2\n"), b = sources.add("b", "");
  EXPECT_EQ(sources.describe({a, 6, 7}), "a.dali-dsl:2:1");
  EXPECT_EQ(sources.describe({}), "");
  EXPECT_EQ(sources.file(3), nullptr);
  EXPECT_EQ(cover({a, 6, 7}, {a, 0, 1}), (Span{a, 0, 7}));
  EXPECT_EQ(cover({a, 6, 7}, {b, 0, 1}), (Span{a, 6, 7}));
  EXPECT_EQ(cover({}, {b, 0, 1}), (Span{b, 0, 1}));
}

}  // namespace
}  // namespace galatea
