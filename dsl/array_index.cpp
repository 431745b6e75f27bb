// Elements of arrays: indexing, rows, nested lists, and how arrays are shown. In: arrays. Out: values and
// text.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "dsl/array.h"

namespace galatea::dsl {
namespace {

// Which elements one selector takes along its axis; nullopt after an error. `keeps`: the axis stays.
struct Picked {
  std::vector<int64_t> at;
  bool keeps = true;
};

std::optional<Picked> pick(Evaluator& evaluator, const ArraySelector& selector, int64_t size, Span span) {
  Picked picked;
  auto take = [&](const Value& number) {
    int64_t index = number.as_int(), at = index < 0 ? index + size : index;
    if (at >= 0 && at < size) return picked.at.push_back(at), true;
    evaluator.fail(Message::kIndexRange, span, {std::to_string(index), "array axis", std::to_string(size)});
    return false;
  };
  if (selector.kind == ArraySelector::Kind::kIndex) {
    picked.keeps = false;
    return take(selector.value) ? std::optional(picked) : std::nullopt;
  }
  if (selector.kind == ArraySelector::Kind::kArray) {
    const auto& array = selector.value.as<ArrayObject>();
    if (is_bool(array.dtype)) {
      if (static_cast<int64_t>(array.elements.size()) != size) {
        evaluator.fail(
            Message::kIndexRange, span,
            {"mask of " + std::to_string(array.elements.size()), "array axis", std::to_string(size)});
        return std::nullopt;
      }
      for (int64_t i = 0; i < size; ++i) {
        if (array.elements[static_cast<size_t>(i)].boolean) picked.at.push_back(i);
      }
      return picked;
    }
    for (const Value& element : array.elements) {
      if (!take(element)) return std::nullopt;
    }
    return picked;
  }
  int64_t step = selector.part[2].value_or(1);
  if (step == 0) {
    evaluator.fail(Message::kZeroStep, span);
    return std::nullopt;
  }
  auto bound = [&](const std::optional<int64_t>& given, int64_t absent) {
    if (!given) return absent;
    int64_t at = *given < 0 ? std::max(*given, -size - 1) + size : *given;
    return step > 0 ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
  };
  int64_t begin = bound(selector.part[0], step > 0 ? 0 : size - 1);
  int64_t end = bound(selector.part[1], step > 0 ? size : -1);
  step = std::clamp<int64_t>(step, -size - 1, size + 1);
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) picked.at.push_back(i);
  return picked;
}

// The shortest digits that read back as the same number of the type, as numpy writes it alone.
std::string number_text(const Value& element, DType dtype) {
  if (!element.is(ValueKind::kFloat)) return repr(element);
  double value = element.number;
  if (dtype == DType::kF64 || !std::isfinite(value)) return format_float(value);
  double magnitude = std::fabs(value);
  bool scientific = magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4);
  char buffer[200];
  auto form = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  std::string text;
  if (dtype == DType::kF32) {
    auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value), form);
    text.assign(buffer, end.ptr);
  } else {
    // Half precision: the fewest digits that read back as the same half.
    for (int digits = 0; digits < 12; ++digits) {
      auto end = std::to_chars(buffer, buffer + sizeof buffer, value, form, digits);
      text.assign(buffer, end.ptr);
      double back = std::strtod(text.c_str(), nullptr);
      double half_step = std::ldexp(1.0, std::max(std::ilogb(magnitude == 0 ? 1.0 : magnitude), -14) - 11);
      if (std::fabs(back - value) < half_step) break;
    }
  }
  if (!scientific && text.find('.') == std::string::npos) text += ".0";
  return text;
}

// The elements as texts of one width: numbers stand under each other.
std::vector<std::string> aligned(const ArrayObject& array) {
  std::vector<std::string> texts;
  size_t left = 0, right = 0;
  auto point = [](const std::string& text) { return std::min(text.find('.'), text.size()); };
  for (const Value& element : array.elements) {
    std::string text = number_text(element, array.dtype);
    if (is_bool(array.dtype)) text.insert(0, 5 - text.size(), ' ');
    if (text.size() - point(text) > 9 && text.find('e') == std::string::npos) {  // numpy shows eight decimals
      text = fmt::format("{:.8f}", element.number);
      text.resize(text.find_last_not_of('0') + 1);
    }
    if (is_float(array.dtype) && text.ends_with(".0")) text.pop_back();
    left = std::max(left, point(text));
    right = std::max(right, text.size() - point(text));
    texts.push_back(std::move(text));
  }
  for (std::string& text : texts) {
    size_t before = left - point(text), after = right - (text.size() - point(text));
    text = std::string(before, ' ') + text + std::string(is_float(array.dtype) ? after : 0, ' ');
  }
  return texts;
}

std::string rows_text(const ArrayObject& array, const std::vector<std::string>& texts, size_t axis,
                      size_t& at, std::string_view separator, size_t indent) {
  if (axis == array.shape.size()) return texts[at++];
  std::string out = "[";
  bool innermost = axis + 1 == array.shape.size();
  for (int64_t i = 0; i < array.shape[axis]; ++i) {
    if (i > 0) {
      out += separator;
      out +=
          innermost ? " " : std::string(array.shape.size() - axis - 1, '\n') + std::string(indent + 1, ' ');
    }
    out += rows_text(array, texts, axis + 1, at, separator, indent + 1);
  }
  return out + "]";
}

