// Folders of a store, as its listings say them, page by page.
#include <gtest/gtest.h>

#include "stdlib_ops/native/far/curl.h"
#include "stdlib_ops/native/far/far_store.h"
#include "stdlib_ops/native/far/fetch.h"
#include "tests/far/environment.h"
#include "tests/far/scripted_server.h"

namespace galatea::native::far {
namespace {

using galatea::testing::http_text;
using galatea::testing::HttpReply;
using galatea::testing::HttpRequest;
using galatea::testing::OnlySettings;
using galatea::testing::ScriptedServer;

FarOptions one_try() {
  FarOptions options;
  options.fetch.tries = 1;
  return options;
}

std::string list_text(const std::string& content) {
  return http_text(200, "", "<ListBucketResult>" + content + "</ListBucketResult>");
}

class FarFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto curl = Curl::get(); !curl) GTEST_SKIP() << curl.error().message();
  }
  // No account, no proxy's variables of libcurl's own.
  OnlySettings settings_{{}};
};

TEST_F(FarFolders, FoldersAreListedPageByPage) {
  ScriptedServer server([&](const HttpRequest& request) {
    const bool is_second = request.target.find("continuation-token=p%2F2") != std::string::npos;
    return HttpReply{list_text(
        is_second ? "<Contents><Key>d/b.jpg</Key></Contents>"
                  : "<IsTruncated>true</IsTruncated><NextContinuationToken>p/2</NextContinuationToken>"
                    "<Contents><Key>d/</Key></Contents><Contents><Key>d/a.jpg</Key></Contents>"
                    "<CommonPrefixes><Prefix>d/n01/</Prefix></CommonPrefixes>")};
  });
  const OnlySettings settings({{"AWS_ENDPOINT_URL", server.address()}});
  FarStore store(one_try());
  const auto folder = store.list("s3://b/d");
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->files, (std::vector<std::string>{"a.jpg", "b.jpg"}));
  EXPECT_EQ(folder->folders, std::vector<std::string>{"n01"});
  EXPECT_EQ(server.requests().front().target, "/b/?delimiter=%2F&encoding-type=url&list-type=2&prefix=d%2F");
}

/// Consoles of stores make an object for a folder: a class of a data set may have no more yet.
TEST_F(FarFolders, AFolderThatAnObjectStandsForMayBeEmpty) {
  ScriptedServer server(
      [&](const HttpRequest&) { return HttpReply{list_text("<Contents><Key>d/</Key></Contents>")}; });
  const OnlySettings settings({{"AWS_ENDPOINT_URL", server.address()}});
  FarStore store(one_try());
  const auto folder = store.list("s3://b/d");
  ASSERT_TRUE(folder) << folder.error().message();
  EXPECT_TRUE(folder->files.empty() && folder->folders.empty());
}

TEST_F(FarFolders, ListingsThatCannotBeAreTold) {
  const std::pair<std::string, const char*> cases[] = {
      {list_text("<IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken>"),
       "its pages go in circles"},
      {list_text("<IsTruncated>true</IsTruncated>"), "its pages go in circles"},
      {list_text("<Contents><Key>elsewhere/a</Key></Contents>"), "keys of elsewhere"},
      {list_text("<Contents><Key>d/e/a</Key></Contents>"), "keys of sub-folders"},
      {list_text(""), "there is nothing in s3://b/d"},
      {http_text(200, "", "<html>"), "no listing of a bucket"},
      {http_text(404, "", "<Error><Code>NoSuchBucket</Code></Error>"), "404 Not Found, NoSuchBucket"},
      {http_text(200, "", std::string(kMaxListPage + 1, ' ')), "the server sends all of 16777217 bytes"}};
  for (const auto& [reply, words] : cases) {
    ScriptedServer server([&](const HttpRequest&) { return HttpReply{reply}; });
    const OnlySettings settings({{"AWS_ENDPOINT_URL", server.address()}});
    FarStore store(one_try());
    const auto folder = store.list("s3://b/d");
    ASSERT_FALSE(folder) << words;
    EXPECT_NE(folder.error().message().find(words), std::string::npos) << folder.error().message();
  }
  FarStore store(one_try());
  EXPECT_NE(store.list("https://h/d?x=hidden").error().message().find("https://h/d is a web server's"),
            std::string::npos);
}

}  // namespace
}  // namespace galatea::native::far
