#include "tools/lsp/transport.h"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fmt/core.h>

namespace galatea::tools::lsp {

// Appends what there is; false at the end of the stream.
bool MessageReader::fill() {
  std::array<char, 16384> chunk;
  ssize_t got = 0;
  do {
    got = ::read(descriptor_, chunk.data(), chunk.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) problem_ = fmt::format("messages cannot be read: {}", std::strerror(errno));
  if (got <= 0) return false;
  buffer_.append(chunk.data(), static_cast<size_t>(got));
  return true;
}

std::optional<size_t> MessageReader::content_length(std::string_view header) {
  constexpr std::string_view kField = "content-length:";
  for (size_t at = 0; at < header.size();) {
    const size_t end = std::min(header.find("\r\n", at), header.size());
    std::string_view line = header.substr(at, end - at);
    at = end + 2;
    if (line.size() < kField.size() || ::strncasecmp(line.data(), kField.data(), kField.size()) != 0)
      continue;
    line.remove_prefix(kField.size());
    while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
    size_t length = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), length);
    if (error != std::errc() || stop == line.data()) break;
    if (length <= kMostContentBytes) return length;
    problem_ = fmt::format("a message of {} bytes is larger than {}", length, kMostContentBytes);
    return std::nullopt;
  }
  problem_ = "a message's header has no Content-Length";
  return std::nullopt;
}

std::optional<std::string> MessageReader::read() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  size_t header_end = 0;
  while ((header_end = buffer_.find(kEnd)) == std::string::npos) {
    if (buffer_.size() > kMostHeaderBytes) {
      problem_ = fmt::format("a message's header is longer than {} bytes", kMostHeaderBytes);
      return std::nullopt;
    }
    if (fill()) continue;
    if (!buffer_.empty() && problem_.empty()) problem_ = "the stream ends inside of a message's header";
    return std::nullopt;
  }
  const auto length = content_length(std::string_view(buffer_).substr(0, header_end));
  if (!length) return std::nullopt;
  buffer_.erase(0, header_end + kEnd.size());
  while (buffer_.size() < *length) {
    if (fill()) continue;
    if (problem_.empty()) problem_ = "the stream ends inside of a message";
    return std::nullopt;
  }
  std::string content = buffer_.substr(0, *length);
  buffer_.erase(0, *length);
  return content;
}

bool write_message(int descriptor, std::string_view content) {
  const std::string message = fmt::format("Content-Length: {}\r\n\r\n{}", content.size(), content);
  for (std::string_view rest = message; !rest.empty();) {
    const ssize_t written = ::write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace galatea::tools::lsp
