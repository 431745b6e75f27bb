// Texts with places for values: `"…".format(…)` and the `%` operator. In: a pattern and values. Out: a
// string.
#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/format.h"
#include "dsl/methods.h"
#include "dsl/unicode.h"

namespace galatea::dsl {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// ---- str.format ----

class Fields {
 public:
  Fields(Evaluator& evaluator, const CallArguments& arguments) : ev_(evaluator), a_(arguments) {}

  // The text with its fields filled in; false after an error. `depth`: of a specification inside a field.
  bool fill(const std::string& text, int depth, std::string& out) {
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c != '{' && c != '}') {
        out += c;
        continue;
      }
      bool doubled = depth == 0 && i + 1 < text.size() && text[i + 1] == c;
      if (doubled) {
        out += c;
        ++i;
        continue;
      }
      size_t end = c == '{' ? field_end(text, i) : std::string::npos;
      if (end == std::string::npos || depth > 1) return refuse(text);
      if (!fill_field(text.substr(i + 1, end - i - 1), depth, out)) return false;
      i = end;
      if (!ev_.check_size(out.size(), a_.span)) return false;
    }
    return true;
  }

 private:
  bool refuse(const std::string& text) {
    return ev_.fail(Message::kBadFormat, a_.span, {text, "a string"}), false;
  }

  static size_t field_end(const std::string& text, size_t open) {
    int nesting = 0;
    for (size_t i = open; i < text.size(); ++i) {
      if (text[i] == '{') ++nesting;
      if (text[i] == '}' && --nesting == 0) return i;
    }
    return std::string::npos;
  }

  bool fill_field(const std::string& field, int depth, std::string& out) {
    // name!conversion:specification; a `[…]` of the name may hold anything.
    size_t end = 0;
    for (bool in_index = false; end < field.size(); ++end) {
      if (field[end] == '[') in_index = true;
      if (field[end] == ']') in_index = false;
      if (!in_index && (field[end] == '!' || field[end] == ':')) break;
    }
    std::string name = field.substr(0, end), spec;
    char conversion = 0;
    if (end < field.size() && field[end] == '!') {
      conversion = end + 1 < field.size() ? field[end + 1] : '\0';
      end += 2;
      bool good = conversion == 'r' || conversion == 's' || conversion == 'a';
      if (!good || (end < field.size() && field[end] != ':')) return refuse("{" + field + "}");
    }
    Value value;
    if (!find(name, value)) return false;
    if (end < field.size() && !fill(field.substr(end + 1), depth + 1, spec)) return false;
    if (value.is_poison()) return false;
    if (ev_.has_node(value)) return ev_.fail(Message::kNodeInString, a_.span, {ev_.type_text(value)}), false;
    if (conversion != 0) {
      auto text = ev_.text_of(value, a_.span, conversion != 's');
      if (!text) return false;
      value = ev_.make_string(conversion == 'a' ? in_ascii(*text) : std::move(*text));
    }
    Value shown = ev_.format_value(value, spec, a_.span);
    if (shown.is_poison() || !ev_.check_size(out.size() + shown.text().size(), a_.span)) return false;
    out += shown.text();
    return true;
  }

  // `0`, `name`, nothing; then `.attribute` and `[index]`.
  bool find(const std::string& name, Value& value) {
    size_t end = std::min(name.find_first_of(".["), name.size());
    std::string first = name.substr(0, end);
    bool counted = first.empty() || all_digits(first);
    if (counted) {
      bool automatic = first.empty();
      if (numbering_ != 0 && (numbering_ == 1) != automatic) return refuse("{" + name + "}");
      numbering_ = automatic ? 1 : 2;
      size_t index = automatic          ? next_++
                     : first.size() < 7 ? static_cast<size_t>(std::stoi(first))
                                        : SIZE_MAX;
      if (index >= a_.positional.size())
        return ev_.fail(Message::kFormatCount, a_.span, {std::to_string(a_.positional.size())}), false;
      value = a_.positional[index];
    } else {
      auto found = std::find_if(a_.keywords.begin(), a_.keywords.end(),
                                [&](const auto& keyword) { return keyword.name == first; });
      if (found == a_.keywords.end()) return ev_.fail(Message::kNoKey, a_.span, {"'" + first + "'"}), false;
      value = found->value;
    }
    while (end < name.size()) {
      bool is_index = name[end] == '[';
      size_t next = is_index ? name.find(']', end) : std::min(name.find_first_of(".[", end + 1), name.size());
      if (next == std::string::npos || next == end + 1) return refuse("{" + name + "}");
      std::string part = name.substr(end + 1, next - end - 1);
      if (is_index)
        value = ev_.index(value,
                          all_digits(part) && part.size() < 18 ? Value::of(int64_t{std::stoll(part)})
                                                               : ev_.make_string(part),
                          a_.span);
      else
        value = ev_.attribute(value, part, a_.span, a_.span);
      if (value.is_poison()) return false;
      end = is_index ? next + 1 : next;
      if (is_index && end < name.size() && name[end] != '.' && name[end] != '[')
        return refuse("{" + name + "}");
    }
    return true;
  }

  Evaluator& ev_;
  const CallArguments& a_;
  size_t next_ = 0;
  int numbering_ = 0;  ///< 1: automatic, 2: by number
};

