// Who is let in: no socket is needed for it.
#include <set>

#include <gtest/gtest.h>

#include "tools/serve/security.h"
#include "tools/serve/server.h"

namespace galatea::tools::serve {
namespace {

const Door kDoor = {"0123456789abcdef0123456789abcdef", 8123};

Request request_with(std::multimap<std::string, std::string> headers,
                     std::multimap<std::string, std::string> query = {}) {
  return {"GET", "/", "", std::move(headers), std::move(query)};
}

TEST(Door, LetsInWhoHasTheTokenInTheAddressAHeaderOrTheCookie) {
  for (const char* host : {"127.0.0.1:8123", "localhost:8123"}) {
    EXPECT_FALSE(kDoor.why_refused(request_with({{"host", host}}, {{"token", kDoor.token}})));
    EXPECT_FALSE(kDoor.why_refused(request_with({{"host", host}, {"x-galatea-token", kDoor.token}})));
    EXPECT_FALSE(kDoor.why_refused(
        request_with({{"host", host}, {"cookie", "a=b; galatea-8123=" + kDoor.token + "; c=d"}})));
  }
}

TEST(Door, RefusesAWrongOrMissingToken) {
  EXPECT_TRUE(kDoor.why_refused(request_with({{"host", "localhost:8123"}})));
  for (const std::string& wrong : {std::string(), kDoor.token.substr(1), kDoor.token + "0",
                                   std::string(32, '0'), std::string("0123456789ABCDEF0123456789ABCDEF")}) {
    EXPECT_TRUE(kDoor.why_refused(request_with({{"host", "localhost:8123"}}, {{"token", wrong}}))) << wrong;
    EXPECT_TRUE(
        kDoor.why_refused(request_with({{"host", "localhost:8123"}, {"cookie", "galatea-8123=" + wrong}})));
  }
  // The cookie of a server on another port is not ours.
  EXPECT_TRUE(kDoor.why_refused(
      request_with({{"host", "localhost:8123"}, {"cookie", "galatea-8124=" + kDoor.token}})));
}

TEST(Door, RefusesOtherNamesOfThisMachine) {
  for (const char* host : {"", "localhost", "127.0.0.1", "127.0.0.1:8124", "evil.example:8123",
                           "127.0.0.1:8123.evil", "[::1]:8123", "LOCALHOST:8123"})
    EXPECT_TRUE(kDoor.why_refused(request_with({{"host", host}}, {{"token", kDoor.token}}))) << host;
  EXPECT_TRUE(kDoor.why_refused(request_with({}, {{"token", kDoor.token}})));
  EXPECT_TRUE(kDoor.why_refused(
      request_with({{"host", "localhost:8123"}, {"host", "evil.example"}}, {{"token", kDoor.token}})));
}

TEST(Door, RefusesPagesFromElsewhere) {
  const auto why = [&](const std::string& origin) {
    return kDoor.why_refused(
        request_with({{"host", "localhost:8123"}, {"origin", origin}}, {{"token", kDoor.token}}));
  };
  EXPECT_FALSE(why("http://localhost:8123"));
  EXPECT_FALSE(why("http://127.0.0.1:8123"));
  for (const char* origin :
       {"null", "", "http://evil.example", "https://localhost:8123", "http://localhost:8124",
        "http://localhost:8123.evil.example", "http://evil.example#http://localhost:8123"})
    EXPECT_TRUE(why(origin)) << origin;
}

TEST(Door, TokensAreLongAndDiffer) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(make_token());
  EXPECT_EQ(tokens.size(), 100u);
  for (const std::string& token : tokens) EXPECT_EQ(token.size(), 32u);
}

TEST(Cookies, AreFoundByTheirWholeNames) {
  EXPECT_EQ(cookie_value("a=1; b=2;c=3", "b"), "2");
  EXPECT_EQ(cookie_value("a=1; b=2;c=3", "c"), "3");
  EXPECT_EQ(cookie_value("ab=1", "b"), std::nullopt);
  EXPECT_EQ(cookie_value("b", "b"), std::nullopt);
  EXPECT_EQ(cookie_value("", "b"), std::nullopt);
  EXPECT_EQ(cookie_value(";;; ;b=", "b"), "");
}

TEST(Responses, KeepThePageToItself) {
  const Response response = secured({200, "text/html", "", {}});
  EXPECT_NE(response.headers.at("Content-Security-Policy").find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(response.headers.at("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(response.headers.at("Cache-Control"), "no-store");
}

std::optional<Choice> choice_from(std::multimap<std::string, std::string> query) {
  return choice_of(request_with({}, std::move(query)));
}

TEST(Choices, AreTakenWithinBoundsOnly) {
  const auto choice = choice_from({{"set", "a=1"},
                                   {"set", "b=[0.5, -1e3]"},
                                   {"seed", "7"},
                                   {"first", "2"},
                                   {"samples", "3"},
                                   {"draw", "4"}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->set, (std::vector<std::string>{"a=1", "b=[0.5, -1e3]"}));
  EXPECT_EQ(choice->seed, 7);
  EXPECT_EQ(choice->first, 2);
  EXPECT_EQ(choice->samples, 3);
  EXPECT_EQ(choice->draw, 4);
  using Query = std::multimap<std::string, std::string>;
  for (const Query& wrong :
       {Query{{"samples", "0"}}, Query{{"samples", "17"}}, Query{{"samples", "1e3"}}, Query{{"samples", ""}},
        Query{{"first", "-1"}}, Query{{"first", "99999999999999999999"}}, Query{{"seed", "-1"}},
        Query{{"seed", "x"}}, Query{{"draw", "1 "}}, Query{{"set", "novalue"}}, Query{{"set", "=1"}},
        Query{{"set", "a=/etc"}}, Query{{"set", "a='b'"}}, Query{{"set", "a="}},
        Query{{"set", "a=" + std::string(5000, '1')}}})
    EXPECT_FALSE(choice_from(wrong)) << wrong.begin()->first << " " << wrong.begin()->second.substr(0, 30);
}

}  // namespace
}  // namespace galatea::tools::serve
