// Characters of strings, as Python sees them: code points, their classes and their cases.
//
// Comes in: UTF-8 that is known to be valid. Goes out: code points, and UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace galatea::dsl {

std::u32string decode_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t c);
std::string encode_utf8(std::u32string_view text);
size_t count_characters(std::string_view text);

bool is_printable(char32_t c);
bool is_space(char32_t c);
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
enum class Case : uint8_t { kUpper, kLower, kTitle };
/// Appends the character in the case: several characters for some, as in "ß" to "SS".
void append_case(std::u32string& out, char32_t c, Case wanted);

}  // namespace galatea::dsl
