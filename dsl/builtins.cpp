// Python's built-in functions, on static values. In: evaluated arguments. Out: a value, or poison after an
// error.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/evaluator.h"
#include "dsl/methods.h"
#include "dsl/unicode.h"

namespace galatea::dsl {
namespace {

// Whether the call has between `least` and `most` positional arguments and only the named keywords; reports
// otherwise.
bool check_shape(Evaluator& ev, const CallArguments& a, size_t least, size_t most,
                 std::initializer_list<std::string_view> keywords = {}) {
  for (const Value& value : a.positional) {
    if (value.is_poison()) return false;
  }
  for (const CallArguments::Keyword& keyword : a.keywords) {
    if (keyword.value.is_poison()) return false;
    if (std::find(keywords.begin(), keywords.end(), keyword.name) == keywords.end()) {
      ev.fail(Message::kUnknownParameter, keyword.name_span, {a.name, keyword.name, ""});
      return false;
    }
  }
  size_t count = a.positional.size();
  if (count >= least && count <= most) return true;
  std::string wanted = least == most ? std::to_string(least)
                       : most > 100  ? fmt::format("at least {}", least)
                                     : fmt::format("{} to {}", least, most);
  ev.fail(Message::kArgumentCount, a.span, {a.name, wanted, std::to_string(count)});
  return false;
}

const CallArguments::Keyword* keyword_of(const CallArguments& a, std::string_view name) {
  for (const CallArguments::Keyword& keyword : a.keywords) {
    if (keyword.name == name) return &keyword;
  }
  return nullptr;
}

Value no_node(Evaluator& ev, const CallArguments& a, std::string help) {
  return ev.fail(Message::kBuiltinOnNode, a.span, {a.name, ev.type_text(a.positional[0]), std::move(help)});
}

Value wrong_kind(Evaluator& ev, const CallArguments& a, size_t i, std::string wanted) {
  return ev.fail(Message::kWrongArgument, a.spans[i],
                 {a.name, std::move(wanted), describe_kind(a.positional[i])});
}

Value fn_abs(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  const Value& x = a.positional[0];
  if (x.is_node()) return ev.node_operator("math.abs", {x}, a.span);
  if (x.is(ValueKind::kArray)) return array_unary(ev, "abs", x, a.span);
  if (x.is(ValueKind::kFloat)) return Value::of(std::fabs(x.number));
  if (!x.is_integral()) return wrong_kind(ev, a, 0, "a number");
  return x.as_int() < 0 ? ev.unary("-", x, a.span) : Value::of(x.as_int());
}

Value all_or_any(Evaluator& ev, CallArguments& a, bool wanted) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  auto elements = ev.iterate(a.positional[0], a.spans[0], "tested");
  if (!elements) return Value::poison();
  for (const Value& element : *elements) {
    auto holds = ev.static_truth(element, a.spans[0], "`" + a.name + "`");
    if (!holds) return Value::poison();
    if (*holds == wanted) return Value::of(wanted);
  }
  return Value::of(!wanted);
}
Value fn_all(Evaluator& ev, CallArguments& a) { return all_or_any(ev, a, false); }
Value fn_any(Evaluator& ev, CallArguments& a) { return all_or_any(ev, a, true); }

Value fn_bool(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, 1)) return Value::poison();
  if (a.positional.empty()) return Value::of(false);
  if (a.positional[0].is_node()) return no_node(ev, a, "write `fn.cast(x, dtype=types.BOOL)`");
  return ev.has_truth(a.positional[0], a.spans[0]) ? Value::of(truth(a.positional[0])) : Value::poison();
}

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

Value fn_int(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, 2)) return Value::poison();
  if (a.positional.empty()) return Value::of(int64_t{0});
  const Value x = only_element(a.positional[0]);
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

