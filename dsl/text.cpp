// Strings of values, in characters and without quadratic searches. See value.h.
#include <cstring>

#include "dsl/value.h"

namespace galatea::dsl {
namespace {
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
}  // namespace

std::string_view character_at(std::string_view text, size_t index) {
  size_t begin = 0;
  for (; begin < text.size(); ++begin) {
    if (begins_character(text[begin]) && index-- == 0) break;
  }
  size_t end = begin + 1;
  while (end < text.size() && !begins_character(text[end])) ++end;
  return text.substr(begin, end - begin);
}

size_t find_text(const std::string& text, const std::string& wanted, size_t from) {
  if (from > text.size()) return std::string::npos;
  // The library's memmem compares each byte at most a few times (two-way); std::string::find may compare
  // the whole of `wanted` at each byte.
  const void* found = memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : std::string::npos;
}

}  // namespace galatea::dsl
