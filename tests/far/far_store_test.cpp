// Far data against a server that makes every mistake: what comes is right, or an error that says what
// happened.
#include "stdlib_ops/native/far/far_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "runtime/cancellation.h"
#include "stdlib_ops/native/far/curl.h"
#include "tests/far/environment.h"
#include "tests/far/scripted_server.h"

namespace galatea::native::far {
namespace {

using galatea::testing::file_reply;
using galatea::testing::http_text;
using galatea::testing::HttpReply;
using galatea::testing::HttpRequest;
using galatea::testing::OnlySettings;
using galatea::testing::range_of;
using galatea::testing::ScriptedServer;
using galatea::testing::some_bytes;
using galatea::testing::TestFolder;

/// Waits between tries are none; what is counted here is the same however long the machine lets this process stand.
FarOptions quick(const std::filesystem::path& folder = {}) {
  FarOptions options;
  options.fetch.stall = options.fetch.time_limit = options.versions_hold_for = std::chrono::minutes(30);
  options.fetch.tries = 5;
  options.fetch.first_wait = options.fetch.longest_wait = std::chrono::milliseconds(1);
  options.fetch.connections = 4;
  options.disk.folder = folder;
  return options;
}

Result<std::string> read_all(FarStore& store, const std::string& address) {
  GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, store.open(address));
  std::string text(static_cast<size_t>(file->size()), '\0');
  GALATEA_TRY(file->read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  return text;
}

/// "CODE message".
std::string failure(const Result<std::string>& result) {
  if (result) return "nothing failed";
  return result.error().diagnostics.front().code + " " + result.error().message();
}

class FarStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto curl = Curl::get(); !curl) GTEST_SKIP() << curl.error().message();
  }
  // No account, no proxy's variables of libcurl's own.
  OnlySettings settings_{{}};
};

TEST(FarLibrary, AMissingOneSaysWhatToInstall) {
  const char* const names[] = {"libcurl-that-nobody-has.so.4"};
  const auto curl = Curl::open(names);
  ASSERT_FALSE(curl);
  EXPECT_EQ(curl.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(curl.error().diagnostics.front().code, "G0996");
  EXPECT_NE(curl.error().diagnostics.front().help.find("libcurl4"), std::string::npos);
}

TEST_F(FarStoreTest, AnyPartIsTheFilesOverOneConnection) {
  const std::string file = some_bytes(3 * kBlockBytes * kFirstBlocks + 777);
  ScriptedServer server([&](const HttpRequest& request) { return file_reply(request, file); });
  FarStore store(quick());
  const auto source = store.open(server.address() + "/a");
  ASSERT_TRUE(source) << failure(std::unexpected(source.error()));
  EXPECT_EQ((*source)->size(), static_cast<int64_t>(file.size()));
  uint32_t state = 5;
  const auto size = static_cast<uint32_t>(file.size());
  for (int i = 0; i < 40; ++i) {
    state = state * 1664525U + 1013904223U;
    const uint32_t begin = state % size,
                   count = std::min(size - begin, (state >> 7) % (i % 2 == 0 ? 100 : size));
    std::string part(count, '\0');
    ASSERT_TRUE((*source)->read(begin, {reinterpret_cast<uint8_t*>(part.data()), count}));
    ASSERT_EQ(part, file.substr(begin, count)) << begin << " " << count;
  }
  EXPECT_EQ(server.connections(), 1);
  uint8_t byte = 0;
  for (const int64_t outside : {int64_t{-1}, int64_t{size}, INT64_MAX}) {
    const auto status = (*source)->read(outside, {&byte, 1});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().diagnostics.front().code, "G0802");
  }
}

TEST_F(FarStoreTest, EachBlockIsAskedForOnceByAllThreads) {
  const std::string file = some_bytes(10 * kBlockBytes);
  std::mutex mutex;
  std::map<int64_t, int> asked;
  ScriptedServer server([&](const HttpRequest& request) {
    const auto [first, last] = range_of(request);
    {
      const std::lock_guard lock(mutex);
      for (int64_t block = first / kBlockBytes; block <= last / kBlockBytes; ++block) ++asked[block];
    }
    return file_reply(request, file);
  });
  FarStore store(quick());
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] { right += read_all(store, server.address() + "/a") == file ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 6);
  for (const auto& [block, count] : asked) EXPECT_EQ(count, 1) << block;
}