Value fn_len(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  const Value& x = a.positional[0];
  if (x.is_node()) return no_node(ev, a, "extents are per sample: write `x.shape()[0]`");
  if (x.is(ValueKind::kRange)) return Value::of(x.as<RangeObject>().size());
  if (x.is_sequence()) return Value::of(static_cast<int64_t>(x.elements().size()));
  if (x.is(ValueKind::kDict)) return Value::of(static_cast<int64_t>(x.dict().entries.size()));
  if (x.is(ValueKind::kArray) && !x.as<ArrayObject>().shape.empty())
    return Value::of(x.as<ArrayObject>().shape[0]);
  if (!x.is(ValueKind::kString)) return wrong_kind(ev, a, 0, "a list, tuple, dict, range or string");
  int64_t count = 0;
  ev.spend(x.text().size() / 16);
  for (char c : x.text()) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return Value::of(count);
}

Value fn_range(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 3)) return Value::poison();
  for (size_t i = 0; i < a.positional.size(); ++i) {
    a.positional[i] = plain(a.positional[i]);
    if (a.positional[i].is_node())
      return ev.fail(Message::kNodeAsStatic, a.spans[i], {"`range`", ev.type_text(a.positional[i])});
    if (!a.positional[i].is_integral()) return wrong_kind(ev, a, i, "an integer");
  }
  auto* range = ev.arena.make<RangeObject>();
  bool one = a.positional.size() == 1;
  range->start = one ? 0 : a.positional[0].as_int();
  range->stop = a.positional[one ? 0 : 1].as_int();
  range->step = a.positional.size() == 3 ? a.positional[2].as_int() : 1;
  if (range->step == 0) return ev.fail(Message::kZeroStep, a.spans[2]);
  return Value(ValueKind::kRange, range);
}

Value fn_enumerate(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 2, {"start"})) return Value::poison();
  auto elements = ev.iterate(a.positional[0], a.spans[0], "enumerated");
  if (!elements) return Value::poison();
  Value start = a.positional.size() == 2 ? a.positional[1]
                : keyword_of(a, "start") ? keyword_of(a, "start")->value
                                         : Value::of(int64_t{0});
  if (!start.is_integral())
    return ev.fail(Message::kArgumentKind, a.span, {"start", "an integer", describe_kind(start)});
  std::vector<Value> out;
  for (size_t i = 0; i < elements->size(); ++i) {
    int64_t number = 0;
    if (__builtin_add_overflow(start.as_int(), static_cast<int64_t>(i), &number))
      return ev.fail(Message::kIntegerOverflow, a.span, {fmt::format("{} + {}", start.as_int(), i)});
    out.push_back(ev.make_tuple({Value::of(number), (*elements)[i]}));
  }
  return ev.make_list(std::move(out), a.span);
}

Value fn_zip(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 0, SIZE_MAX, {"strict"})) return Value::poison();
  std::vector<std::vector<Value>> columns;
  size_t size = SIZE_MAX;
  for (size_t i = 0; i < a.positional.size(); ++i) {
    auto elements = ev.iterate(a.positional[i], a.spans[i], "zipped");
    if (!elements) return Value::poison();
    size = std::min(size, elements->size());
    columns.push_back(std::move(*elements));
  }
  const auto* strict = keyword_of(a, "strict");
  bool uneven =
      std::any_of(columns.begin(), columns.end(), [&](const auto& column) { return column.size() != size; });
  if (strict && truth(strict->value) && uneven)
    return ev.fail(Message::kRaised, a.span, {"zip() got lists of different lengths"});
  std::vector<Value> out;
  for (size_t i = 0; i < size && !columns.empty(); ++i) {
    std::vector<Value> row;
    for (const auto& column : columns) row.push_back(column[i]);
    out.push_back(ev.make_tuple(std::move(row)));
  }
  return ev.make_list(std::move(out), a.span);
}

