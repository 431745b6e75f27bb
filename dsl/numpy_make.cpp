// numpy's functions that make arrays and change their shape. In: evaluated arguments. Out: arrays.
#include <cmath>

#include "dsl/numpy_functions.h"

namespace galatea::dsl::numpy {
namespace {

// The extents of an array to make, and their product; false after an error.
bool check_shape(Evaluator& ev, const Named& named, size_t i, std::vector<int64_t>& shape, int64_t& size) {
  if (!named.integers(i, shape)) return false;
  size = 1;
  for (int64_t extent : shape) {
    if (extent < 0) return named.refuse(i, "extents that are not negative");
    if (__builtin_mul_overflow(size, extent, &size) || size > kMaxArrayElements) {
      ev.fail(Message::kArrayTooLarge, named.span(i), {std::to_string(kMaxArrayElements)});
      return false;
    }
  }
  return true;
}

Value filled(Evaluator& ev, DType dtype, std::vector<int64_t> shape, int64_t size, const Value& number,
             Span span) {
  Value one = to_array(ev, number, span, dtype);
  if (one.is_poison()) return one;
  std::vector<Value> elements(static_cast<size_t>(size), one.as<ArrayObject>().elements[0]);
  return make_array(ev, dtype, std::move(shape), std::move(elements));
}

}  // namespace

// ---- making arrays ----

Value np_array(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"object", "dtype"});
  std::optional<DType> dtype;
  if (!named.needs(a, 1) || !named.dtype(1, dtype)) return Value::poison();
  return to_array(ev, named[0], named.span(0), dtype);
}

Value np_filled(Evaluator& ev, CallArguments& a) {
  bool full = a.name == "full";
  Named named(ev, a,
              full ? std::vector<std::string_view>{"shape", "fill_value", "dtype"}
                   : std::vector<std::string_view>{"shape", "dtype"});
  std::optional<DType> dtype;
  std::vector<int64_t> shape;
  int64_t size = 0;
  if (!named.needs(a, full ? 2 : 1) || !named.dtype(full ? 2 : 1, dtype) ||
      !check_shape(ev, named, 0, shape, size))
    return Value::poison();
  Value number = Value::of(a.name == "ones" ? 1.0 : 0.0);
  if (full && !named.number(1, number)) return Value::poison();
  DType own = full ? to_array(ev, number, a.span).as<ArrayObject>().dtype : DType::kF64;
  return filled(ev, dtype.value_or(own), std::move(shape), size, number, a.span);
}

Value np_filled_like(Evaluator& ev, CallArguments& a) {
  bool full = a.name == "full_like";
  Named named(ev, a,
              full ? std::vector<std::string_view>{"a", "fill_value", "dtype"}
                   : std::vector<std::string_view>{"a", "dtype"});
  std::optional<DType> dtype;
  if (!named.needs(a, full ? 2 : 1) || !named.dtype(full ? 2 : 1, dtype)) return Value::poison();
  Value like = named.array(0);
  Value number = Value::of(a.name == "ones_like" ? 1.0 : 0.0);
  if (like.is_poison() || (full && !named.number(1, number))) return Value::poison();
  const auto& model = like.as<ArrayObject>();
  return filled(ev, dtype.value_or(model.dtype), model.shape, static_cast<int64_t>(model.elements.size()),
                number, a.span);
}

Value np_arange(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"start", "stop", "step", "dtype"});
  std::optional<DType> dtype;
  if (!named.needs(a, 1) || !named.dtype(3, dtype)) return Value::poison();
  Value start = Value::of(int64_t{0}), stop, step = Value::of(int64_t{1});
  bool one = !named.given(1);
  if (!named.number(0, one ? stop : start) || (!one && !named.number(1, stop)) ||
      (named.given(2) && !named.number(2, step)))
    return Value::poison();
  if (step.as_double() == 0) return ev.fail(Message::kZeroStep, named.span(2));
  bool whole = start.is_integral() && stop.is_integral() && step.is_integral();
  double count = std::ceil((stop.as_double() - start.as_double()) / step.as_double());
  if (std::isnan(count)) return named.refuse(0, "a finite number"), Value::poison();
  if (count > static_cast<double>(kMaxArrayElements))
    return ev.fail(Message::kArrayTooLarge, a.span, {std::to_string(kMaxArrayElements)});
  // As numpy fills it: by the difference of the first two, which may be rounded.
  double delta = start.as_double() + step.as_double() - start.as_double();
  std::vector<Value> out;
  for (int64_t i = 0; i < static_cast<int64_t>(std::max(count, 0.0)); ++i)
    out.push_back(whole ? Value::of(start.as_int() + i * step.as_int())
                        : Value::of(start.as_double() + static_cast<double>(i) * delta));
  auto size = static_cast<int64_t>(out.size());
  Value array = make_array(ev, whole ? DType::kI64 : DType::kF64, {size}, std::move(out));
  return dtype ? cast_array(ev, array, *dtype, a.span) : array;
}

