// HTTP over loopback, by cpp-httplib; and the one function that leaves the module.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <httplib.h>

#include "tools/serve/httplib/client_stream.h"
#include "tools/serve/interface/http.h"

namespace galatea::tools::serve {
namespace {

constexpr size_t kThreads = 32;
constexpr size_t kMostConnections = 64;  // those that wait for a thread included
constexpr size_t kRequestsAConnection = 1000;
constexpr std::chrono::seconds kToSend(10);    // until a request is whole, and for each part of an answer
constexpr std::chrono::seconds kIdle(5);       // between two requests of a connection
constexpr size_t kMostHead = size_t{1} << 16;  // bytes of a request's first line and headers
constexpr size_t kMostSent = 2 * kMostBody;    // a body with the frames of its chunks

/// Where too many connections are open, the next is not taken before one of them ends.
class BoundedThreads : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_ < kMostConnections; });
    ++open_;
    lock.unlock();
    threads_.enqueue([this, task = std::move(task)] {
      task();
      const std::lock_guard guard(mutex_);
      --open_;
      changed_.notify_one();
    });
  }
  void shutdown() override { threads_.shutdown(); }

 private:
  httplib::ThreadPool threads_{kThreads};
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t open_ = 0;
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Request request_of(const httplib::Request& from) {
  Request request{from.method, from.path, from.body, {}, {}};
  for (const auto& [name, value] : from.headers) request.headers.emplace(lower(name), value);
  request.query.insert(from.params.begin(), from.params.end());
  return request;
}

/// httplib's server, over streams that bound what a request takes. It does what httplib's own SSLServer does: the
/// virtual function behind an accepted socket is its own, and hands a stream to process_request(). What the public
/// functions set bounds a line and a wait for a byte, not their sum; a loop of our own that accepts would need
/// process_request() as well, and would have to do again what starts, refuses and ends connections. The signature is
/// that of httplib 0.11; `override` makes the compiler refuse one that has another.
class BoundedServer : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override {
    ClientStream stream(socket, kToSend);
    bool is_over = false;
    for (size_t left = kRequestsAConnection; !is_over && left > 0; --left) {
      if (!stream.await_request(kIdle, svr_sock_)) break;
      stream.begin_request(kMostHead, kToSend);
      const bool is_last = left == 1;
      const bool is_answered = process_request(
          stream, is_last, is_over, [&stream](httplib::Request&) { stream.begin_body(kMostSent); });
      is_over = is_over || is_last || !is_answered || stream.is_spent();
    }
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return true;
  }
};

class Loopback : public HttpServer {
 public:
  explicit Loopback(int port) {
    server_.new_task_queue = [] { return new BoundedThreads; };  // httplib deletes it
    server_.set_payload_max_length(kMostBody);
    server_.set_tcp_nodelay(true);
    // As it is, httplib would let another program listen on the same port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    port_ = port == 0 ? server_.bind_to_any_port(kHost) : server_.bind_to_port(kHost, port) ? port : -1;
  }
  bool is_listening() const { return port_ > 0; }
  int port() const override { return port_; }

  void run(const Handler& handler) override {
    const auto answer = [&handler](const httplib::Request& from, httplib::Response& to) {
      Response response = handler(request_of(from));
      to.status = response.status;
      for (const auto& [name, value] : response.headers) to.set_header(name, value);
      to.set_content(std::move(response.body), response.type);
    };
    server_.Get(".*", answer);
    server_.Post(".*", answer);
    // The handler refuses these; without one, httplib would answer somebody without a token with 404.
    server_.Put(".*", answer);
    server_.Patch(".*", answer);
    server_.Delete(".*", answer);
    server_.Options(".*", answer);
    server_.listen_after_bind();
  }
  void stop() override { server_.stop(); }

 private:
  static constexpr const char* kHost = "127.0.0.1";
  BoundedServer server_;
  int port_ = -1;
};

std::unique_ptr<HttpServer> listen_on(int port) {
  auto server = std::make_unique<Loopback>(port);
  return server->is_listening() ? std::move(server) : nullptr;
}

}  // namespace
}  // namespace galatea::tools::serve

extern "C" __attribute__((visibility("default"))) const galatea::tools::serve::ModuleTable*
galatea_http_module() {
  using namespace galatea::tools::serve;  // NOLINT
  static const ModuleTable table = {kModuleInterface, GALATEA_VERSION, &listen_on};
  return &table;
}