// ---- `%` ----

class Percent {
 public:
  Percent(Evaluator& evaluator, const std::string& pattern, const Value& arguments, Span span)
      : ev_(evaluator), pattern_(pattern), arguments_(arguments), span_(span) {
    if (arguments.is(ValueKind::kTuple))
      values_ = arguments.elements();
    else
      values_ = {arguments};
  }

  bool fill(std::string& out) {
    for (size_t i = 0; i < pattern_.size(); ++i) {
      if (pattern_[i] != '%') {
        out += pattern_[i];
      } else if (i + 1 < pattern_.size() && pattern_[i + 1] == '%') {
        out += '%';
        ++i;
      } else if (!place(i, out) || !ev_.check_size(out.size(), span_)) {
        return false;
      }
    }
    bool takes_more = arguments_.is(ValueKind::kDict) || arguments_.is(ValueKind::kList) ||
                      arguments_.is(ValueKind::kArray);
    if (next_ < values_.size() && !takes_more && !by_name_)
      return ev_.fail(Message::kFormatCount, span_, {std::to_string(values_.size())}), false;
    return true;
  }

 private:
  bool refuse(const std::string& text, const std::string& kind) {
    return ev_.fail(Message::kBadFormat, span_, {text, kind}), false;
  }

  bool next_value(Value& value) {
    if (next_ >= values_.size())
      return ev_.fail(Message::kFormatCount, span_, {std::to_string(values_.size())}), false;
    value = plain(values_[next_++]);
    return !value.is_poison();
  }

  // A width or precision: digits, or `*`.
  bool read_size(size_t& i, int& out) {
    if (i >= pattern_.size() || pattern_[i] != '*') return read_number(pattern_, i, out);
    Value value;
    if (!next_value(value)) return false;
    bool good =
        value.is_integral() && value.as_int() <= kMaxFormatWidth && value.as_int() >= -kMaxFormatWidth;
    out = good ? static_cast<int>(value.as_int()) : 0;
    ++i;
    return good;
  }

