#include "tests/far/scripted_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace galatea::testing {
namespace {

std::optional<HttpRequest> parse_request(const std::string& text) {
  HttpRequest request;
  const size_t target = text.find(' '), behind = text.find(' ', target + 1);
  if (behind == std::string::npos) return std::nullopt;
  request.target = text.substr(target + 1, behind - target - 1);
  for (size_t at = text.find("\r\n") + 2; at < text.size();) {
    const size_t end = text.find("\r\n", at), colon = text.find(':', at);
    if (end == at || colon > end) break;
    std::string name = text.substr(at, colon - at);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = text.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  return request;
}

/// A socket with a port of loopback of its own, and the port.
std::pair<int, int> bound_socket() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  if (socket < 0 || ::bind(socket, reinterpret_cast<sockaddr*>(&where), size) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&where), &size) != 0)
    throw std::runtime_error("no port of loopback");
  return {socket, ntohs(where.sin_port)};
}

std::string address_of(int port) { return fmt::format("http://127.0.0.1:{}", port); }

}  // namespace

ClosedPort::ClosedPort() { std::tie(socket_, port_) = bound_socket(); }
ClosedPort::~ClosedPort() { ::close(socket_); }
std::string ClosedPort::address() const { return address_of(port_); }

std::string HttpRequest::header(const std::string& name) const {
  const auto at = headers.find(name);
  return at == headers.end() ? std::string() : at->second;
}

ScriptedServer::ScriptedServer(Script script) : script_(std::move(script)) {
  ::setenv("no_proxy", "127.0.0.1", 1);  // whoever runs the tests may have a proxy
  std::tie(listener_, port_) = bound_socket();
  if (::listen(listener_, 64) != 0) throw std::runtime_error("no server on loopback");
  acceptor_ = std::thread([this] { accept_all(); });
}

ScriptedServer::~ScriptedServer() {
  is_over_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

std::string ScriptedServer::address() const { return address_of(port_); }

std::vector<HttpRequest> ScriptedServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedServer::accept_all() {
  while (!is_over_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const int number = connections_++;
    const std::lock_guard lock(mutex_);
    sockets_.insert(socket);
    threads_.emplace_back([this, socket, number] { serve(socket, number); });
  }
}

void ScriptedServer::serve(int socket, int number) {
  std::string text;
  for (bool goes_on = true; goes_on && !is_over_;) {
    char part[4096];
    const size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) {
      const ssize_t count = ::recv(socket, part, sizeof part, 0);
      if (count <= 0) break;
      text.append(part, static_cast<size_t>(count));
      continue;
    }
    auto request = parse_request(text.substr(0, end + 2));
    text.erase(0, end + 4);
    if (!request) break;
    request->number = number;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(*request);
    }
    const HttpReply reply = script_(*request);
    for (size_t at = 0; at < reply.bytes.size();) {
      const ssize_t count = ::send(socket, reply.bytes.data() + at, reply.bytes.size() - at, MSG_NOSIGNAL);
      if (count <= 0) break;
      at += static_cast<size_t>(count);
    }
    // The client going away, or the server's end, wakes this.
    if (reply.stalls)
      while (::recv(socket, part, sizeof part, 0) > 0) {
      }
    goes_on = !reply.closes && !reply.stalls;
  }
  const std::lock_guard lock(mutex_);
  sockets_.erase(socket);
  ::close(socket);
}

std::string http_text(int status, const std::string& headers, const std::string& body) {
  return fmt::format("HTTP/1.1 {} Said\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(), headers,
                     body);
}

std::pair<int64_t, int64_t> range_of(const HttpRequest& request) {
  const std::string range = request.header("range");
  int64_t first = 0, last = -1;
  if (range.starts_with("bytes=")) {
    const char* const end = range.data() + range.size();
    const auto dash = std::from_chars(range.data() + 6, end, first);
    std::from_chars(dash.ptr + 1, end, last);
  }
  return {first, last};
}

HttpReply file_reply(const HttpRequest& request, const std::string& file, const std::string& etag) {
  const std::string tag = etag.empty() ? "" : "ETag: " + etag + "\r\n";
  if (!etag.empty() && request.header("if-none-match") == etag) return {http_text(304, tag, "")};
  auto [first, last] = range_of(request);
  const auto size = static_cast<int64_t>(file.size());
  if (last < 0) return {http_text(200, tag, file)};
  if (first >= size) return {http_text(416, tag + fmt::format("Content-Range: bytes */{}\r\n", size), "")};
  last = std::min(last, size - 1);
  return {http_text(206, tag + fmt::format("Content-Range: bytes {}-{}/{}\r\n", first, last, size),
                    file.substr(static_cast<size_t>(first), static_cast<size_t>(last - first + 1)))};
}

std::string some_bytes(size_t count) {
  std::string out(count, '\0');
  uint32_t state = 1;
  for (char& byte : out) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24);
  }
  return out;
}

}  // namespace galatea::testing
