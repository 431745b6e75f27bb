// Searches the tables of unicode.inc.
#include "dsl/unicode.h"

#include <algorithm>
#include <iterator>

namespace galatea::dsl {
namespace {

struct Range {
  char32_t first, last;
};
/// Every `stride`-th character from first to last maps to the one at `distance`.
struct Mapping {
  char32_t first, last;
  int stride, distance;
};
struct Expansion {
  char32_t from;
  const char* to;
};
#include "dsl/unicode.inc"

template <size_t N>
bool holds(const Range (&table)[N], char32_t c) {
  auto past = std::upper_bound(std::begin(table), std::end(table), c,
                               [](char32_t x, const Range& range) { return x < range.first; });
  return past != std::begin(table) && c <= std::prev(past)->last;
}

// Mappings may be interleaved (every second character), so that several ranges can hold one character.
template <size_t N>
char32_t mapped(const Mapping (&table)[N], char32_t c) {
  for (const Mapping& m : table) {
    if (m.first > c) break;
    if (c <= m.last && (c - m.first) % static_cast<char32_t>(m.stride) == 0)
      return static_cast<char32_t>(static_cast<int64_t>(c) + m.distance);
  }
  return c;
}

template <size_t N>
const char* expanded(const Expansion (&table)[N], char32_t c) {
  for (const Expansion& e : table) {
    if (e.from == c) return e.to;
  }
  return nullptr;
}

bool ascii_between(char32_t c, char first, char last) {
  return c >= static_cast<unsigned char>(first) && c <= static_cast<unsigned char>(last);
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string out;
  for (size_t i = 0; i < text.size();) {
    auto byte = static_cast<unsigned char>(text[i]);
    size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    char32_t c = length == 1 ? byte : byte & (0xFFu >> (length + 1));
    for (size_t k = 1; k < length && i + k < text.size(); ++k)
      c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    out.push_back(c);
    i += length;
  }
  return out;
}

void append_utf8(std::string& out, char32_t c) {
  auto put = [&](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3F));
  } else {
    put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3F)), put(0x80 | ((c >> 6) & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

std::string encode_utf8(std::u32string_view text) {
  std::string out;
  for (char32_t c : text) append_utf8(out, c);
  return out;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_printable(char32_t c) { return c < 0x80 ? c >= 0x20 && c != 0x7F : !holds(kUnprintable, c); }
bool is_space(char32_t c) {
  return c < 0x80 ? c == ' ' || ascii_between(c, '\t', '\r') || ascii_between(c, '\x1c', '\x1f')
                  : holds(kSpace, c);
}
bool is_decimal(char32_t c) { return c < 0x80 ? ascii_between(c, '0', '9') : holds(kDecimal, c); }
bool is_digit(char32_t c) { return c < 0x80 ? is_decimal(c) : holds(kDigit, c); }
bool is_numeric(char32_t c) { return c < 0x80 ? is_decimal(c) : holds(kNumeric, c); }
bool is_upper(char32_t c) { return c < 0x80 ? ascii_between(c, 'A', 'Z') : holds(kUpper, c); }
bool is_lower(char32_t c) { return c < 0x80 ? ascii_between(c, 'a', 'z') : holds(kLower, c); }
bool is_alpha(char32_t c) { return c < 0x80 ? is_upper(c) || is_lower(c) : holds(kAlpha, c); }

void append_case(std::u32string& out, char32_t c, Case wanted) {
  if (c < 0x80) {
    bool change = wanted == Case::kLower ? is_upper(c) : is_lower(c);
    out.push_back(change ? c ^ 0x20 : c);
    return;
  }
  const char* several = wanted == Case::kUpper   ? expanded(kExpandUpper, c)
                        : wanted == Case::kLower ? expanded(kExpandLower, c)
                                                 : expanded(kExpandTitle, c);
  if (several)
    out += decode_utf8(several);
  else
    out.push_back(wanted == Case::kUpper   ? mapped(kToUpper, c)
                  : wanted == Case::kLower ? mapped(kToLower, c)
                                           : mapped(kToTitle, c));
}

}  // namespace galatea::dsl
