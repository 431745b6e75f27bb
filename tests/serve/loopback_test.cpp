// The program as a whole, over a connection.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/serve/serve_process.h"
#include "tests/tools/program.h"
#include "tools/serve/http.h"

namespace galatea::testing {
namespace {

constexpr const char* kText = R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=2, num_threads=1, seed=1)
def small(data: str, size: int = 16):
    encoded, label = fn.readers.file(file_root=data)
    return fn.resize(fn.decoders.image(encoded), size=[size, size])
)";

std::vector<std::string> arguments(const std::string& file) {
  return {file, "--device", "cpu", "--set", std::string("data=") + GALATEA_BINARY_DIR + "/samples"};
}

TEST(Loopback, OneLineOnStdoutAndCtrlCEnds) {
  const ScratchFolder folder;
  ServeProcess server(arguments(folder.write("small.dali-dsl", kText)));
  ASSERT_EQ(server.token().size(), 32u) << server.address();
  httplib::Client client = server.client();
  // A page that waits for a change does not hold the end up.
  std::thread waiting([&] { server.client().Get("/api/events?revision=1"); });
  const auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_TRUE(contains(page->body, "<!doctype html>"));
  EXPECT_TRUE(contains(page->get_header_value("Set-Cookie"), "HttpOnly; SameSite=Strict"));
  client.stop();
  std::string rest;
  EXPECT_EQ(server.interrupt(&rest), 0);
  EXPECT_EQ(rest, "");
  waiting.join();
}

TEST(Loopback, StrangersGetNothing) {
  const ScratchFolder folder;
  const ServeProcess server(arguments(folder.write("small.dali-dsl", kText)));
  httplib::Client stranger("127.0.0.1", server.port());
  for (const char* path : {"/", "/api/pipeline", "/api/events", "/nothing", "/api/policy/save"}) {
    EXPECT_EQ(stranger.Get(path)->status, 403) << path;
    EXPECT_EQ(stranger.Post(path, "x", "text/plain")->status, 403) << path;
    EXPECT_EQ(stranger.Put(path, "x", "text/plain")->status, 403) << path;
    EXPECT_EQ(stranger.Patch(path, "x", "text/plain")->status, 403) << path;
    EXPECT_EQ(stranger.Delete(path)->status, 403) << path;
    EXPECT_EQ(stranger.Options(path)->status, 403) << path;
  }
  httplib::Client other = server.client();
  EXPECT_EQ(other.Get("/", {{"Host", "evil.example"}})->status, 403);
  EXPECT_EQ(other.Get("/", {{"Origin", "http://evil.example"}})->status, 403);
  const auto odd = other.Get("/<script>alert(1)</script>");
  EXPECT_EQ(odd->status, 404);
  EXPECT_FALSE(contains(odd->body, "script"));
  EXPECT_EQ(other.Put("/", "x", "text/plain")->status, 405);
}

TEST(Loopback, LargeRequestsAreRefused) {
  const ScratchFolder folder;
  const ServeProcess server(arguments(folder.write("small.dali-dsl", kText)));
  httplib::Client client = server.client();
  const auto large =
      client.Post("/api/pipeline", std::string(tools::serve::kMostBody + 1, 'x'), "text/plain");
  EXPECT_TRUE(!large || large->status == 413);
  const auto fits = client.Post("/api/pipeline", "x", "text/plain");
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->status, 405);
  const auto longest = client.Get("/" + std::string(20'000, 'a'));
  EXPECT_TRUE(!longest || longest->status == 414);
  EXPECT_EQ(client.Get("/")->status, 200);
}

TEST(Loopback, ASavedFileWakesThePage) {
  const ScratchFolder folder;
  ServeProcess server(arguments(folder.write("small.dali-dsl", kText)));
  httplib::Client client = server.client();
  const auto before = parse_json(client.Get("/api/pipeline?samples=1")->body);
  ASSERT_TRUE(before["ok"].get<bool>()) << before["text"];
  const int revision = before["revision"];
  std::thread saves([&] {
    std::string text = kText;
    text.replace(text.find("size: int = 16"), 14, "size: int = 20");
    folder.write("small.dali-dsl", text);
  });
  nlohmann::json event;
  do {
    event = parse_json(client.Get("/api/events?revision=" + std::to_string(revision))->body);
  } while (event["revision"] == revision);
  saves.join();
  const auto after = parse_json(client.Get("/api/pipeline?samples=1&anew=1")->body);
  EXPECT_EQ(after["samples"][0]["cells"].back()["width"].get<int>(), 20);
}

TEST(Loopback, ATakenPortIsAnError) {
  const ScratchFolder folder;
  const std::string file = folder.write("small.dali-dsl", kText);
  const ServeProcess server(arguments(file));
  const Outcome second = run_galatea({"serve", file, "--port", std::to_string(server.port())}, folder.path());
  EXPECT_EQ(second.status, 3);
  EXPECT_EQ(second.out, "");
  EXPECT_TRUE(contains(second.err, "error[G0877]: cannot listen on port")) << second.err;
}

}  // namespace
}  // namespace galatea::testing
