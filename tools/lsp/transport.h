// Messages over a pair of descriptors: a header with Content-Length, then JSON (LSP 3.17, base protocol).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace galatea::tools::lsp {

class MessageReader {
 public:
  explicit MessageReader(int descriptor) : descriptor_(descriptor) {}
  /// The next message's content; nothing at the end of the stream, or where it is no stream of messages:
  /// problem() then says what is wrong with it.
  std::optional<std::string> read();
  const std::string& problem() const { return problem_; }

 private:
  static constexpr size_t kMostHeaderBytes = 8192;
  static constexpr size_t kMostContentBytes = size_t{64} << 20;
  bool fill();
  std::optional<size_t> content_length(std::string_view header);

  int descriptor_;
  std::string buffer_;
  std::string problem_;
};

/// False: nobody reads them any more.
bool write_message(int descriptor, std::string_view content);

}  // namespace galatea::tools::lsp
