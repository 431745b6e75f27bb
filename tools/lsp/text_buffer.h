// The text of a document as an editor sees it: lines, and positions in the units that both sides agreed on.
//
// Comes in: texts and changes of them. Goes out: the text, offsets in bytes and positions. Bytes that are no
// UTF-8 count as one unit each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace galatea::tools::lsp {

/// In what a position counts inside its line (LSP 3.17, PositionEncodingKind).
enum class Encoding : uint8_t { kUtf8, kUtf16 };

/// Both from 0, as in the protocol.
struct Position {
  uint32_t line = 0, character = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};
struct Range {
  Position begin, end;
  friend bool operator==(const Range&, const Range&) = default;
};

class TextBuffer {
 public:
  explicit TextBuffer(std::string text = {});
  const std::string& text() const { return text_; }
  uint32_t num_lines() const { return static_cast<uint32_t>(starts_.size()); }
  /// The line without its break; empty past the end.
  std::string_view line(uint32_t number) const;
  /// The byte at a position; what lies past the end of a line or of the text gives its end.
  uint32_t offset(Position at, Encoding encoding) const;
  Position position(uint32_t offset, Encoding encoding) const;
  void replace(Range range, std::string_view with, Encoding encoding);

 private:
  void find_lines();

  std::string text_;
  std::vector<uint32_t> starts_;
};

/// The number of units that the text takes.
uint32_t units_of(std::string_view text, Encoding encoding);

}  // namespace galatea::tools::lsp
