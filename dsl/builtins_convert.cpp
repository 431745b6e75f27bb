// Built-in functions that convert: numbers, texts, lists and dicts. In: evaluated arguments. Out: a value, or
// poison after an error.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/builtin_functions.h"
#include "dsl/methods.h"
#include "dsl/unicode.h"

namespace galatea::dsl::builtin {

Value fn_bool(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, 1)) return Value::poison();
  if (a.positional.empty()) return Value::of(false);
  if (a.positional[0].is_node() && ev.in_element())
    return ev.convert_element(a.positional[0], DType::kBool, false, a.span);
  if (a.positional[0].is_node()) return no_node(ev, a, "write `fn.cast(x, dtype=types.BOOL)`");
  return ev.has_truth(a.positional[0], a.spans[0]) ? Value::of(truth(a.positional[0])) : Value::poison();
}

namespace {

// A number's text without blanks around and without underscores between digits; nothing if one stands
// elsewhere.
std::string trimmed(const std::string& text) {
  std::u32string all = decode_utf8(text);
  size_t begin = 0, end = all.size();
  while (begin < end && is_space(all[begin])) ++begin;
  while (end > begin && is_space(all[end - 1])) --end;
  std::string out;
  for (size_t i = begin; i < end; ++i) {
    if (all[i] != U'_') {
      append_utf8(out, all[i]);
      continue;
    }
    auto alnum = [](char32_t c) { return c < 0x80 && std::isalnum(static_cast<int>(c)); };
    if (i == begin || i + 1 == end || !alnum(all[i - 1]) || !alnum(all[i + 1])) return {};
  }
  return out;
}

// The number of an array of one element.
Value only_element(const Value& value) {
  bool one = value.is(ValueKind::kArray) && value.as<ArrayObject>().elements.size() == 1;
  return one ? value.as<ArrayObject>().elements[0] : value;
}

}  // namespace

Value fn_int(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, 2)) return Value::poison();
  if (a.positional.empty()) return Value::of(int64_t{0});
  const Value x = only_element(a.positional[0]);
  if (x.is_node() && ev.in_element()) return ev.convert_element(x, DType::kI32, false, a.span);
  if (x.is_node()) return no_node(ev, a, "write `fn.cast(x, dtype=types.INT32)`");
  if (x.is_integral()) return Value::of(x.as_int());
  if (x.is(ValueKind::kFloat)) {
    if (!std::isfinite(x.number) || std::fabs(x.number) >= 9.2e18)
      return ev.fail(Message::kIntegerOverflow, a.span, {repr(x)});
    return Value::of(static_cast<int64_t>(x.number));
  }
  if (!x.is(ValueKind::kString)) return wrong_kind(ev, a, 0, "a number or a string");
  int64_t base = 10;
  if (a.positional.size() == 2) {
    if (!a.positional[1].is_integral() || a.positional[1].as_int() < 2 || a.positional[1].as_int() > 36)
      return wrong_kind(ev, a, 1, "a base from 2 to 36");
    base = a.positional[1].as_int();
  }
  std::string text = trimmed(x.text());
  const char* begin = text.data() + (text.starts_with("+") ? 1 : 0);
  int64_t value = 0;
  auto [end, error] = std::from_chars(begin, text.data() + text.size(), value, static_cast<int>(base));
  if (error == std::errc::result_out_of_range)
    return ev.fail(Message::kIntegerOverflow, a.span, {text.substr(0, 40)});
  if (error != std::errc() || end != text.data() + text.size())
    return ev.fail(Message::kNotANumber, a.spans[0], {repr(x)});
  return Value::of(value);
}

Value fn_float(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, 1)) return Value::poison();
  if (a.positional.empty()) return Value::of(0.0);
  const Value x = only_element(a.positional[0]);
  if (x.is_node() && ev.in_element()) return ev.convert_element(x, DType::kF32, false, a.span);
  if (x.is_node()) return no_node(ev, a, "write `fn.cast(x, dtype=types.FLOAT)`");
  if (x.is_number()) return Value::of(x.as_double());
  if (!x.is(ValueKind::kString)) return wrong_kind(ev, a, 0, "a number or a string");
  std::string text = trimmed(x.text());
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text == "infinity") text = "inf";
  if (text == "-infinity") text = "-inf";
  const char* begin = text.data() + (text.starts_with("+") ? 1 : 0);
  double value = 0;
  auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return ev.fail(Message::kNotANumber, a.spans[0], {repr(x)});
  return Value::of(value);
}

Value fn_str(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, 1)) return Value::poison();
  if (a.positional.empty()) return ev.make_string("");
  if (ev.has_node(a.positional[0]))
    return ev.fail(Message::kNodeInString, a.span, {ev.type_text(a.positional[0])});
  auto text = ev.text_of(a.positional[0], a.span, false);
  return text ? ev.make_string(std::move(*text)) : Value::poison();
}

