// The bytes of one client, with bounds on what a request may take: its bytes, and the time until it is whole.
//
// Comes in: a connected socket. Goes out: what the client sent, until a bound is reached. cpp-httplib bounds each
// line of a request and each wait for a byte, and neither the number of lines nor the sum of the waits.
#pragma once

#include <array>
#include <atomic>
#include <chrono>

#include <httplib.h>

namespace galatea::tools::serve {

class ClientStream : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  /// Does not own the socket.
  ClientStream(socket_t socket, std::chrono::milliseconds longest_wait)
      : socket_(socket), longest_wait_(longest_wait) {}

  /// Waits for the first byte of a request; false: none came, or `listening` became INVALID_SOCKET.
  bool await_request(std::chrono::milliseconds wait, const std::atomic<socket_t>& listening);
  /// From here on a request may take so many bytes and so long.
  void begin_request(size_t most_bytes, std::chrono::milliseconds longest);
  /// The head is there; what follows of this request may take so many bytes, in the time that is left.
  void begin_body(size_t most_bytes) { bytes_left_ = most_bytes; }
  /// Whether a bound was reached, so that what the client sends next is no request.
  bool is_spent() const { return is_spent_; }

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* bytes, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool has_buffered() const { return next_ < end_; }
  bool fill();

  socket_t socket_;
  std::chrono::milliseconds longest_wait_;  ///< for the client to take a part of an answer
  size_t bytes_left_ = 0;
  Clock::time_point until_ = Clock::now();
  bool is_spent_ = false;
  std::array<char, 4096> buffer_ = {};
  size_t next_ = 0, end_ = 0;  ///< what of the buffer is not read yet
};

}  // namespace galatea::tools::serve