Value fn_map(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, SIZE_MAX)) return Value::poison();
  CallArguments lists = a;
  lists.positional.erase(lists.positional.begin());
  lists.spans.erase(lists.spans.begin());
  Value rows = fn_zip(ev, lists);
  if (rows.is_poison()) return rows;
  std::vector<Value> out;
  for (size_t i = 0; i < rows.elements().size(); ++i)
    out.push_back(ev.call_back(a.positional[0], rows.elements()[i].elements(), a, static_cast<uint32_t>(i)));
  return ev.make_list(std::move(out), a.span);
}

Value fn_filter(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  auto elements = ev.iterate(a.positional[1], a.spans[1], "filtered");
  if (!elements) return Value::poison();
  std::vector<Value> out;
  for (size_t i = 0; i < elements->size(); ++i) {
    Value kept = a.positional[0].is(ValueKind::kNone)
                     ? (*elements)[i]
                     : ev.call_back(a.positional[0], {(*elements)[i]}, a, static_cast<uint32_t>(i));
    auto holds = ev.static_truth(kept, a.span, "`filter`");
    if (!holds) return Value::poison();
    if (*holds) out.push_back((*elements)[i]);
  }
  return ev.make_list(std::move(out), a.span);
}

// The elements and, for each, what it is compared by; false after an error.
bool sort_keys(Evaluator& ev, const CallArguments& a, const std::vector<Value>& elements,
               std::vector<Value>& keys) {
  const auto* key = keyword_of(a, "key");
  for (size_t i = 0; i < elements.size(); ++i) {
    bool own = !key || key->value.is(ValueKind::kNone);
    keys.push_back(own ? elements[i] : ev.call_back(key->value, {elements[i]}, a, static_cast<uint32_t>(i)));
    if (keys.back().is_poison()) return false;
    if (ev.has_node(keys.back())) {
      ev.fail(Message::kBuiltinOnNode, a.span,
              {a.name, ev.type_text(keys.back()), "use `math.min(a, b)` and `math.max(a, b)` on data"});
      return false;
    }
  }
  return true;
}

Value extreme(Evaluator& ev, CallArguments& a, const std::string& op) {
  if (!check_shape(ev, a, 1, SIZE_MAX, {"key", "default"})) return Value::poison();
  std::vector<Value> elements = a.positional;
  if (elements.size() == 1) {
    auto inner = ev.iterate(elements[0], a.spans[0], "searched");
    if (!inner) return Value::poison();
    elements = std::move(*inner);
  }
  if (elements.empty()) {
    const auto* fallback = keyword_of(a, "default");
    return fallback ? fallback->value : ev.fail(Message::kRaised, a.span, {a.name + "() of an empty list"});
  }
  std::vector<Value> keys;
  if (!sort_keys(ev, a, elements, keys)) return Value::poison();
  size_t best = 0;
  for (size_t i = 1; i < keys.size(); ++i) {
    Value better = ev.compare(op, keys[i], keys[best], a.span, a.span, a.span);
    if (better.is_poison()) return better;
    if (truth(better)) best = i;
  }
  return elements[best];
}
Value fn_min(Evaluator& ev, CallArguments& a) { return extreme(ev, a, "<"); }
Value fn_max(Evaluator& ev, CallArguments& a) { return extreme(ev, a, ">"); }

// Stable, and sound for comparisons that are no order (NaN), which std::sort is not.
template <typename Less>
void merge_sort(std::vector<size_t>& items, Less less) {
  std::vector<size_t> merged(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t middle = std::min(begin + width, items.size()), end = std::min(begin + 2 * width, items.size());
      size_t left = begin, right = middle;
      for (size_t at = begin; at < end; ++at) {
        bool take_right = left == middle || (right < end && less(items[right], items[left]));
        merged[at] = take_right ? items[right++] : items[left++];
      }
    }
    items.swap(merged);
  }
}

