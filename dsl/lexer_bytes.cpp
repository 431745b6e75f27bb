// See lexer_bytes.h.
#include "dsl/lexer_bytes.h"

namespace galatea::dsl {

size_t operator_length(std::string_view rest) {
  auto at = [&](size_t k) { return k < rest.size() ? rest[k] : '\0'; };
  switch (at(0)) {
    case '*':
    case '/':
    case '<':
    case '>':
      if (at(1) == at(0)) return at(2) == '=' ? 3 : 2;
      return at(1) == '=' ? 2 : 1;
    case '-':
      return at(1) == '=' || at(1) == '>' ? 2 : 1;
    case '+':
    case '%':
    case '@':
    case '&':
    case '|':
    case '^':
    case ':':
    case '=':
      return at(1) == '=' ? 2 : 1;
    case '!':
      return at(1) == '=' ? 2 : 0;
    case '.':
      return at(1) == '.' && at(2) == '.' ? 3 : 1;
    case '~':
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case ',':
    case ';':
      return 1;
    default:
      return 0;
  }
}

size_t utf8_length(std::string_view text, size_t at, uint32_t& code_point) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(at);
  size_t length = first < 0x80         ? 1
                  : (first >> 5) == 6  ? 2
                  : (first >> 4) == 14 ? 3
                  : (first >> 3) == 30 ? 4
                                       : 0;
  if (length == 0 || at + length > text.size()) return 0;
  code_point = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code_point = (code_point << 6) | (byte(at + i) & 0x3F);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < kSmallest[length] || code_point > 0x10FFFF) return 0;
  if (code_point >= 0xD800 && code_point <= 0xDFFF) return 0;
  return length;
}

bool find_invalid_utf8(std::string_view text, size_t& offset) {
  uint32_t code_point = 0;
  for (size_t i = 0; i < text.size();) {
    size_t length = utf8_length(text, i, code_point);
    if (length == 0 || code_point == 0) {
      offset = i;
      return true;
    }
    i += length;
  }
  return false;
}

std::string why_not_text(std::string_view text, size_t offset) {
  const bool is_utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  if (is_utf16) return "it begins as UTF-16 does";
  const std::string byte = "byte " + std::to_string(offset);
  return byte + (text[offset] == 0 ? " is zero" : " cannot be read");
}

}  // namespace galatea::dsl
