// Built-in functions of sequences. In: evaluated arguments. Out: a value, or poison after an error.
#include <algorithm>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/builtin_functions.h"
#include "dsl/methods.h"
#include "dsl/unicode.h"

namespace galatea::dsl::builtin {

namespace {

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

}  // namespace

Value fn_all(Evaluator& ev, CallArguments& a) { return all_or_any(ev, a, false); }
Value fn_any(Evaluator& ev, CallArguments& a) { return all_or_any(ev, a, true); }

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
    auto elements = ev.iterate(a.positional[i], a.spans[i], a.name == "map" ? "mapped" : "zipped");
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

namespace {

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
  // Of one element of a pixel function they are computed.
  if (ev.in_element() && !keyword_of(a, "key") &&
      std::any_of(elements.begin(), elements.end(), [](const Value& v) { return v.is_node(); })) {
    Value best = elements[0];
    for (size_t i = 1; i < elements.size() && !best.is_poison(); ++i) {
      if (!elements[i].is_node() && !elements[i].is_number()) return wrong_kind(ev, a, i, "a number");
      best = ev.node_operator(op == "<" ? "math.min" : "math.max", {best, elements[i]}, a.span);
    }
    return best;
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

}  // namespace

Value fn_min(Evaluator& ev, CallArguments& a) { return extreme(ev, a, "<"); }
Value fn_max(Evaluator& ev, CallArguments& a) { return extreme(ev, a, ">"); }

namespace {

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

}  // namespace

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

}  // namespace galatea::dsl::builtin
