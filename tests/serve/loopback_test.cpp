// The program as a whole, over a connection.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/serve/serve_process.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"
#include "tools/serve/interface/http.h"

namespace galatea::testing {
namespace {

constexpr const char* kText = R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=2, num_threads=1, seed=1)
def small(data: str, size: int = 16):
    encoded, label = fn.readers.file(file_root=data)
    return fn.resize(fn.decoders.image(encoded), size=[size, size])
)";

std::vector<std::string> arguments(const std::string& file) {
  return {file, "--device", "cpu", "--set", "data=" + build_folder("/samples")};
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

/// A server that is silent for so long says nothing any more.
constexpr std::chrono::minutes kHung{5};

/// A connection that says what no client of HTTP would.
class RawClient {
 public:
  explicit RawClient(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// false: the server has closed the connection.
  bool send(const std::string& bytes) {
    is_open_ = is_open_ && ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                               static_cast<ssize_t>(bytes.size());
    return is_open_;
  }
  /// What the server says until it closes the connection, or is silent for so long.
  std::string receive(std::chrono::milliseconds silence) {
    std::string all;
    char bytes[4096];
    for (pollfd polled = {socket_, POLLIN, 0}; ::poll(&polled, 1, static_cast<int>(silence.count())) > 0;) {
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) {
        is_open_ = false;
        break;
      }
      all.append(bytes, static_cast<size_t>(count));
    }
    return all;
  }
  bool is_open() const { return is_open_; }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
  bool is_open_ = false;
};

std::string request_with_headers(const ServeProcess& server, const std::string& headers) {
  return "GET / HTTP/1.1\r\nX-Galatea-Token: " + server.token() + "\r\n" + headers + "\r\n";
}

TEST(Loopback, TwoHostsAreRefused) {
  const ScratchFolder folder;
  const ServeProcess server(arguments(folder.write("small.dali-dsl", kText)));
  const std::string own = "Host: 127.0.0.1:" + std::to_string(server.port()) + "\r\n";
  const auto status = [&](const std::string& headers) {
    RawClient client(server.port());
    client.send(request_with_headers(server, headers + "Connection: close\r\n"));
    return client.receive(kHung).substr(0, 12);
  };
  EXPECT_EQ(status(own), "HTTP/1.1 200");
  EXPECT_EQ(status(own + "Host: evil.example\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(status("host: evil.example\r\n" + own), "HTTP/1.1 403");
  EXPECT_EQ(status(own + own), "HTTP/1.1 403");
  EXPECT_EQ(status(""), "HTTP/1.1 403");
}

TEST(Loopback, RequestsOnOneConnectionFollowEachOther) {
  const ScratchFolder folder;
  const ServeProcess server(arguments(folder.write("small.dali-dsl", kText)));
  RawClient client(server.port());
  const std::string own = "Host: 127.0.0.1:" + std::to_string(server.port()) + "\r\n";
  client.send(request_with_headers(server, own) +
              request_with_headers(server, own + "Connection: close\r\n"));
  const std::string answers = client.receive(kHung);
  const size_t second = answers.find("HTTP/1.1 200", 1);
  EXPECT_EQ(answers.find("HTTP/1.1 200"), 0u) << answers.substr(0, 100);
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(answers.find("HTTP/1.1", second + 1), std::string::npos) << "two answers";
}

TEST(Loopback, HeadersWithoutAnEndAreCutOff) {
  const ScratchFolder folder;
  const ServeProcess server(arguments(folder.write("small.dali-dsl", kText)));
  RawClient client(server.port());
  client.send("GET / HTTP/1.1\r\n");
  std::string lines;
  for (int k = 0; k < 1000; ++k) lines += "X-" + std::to_string(k) + ": more\r\n";
  constexpr size_t kEnough = size_t{64} << 20;  // bytes; what the sockets hold on the way included
  size_t sent = 0;
  while (sent < kEnough && client.send(lines)) sent += lines.size();
  EXPECT_LT(sent, kEnough);
  EXPECT_EQ(server.client().Get("/")->status, 200) << "others are served";
}

TEST(Loopback, ARequestThatNeverEndsIsCutOff) {
  const ScratchFolder folder;
  const ServeProcess server(arguments(folder.write("small.dali-dsl", kText)));
  RawClient client(server.port());
  client.send("GET / HTTP/1.1\r\n");
  // Every wait is short, and the sum of them is not.
  constexpr std::chrono::milliseconds kBetween(250);
  constexpr int kMost = 4 * 60;
  int sent = 0;
  while (sent < kMost && client.send("a: b\r\n")) {
    client.receive(kBetween);
    if (!client.is_open()) break;
    ++sent;
  }
  EXPECT_LT(sent, kMost);
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