Value fn_repr(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  if (ev.has_node(a.positional[0]))
    return ev.fail(Message::kNodeInString, a.span, {ev.type_text(a.positional[0])});
  auto text = ev.text_of(a.positional[0], a.span, true);
  return text ? ev.make_string(std::move(*text)) : Value::poison();
}

Value fn_ascii(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  if (ev.has_node(a.positional[0]))
    return ev.fail(Message::kNodeInString, a.span, {ev.type_text(a.positional[0])});
  auto text = ev.text_of(a.positional[0], a.span, true);
  return text ? ev.make_string(in_ascii(*text)) : Value::poison();
}

Value fn_format(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 2)) return Value::poison();
  if (ev.has_node(a.positional[0]))
    return ev.fail(Message::kNodeInString, a.span, {ev.type_text(a.positional[0])});
  if (a.positional.size() == 2 && !a.positional[1].is(ValueKind::kString))
    return wrong_kind(ev, a, 1, "a string");
  return ev.format_value(a.positional[0], a.positional.size() == 2 ? a.positional[1].text() : "", a.span);
}

Value fn_chr(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  Value x = plain(a.positional[0]);
  bool good = x.is_integral() && x.as_int() >= 0 && x.as_int() <= 0x10FFFF &&
              (x.as_int() < 0xD800 || x.as_int() > 0xDFFF);
  if (!good) return wrong_kind(ev, a, 0, "the number of a character");
  std::string out;
  append_utf8(out, static_cast<char32_t>(x.as_int()));
  return ev.make_string(std::move(out));
}

Value fn_ord(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  if (!a.positional[0].is(ValueKind::kString) || count_characters(a.positional[0].text()) != 1)
    return wrong_kind(ev, a, 0, "one character");
  return Value::of(static_cast<int64_t>(decode_utf8(a.positional[0].text())[0]));
}

// bin, oct and hex.
Value fn_digits(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  Value x = plain(a.positional[0]);
  if (!x.is_integral()) return wrong_kind(ev, a, 0, "an integer");
  std::string spec = a.name == "bin" ? "#b" : a.name == "oct" ? "#o" : "#x";
  return ev.format_value(Value::of(x.as_int()), spec, a.span);
}

Value fn_divmod(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  Value quotient = ev.binary("//", a.positional[0], a.positional[1], a.span, a.spans[0], a.spans[1]);
  if (quotient.is_poison()) return quotient;
  Value rest = ev.binary("%", a.positional[0], a.positional[1], a.span, a.spans[0], a.spans[1]);
  return rest.is_poison() ? rest : ev.make_tuple({quotient, rest});
}

Value fn_pow(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  return ev.binary("**", a.positional[0], a.positional[1], a.span, a.spans[0], a.spans[1]);
}

Value fn_list(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, 1)) return Value::poison();
  if (a.positional.empty()) return ev.make_list({}, a.span);
  auto elements = ev.iterate(a.positional[0], a.spans[0], "made a list");
  return elements ? ev.make_list(std::move(*elements), a.span) : Value::poison();
}

Value fn_tuple(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, 1)) return Value::poison();
  if (a.positional.empty()) return ev.make_tuple({});
  auto elements = ev.iterate(a.positional[0], a.spans[0], "made a tuple");
  return elements ? ev.make_tuple(std::move(*elements)) : Value::poison();
}

Value fn_dict(Evaluator& ev, CallArguments& a) {
  if (a.positional.size() > 1)
    return ev.fail(Message::kArgumentCount, a.span, {"dict", "0 to 1", std::to_string(a.positional.size())});
  Value result = ev.make_dict(a.span);
  if (!a.positional.empty()) {
    const Value& from = a.positional[0];
    if (from.is_poison()) return Value::poison();
    if (from.is(ValueKind::kDict)) {
      for (const auto& [key, value] : from.dict().entries) result.dict().set(ev.key_of(key), key, value);
    } else {
      auto pairs = ev.iterate(from, a.spans[0], "made a dict");
      if (!pairs) return Value::poison();
      for (const Value& pair : *pairs) {
        if (!pair.is_sequence() || pair.elements().size() != 2)
          return wrong_kind(ev, a, 0, "pairs of key and value");
        std::string text = ev.key_of(pair.elements()[0]);
        if (text.empty()) return ev.fail_key(pair.elements()[0], a.spans[0]);
        result.dict().set(text, pair.elements()[0], pair.elements()[1]);
      }
    }
  }
  for (const CallArguments::Keyword& keyword : a.keywords) {
    Value key = ev.make_string(keyword.name);
    result.dict().set(ev.key_of(key), key, keyword.value);
  }
  return result;
}

}  // namespace galatea::dsl::builtin
