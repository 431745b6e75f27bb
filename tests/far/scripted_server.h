// A web server on loopback that does what a test says, mistakes included.
//
// Comes in: a function from requests to replies. Goes out: an address, and which requests came.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace galatea::testing {

struct HttpRequest {
  std::string target;                          ///< "/path?query"
  std::map<std::string, std::string> headers;  ///< names in small letters
  int number = 0;                              ///< of the connection, from 0 on
  std::string header(const std::string& name) const;
};

struct HttpReply {
  std::string bytes;    ///< head and body, as they are sent
  bool closes = false;  ///< the connection, behind them
  bool stalls =
      false;  ///< sends nothing more, and keeps the connection open until the client or the server goes
};

class ScriptedServer {
 public:
  using Script = std::function<HttpReply(const HttpRequest&)>;
  explicit ScriptedServer(Script script);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::string address() const;  ///< "http://127.0.0.1:PORT"
  std::vector<HttpRequest> requests() const;
  int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(int socket, int number);

  Script script_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> is_over_{false};
  std::atomic<int> connections_{0};
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::vector<std::thread> threads_;
  std::set<int> sockets_;
  std::thread acceptor_;
};

/// A port of loopback where nobody listens, and nobody else can for as long as this is there.
class ClosedPort {
 public:
  ClosedPort();
  ~ClosedPort();
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;
  std::string address() const;  ///< "http://127.0.0.1:PORT"

 private:
  int socket_ = -1, port_ = 0;
};

/// "HTTP/1.1 STATUS …" with a length, further header lines ("Name: value\r\n"), and a body.
std::string http_text(int status, const std::string& headers, const std::string& body);
/// A server's usual answer about a file: the part that Range asks for, an ETag, 304, 416.
HttpReply file_reply(const HttpRequest& request, const std::string& file, const std::string& etag = "\"v1\"");
/// The first and the last byte that Range asks for; 0 and -1 without one.
std::pair<int64_t, int64_t> range_of(const HttpRequest& request);
/// Bytes that are all over different.
std::string some_bytes(size_t count);

}  // namespace galatea::testing
