#include "tools/lsp/text_buffer.h"

#include <algorithm>
#include <utility>

namespace galatea::tools::lsp {
namespace {

/// Bytes of the character that begins the text, which is not empty.
uint32_t bytes_of_first(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const uint32_t wanted = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
  if (wanted > text.size()) return 1;
  for (uint32_t k = 1; k < wanted; ++k)
    if ((static_cast<unsigned char>(text[k]) & 0xC0) != 0x80) return 1;
  return wanted;
}

uint32_t units_of_character(uint32_t bytes, Encoding encoding) {
  if (encoding == Encoding::kUtf8) return bytes;
  return encoding == Encoding::kUtf16 && bytes == 4 ? 2 : 1;
}

}  // namespace

uint32_t units_of(std::string_view text, Encoding encoding) {
  if (encoding == Encoding::kUtf8) return static_cast<uint32_t>(text.size());
  uint32_t units = 0;
  while (!text.empty()) {
    const uint32_t bytes = bytes_of_first(text);
    units += units_of_character(bytes, encoding);
    text.remove_prefix(bytes);
  }
  return units;
}

TextBuffer::TextBuffer(std::string text) : text_(std::move(text)) { find_lines(); }

void TextBuffer::find_lines() {
  starts_.assign(1, 0);
  for (size_t at = 0; at < text_.size(); ++at) {
    const bool is_pair = text_[at] == '\r' && at + 1 < text_.size() && text_[at + 1] == '\n';
    if (text_[at] == '\n' || (text_[at] == '\r' && !is_pair))
      starts_.push_back(static_cast<uint32_t>(at + 1));
  }
}

std::string_view TextBuffer::line(uint32_t number) const {
  if (number >= starts_.size()) return {};
  const size_t begin = starts_[number];
  const size_t end = number + 1 < starts_.size() ? starts_[number + 1] : text_.size();
  std::string_view line = std::string_view(text_).substr(begin, end - begin);
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

uint32_t TextBuffer::offset(Position at, Encoding encoding) const {
  if (at.line >= starts_.size()) return static_cast<uint32_t>(text_.size());
  std::string_view rest = line(at.line);
  uint32_t offset = starts_[at.line], units = 0;
  while (!rest.empty()) {
    const uint32_t bytes = encoding == Encoding::kUtf8 ? 1 : bytes_of_first(rest);
    units += units_of_character(bytes, encoding);
    if (units > at.character) break;
    offset += bytes;
    rest.remove_prefix(bytes);
  }
  return offset;
}

Position TextBuffer::position(uint32_t offset, Encoding encoding) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<uint32_t>(after - starts_.begin() - 1);
  uint32_t at = starts_[line], units = 0;
  if (encoding == Encoding::kUtf8) return {line, offset - at};
  // Inside of a character is its begin.
  while (at < offset) {
    const uint32_t bytes = bytes_of_first(std::string_view(text_).substr(at));
    if (at + bytes > offset) break;
    units += units_of_character(bytes, encoding);
    at += bytes;
  }
  return {line, units};
}

void TextBuffer::replace(Range range, std::string_view with, Encoding encoding) {
  const uint32_t begin = offset(range.begin, encoding);
  const uint32_t end = std::max(begin, offset(range.end, encoding));
  text_.replace(begin, end - begin, with);
  find_lines();
}

}  // namespace galatea::tools::lsp