Value fn_sorted(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1, {"key", "reverse"})) return Value::poison();
  auto elements = ev.iterate(a.positional[0], a.spans[0], "sorted");
  if (!elements) return Value::poison();
  std::vector<Value> keys;
  if (!sort_keys(ev, a, *elements, keys)) return Value::poison();
  std::vector<size_t> order(elements->size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto* reverse_word = keyword_of(a, "reverse");
  bool reverse = reverse_word && truth(reverse_word->value);
  bool failed = false;
  auto less = [&](size_t x, size_t y) {
    if (failed) return false;
    Value result = reverse ? ev.compare("<", keys[y], keys[x], a.span, a.span, a.span)
                           : ev.compare("<", keys[x], keys[y], a.span, a.span, a.span);
    failed = result.is_poison();
    return !failed && truth(result);
  };
  merge_sort(order, less);
  if (failed) return Value::poison();
  std::vector<Value> out;
  for (size_t i : order) out.push_back((*elements)[i]);
  return ev.make_list(std::move(out), a.span);
}

Value fn_sum(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 2, {"start"})) return Value::poison();
  auto elements = ev.iterate(a.positional[0], a.spans[0], "summed");
  if (!elements) return Value::poison();
  Value total = a.positional.size() == 2 ? a.positional[1]
                : keyword_of(a, "start") ? keyword_of(a, "start")->value
                                         : Value::of(int64_t{0});
  bool started = a.positional.size() == 2 || keyword_of(a, "start");
  for (const Value& element : *elements) {
    // 0 + node would add a pointless operator.
    total = !started && element.is_node() ? element : ev.binary("+", total, element, a.span, a.span, a.span);
    started = true;
  }
  return total;
}

Value fn_reversed(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  auto elements = ev.iterate(a.positional[0], a.spans[0], "reversed");
  if (!elements) return Value::poison();
  std::reverse(elements->begin(), elements->end());
  return ev.make_list(std::move(*elements), a.span);
}

Value fn_round(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 2, {"ndigits"})) return Value::poison();
  const Value x = plain(a.positional[0]);
  if (x.is_node()) return no_node(ev, a, "write `math.floor(x + 0.5)`");
  if (!x.is_number()) return wrong_kind(ev, a, 0, "a number");
  Value digits = a.positional.size() == 2   ? a.positional[1]
                 : keyword_of(a, "ndigits") ? keyword_of(a, "ndigits")->value
                                            : Value::none();
  if (digits.is(ValueKind::kNone)) {
    if (x.is_integral()) return Value::of(x.as_int());
    double rounded = std::nearbyint(x.number);
    if (!std::isfinite(rounded) || std::fabs(rounded) >= 9.2e18)
      return ev.fail(Message::kIntegerOverflow, a.span, {repr(x)});
    return Value::of(static_cast<int64_t>(rounded));
  }
  if (!digits.is_integral())
    return ev.fail(Message::kArgumentKind, a.span, {"ndigits", "an integer", describe_kind(digits)});
  int64_t n = std::clamp<int64_t>(digits.as_int(), -400, 400);
  if (x.is_integral()) {
    if (n >= 0) return Value::of(x.as_int());
    if (n < -18) return Value::of(int64_t{0});
    int64_t unit = 1;
    for (int64_t i = 0; i < -n; ++i) unit *= 10;
    int64_t quotient = x.as_int() / unit, rest = x.as_int() % unit;
    int64_t twice = std::abs(rest) - (unit - std::abs(rest));
    if (twice > 0 || (twice == 0 && quotient % 2 != 0)) quotient += x.as_int() < 0 ? -1 : 1;
    int64_t rounded = 0;
    if (__builtin_mul_overflow(quotient, unit, &rounded))
      return ev.fail(Message::kIntegerOverflow, a.span, {fmt::format("round({}, {})", x.as_int(), n)});
    return Value::of(rounded);
  }
  if (!std::isfinite(x.number) || n > 17) return x;
  // Through decimal digits, which round correctly.
  if (n >= 0) {
    std::string text = fmt::format("{:.{}f}", x.number, n);
    return Value::of(std::strtod(text.c_str(), nullptr));
  }
  double unit = std::pow(10.0, static_cast<double>(-n));
  return Value::of(std::nearbyint(x.number / unit) * unit);
}