Value lists_at(Evaluator& evaluator, const ArrayObject& array, size_t axis, size_t& at) {
  if (axis == array.shape.size()) return array.elements[at++];
  std::vector<Value> row;
  for (int64_t i = 0; i < array.shape[axis]; ++i) row.push_back(lists_at(evaluator, array, axis + 1, at));
  return evaluator.make_list(std::move(row));
}

}  // namespace

Value array_index(Evaluator& evaluator, const Value& base, const std::vector<ArraySelector>& selectors,
                  Span span) {
  using Kind = ArraySelector::Kind;
  const auto& array = base.as<ArrayObject>();
  size_t axes = 0, lists = 0;
  for (const ArraySelector& selector : selectors) {
    axes += selector.kind != Kind::kNewAxis && selector.kind != Kind::kEllipsis;
    lists += selector.kind == Kind::kArray;
  }
  if (axes > array.shape.size())
    return evaluator.fail(Message::kArrayIndices, span,
                          {std::to_string(axes), std::to_string(array.shape.size())});
  if (lists > 1 || (lists == 1 && axes > 1))
    return evaluator.fail(Message::kNotYet, span, {"indexing by an array beside other indices"});
  // A mask, or a list of indices, of several dimensions.
  if (lists == 1 && selectors[0].value.as<ArrayObject>().shape.size() != 1) {
    const auto& chosen = selectors[0].value.as<ArrayObject>();
    if (!is_bool(chosen.dtype) || chosen.shape != array.shape)
      return evaluator.fail(Message::kNotYet, span, {"indexing by an array of several dimensions"});
    std::vector<Value> out;
    for (size_t i = 0; i < array.elements.size(); ++i) {
      if (chosen.elements[i].boolean) out.push_back(array.elements[i]);
    }
    auto size = static_cast<int64_t>(out.size());
    return make_array(evaluator, array.dtype, {size}, std::move(out));
  }
  std::vector<ArraySelector> all;
  bool ellipsis = false;
  for (const ArraySelector& selector : selectors) {
    if (selector.kind != Kind::kEllipsis) {
      all.push_back(selector);
      continue;
    }
    if (!ellipsis) all.resize(all.size() + array.shape.size() - axes, {Kind::kSlice, {}, {}});
    ellipsis = true;
  }
  if (!ellipsis) all.resize(all.size() + array.shape.size() - axes, {Kind::kSlice, {}, {}});
  // The offsets of the elements, axis by axis.
  std::vector<size_t> offsets = {0};
  std::vector<int64_t> shape;
  size_t axis = 0;
  for (const ArraySelector& selector : all) {
    if (selector.kind == Kind::kNewAxis) {
      shape.push_back(1);
      continue;
    }
    int64_t extent = array.shape[axis++];
    auto picked = pick(evaluator, selector, extent, span);
    if (!picked) return Value::poison();
    if (picked->keeps) shape.push_back(static_cast<int64_t>(picked->at.size()));
    if (static_cast<int64_t>(offsets.size() * picked->at.size()) > kMaxArrayElements)
      return evaluator.fail(Message::kArrayTooLarge, span, {std::to_string(kMaxArrayElements)});
    std::vector<size_t> next;
    for (size_t offset : offsets) {
      for (int64_t at : picked->at)
        next.push_back(offset * static_cast<size_t>(extent) + static_cast<size_t>(at));
    }
    offsets = std::move(next);
  }
  std::vector<Value> out;
  for (size_t offset : offsets) out.push_back(array.elements[offset]);
  return make_array(evaluator, array.dtype, std::move(shape), std::move(out));
}

std::vector<Value> array_rows(Evaluator& evaluator, const Value& value) {
  auto& array = value.as<ArrayObject>();
  array.has_views = array.has_views || array.shape.size() > 1;
  std::vector<int64_t> shape(array.shape.begin() + 1, array.shape.end());
  size_t size = 1;
  for (int64_t extent : shape) size *= static_cast<size_t>(extent);
  std::vector<Value> rows;
  for (size_t i = 0; i < static_cast<size_t>(array.shape[0]); ++i) {
    auto begin = array.elements.begin() + static_cast<std::ptrdiff_t>(i * size);
    rows.push_back(make_array(evaluator, array.dtype, shape,
                              std::vector<Value>(begin, begin + static_cast<std::ptrdiff_t>(size))));
  }
  return rows;
}

Value array_to_lists(Evaluator& evaluator, const Value& value) {
  size_t at = 0;
  return lists_at(evaluator, value.as<ArrayObject>(), 0, at);
}

std::string array_display(const Value& value) {
  const auto& array = value.as<ArrayObject>();
  if (array.shape.empty()) return number_text(array.elements[0], array.dtype);
  if (array.elements.empty()) return "[]";
  size_t at = 0;
  return rows_text(array, aligned(array), 0, at, "", 0);
}

std::string array_repr(const Value& value) {
  const auto& array = value.as<ArrayObject>();
  std::string name(numpy_name(array.dtype));
  if (array.shape.empty()) {
    if (is_bool(array.dtype)) return array.elements[0].boolean ? "np.True_" : "np.False_";
    return fmt::format("np.{}({})", name, number_text(array.elements[0], array.dtype));
  }
  bool usual = array.dtype == DType::kF64 || array.dtype == DType::kI64 || is_bool(array.dtype);
  std::string suffix = usual && !array.elements.empty() ? "" : ", dtype=" + name;
  if (array.elements.empty()) return "array([]" + suffix + ")";
  size_t at = 0;
  return "array(" + rows_text(array, aligned(array), 0, at, ",", 6) + suffix + ")";
}

}  // namespace galatea::dsl
