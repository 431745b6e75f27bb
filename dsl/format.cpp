// Formatting of static values: format specifications (f-strings, str.format) and the `%` operator. In:
// values. Out: strings.
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

struct FormatSpec {
  std::string fill = " ";
  char align = 0, sign = '-', type = 0, grouping = 0;
  bool alternate = false, zero = false;
  int width = 0, precision = -1;
};

size_t character_length(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - at;
}
size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); i += character_length(text, i)) ++count;
  return count;
}

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

bool read_number(const std::string& text, size_t& at, int& out) {
  out = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at) {
    out = out * 10 + (text[at] - '0');
    if (out > 100'000) return false;
  }
  return true;
}

// [[fill]align][sign][#][0][width][,][.precision][type]
bool parse_spec(const std::string& text, FormatSpec& spec) {
  size_t at = 0;
  if (!text.empty()) {
    size_t first = character_length(text, 0);
    if (first < text.size() && is_align(text[first])) {
      spec.fill = text.substr(0, first);
      spec.align = text[first];
      at = first + 1;
    } else if (is_align(text[0])) {
      spec.align = text[0];
      at = 1;
    }
  }
  if (at < text.size() && (text[at] == '+' || text[at] == '-' || text[at] == ' ')) spec.sign = text[at++];
  if (at < text.size() && text[at] == '#') spec.alternate = true, ++at;
  if (at < text.size() && text[at] == '0') spec.zero = true, ++at;
  if (!read_number(text, at, spec.width)) return false;
  if (at < text.size() && (text[at] == ',' || text[at] == '_')) spec.grouping = text[at++];
  if (at < text.size() && text[at] == '.') {
    ++at;
    size_t begin = at;
    if (!read_number(text, at, spec.precision) || at == begin) return false;
  }
  if (at < text.size()) spec.type = text[at++];
  return at == text.size();
}

std::string group_digits(const std::string& digits, char separator) {
  size_t whole = digits.find_first_not_of("0123456789");
  if (whole == std::string::npos) whole = digits.size();
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % 3 == 0) out += separator;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

std::string format_integer(int64_t value, const FormatSpec& spec) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string_view prefix = !spec.alternate                        ? ""
                            : spec.type == 'x' || spec.type == 'X' ? "0x"
                            : spec.type == 'b'                     ? "0b"
                            : spec.type == 'o'                     ? "0o"
                                                                   : "";
  std::string digits = spec.type == 'x'   ? fmt::format("{:x}", magnitude)
                       : spec.type == 'X' ? fmt::format("{:X}", magnitude)
                       : spec.type == 'b' ? fmt::format("{:b}", magnitude)
                       : spec.type == 'o' ? fmt::format("{:o}", magnitude)
                                          : std::to_string(magnitude);
  if (spec.grouping) digits = group_digits(digits, spec.grouping);
  return std::string(prefix) + digits;
}

std::string format_real(double value, const FormatSpec& spec) {
  double magnitude = std::fabs(value);
  int precision = spec.precision < 0 ? 6 : spec.precision;
  std::string digits;
  switch (spec.type) {
    case 'f':
    case 'F':
      digits = fmt::format("{:.{}f}", magnitude, precision);
      break;
    case 'e':
      digits = fmt::format("{:.{}e}", magnitude, precision);
      break;
    case 'E':
      digits = fmt::format("{:.{}E}", magnitude, precision);
      break;
    case '%':
      digits = fmt::format("{:.{}f}%", magnitude * 100, precision);
      break;
    case 'g':
    case 'G':
      digits = fmt::format("{:.{}g}", magnitude, precision == 0 ? 1 : precision);
      break;
    default:
      digits = spec.precision < 0 ? format_float(magnitude)
                                  : fmt::format("{:.{}g}", magnitude, precision == 0 ? 1 : precision);
  }
  return spec.grouping ? group_digits(digits, spec.grouping) : digits;
}

std::string pad(const std::string& sign, const std::string& body, const FormatSpec& spec,
                char default_align) {
  size_t size = count_characters(sign) + count_characters(body);
  auto width = static_cast<size_t>(spec.width);
  size_t missing = width > size ? width - size : 0;
  char align = spec.align ? spec.align : spec.zero ? '=' : default_align;
  std::string fill = !spec.align && spec.zero ? "0" : spec.fill;
  auto repeat = [&](size_t count) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += fill;
    return out;
  };
  if (align == '=') return sign + repeat(missing) + body;
  if (align == '<') return sign + body + repeat(missing);
  if (align == '>') return repeat(missing) + sign + body;
  return repeat(missing / 2) + sign + body + repeat(missing - missing / 2);
}

}  // namespace