std::string_view builtin_type_of(const Value& value) {
  if (value.is(ValueKind::kArray) && !value.as<ArrayObject>().shape.empty()) return "ndarray";
  switch (value.kind) {
    case ValueKind::kBool:
      return "bool";
    case ValueKind::kInt:
      return "int";
    case ValueKind::kFloat:
      return "float";
    case ValueKind::kString:
      return "str";
    case ValueKind::kList:
      return "list";
    case ValueKind::kTuple:
      return "tuple";
    case ValueKind::kDict:
      return "dict";
    case ValueKind::kNode:
      return "DataNode";
    default:
      return "";
  }
}

Value fn_isinstance(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  std::vector<Value> types = a.positional[1].is(ValueKind::kTuple) ? a.positional[1].elements()
                                                                   : std::vector<Value>{a.positional[1]};
  for (const Value& type : types) {
    if (type.is(ValueKind::kDType)) {
      const Value& x = a.positional[0];
      bool scalar = x.is(ValueKind::kArray) && x.as<ArrayObject>().shape.empty();
      if (scalar && x.as<ArrayObject>().dtype == type.dtype) return Value::of(true);
      continue;
    }
    if (!type.is(ValueKind::kBuiltin) || !type.as<BuiltinObject>().is_type)
      return wrong_kind(ev, a, 1, "a type such as `int`, or a tuple of types");
    const std::string& name = type.as<BuiltinObject>().name;
    if (name == builtin_type_of(a.positional[0]) || (name == "int" && a.positional[0].is(ValueKind::kBool)))
      return Value::of(true);
  }
  return Value::of(false);
}

Value fn_type(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  return ev.make_builtin(std::string(builtin_type_of(a.positional[0])), fn_type, Value::none(), true);
}

Value fn_callable(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  ValueKind kind = a.positional[0].kind;
  return Value::of(kind == ValueKind::kFunction || kind == ValueKind::kBuiltin ||
                   kind == ValueKind::kOperator || kind == ValueKind::kOperatorObject);
}

Value fn_hasattr(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  if (!a.positional[1].is(ValueKind::kString)) return wrong_kind(ev, a, 1, "a string");
  if (!a.positional[0].is(ValueKind::kStruct))
    return Value::of(find_method(ev, a.positional[0], a.positional[1].text()).has_value());
  for (const auto& [name, value] : a.positional[0].as<StructObject>().fields) {
    if (name == a.positional[1].text()) return Value::of(true);
  }
  return Value::of(false);
}

Value fn_getattr(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 3)) return Value::poison();
  if (!a.positional[1].is(ValueKind::kString)) return wrong_kind(ev, a, 1, "a string");
  if (a.positional[0].is(ValueKind::kStruct)) {
    for (const auto& [name, value] : a.positional[0].as<StructObject>().fields) {
      if (name == a.positional[1].text()) return value;
    }
  }
  if (a.positional.size() == 3) return a.positional[2];
  return ev.fail(Message::kNoAttribute, a.spans[1], {describe_kind(a.positional[0]), a.positional[1].text()});
}

constexpr int kMaxPrintedDepth = 20;

// With nodes anywhere in it, a value is shown with their types.
std::optional<std::string> shown(Evaluator& ev, const Value& value, Span span, int depth) {
  if (value.is_node()) return ev.type_text(value);
  if (depth > kMaxPrintedDepth || !ev.has_node(value) || !value.is_sequence())
    return ev.text_of(value, span, depth > 0);
  std::string out;
  for (const Value& element : value.elements()) {
    auto part = ev.step(span) ? shown(ev, element, span, depth + 1) : std::nullopt;
    if (!part || !ev.check_size(out.size() + part->size(), span)) return std::nullopt;
    out += (out.empty() ? "" : ", ") + *part;
  }
  return value.is(ValueKind::kList) ? "[" + out + "]"
                                    : "(" + out + (value.elements().size() == 1 ? ",)" : ")");
}