  // `%(name)-05.2f`; `i` ends at the letter.
  bool place(size_t& i, std::string& out) {
    size_t begin = i++;
    FormatSpec spec;
    Value value;
    bool named = false;
    if (i < pattern_.size() && pattern_[i] == '(') {
      size_t close = pattern_.find(')', i);
      if (close == std::string::npos) return refuse(pattern_.substr(begin, 20), "a string");
      if (!arguments_.is(ValueKind::kDict))
        return refuse(pattern_.substr(begin, close + 1 - begin), describe_kind(arguments_));
      value = ev_.index(arguments_, ev_.make_string(pattern_.substr(i + 1, close - i - 1)), span_);
      if (value.is_poison()) return false;
      value = plain(value);
      named = by_name_ = true;
      i = close + 1;
    }
    bool left = false, zero = false;
    for (; i < pattern_.size() && std::string_view("-+ #0").find(pattern_[i]) != std::string_view::npos;
         ++i) {
      left = left || pattern_[i] == '-';
      zero = zero || pattern_[i] == '0';
      spec.alternate = spec.alternate || pattern_[i] == '#';
      if (pattern_[i] == '+' || (pattern_[i] == ' ' && spec.sign != '+')) spec.sign = pattern_[i];
    }
    bool good = read_size(i, spec.width);
    if (spec.width < 0) left = true, spec.width = -spec.width;
    if (good && i < pattern_.size() && pattern_[i] == '.') {
      spec.precision = 0;
      good = read_size(++i, spec.precision);
      spec.precision = std::max(spec.precision, 0);
    }
    char letter = i < pattern_.size() ? pattern_[i] : '\0';
    std::string shown = pattern_.substr(begin, i + 1 - begin);
    if (!good || letter == '\0' ||
        std::string_view("sdiufFeEgGxXorac%").find(letter) == std::string_view::npos)
      return refuse(shown, "a string");
    if (letter == '%') return out += '%', true;
    if (!named && !next_value(value)) return false;
    if (ev_.has_node(value)) return ev_.fail(Message::kNodeInString, span_, {ev_.type_text(value)}), false;
    if (ev_.has_poison(value)) return false;
    spec.align = left ? '<' : '>';
    std::string sign, body;
    if (letter == 's' || letter == 'r' || letter == 'a') {
      auto text = ev_.text_of(value, span_, letter != 's');
      if (!text) return false;
      body = letter == 'a' ? in_ascii(*text) : std::move(*text);
      if (spec.precision >= 0)
        body = encode_utf8(decode_utf8(body).substr(0, static_cast<size_t>(spec.precision)));
    } else if (letter == 'c') {
      if (!character(value, body)) return refuse(shown, describe_kind(value));
    } else if (!number(value, letter, spec, sign, body)) {
      return refuse(shown, describe_kind(value));
    } else if (zero && !left) {
      spec.align = '=';
      spec.fill = "0";
    }
    out += pad_formatted(sign, body, spec);
    return ev_.check_size(out.size(), span_);
  }

  bool character(const Value& value, std::string& body) {
    if (value.is(ValueKind::kString) && count_characters(value.text()) == 1) return body = value.text(), true;
    if (!value.is_integral() || value.as_int() < 0 || value.as_int() > 0x10FFFF) return false;
    if (value.as_int() >= 0xD800 && value.as_int() <= 0xDFFF) return false;
    append_utf8(body, static_cast<char32_t>(value.as_int()));
    return true;
  }

  bool number(const Value& value, char letter, FormatSpec& spec, std::string& sign, std::string& body) {
    if (!value.is_number()) return false;
    bool decimal = letter == 'd' || letter == 'i' || letter == 'u',
         whole = decimal || std::string_view("xXo").find(letter) != std::string_view::npos;
    double real = value.as_double();
    bool fits = value.is_integral() || (decimal && std::fabs(real) < 9.2e18);
    if (whole && !fits) return false;
    spec.type = decimal ? 'd' : letter;
    int64_t integer = value.is_integral() ? value.as_int() : whole ? static_cast<int64_t>(real) : 0;
    bool negative = whole ? integer < 0 : std::signbit(real) && !std::isnan(real);
    sign = negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
    if (!whole) return body = format_magnitude(real, spec), true;
    sign += integer_prefix(spec);
    body = format_digits(integer, spec);
    if (static_cast<int>(body.size()) < spec.precision)
      body.insert(0, static_cast<size_t>(spec.precision) - body.size(), '0');
    return true;
  }

  Evaluator& ev_;
  const std::string& pattern_;
  const Value& arguments_;
  Span span_;
  std::vector<Value> values_;
  size_t next_ = 0;
  bool by_name_ = false;
};

}  // namespace

Value str_format(Evaluator& ev, CallArguments& a) {
  std::string out;
  return Fields(ev, a).fill(a.self.text(), 0, out) ? ev.make_string(std::move(out)) : Value::poison();
}

Value Evaluator::format_percent(const std::string& pattern, const Value& arguments, Span span) {
  std::string out;
  return Percent(*this, pattern, arguments, span).fill(out) ? make_string(std::move(out)) : Value::poison();
}

}  // namespace galatea::dsl
