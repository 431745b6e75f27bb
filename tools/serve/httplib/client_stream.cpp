#include "tools/serve/httplib/client_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace galatea::tools::serve {
namespace {

using std::chrono::milliseconds;

bool is_ready(socket_t socket, short events, milliseconds wait) {
  const auto until = ClientStream::Clock::now() + wait;
  for (;;) {
    pollfd polled = {socket, events, 0};
    const int count = ::poll(&polled, 1, static_cast<int>(wait.count()));
    if (count >= 0 || errno != EINTR) return count > 0;
    const auto left = std::chrono::duration_cast<milliseconds>(until - ClientStream::Clock::now());
    wait = std::max(left, milliseconds(0));
  }
}

}  // namespace

bool ClientStream::await_request(milliseconds wait, const std::atomic<socket_t>& listening) {
  constexpr milliseconds kSlice(50);  // so long may the end of the server take to be noticed
  for (milliseconds waited(0); waited < wait && listening != INVALID_SOCKET; waited += kSlice)
    if (has_buffered() || is_ready(socket_, POLLIN, kSlice)) return true;
  return false;
}

void ClientStream::begin_request(size_t most_bytes, milliseconds longest) {
  bytes_left_ = most_bytes;
  until_ = Clock::now() + longest;
}

bool ClientStream::is_readable() const { return has_buffered() || is_ready(socket_, POLLIN, longest_wait_); }
bool ClientStream::is_writable() const { return is_ready(socket_, POLLOUT, longest_wait_); }

bool ClientStream::fill() {
  const auto left = std::chrono::ceil<milliseconds>(until_ - Clock::now());
  if (left <= milliseconds(0) || !is_ready(socket_, POLLIN, left)) return false;
  const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
  next_ = 0;
  end_ = count > 0 ? static_cast<size_t>(count) : 0;
  return count > 0;
}

ssize_t ClientStream::read(char* bytes, size_t size) {
  if (bytes_left_ == 0 || (!has_buffered() && !fill())) {
    is_spent_ = true;
    return -1;
  }
  const size_t count = std::min({size, end_ - next_, bytes_left_});
  std::memcpy(bytes, buffer_.data() + next_, count);
  next_ += count;
  bytes_left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t ClientStream::write(const char* bytes, size_t size) {
  return is_writable() ? ::send(socket_, bytes, size, MSG_NOSIGNAL) : -1;
}

// Both ends are of this machine, and nobody asks.
void ClientStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = 0;
}
void ClientStream::get_local_ip_and_port(std::string& ip, int& port) const {
  get_remote_ip_and_port(ip, port);
}

}  // namespace galatea::tools::serve