TEST_F(FarStoreTest, LookingFromFrontToBackTakesFewRequests) {
  const std::string file = some_bytes(64 * kBlockBytes);
  ScriptedServer server([&](const HttpRequest& request) { return file_reply(request, file); });
  FarStore store(quick());
  const auto source = store.open(server.address() + "/a");
  ASSERT_TRUE(source);
  for (size_t at = 0; at < file.size(); at += 100'000) {
    uint8_t head[12];
    ASSERT_TRUE((*source)->read(static_cast<int64_t>(at), head));
    ASSERT_EQ(head[0], static_cast<uint8_t>(file[at]));
    store.finish_ahead();  // where a request ends that runs beside the reading depends on how far that is
  }
  EXPECT_LE(server.requests().size(), 8U);  // of 64 blocks, in parts of 16
}

TEST_F(FarStoreTest, CopiesOnDiskServeUntilTheFileChanges) {
  const TestFolder folder;
  std::string file = some_bytes(6 * kBlockBytes + 5), etag = "\"one\"";
  std::mutex mutex;
  int64_t sent = 0;
  ScriptedServer server([&](const HttpRequest& request) {
    const std::lock_guard lock(mutex);
    HttpReply reply = file_reply(request, file, etag);
    sent += static_cast<int64_t>(reply.bytes.size());
    return reply;
  });
  const std::string address = server.address() + "/a";
  {
    FarStore store(quick(folder.path()));
    EXPECT_EQ(read_all(store, address), file);
  }
  const size_t before = server.requests().size();
  sent = 0;
  {
    FarStore store(quick(folder.path()));
    EXPECT_EQ(read_all(store, address), file);
  }
  ASSERT_EQ(server.requests().size(), before + 1);
  EXPECT_EQ(server.requests().back().header("if-none-match"), "\"one\"");
  EXPECT_LT(sent, 1000);
  {
    const std::lock_guard lock(mutex);
    file = some_bytes(4 * kBlockBytes);
    std::ranges::reverse(file);
    etag = "\"two\"";
  }
  FarStore store(quick(folder.path()));
  EXPECT_EQ(read_all(store, address), file);
}