Value np_linspace(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"start", "stop", "num", "endpoint", "dtype"});
  std::optional<DType> dtype;
  Value start, stop, count = Value::of(int64_t{50});
  if (!named.needs(a, 2) || !named.number(0, start) || !named.number(1, stop) ||
      (named.given(2) && !named.number(2, count)) || !named.dtype(4, dtype))
    return Value::poison();
  int64_t size = count.is_integral() ? count.as_int() : -1;
  if (size < 0) return named.refuse(2, "a number of elements"), Value::poison();
  if (size > kMaxArrayElements)
    return ev.fail(Message::kArrayTooLarge, a.span, {std::to_string(kMaxArrayElements)});
  bool endpoint = !named.given(3) || truth(named[3]);
  double first = start.as_double(), last = stop.as_double();
  auto parts = static_cast<double>(endpoint ? size - 1 : size);
  double step = parts > 0 ? (last - first) / parts : 0;
  std::vector<Value> out;
  for (int64_t i = 0; i < size; ++i) {
    bool at_end = endpoint && size > 1 && i == size - 1;
    out.push_back(Value::of(at_end ? last : static_cast<double>(i) * step + first));
  }
  Value array = make_array(ev, DType::kF64, {size}, std::move(out));
  if (!dtype) return array;
  if (!is_float(*dtype)) {  // numpy rounds down, not towards zero
    for (Value& element : array.as<ArrayObject>().elements) element.number = std::floor(element.number);
  }
  return cast_array(ev, array, *dtype, a.span);
}

Value np_eye(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"N", "M", "k", "dtype"});
  std::optional<DType> dtype;
  Value rows, columns, shift = Value::of(int64_t{0});
  if (!named.needs(a, 1) || !named.number(0, rows) || (named.given(1) && !named.number(1, columns)) ||
      (named.given(2) && !named.number(2, shift)) || !named.dtype(3, dtype))
    return Value::poison();
  if (!named.given(1)) columns = rows;
  bool good = rows.is_integral() && columns.is_integral() && shift.is_integral() && rows.as_int() >= 0 &&
              columns.as_int() >= 0;
  if (!good) return named.refuse(0, "a number of rows"), Value::poison();
  int64_t size = 0;
  if (__builtin_mul_overflow(rows.as_int(), columns.as_int(), &size) || size > kMaxArrayElements)
    return ev.fail(Message::kArrayTooLarge, a.span, {std::to_string(kMaxArrayElements)});
  std::vector<Value> out;
  for (int64_t row = 0; row < rows.as_int(); ++row) {
    for (int64_t column = 0; column < columns.as_int(); ++column)
      out.push_back(Value::of(column - row == shift.as_int() ? 1.0 : 0.0));
  }
  Value array = make_array(ev, DType::kF64, {rows.as_int(), columns.as_int()}, std::move(out));
  return dtype ? cast_array(ev, array, *dtype, a.span) : array;
}

// ---- shapes ----

Value np_reshape(Evaluator& ev, CallArguments& a) {
  // x.reshape(2, 3) is x.reshape((2, 3)).
  if (a.positional.size() > 2) {
    std::vector<Value> extents(a.positional.begin() + 1, a.positional.end());
    a.positional = {a.positional[0], ev.make_tuple(std::move(extents))};
    a.spans.resize(2);
  }
  Named named(ev, a, {"a", "shape"});
  std::vector<int64_t> shape;
  if (!named.needs(a, 2) || !named.integers(1, shape)) return Value::poison();
  Value value = named.array(0);
  if (value.is_poison()) return value;
  const auto& array = value.as<ArrayObject>();
  auto size = static_cast<int64_t>(array.elements.size());
  int64_t known = 1, open = 0;
  bool sound = true;
  for (int64_t extent : shape) {
    if (extent == -1)
      ++open;
    else
      sound = sound && extent >= 0 && !__builtin_mul_overflow(known, extent, &known);
  }
  bool fits = sound && open <= 1 && (open == 0 ? known == size : known > 0 && size % known == 0);
  if (!fits) return ev.fail(Message::kArrayReshape, named.span(1), {std::to_string(size), repr(named[1])});
  for (int64_t& extent : shape) extent = extent == -1 ? size / known : extent;
  return make_array(ev, array.dtype, std::move(shape), array.elements);
}

