// Format specifications, shared by f-strings, str.format and `%`.
#pragma once

#include <cstdint>
#include <string>

namespace galatea::dsl {

inline constexpr int kMaxFormatWidth = 100'000;

struct FormatSpec {
  std::string fill = " ";
  char align = 0, sign = 0, type = 0, grouping = 0;
  bool alternate = false, no_negative_zero = false;
  int width = 0, precision = -1;
};

/// Reads digits at `at`, if there are any; false: more than kMaxFormatWidth.
bool read_number(const std::string& text, size_t& at, int& out);
/// The digits of an integer or of a real number, without sign and prefix.
std::string format_digits(int64_t value, const FormatSpec& spec);
std::string format_magnitude(double value, const FormatSpec& spec);
/// "0x", "0b", "0o" in the alternate form.
std::string integer_prefix(const FormatSpec& spec);
std::string pad_formatted(const std::string& sign, const std::string& body, const FormatSpec& spec);

}  // namespace galatea::dsl