TEST_F(FarStoreTest, AServerThatNamesNoVersionLeavesNothingOnDisk) {
  const TestFolder folder;
  const std::string file = some_bytes(1000);
  ScriptedServer server([&](const HttpRequest& request) { return file_reply(request, file, ""); });
  FarStore store(quick(folder.path()));
  EXPECT_EQ(read_all(store, server.address() + "/a"), file);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// The first replies are `bad`, the others right.
struct Recovery {
  const char* name;
  std::function<HttpReply(const HttpRequest&, const std::string&)> bad;
};

TEST_F(FarStoreTest, MistakesThatPassAreTriedAgain) {
  const std::string file = some_bytes(2 * kBlockBytes);
  const auto status = [](int code, const std::string& headers = {}) {
    return [code, headers](const HttpRequest&, const std::string&) {
      return HttpReply{http_text(code, headers, "later")};
    };
  };
  const auto cut = [](size_t left) {
    return [left](const HttpRequest& request, const std::string& whole) {
      HttpReply reply = file_reply(request, whole);
      reply.bytes.resize(std::min(left, reply.bytes.size()));
      reply.closes = true;
      return reply;
    };
  };
  const auto part = [](const std::string& range, size_t length) {
    return [range, length](const HttpRequest&, const std::string& whole) {
      return HttpReply{
          http_text(206, "ETag: \"v1\"\r\nContent-Range: bytes " + range + "\r\n", whole.substr(0, length))};
    };
  };
  const std::string size = std::to_string(file.size());
  const Recovery cases[] = {
      {"503", status(503, "Retry-After: 0\r\n")},
      {"429", status(429)},
      {"500", status(500)},
      {"408", status(408)},
      {"no reply", cut(0)},
      {"cut in the head", cut(20)},
      {"cut in the body", cut(kBlockBytes)},
      {"cut at the last byte",
       [](const HttpRequest& request, const std::string& whole) {
         HttpReply reply = file_reply(request, whole);
         reply.bytes.pop_back();
         reply.closes = true;
         return reply;
       }},
      {"another part", part("5-14/" + size, 10)},
      {"a part that is another length", part("0-99/" + size, 10)},
      {"a part of unknown length", part("0-9/*", 10)},
      {"no part at all", part("words", 10)},
      {"a part beyond the end", part("0-99/50", 100)},
      {"a part of 2^63 bytes", part("0-9223372036854775807/9223372036854775808", 100)},
      {"less than was asked for", part("0-9/" + size, 10)},
      {"more than it said",
       [&](const HttpRequest&, const std::string&) {
         return HttpReply{
             "HTTP/1.1 206 Said\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\nContent-Range: bytes 0-3/" +
             size + "\r\n\r\n8\r\nabcdefgh\r\n0\r\n\r\n"};
       }},
  };
  for (const Recovery& recovery : cases) {
    std::atomic<int> left{recovery.name == std::string("less than was asked for") ? 1 : 2};
    ScriptedServer server([&](const HttpRequest& request) {
      return left-- > 0 ? recovery.bad(request, file) : file_reply(request, file);
    });
    FarStore store(quick());
    const auto text = read_all(store, server.address() + "/a");
    EXPECT_TRUE(text && *text == file) << recovery.name << ": " << failure(text);
    EXPECT_GE(server.requests().size(), 2U) << recovery.name;
  }
}

TEST_F(FarStoreTest, ATryGoesOnBehindWhatHasCome) {
  const std::string file = some_bytes(2 * kBlockBytes);
  std::atomic<int> left{2};
  ScriptedServer server([&](const HttpRequest& request) {
    HttpReply reply = file_reply(request, file);
    if (left-- > 0) {
      reply.bytes.resize(reply.bytes.size() - 100'000);
      reply.closes = true;
    }
    return reply;
  });
  FarStore store(quick());
  EXPECT_EQ(read_all(store, server.address() + "/a"), file);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  const auto size = static_cast<int64_t>(file.size());
  EXPECT_EQ(range_of(requests[1]).first, size - 100'000);
  EXPECT_EQ(range_of(requests[2]).first, size - 100'000);  // the second was cut with nothing of it sent
}

TEST_F(FarStoreTest, AServerThatStallsIsLeft) {
  const std::string file = some_bytes(kBlockBytes);
  std::atomic<int> left{2};
  ScriptedServer server([&](const HttpRequest& request) {
    HttpReply reply = file_reply(request, file);
    const int number = left--;
    if (number <= 0) return reply;
    reply.bytes.resize(number == 2 ? 0 : reply.bytes.size() / 2);
    reply.stalls = true;
    return reply;
  });
  FarOptions options = quick();
  options.fetch.tries = 100'000;  // a busy machine may stall, too
  options.fetch.stall = std::chrono::milliseconds(100);
  FarStore store(options);
  EXPECT_EQ(read_all(store, server.address() + "/a"), file);
  EXPECT_GE(server.requests().size(), 3U);
}

TEST_F(FarStoreTest, WhatDoesNotPassIsToldWithTheNumberOfTries) {
  ScriptedServer server([&](const HttpRequest&) { return HttpReply{http_text(503, "", "busy")}; });
  FarStore store(quick());
  const auto text = read_all(store, server.address() + "/a.tar?X-Signature=hidden");
  const std::string said = failure(text);
  EXPECT_TRUE(said.starts_with(
      "G0995 " + server.address() +
      "/a.tar could not be read: the server answers 503 Service Unavailable; tried 5 times in "))
      << said;
  EXPECT_EQ(text.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(server.requests().size(), 5U);
  EXPECT_EQ(server.requests().front().target, "/a.tar?X-Signature=hidden");
}

TEST_F(FarStoreTest, ARetryAfterBeyondTheTimeIsNotWaitedFor) {
  ScriptedServer server(
      [&](const HttpRequest&) { return HttpReply{http_text(429, "Retry-After: 3600\r\n", "")}; });
  FarStore store(quick());
  EXPECT_NE(failure(read_all(store, server.address() + "/a"))
                .find("429 Too Many Requests and wants to be left for 3600 s; tried 1 time in"),
            std::string::npos);
}

TEST_F(FarStoreTest, ANobodyThereIsTold) {
  const testing::ClosedPort nobody;
  FarStore store(quick());
  const std::string said = failure(read_all(store, nobody.address() + "/a"));
  EXPECT_TRUE(said.starts_with("G0995 ")) << said;
  EXPECT_NE(said.find("tried 5 times"), std::string::npos) << said;
}

TEST_F(FarStoreTest, RefusalsAreToldAtOnce) {
  const std::pair<int, const char*> cases[] = {{400, "400 Bad Request"}, {401, "401 Unauthorized"},
                                               {403, "403 Forbidden"},   {404, "404 Not Found"},
                                               {410, "410 Gone"},        {204, "204"}};
  for (const auto& [status, words] : cases) {
    ScriptedServer server([&](const HttpRequest&) { return HttpReply{http_text(status, "", "")}; });
    FarStore store(quick());
    const auto text = read_all(store, server.address() + "/a?k=hidden");
    EXPECT_EQ(failure(text),
              fmt::format("G0803 cannot read {}/a: the server answers {}", server.address(), words));
    EXPECT_EQ(text.error().kind, ErrorKind::kUser);
    EXPECT_EQ(server.requests().size(), 1U);
  }
}

TEST_F(FarStoreTest, AServerWithoutRangesIsReadWhole) {
  const std::string file = some_bytes(9 * kBlockBytes);
  ScriptedServer server([&](const HttpRequest& request) {
    HttpReply reply{http_text(200, "", file)};
    // Without a length the end of the connection is that of the file.
    if (request.target == "/b") reply = {"HTTP/1.0 200 Said\r\n\r\n" + file, true};
    return reply;
  });
  FarStore store(quick());
  EXPECT_EQ(read_all(store, server.address() + "/a"), file);
  EXPECT_EQ(read_all(store, server.address() + "/b"), file);
  EXPECT_EQ(server.requests().size(), 2U);
  // With less memory than the file has it comes again.
  FarOptions small = quick();
  small.memory = 2 * kBlockBytes;
  FarStore small_store(small);
  EXPECT_EQ(read_all(small_store, server.address() + "/a"), file);
}

TEST_F(FarStoreTest, AServerWithoutRangesMustNotSendTooMuch) {
  ScriptedServer server([&](const HttpRequest&) {
    return HttpReply{"HTTP/1.1 200 Said\r\nContent-Length: 9999999999\r\n\r\nabc", false, true};
  });
  FarStore store(quick());
  const std::string said = failure(read_all(store, server.address() + "/a"));
  EXPECT_EQ(said, "G0803 cannot read " + server.address() +
                      "/a: the server sends all of 9999999999 bytes, and gives no parts (HTTP ranges)");
}

TEST_F(FarStoreTest, AFileThatChangesIsNotMixed) {
  const std::string file = some_bytes(8 * kBlockBytes), shorter = file.substr(0, 7 * kBlockBytes);
  for (const bool becomes_shorter : {false, true}) {
    std::atomic<int> asked{0};
    ScriptedServer server([&](const HttpRequest& request) {
      if (asked++ == 0) return file_reply(request, file);
      return becomes_shorter ? file_reply(request, shorter) : file_reply(request, file, "\"v2\"");
    });
    FarStore store(quick());
    EXPECT_EQ(failure(read_all(store, server.address() + "/a")),
              "G0803 " + server.address() + "/a changed while it was read");
  }
}

TEST_F(FarStoreTest, RedirectsLeadOnlyToTheWebAndNotInCircles) {
  const std::string file = some_bytes(100);
  ScriptedServer server([&](const HttpRequest& request) {
    if (request.target == "/there") return file_reply(request, file);
    const std::string to = request.target == "/file"     ? "file:///etc/passwd"
                           : request.target == "/ftp"    ? "ftp://127.0.0.1/a"
                           : request.target == "/circle" ? "/circle"
                                                         : "/there";
    return HttpReply{http_text(302, "Location: " + to + "\r\n", "moved")};
  });
  FarStore store(quick());
  EXPECT_EQ(read_all(store, server.address() + "/here"), file);
  for (const char* target : {"/file", "/ftp", "/circle"}) {
    const std::string said = failure(read_all(store, server.address() + target));
    EXPECT_TRUE(said.starts_with("G0803 cannot read " + server.address() + target + ": ")) << said;
  }
  EXPECT_LE(server.requests().size(), 2U + 1 + 1 + 9);
}

TEST_F(FarStoreTest, EmptyFilesAreEmpty) {
  ScriptedServer server([&](const HttpRequest& request) {
    return request.target == "/a" ? file_reply(request, "")
                                  : HttpReply{http_text(200, "ETag: \"e\"\r\n", "")};
  });
  FarStore store(quick());
  EXPECT_EQ(read_all(store, server.address() + "/a"), "");
  EXPECT_EQ(read_all(store, server.address() + "/b"), "");
}

TEST_F(FarStoreTest, WhatIsSentCompressedIsNotTakenForTheFile) {
  std::atomic<int> asked{0};
  ScriptedServer server([&](const HttpRequest& request) {
    ++asked;
    HttpReply reply = file_reply(request, some_bytes(100));
    reply.bytes.insert(reply.bytes.find("\r\n") + 2,
                       "Content-Encoding: " + request.target.substr(1) + "\r\n");
    return reply;
  });
  FarStore store(quick());
  EXPECT_EQ(failure(read_all(store, server.address() + "/gzip")),
            "G0803 cannot read " + server.address() + "/gzip: the server sends it compressed (gzip)");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(read_all(store, server.address() + "/identity"), some_bytes(100));
}

TEST_F(FarStoreTest, ARefusedRangeOfAFileThatIsNotEmptyIsNoEmptyFile) {
  ScriptedServer server(
      [&](const HttpRequest&) { return HttpReply{http_text(416, "Content-Range: bytes */500\r\n", "")}; });
  FarStore store(quick());
  const std::string said = failure(read_all(store, server.address() + "/a"));
  EXPECT_TRUE(said.starts_with("G0803 cannot read " + server.address() + "/a: the server answers 416"))
      << said;
}

TEST_F(FarStoreTest, HeadsWithoutEndAreLeft) {
  ScriptedServer server([&](const HttpRequest&) {
    std::string text = "HTTP/1.1 200 Said\r\n";
    for (int i = 0; i < 3000; ++i) text += fmt::format("X-{}: {}\r\n", i, std::string(40, 'x'));
    return HttpReply{text + "\r\n", true};
  });
  FarStore store(quick());
  EXPECT_NE(failure(read_all(store, server.address() + "/a")).find("header"), std::string::npos);
}

TEST_F(FarStoreTest, AServerOfSomethingElseIsTold) {
  ScriptedServer server([&](const HttpRequest&) { return HttpReply{"SSH-2.0-x\r\n\r\n", true}; });
  FarStore store(quick());
  const std::string said = failure(read_all(store, server.address() + "/a"));
  EXPECT_TRUE(said.starts_with("G0803 cannot read ")) << said;
}

TEST_F(FarStoreTest, WhatWasReadAheadIsThere) {
  const std::string file = some_bytes(7 * kBlockBytes);
  ScriptedServer server([&](const HttpRequest& request) { return file_reply(request, file); });
  FarStore store(quick());
  for (const char* name : {"/a", "/b", "/c"}) store.will_open(server.address() + name);
  store.finish_ahead();
  const size_t requests = server.requests().size();
  EXPECT_EQ(requests, 6U);  // what opening brings, and the rest
  for (const char* name : {"/a", "/b", "/c"}) EXPECT_EQ(read_all(store, server.address() + name), file);
  EXPECT_EQ(server.requests().size(), requests);
}

TEST_F(FarStoreTest, ReadingAheadHasABound) {
  const std::string file = some_bytes(100 * kBlockBytes);
  std::atomic<int64_t> sent{0};
  ScriptedServer server([&](const HttpRequest& request) {
    HttpReply reply = file_reply(request, file);
    sent += static_cast<int64_t>(reply.bytes.size());
    return reply;
  });
  FarOptions options = quick();
  options.memory = 40 * kBlockBytes;
  FarStore store(options);
  const auto source = store.open(server.address() + "/a");
  ASSERT_TRUE(source);
  for (int i = 0; i < 10; ++i) (*source)->will_read(0, (*source)->size());
  store.finish_ahead();
  EXPECT_LE(sent, (kFirstBlocks + 20) * kBlockBytes + 10'000);
  EXPECT_GE(sent, (kFirstBlocks + 16) * kBlockBytes);
  EXPECT_EQ(read_all(store, server.address() + "/a"), file);
}

TEST_F(FarStoreTest, AFailureAheadIsToldToWhoReads) {
  ScriptedServer server([&](const HttpRequest&) { return HttpReply{http_text(404, "", "")}; });
  FarStore store(quick());
  store.will_open(server.address() + "/a");
  store.finish_ahead();
  EXPECT_TRUE(failure(read_all(store, server.address() + "/a")).starts_with("G0803"));
}

TEST_F(FarStoreTest, CancellingEndsAWait) {
  std::promise<void> asked;
  ScriptedServer server([&](const HttpRequest&) {
    asked.set_value();
    return HttpReply{.bytes = {}, .closes = false, .stalls = true};
  });
  FarStore store(quick());
  std::atomic<bool> is_cancelled{false};
  auto reading = std::async(std::launch::async, [&] {
    const runtime::CancelScope scope(&is_cancelled);
    return read_all(store, server.address() + "/a");
  });
  asked.get_future().wait();
  is_cancelled = true;
  // Without the flag it would be tried again, and the promise kept twice.
  EXPECT_EQ(failure(reading.get()).substr(0, 5), "G0902");
}

// ------------------------------------------------------------------------------------------------ stores

TEST_F(FarStoreTest, KeysAreAskedForSignedAndAsTheyAre) {
  const std::string file = some_bytes(1000);
  ScriptedServer server([&](const HttpRequest& request) { return file_reply(request, file); });
  const OnlySettings settings({{"AWS_ENDPOINT_URL_S3", server.address()},
                               {"STORAGE_EMULATOR_HOST", server.address()},
                               {"AWS_ACCESS_KEY_ID", "AK"},
                               {"AWS_SECRET_ACCESS_KEY", "hidden"},
                               {"AWS_SESSION_TOKEN", "token"}});
  FarStore store(quick());
  EXPECT_EQ(read_all(store, "s3://my.bucket/a=b/../c d+\xC3\xA9?#.jpg"), file);
  EXPECT_EQ(read_all(store, "gs://bucket/a"), file);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].target, "/my.bucket/a%3Db/../c%20d%2B%C3%A9%3F%23.jpg");
  EXPECT_TRUE(requests[0].header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=AK/"));
  EXPECT_NE(requests[0].header("authorization").find("/us-east-1/s3/aws4_request"), std::string::npos);
  EXPECT_EQ(requests[0].header("x-amz-security-token"), "token");
  EXPECT_NE(requests[1].header("authorization").find("/auto/s3/aws4_request"), std::string::npos);
}

TEST_F(FarStoreTest, StoresAreToldBackInTheirWords) {
  ScriptedServer server([&](const HttpRequest&) {
    return HttpReply{
        http_text(403, "", "<Error><Code>AccessDenied</Code><Message>Access\nDenied</Message></Error>")};
  });
  const OnlySettings settings({{"AWS_ENDPOINT_URL", server.address()}});
  FarStore store(quick());
  const auto text = read_all(store, "s3://b/k");
  EXPECT_EQ(failure(text),
            "G0803 cannot read s3://b/k: the server answers 403 Forbidden, AccessDenied: Access Denied");
  EXPECT_NE(text.error().diagnostics.front().help.find("no keys were found"), std::string::npos);
  EXPECT_NE(failure(read_all(store, "s3://b")).find("names a bucket, not a file"), std::string::npos);
}

TEST_F(FarStoreTest, WhatS3CallsABadRequestMayPassOrBeAboutKeys) {
  const std::string file = some_bytes(100);
  std::atomic<int> asked{0};
  ScriptedServer server([&](const HttpRequest& request) {
    if (request.target == "/b/old")
      return HttpReply{http_text(400, "", "<Error><Code>ExpiredToken</Code></Error>")};
    if (asked++ == 0) return HttpReply{http_text(400, "", "<Error><Code>RequestTimeout</Code></Error>")};
    return file_reply(request, file);
  });
  const OnlySettings settings({{"AWS_ENDPOINT_URL", server.address()},
                               {"AWS_ACCESS_KEY_ID", "AK"},
                               {"AWS_SECRET_ACCESS_KEY", "hidden"}});
  FarStore store(quick());
  EXPECT_EQ(read_all(store, "s3://b/k"), file);
  const auto old = read_all(store, "s3://b/old");
  EXPECT_EQ(failure(old), "G0803 cannot read s3://b/old: the server answers 400 Bad Request, ExpiredToken");
  EXPECT_NE(old.error().diagnostics.front().help.find("the keys of the environment"), std::string::npos);
}

}  // namespace
}  // namespace galatea::native::far
