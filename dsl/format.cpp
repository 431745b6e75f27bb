// Format specifications: `{x:>8.3f}` of f-strings and str.format. In: a value and a specification. Out: a
// string. As CPython formats, digit for digit.
#include "dsl/format.h"

#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/evaluator.h"
#include "dsl/unicode.h"

namespace galatea::dsl {
namespace {

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }
bool one_of(char c, std::string_view set) { return c != 0 && set.find(c) != std::string_view::npos; }

size_t character_length(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - at;
}

// [[fill]align][sign][z][#][0][width][grouping][.precision][type]
bool parse_spec(const std::string& text, char default_align, FormatSpec& spec) {
  size_t at = 0;
  bool fill_given = false;
  if (!text.empty()) {
    size_t first = character_length(text, 0);
    if (first < text.size() && is_align(text[first])) {
      spec.fill = text.substr(0, first);
      spec.align = text[first];
      at = first + 1;
      fill_given = true;
    } else if (is_align(text[0])) {
      spec.align = text[0];
      at = 1;
    }
  }
  if (at < text.size() && one_of(text[at], "+- ")) spec.sign = text[at++];
  if (at < text.size() && text[at] == 'z') spec.no_negative_zero = true, ++at;
  if (at < text.size() && text[at] == '#') spec.alternate = true, ++at;
  if (at < text.size() && text[at] == '0' && !fill_given) {
    spec.fill = "0";
    if (!spec.align && default_align == '>') spec.align = '=';
    ++at;
  }
  if (!read_number(text, at, spec.width)) return false;
  if (at < text.size() && one_of(text[at], ",_")) spec.grouping = text[at++];
  if (at < text.size() && text[at] == '.') {
    ++at;
    size_t begin = at;
    if (!read_number(text, at, spec.precision) || at == begin) return false;
  }
  if (at < text.size()) spec.type = text[at++];
  if (!spec.align) spec.align = default_align;
  return at == text.size();
}

std::string group(const std::string& digits, char separator, size_t size) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % size == 0) out += separator;
    out += digits[i];
  }
  return out;
}

// Groups the digits before the point; zeros that fill the width are grouped too.
std::string with_groups(const std::string& number, size_t taken, const FormatSpec& spec) {
  size_t whole = 0;
  bool hexadecimal = one_of(spec.type, "xXbo");
  while (whole < number.size() && std::isxdigit(static_cast<unsigned char>(number[whole])) &&
         (hexadecimal || std::isdigit(static_cast<unsigned char>(number[whole]))))
    ++whole;
  std::string digits = number.substr(0, whole), rest = number.substr(whole);
  size_t size = hexadecimal ? 4 : 3;
  if (spec.fill == "0" && spec.align == '=' && spec.width > 0 && whole > 0) {
    size_t wanted =
        static_cast<size_t>(spec.width) - std::min(static_cast<size_t>(spec.width), taken + rest.size());
    while (digits.size() + (digits.size() - 1) / size < wanted) digits.insert(0, 1, '0');
  }
  return group(digits, spec.grouping, size) + rest;
}

std::string strip_zeros(std::string digits, bool keep_one) {
  if (digits.find('.') == std::string::npos) return keep_one ? digits + ".0" : digits;
  digits.resize(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') keep_one ? digits += "0" : (digits.pop_back(), digits);
  return digits;
}

// As %g: `precision` significant digits. one_less: the exponent is used one digit sooner, and whole numbers
// keep ".0".
std::string significant(double magnitude, int precision, bool alternate, bool one_less) {
  precision = std::max(precision, 1);
  std::string scientific = fmt::format("{:.{}e}", magnitude, precision - 1);
  size_t e = scientific.find('e');
  int exponent = std::atoi(scientific.c_str() + e + 1);
  bool use_exponent = exponent < -4 || exponent >= precision - (one_less ? 1 : 0);
  std::string digits =
      use_exponent ? scientific.substr(0, e) : fmt::format("{:.{}f}", magnitude, precision - 1 - exponent);
  if (!alternate)
    digits = strip_zeros(digits, one_less && !use_exponent);
  else if (digits.find('.') == std::string::npos)
    digits += ".";
  return use_exponent ? digits + scientific.substr(e) : digits;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

bool read_number(const std::string& text, size_t& at, int& out) {
  size_t begin = at;
  int value = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at) {
    value = value * 10 + (text[at] - '0');
    if (value > kMaxFormatWidth) return false;
  }
  if (at > begin) out = value;
  return true;
}

std::string format_digits(int64_t value, const FormatSpec& spec) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  switch (spec.type) {
    case 'x':
      return fmt::format("{:x}", magnitude);
    case 'X':
      return fmt::format("{:X}", magnitude);
    case 'b':
      return fmt::format("{:b}", magnitude);
    case 'o':
      return fmt::format("{:o}", magnitude);
    default:
      return std::to_string(magnitude);
  }
}