Value fn_print(Evaluator& ev, CallArguments& a) {
  std::string text, separator = " ";
  for (const CallArguments::Keyword& keyword : a.keywords) {
    if (keyword.value.is_poison()) return Value::none();
    bool known =
        keyword.name == "sep" || keyword.name == "end" || keyword.name == "flush" || keyword.name == "file";
    if (!known) return ev.fail(Message::kUnknownParameter, keyword.name_span, {"print", keyword.name, ""});
    if (keyword.name != "sep" || keyword.value.is(ValueKind::kNone)) continue;
    if (!keyword.value.is(ValueKind::kString))
      return ev.fail(Message::kArgumentKind, keyword.span, {"sep", "a string", ev.type_text(keyword.value)});
    separator = keyword.value.text();
  }
  for (size_t i = 0; i < a.positional.size(); ++i) {
    if (ev.has_poison(a.positional[i])) return Value::none();
    auto part = shown(ev, a.positional[i], a.span, 0);
    if (!part || !ev.check_size(text.size() + separator.size() + part->size(), a.span)) return Value::none();
    text += (i == 0 ? "" : separator) + *part;
  }
  ev.note(Message::kPrinted, a.span, {text});
  return Value::none();
}

Value fn_exception(Evaluator& ev, CallArguments& a) {
  std::string text = a.name;
  for (size_t i = 0; i < a.positional.size(); ++i) {
    if (a.positional[i].is_poison()) return Value::poison();
    text += (i == 0 ? ": " : ", ") + to_display(a.positional[i]);
  }
  Value value = ev.make_string(text);
  value.kind = ValueKind::kException;
  return value;
}

Value fn_fail(Evaluator& ev, CallArguments& a) {
  std::string text;
  for (const Value& value : a.positional) text += (text.empty() ? "" : " ") + to_display(value);
  return ev.fail(Message::kRaised, a.span, {text.empty() ? "fail()" : text});
}

}  // namespace

void add_builtins(Evaluator& ev, Env& names) {
  struct Entry {
    const char* name;
    BuiltinFunction function;
    bool is_type = false;
  };
  constexpr Entry kEntries[] = {{"abs", fn_abs},           {"ascii", fn_ascii},
                                {"bin", fn_digits},        {"chr", fn_chr},
                                {"divmod", fn_divmod},     {"format", fn_format},
                                {"hex", fn_digits},        {"oct", fn_digits},
                                {"ord", fn_ord},           {"pow", fn_pow},
                                {"all", fn_all},           {"any", fn_any},
                                {"bool", fn_bool, true},   {"callable", fn_callable},
                                {"dict", fn_dict, true},   {"enumerate", fn_enumerate},
                                {"filter", fn_filter},     {"float", fn_float, true},
                                {"getattr", fn_getattr},   {"hasattr", fn_hasattr},
                                {"int", fn_int, true},     {"isinstance", fn_isinstance},
                                {"len", fn_len},           {"list", fn_list, true},
                                {"map", fn_map},           {"max", fn_max},
                                {"min", fn_min},           {"print", fn_print},
                                {"range", fn_range},       {"repr", fn_repr},
                                {"reversed", fn_reversed}, {"round", fn_round},
                                {"sorted", fn_sorted},     {"str", fn_str, true},
                                {"sum", fn_sum},           {"tuple", fn_tuple, true},
                                {"type", fn_type},         {"zip", fn_zip},
                                {"fail", fn_fail}};
  for (const Entry& entry : kEntries)
    names[entry.name] = {ev.make_builtin(entry.name, entry.function, Value::none(), entry.is_type), {}};
  for (const char* name : {"Exception", "ValueError", "TypeError", "RuntimeError", "AssertionError",
                           "KeyError", "IndexError", "NotImplementedError"})
    names[name] = {ev.make_builtin(name, fn_exception), {}};
}

}  // namespace galatea::dsl