Value np_ravel(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"a"});
  if (!named.needs(a, 1)) return Value::poison();
  Value value = named.array(0);
  if (value.is_poison()) return value;
  const auto& array = value.as<ArrayObject>();
  return make_array(ev, array.dtype, {static_cast<int64_t>(array.elements.size())}, array.elements);
}

Value transposed(Evaluator& ev, const Value& value, const std::vector<size_t>& order) {
  const auto& array = value.as<ArrayObject>();
  size_t rank = order.size();
  std::vector<size_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * static_cast<size_t>(array.shape[i]);
  std::vector<int64_t> shape;
  for (size_t axis : order) shape.push_back(array.shape[axis]);
  std::vector<Value> out;
  for (size_t i = 0; i < array.elements.size(); ++i) {
    size_t rest = i, from = 0;
    for (size_t k = rank; k-- > 0;) {
      from += rest % static_cast<size_t>(shape[k]) * strides[order[k]];
      rest /= static_cast<size_t>(shape[k]);
    }
    out.push_back(array.elements[from]);
  }
  return make_array(ev, array.dtype, std::move(shape), std::move(out));
}

Value np_transpose(Evaluator& ev, CallArguments& a) {
  if (a.positional.size() > 2) {
    std::vector<Value> axes(a.positional.begin() + 1, a.positional.end());
    a.positional = {a.positional[0], ev.make_tuple(std::move(axes))};
    a.spans.resize(2);
  }
  Named named(ev, a, {"a", "axes"});
  if (!named.needs(a, 1)) return Value::poison();
  Value value = named.array(0);
  if (value.is_poison()) return value;
  size_t rank = value.as<ArrayObject>().shape.size();
  std::vector<size_t> order;
  for (size_t i = rank; i-- > 0;) order.push_back(i);
  if (named.given(1)) {
    std::vector<int64_t> axes;
    if (!named.integers(1, axes)) return Value::poison();
    std::vector<bool> seen(rank, false);
    order.clear();
    for (int64_t axis : axes) {
      auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
      if (at >= rank || seen[at]) break;
      seen[at] = true;
      order.push_back(at);
    }
    if (order.size() != rank) return named.refuse(1, "each axis once"), Value::poison();
  }
  return transposed(ev, value, order);
}

// Arrays joined along an axis, which np.stack makes anew.
Value np_join(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"arrays", "axis"});
  if (!named.needs(a, 1)) return Value::poison();
  auto parts = ev.iterate(named[0], named.span(0), "joined");
  if (!parts) return Value::poison();
  Value axis_value = Value::of(int64_t{0});
  if (named.given(1) && !named.number(1, axis_value)) return Value::poison();
  bool stack = a.name == "stack";
  std::vector<Value> arrays;
  std::optional<DType> dtype;
  for (const Value& part : *parts) {
    Value array = to_array(ev, part, named.span(0));
    if (array.is_poison()) return array;
    DType own = array.as<ArrayObject>().dtype;
    dtype = dtype ? numpy_promote(*dtype, own) : own;
    arrays.push_back(array);
  }
  if (arrays.empty()) return named.refuse(0, "at least one array"), Value::poison();
  std::vector<int64_t> shape = arrays[0].as<ArrayObject>().shape;
  auto rank = static_cast<int64_t>(shape.size()) + (stack ? 1 : 0);
  int64_t axis = axis_value.is_integral() ? axis_value.as_int() : rank;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return named.refuse(1, "one of the axes"), Value::poison();
  auto place = static_cast<size_t>(axis);
  int64_t total = 0;
  for (const Value& value : arrays) {
    std::vector<int64_t> own = value.as<ArrayObject>().shape, wanted = shape;
    total += stack ? 1 : own.size() > place ? own[place] : 0;
    if (!stack && own.size() == shape.size()) own[place] = wanted[place] = 0;
    if (own != wanted) return ev.fail(Message::kNotAnArray, named.span(0), {"arrays of different shapes"});
  }
  size_t outer = 1;
  for (size_t i = 0; i < place; ++i) outer *= static_cast<size_t>(shape[i]);
  std::vector<Value> out;
  for (size_t i = 0; i < outer; ++i) {
    for (const Value& value : arrays) {
      Value converted = cast_array(ev, value, *dtype, a.span);
      const auto& elements = converted.as<ArrayObject>().elements;
      size_t run = elements.size() / outer;
      auto begin = elements.begin() + static_cast<std::ptrdiff_t>(i * run);
      out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(run));
    }
  }
  if (stack) shape.insert(shape.begin() + axis, 0);
  shape[place] = total;
  return make_array(ev, *dtype, std::move(shape), std::move(out));
}

}  // namespace galatea::dsl::numpy