std::string integer_prefix(const FormatSpec& spec) {
  return spec.alternate && one_of(spec.type, "xXbo") ? std::string("0") + spec.type : "";
}

std::string format_magnitude(double value, const FormatSpec& spec) {
  double magnitude = std::fabs(value);
  bool capital = one_of(spec.type, "EFG");
  char type = capital ? static_cast<char>(std::tolower(static_cast<unsigned char>(spec.type))) : spec.type;
  if (type == '%') magnitude *= 100;
  if (!std::isfinite(magnitude)) {
    std::string word = std::isnan(magnitude) ? "nan" : "inf";
    return (capital ? upper(word) : word) + (type == '%' ? "%" : "");
  }
  int precision = spec.precision < 0 ? 6 : spec.precision;
  std::string digits;
  if (type == 'f' || type == '%') {
    digits = fmt::format("{:.{}f}", magnitude, precision);
    if (spec.alternate && precision == 0) digits += ".";
  } else if (type == 'e') {
    digits = fmt::format("{:.{}e}", magnitude, precision);
    if (spec.alternate && precision == 0) digits.insert(digits.find('e'), ".");
  } else if (type == 'g' || type == 'n') {
    digits = significant(magnitude, precision, spec.alternate, false);
  } else if (spec.precision >= 0) {
    digits = significant(magnitude, precision, spec.alternate, true);
  } else {
    digits = format_float(magnitude);
    if (spec.alternate && digits.find('.') == std::string::npos && digits.find('e') != std::string::npos)
      digits.insert(digits.find('e'), ".");
  }
  if (type == '%') digits += "%";
  return capital ? upper(digits) : digits;
}

std::string pad_formatted(const std::string& sign, const std::string& body, const FormatSpec& spec) {
  size_t size = count_characters(sign) + count_characters(body);
  auto width = static_cast<size_t>(std::max(spec.width, 0));
  size_t missing = width > size ? width - size : 0;
  auto repeat = [&](size_t count) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += spec.fill;
    return out;
  };
  if (spec.align == '=') return sign + repeat(missing) + body;
  if (spec.align == '<') return sign + body + repeat(missing);
  if (spec.align == '>') return repeat(missing) + sign + body;
  return repeat(missing / 2) + sign + body + repeat(missing - missing / 2);
}

Value Evaluator::format_value(const Value& given, const std::string& spec_text, Span span) {
  const Value value = plain(given);
  if (spec_text.empty()) {
    auto text = text_of(value, span, false);
    return text ? make_string(std::move(*text)) : Value::poison();
  }
  auto bad = [&] { return fail(Message::kBadFormat, span, {spec_text, describe_kind(value)}); };
  FormatSpec spec;
  if (!value.is(ValueKind::kString) && !value.is_number()) return bad();
  if (!parse_spec(spec_text, value.is(ValueKind::kString) ? '<' : '>', spec)) return bad();
  if (value.is(ValueKind::kString)) {
    bool number_only =
        spec.sign || spec.alternate || spec.grouping || spec.no_negative_zero || spec.align == '=';
    if ((spec.type != 0 && spec.type != 's') || number_only) return bad();
    std::string text = value.text();
    if (spec.precision >= 0) {
      size_t end = 0;
      for (int i = 0; i < spec.precision && end < text.size(); ++i) end += character_length(text, end);
      text.resize(end);
    }
    return make_string(pad_formatted("", text, spec));
  }
  bool whole_type = one_of(spec.type, "dxXboc") || (spec.type == 'n' && value.is_integral());
  bool real_type = one_of(spec.type, "fFeEgG%n") && !whole_type;
  if (spec.type != 0 && !whole_type && !real_type) return bad();
  if (whole_type && !value.is_integral()) return bad();
  bool comma_refused = one_of(spec.type, "xXbocn") && spec.grouping == ',';
  if (comma_refused || (one_of(spec.type, "cn") && spec.grouping)) return bad();
  bool as_integer = value.is_integral() && !real_type;
  if (as_integer && (spec.precision >= 0 || spec.no_negative_zero)) return bad();
  if (spec.type == 'c') {
    int64_t c = value.as_int();
    if (spec.sign || spec.alternate || c < 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return bad();
    std::string character;
    append_utf8(character, static_cast<char32_t>(c));
    if (spec.align == '>' && spec_text[0] != '>') spec.align = '<';
    return make_string(pad_formatted("", character, spec));
  }
  double real = value.as_double();
  std::string digits = as_integer ? format_digits(value.as_int(), spec) : format_magnitude(real, spec);
  bool negative = as_integer ? value.as_int() < 0 : std::signbit(real) && !std::isnan(real);
  if (spec.no_negative_zero && digits.find_first_of("123456789n") == std::string::npos) negative = false;
  std::string sign = negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
  if (as_integer) sign += integer_prefix(spec);
  if (spec.grouping) digits = with_groups(digits, sign.size(), spec);
  return make_string(pad_formatted(sign, digits, spec));
}

}  // namespace galatea::dsl
