#include "base/json.h"

#include <gtest/gtest.h>

namespace galatea {
namespace {

TEST(Json, TextAndDocumentAreEachOther) {
  const std::string text = R"({"z":[1,2.5,"a\"\n"],"a":{"b":null,"c":true}})";
  EXPECT_EQ(json_text(parse_ordered_json(text)), text) << "members stay in the order of the text";
  EXPECT_EQ(json_text(parse_json(text)), R"({"a":{"b":null,"c":true},"z":[1,2.5,"a\"\n"]})");
  EXPECT_EQ(parse_json(json_text(parse_json(text), 2)), parse_json(text));
  EXPECT_EQ(json_text(nlohmann::json{{"a", 1}}, 1), "{\n \"a\": 1\n}");
}

TEST(Json, WhatIsNoJsonIsDiscarded) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1} x", "nul", "\"\xFF\"", "// a\n1"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
    EXPECT_TRUE(parse_ordered_json(text).is_discarded()) << text;
    EXPECT_FALSE(parse_json(text).is_object()) << text;
  }
}

TEST(Json, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(json_quoted("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(json_text(nlohmann::ordered_json{{"a", "\xC3"}}), "{\"a\":\"\xEF\xBF\xBD\"}");
  EXPECT_EQ(parse_json(json_quoted("ü\t\x01\"")), "ü\t\x01\"");
}

}  // namespace
}  // namespace galatea
