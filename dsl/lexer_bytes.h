// What bytes say by themselves, before they are tokens: parts of names, operators, UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace galatea::dsl {

/// What a byte may be part of, whatever the locale says.
enum ByteClass : uint8_t { kLetterByte = 1, kDigitByte = 2, kWideByte = 4 };
inline constexpr std::array<uint8_t, 256> kByteClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (size_t c = 'a'; c <= 'z'; ++c) classes[c] = kLetterByte;
  for (size_t c = 'A'; c <= 'Z'; ++c) classes[c] = kLetterByte;
  for (size_t c = '0'; c <= '9'; ++c) classes[c] = kDigitByte;
  for (size_t c = 0x80; c <= 0xFF; ++c) classes[c] = kWideByte;
  classes['_'] = kLetterByte;
  return classes;
}();

inline bool is_ascii_digit(unsigned char c) { return kByteClasses[c] == kDigitByte; }
inline bool is_name_start(unsigned char c) { return (kByteClasses[c] & (kLetterByte | kWideByte)) != 0; }
inline bool is_name_part(unsigned char c) { return kByteClasses[c] != 0; }

/// Length of the operator at the start of `rest`, the longest that fits; 0: there is none.
size_t operator_length(std::string_view rest);
/// Length of the UTF-8 sequence at `at`, 0 if it is not one.
size_t utf8_length(std::string_view text, size_t at, uint32_t& code_point);
/// Whether all bytes are UTF-8; else the offset of the first that is not.
bool find_invalid_utf8(std::string_view text, size_t& offset);
/// What is wrong with the byte there: "byte 5 is zero".
std::string why_not_text(std::string_view text, size_t offset);

}  // namespace galatea::dsl