Value Evaluator::format_value(const Value& given, const std::string& spec_text, Span span) {
  if (spec_text.empty()) return make_string(to_display(plain(given)));
  const Value value = plain(given);
  FormatSpec spec;
  if (!parse_spec(spec_text, spec)) return fail(Message::kBadFormat, span, {spec_text, describe_kind(value)});
  if (value.is(ValueKind::kString)) {
    if (spec.type != 0 && spec.type != 's')
      return fail(Message::kBadFormat, span, {spec_text, describe_kind(value)});
    std::string text = value.text();
    if (spec.precision >= 0) {
      size_t end = 0;
      for (int i = 0; i < spec.precision && end < text.size(); ++i) end += character_length(text, end);
      text.resize(end);
    }
    return make_string(pad("", text, spec, '<'));
  }
  if (!value.is_number()) return fail(Message::kBadFormat, span, {spec_text, describe_kind(value)});
  bool integer_type =
      spec.type == 'd' || spec.type == 'x' || spec.type == 'X' || spec.type == 'b' || spec.type == 'o';
  constexpr std::string_view kRealTypes = "fFeEgG%";
  bool real_type = spec.type != 0 && kRealTypes.find(spec.type) != std::string_view::npos;
  if (spec.type != 0 && !integer_type && !real_type)
    return fail(Message::kBadFormat, span, {spec_text, describe_kind(value)});
  if (integer_type && !value.is_integral())
    return fail(Message::kBadFormat, span, {spec_text, describe_kind(value)});
  bool as_integer = value.is_integral() && !real_type;
  if (as_integer && spec.precision >= 0)
    return fail(Message::kBadFormat, span, {spec_text, describe_kind(value)});
  double real = value.as_double();
  bool negative = as_integer ? value.as_int() < 0 : std::signbit(real) && !std::isnan(real);
  std::string sign = negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
  return make_string(
      pad(sign, as_integer ? format_integer(value.as_int(), spec) : format_real(real, spec), spec, '>'));
}

// "%s has %d" % (name, count)
Value Evaluator::format_percent(const std::string& pattern, const Value& arguments, Span span) {
  std::vector<Value> values =
      arguments.is(ValueKind::kTuple) ? arguments.elements() : std::vector<Value>{arguments};
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    if (i + 1 < pattern.size() && pattern[i + 1] == '%') {
      out += '%';
      ++i;
      continue;
    }
    size_t begin = ++i;
    FormatSpec spec;
    for (; i < pattern.size() && std::string_view("-+ #0").find(pattern[i]) != std::string_view::npos; ++i) {
      if (pattern[i] == '-')
        spec.align = '<';
      else if (pattern[i] == '0')
        spec.zero = true;
      else if (pattern[i] == '#')
        spec.alternate = true;
      else
        spec.sign = pattern[i];
    }
    bool good = read_number(pattern, i, spec.width);
    if (i < pattern.size() && pattern[i] == '.') good = read_number(pattern, ++i, spec.precision) && good;
    char type = i < pattern.size() ? pattern[i] : '\0';
    if (!good || std::string_view("sdifFeEgGxXor").find(type) == std::string_view::npos || type == '\0')
      return fail(Message::kBadFormat, span, {"%" + pattern.substr(begin, i + 1 - begin), "a string"});
    if (next >= values.size()) return fail(Message::kFormatCount, span, {std::to_string(values.size())});
    Value value = plain(values[next++]);
    if (value.is_poison()) return Value::poison();
    if (value.is_node()) return fail(Message::kNodeInString, span, {type_text(value)});
    if (type == 's' || type == 'r') {
      std::string text = type == 's' ? to_display(value) : repr(value);
      if (spec.precision >= 0) text = text.substr(0, static_cast<size_t>(spec.precision));
      spec.zero = false;
      out += pad("", text, spec, '>');
      continue;
    }
    if (!value.is_number())
      return fail(Message::kBadFormat, span, {std::string("%") + type, describe_kind(value)});
    spec.type = type == 'i' ? 'd' : type;
    bool integer = spec.type == 'd' || type == 'x' || type == 'X' || type == 'o';
    double real = value.as_double();
    if (integer && !value.is_integral() && (type != 'd' || std::fabs(real) >= 9e18 || std::isnan(real)))
      return fail(Message::kBadFormat, span, {std::string("%") + type, describe_kind(value)});
    int64_t whole = value.is_integral() ? value.as_int() : integer ? static_cast<int64_t>(real) : 0;
    bool negative = integer ? whole < 0 : std::signbit(real);
    std::string sign = negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
    out += pad(sign, integer ? format_integer(whole, spec) : format_real(real, spec), spec, '>');
  }
  if (next < values.size() && arguments.is(ValueKind::kTuple))
    return fail(Message::kFormatCount, span, {std::to_string(values.size())});
  if (next == 0 && !arguments.is(ValueKind::kTuple) && !arguments.is(ValueKind::kDict))
    return fail(Message::kFormatCount, span, {"1"});
  return make_string(std::move(out));
}

}  // namespace galatea::dsl
