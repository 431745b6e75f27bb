// Positions of an editor in a text: lines of every ending, characters of every size, edits.
#include "tools/lsp/text_buffer.h"

#include <random>

#include <gtest/gtest.h>

#include "tools/lsp/protocol.h"

namespace galatea::tools::lsp {
namespace {

TEST(TextBuffer, LinesEndAsTheProtocolSays) {
  const TextBuffer buffer("a\nb\r\nc\rd");
  ASSERT_EQ(buffer.num_lines(), 4u);
  for (uint32_t line = 0; line < 4; ++line)
    EXPECT_EQ(buffer.line(line), std::string(1, static_cast<char>('a' + line)));
  EXPECT_EQ(buffer.line(4), "");
}

TEST(TextBuffer, UnitsOfEachEncoding) {
  // One, two, three and four bytes; the last is two units of UTF-16.
  const std::string line = "aé€😀b";
  EXPECT_EQ(units_of(line, Encoding::kUtf8), 11u);
  EXPECT_EQ(units_of(line, Encoding::kUtf16), 6u);
  const TextBuffer buffer("x\n" + line);
  EXPECT_EQ(buffer.position(12, Encoding::kUtf16), (Position{1, 5}));
  EXPECT_EQ(buffer.offset({1, 5}, Encoding::kUtf16), 12u);
  EXPECT_EQ(buffer.offset({1, 4}, Encoding::kUtf16), 8u) << "inside of a pair: its begin";
}

TEST(TextBuffer, PlacesPastTheEndAreTheEnd) {
  const TextBuffer buffer("ab\ncd");
  EXPECT_EQ(buffer.offset({0, 99}, Encoding::kUtf16), 2u);
  EXPECT_EQ(buffer.offset({9, 0}, Encoding::kUtf16), 5u);
  EXPECT_EQ(buffer.position(99, Encoding::kUtf16), (Position{1, 2}));
}

TEST(TextBuffer, BytesThatAreNoUtf8CountOneEach) {
  EXPECT_EQ(units_of("\xFF\x80\xC3", Encoding::kUtf16), 3u);
  EXPECT_EQ(units_of("\xE2\x82", Encoding::kUtf16), 2u);
}

TEST(TextBuffer, EditsAreThoseOfTheText) {
  std::mt19937 random(7);
  std::string text = "one\ntwo é\n\nthree 😀 four\r\nfive";
  TextBuffer buffer(text);
  for (int round = 0; round < 300; ++round) {
    for (const Encoding encoding : {Encoding::kUtf8, Encoding::kUtf16}) {
      const auto at = static_cast<uint32_t>(random() % (text.size() + 1));
      EXPECT_LE(buffer.offset(buffer.position(at, encoding), encoding), at);
    }
    const Position a{static_cast<uint32_t>(random() % 6), static_cast<uint32_t>(random() % 8)};
    const Position b{static_cast<uint32_t>(random() % 6), static_cast<uint32_t>(random() % 8)};
    const Range range{std::min(a, b), std::max(a, b)};
    const std::string with = random() % 3 == 0 ? "\n" : random() % 2 == 0 ? "ü" : "";
    const uint32_t begin = buffer.offset(range.begin, Encoding::kUtf16),
                   end = buffer.offset(range.end, Encoding::kUtf16);
    text.replace(begin, end - begin, with);
    buffer.replace(range, with, Encoding::kUtf16);
    ASSERT_EQ(buffer.text(), text);
    ASSERT_EQ(buffer.num_lines(), TextBuffer(text).num_lines());
  }
}

TEST(Protocol, AddressesOfFilesGoRound) {
  for (const char* path : {"/data/train.dali-dsl", "/a b/ü%.dali-dsl", "/x/#?&=+.dali-dsl"})
    EXPECT_EQ(path_of(uri_of(path)), path);
  EXPECT_EQ(uri_of("/a b"), "file:///a%20b");
  EXPECT_EQ(path_of("file://host/a"), "/a");
  EXPECT_EQ(path_of("untitled:Untitled-1"), "untitled:Untitled-1");
  EXPECT_EQ(path_of("file:///a%2"), "/a%2") << "no escape";
}

}  // namespace
}  // namespace galatea::tools::lsp
