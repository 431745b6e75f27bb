// The module `numpy`, as far as pipelines compute tables with it, and the methods of arrays. In: evaluated
// arguments. Out: arrays. A method is its function with the array as the first argument.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "dsl/array.h"

namespace galatea::dsl {
namespace {

// The arguments of a call by name; kUndefined where none was given.
class Named {
 public:
  Named(Evaluator& evaluator, CallArguments& a, std::vector<std::string_view> names)
      : evaluator_(evaluator),
        names_(std::move(names)),
        values_(names_.size()),
        spans_(names_.size(), a.span) {
    if (a.positional.size() > names_.size()) {
      wrong_count(a);
      return;
    }
    for (size_t i = 0; i < a.positional.size(); ++i) values_[i] = a.positional[i], spans_[i] = a.spans[i];
    for (const CallArguments::Keyword& keyword : a.keywords) {
      size_t i = static_cast<size_t>(std::find(names_.begin(), names_.end(), keyword.name) - names_.begin());
      bool copy = keyword.name == "copy" || keyword.name == "order";  // arrays are constant
      if (i == names_.size() && copy) continue;
      if (i == names_.size() || !values_[i].is(ValueKind::kUndefined)) {
        Message message = i == names_.size() ? Message::kUnknownParameter : Message::kArgumentTwice;
        evaluator.fail(message, keyword.name_span, {"np." + a.name, keyword.name, ""});
        good_ = false;
        return;
      }
      values_[i] = keyword.value;
      spans_[i] = keyword.span;
    }
    for (const Value& value : values_) good_ = good_ && !value.is_poison() && !contains_poison(value);
  }
  // The first `count` arguments must be there.
  bool needs(CallArguments& a, size_t count) {
    for (size_t i = 0; good_ && i < count; ++i) {
      if (values_[i].is(ValueKind::kUndefined)) wrong_count(a);
    }
    return good_;
  }
  bool good() const { return good_; }
  const Value& operator[](size_t i) const { return values_[i]; }
  Span span(size_t i) const { return spans_[i]; }
  bool given(size_t i) const {
    return !values_[i].is(ValueKind::kUndefined) && !values_[i].is(ValueKind::kNone);
  }
  Value array(size_t i) const { return to_array(evaluator_, values_[i], spans_[i]); }
  // dtype= at `i`; false after an error.
  bool dtype(size_t i, std::optional<DType>& out) const {
    if (!given(i)) return true;
    out = to_dtype(evaluator_, values_[i], spans_[i]);
    return out.has_value();
  }
  // A number at `i`; false after an error.
  bool number(size_t i, Value& out) const {
    out = plain(values_[i]);
    return out.is_number() || refuse(i, "a number");
  }
  bool integers(size_t i, std::vector<int64_t>& out) const {
    Value value = plain(values_[i]);
    std::vector<Value> list = {value};
    if (value.is_sequence()) list = value.elements();
    for (const Value& element : list) {
      if (!plain(element).is_integral()) return refuse(i, "an integer, or a tuple of integers");
      out.push_back(plain(element).as_int());
    }
    return true;
  }
  bool refuse(size_t i, std::string wanted) const {
    evaluator_.fail(Message::kArgumentKind, spans_[i],
                    {std::string(names_[i]), std::move(wanted), evaluator_.type_text(values_[i])});
    return false;
  }

 private:
  void wrong_count(const CallArguments& a) {
    good_ = false;
    evaluator_.fail(
        Message::kArgumentCount, a.span,
        {"np." + a.name, fmt::format("1 to {}", names_.size()), std::to_string(a.positional.size())});
  }
  Evaluator& evaluator_;
  std::vector<std::string_view> names_;
  std::vector<Value> values_;
  std::vector<Span> spans_;
  bool good_ = true;
};

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

Value transposed(Evaluator& ev, const Value& value, const std::vector<size_t>& order);

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

// ---- element by element ----

struct RealFunction {
  const char* name;
  double (*function)(double);
};
constexpr RealFunction kReal[] = {{"sqrt", [](double x) { return std::sqrt(x); }},
                                  {"exp", [](double x) { return std::exp(x); }},
                                  {"expm1", [](double x) { return std::expm1(x); }},
                                  {"log", [](double x) { return std::log(x); }},
                                  {"log1p", [](double x) { return std::log1p(x); }},
                                  {"log2", [](double x) { return std::log2(x); }},
                                  {"log10", [](double x) { return std::log10(x); }},
                                  {"sin", [](double x) { return std::sin(x); }},
                                  {"cos", [](double x) { return std::cos(x); }},
                                  {"tan", [](double x) { return std::tan(x); }},
                                  {"arcsin", [](double x) { return std::asin(x); }},
                                  {"arccos", [](double x) { return std::acos(x); }},
                                  {"arctan", [](double x) { return std::atan(x); }},
                                  {"sinh", [](double x) { return std::sinh(x); }},
                                  {"cosh", [](double x) { return std::cosh(x); }},
                                  {"tanh", [](double x) { return std::tanh(x); }},
                                  {"deg2rad", [](double x) { return x * (std::numbers::pi / 180); }},
                                  {"radians", [](double x) { return x * (std::numbers::pi / 180); }},
                                  {"rad2deg", [](double x) { return x * (180 / std::numbers::pi); }},
                                  {"degrees", [](double x) { return x * (180 / std::numbers::pi); }}};
constexpr RealFunction kRounding[] = {{"floor", [](double x) { return std::floor(x); }},
                                      {"ceil", [](double x) { return std::ceil(x); }},
                                      {"trunc", [](double x) { return std::trunc(x); }},
                                      {"rint", [](double x) { return std::nearbyint(x); }}};

Value np_real(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"x"});
  if (!named.needs(a, 1)) return Value::poison();
  Value value = named.array(0);
  if (value.is_poison()) return value;
  for (const RealFunction& f : kRounding) {
    if (a.name == f.name)
      return is_float(value.as<ArrayObject>().dtype) ? array_map(ev, value, f.function) : value;
  }
  const RealFunction* f =
      std::find_if(std::begin(kReal), std::end(kReal),
                   [&](const RealFunction& candidate) { return a.name == candidate.name; });
  Value result = array_map(ev, value, f->function);
  // What numpy warns of: a root or logarithm outside its domain.
  const auto &before = value.as<ArrayObject>().elements, &after = result.as<ArrayObject>().elements;
  for (size_t i = 0; i < before.size(); ++i) {
    double x = before[i].as_double(), y = after[i].number;
    if (std::isfinite(x) && (std::isnan(y) || (std::isinf(y) && a.name.starts_with("log"))))
      return ev.fail(Message::kMathDomain, a.span, {"np." + a.name, repr(before[i])});
  }
  return result;
}

Value np_binary(Evaluator& ev, CallArguments& a) {
  constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
      {"add", "+"},         {"subtract", "-"},    {"multiply", "*"},
      {"divide", "/"},      {"true_divide", "/"}, {"floor_divide", "//"},
      {"mod", "%"},         {"remainder", "%"},   {"power", "**"},
      {"equal", "=="},      {"not_equal", "!="},  {"less", "<"},
      {"greater", ">"},     {"less_equal", "<="}, {"greater_equal", ">="},
      {"bitwise_and", "&"}, {"bitwise_or", "|"}};
  Named named(ev, a, {"x1", "x2"});
  if (!named.needs(a, 2)) return Value::poison();
  std::string op = a.name;
  for (const auto& [name, text] : kOperators) {
    if (a.name == name) op = text;
  }
  Value first = named[0];
  if (!first.is(ValueKind::kArray) && !named[1].is(ValueKind::kArray)) first = named.array(0);
  return first.is_poison() ? first : array_binary(ev, op, first, named[1], a.span);
}

Value np_unary(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"x"});
  if (!named.needs(a, 1)) return Value::poison();
  Value value = named.array(0);
  if (value.is_poison()) return value;
  if (a.name == "square") return array_binary(ev, "*", value, value, a.span);
  if (a.name == "logical_not")
    return array_unary(ev, "~", cast_array(ev, value, DType::kBool, a.span), a.span);
  if (a.name == "sign") {
    Value zero = Value::of(int64_t{0});
    Value more =
        cast_array(ev, array_binary(ev, ">", value, zero, a.span), value.as<ArrayObject>().dtype, a.span);
    Value less =
        cast_array(ev, array_binary(ev, "<", value, zero, a.span), value.as<ArrayObject>().dtype, a.span);
    return array_binary(ev, "-", more, less, a.span);
  }
  return array_unary(ev, a.name == "negative" ? "-" : "abs", value, a.span);
}

Value np_round(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"a", "decimals"});
  if (!named.needs(a, 1)) return Value::poison();
  Value value = named.array(0), digits = Value::of(int64_t{0});
  if (value.is_poison() || (named.given(1) && !named.number(1, digits))) return Value::poison();
  if (!digits.is_integral()) return named.refuse(1, "an integer"), Value::poison();
  const auto& array = value.as<ArrayObject>();
  int64_t n = std::clamp<int64_t>(digits.as_int(), -300, 300);
  if (!is_float(array.dtype) && n >= 0) return value;
  double unit = std::pow(10.0, static_cast<double>(std::abs(n)));
  std::vector<Value> out;
  for (const Value& element : array.elements) {
    double x = element.as_double();
    double rounded = n >= 0 ? std::nearbyint(x * unit) / unit : std::nearbyint(x / unit) * unit;
    out.push_back(Value::of(n == 0 ? std::nearbyint(x) : std::isfinite(rounded) ? rounded : x));
  }
  return cast_array(ev, make_array(ev, DType::kF64, array.shape, std::move(out)), array.dtype, a.span);
}

Value np_clip(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"a", "a_min", "a_max"});
  if (!named.needs(a, 1)) return Value::poison();
  Value value = named.array(0);
  if (!value.is_poison() && named.given(1)) value = array_binary(ev, "maximum", value, named[1], a.span);
  if (!value.is_poison() && named.given(2)) value = array_binary(ev, "minimum", value, named[2], a.span);
  return value;
}

Value np_where(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"condition", "x", "y"});
  if (!named.needs(a, 3)) return Value::poison();
  Value parts[3] = {named.array(0), named.array(1), named.array(2)};
  std::vector<int64_t> shape;
  for (const Value& part : parts) {
    if (part.is_poison()) return part;
    auto met = broadcast_shapes(shape, part.as<ArrayObject>().shape);
    if (!met)
      return ev.fail(Message::kBroadcast, a.span,
                     {shape_text(shape), shape_text(part.as<ArrayObject>().shape)});
    shape = *met;
  }
  // A plain number takes the type of the other side, as in arithmetic.
  Value sum = array_binary(ev, "maximum", named[1].is_number() && named[2].is_number() ? parts[1] : named[1],
                           named[2], a.span);
  if (sum.is_poison()) return sum;
  DType dtype = sum.as<ArrayObject>().dtype;
  for (Value& part : parts) part = broadcast_array(ev, part, shape);
  std::vector<Value> out;
  for (size_t i = 0; i < parts[0].as<ArrayObject>().elements.size(); ++i) {
    bool yes = truth(parts[0].as<ArrayObject>().elements[i]);
    out.push_back(parts[yes ? 1 : 2].as<ArrayObject>().elements[i]);
  }
  return cast_array(ev, make_array(ev, dtype, std::move(shape), std::move(out)), dtype, a.span);
}

// ---- reductions ----

// As numpy adds: in blocks of eight sums, halves of long runs first.
double pairwise_sum(const double* x, size_t size) {
  if (size < 8) {
    double total = size > 0 ? x[0] : 0;
    for (size_t i = 1; i < size; ++i) total += x[i];
    return total;
  }
  if (size <= 128) {
    double r[8];
    std::copy(x, x + 8, r);
    size_t i = 8;
    for (; i + 8 <= size; i += 8) {
      for (size_t k = 0; k < 8; ++k) r[k] += x[i + k];
    }
    double total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < size; ++i) total += x[i];
    return total;
  }
  size_t half = size / 2;
  half -= half % 8;
  return pairwise_sum(x, half) + pairwise_sum(x + half, size - half);
}

Value whole_or_real(DType dtype, double value) {
  return is_float(dtype) ? Value::of(value) : Value::of(static_cast<int64_t>(value));
}

// One run of elements to one value; nullopt: not defined for none.
std::optional<Value> reduce(const std::string& name, DType dtype, const std::vector<Value>& run,
                            double freedom) {
  if (name == "any" || name == "all") {
    bool any = std::any_of(run.begin(), run.end(), truth), all = std::all_of(run.begin(), run.end(), truth);
    return Value::of(name == "any" ? any : all);
  }
  if (name == "sum" || name == "prod") {
    if (!is_float(dtype)) {
      uint64_t total = name == "prod";
      for (const Value& v : run)
        total = name == "prod" ? total * static_cast<uint64_t>(v.as_int())
                               : total + static_cast<uint64_t>(v.as_int());
      return Value::of(static_cast<int64_t>(total));
    }
    std::vector<double> numbers;
    for (const Value& v : run) numbers.push_back(v.as_double());
    if (name == "sum") return Value::of(pairwise_sum(numbers.data(), numbers.size()));
    double product = 1;
    for (double x : numbers) product *= x;
    return Value::of(product);
  }
  if (run.empty()) return std::nullopt;
  if (name == "mean" || name == "var" || name == "std") {
    std::vector<double> numbers;
    for (const Value& v : run) numbers.push_back(v.as_double());
    auto count = static_cast<double>(numbers.size());
    double mean = pairwise_sum(numbers.data(), numbers.size()) / count;
    if (name == "mean") return Value::of(mean);
    for (double& x : numbers) x = (x - mean) * (x - mean);
    double variance = pairwise_sum(numbers.data(), numbers.size()) / (count - freedom);
    return Value::of(name == "var" ? variance : std::sqrt(variance));
  }
  bool largest = name.ends_with("max");
  size_t best = 0;
  for (size_t i = 1; i < run.size(); ++i) {
    double x = run[i].as_double(), y = run[best].as_double();
    bool better = std::isnan(x) ? !std::isnan(y) : largest ? x > y : x < y;
    if (better && !std::isnan(y)) best = i;
  }
  return name.starts_with("arg") ? Value::of(static_cast<int64_t>(best)) : run[best];
}

DType reduced_dtype(const std::string& name, DType dtype) {
  if (name == "any" || name == "all") return DType::kBool;
  if (name.starts_with("arg")) return DType::kI64;
  if (name == "sum" || name == "prod")
    return is_float(dtype) ? dtype : is_unsigned_int(dtype) ? DType::kU64 : DType::kI64;
  if (name == "mean" || name == "var" || name == "std") return is_float(dtype) ? dtype : DType::kF64;
  return dtype;
}

Value np_reduce(Evaluator& ev, CallArguments& a) {
  bool spread = a.name == "std" || a.name == "var";
  Named named(ev, a,
              spread ? std::vector<std::string_view>{"a", "axis", "dtype", "ddof", "keepdims"}
                     : std::vector<std::string_view>{"a", "axis", "dtype", "keepdims"});
  std::optional<DType> wanted;
  if (!named.needs(a, 1) || !named.dtype(2, wanted)) return Value::poison();
  Value value = named.array(0);
  std::string name = a.name == "amin" ? "min" : a.name == "amax" ? "max" : a.name;
  if (!value.is_poison() && wanted) value = cast_array(ev, value, *wanted, a.span);
  if (value.is_poison()) return value;
  Value freedom = Value::of(int64_t{0});
  if (spread && named.given(3) && !named.number(3, freedom)) return Value::poison();
  bool keep = named.given(spread ? 4 : 3) && truth(named[spread ? 4 : 3]);
  const auto& array = value.as<ArrayObject>();
  auto rank = static_cast<int64_t>(array.shape.size());
  std::vector<int64_t> given;
  if (named.given(1) && !named.integers(1, given)) return Value::poison();
  std::vector<bool> reduced(array.shape.size(), !named.given(1));
  for (int64_t axis : given) {
    if (axis < -rank || axis >= rank) return named.refuse(1, "one of the axes"), Value::poison();
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  // The reduced axes last, so that every run is in one piece.
  std::vector<size_t> order;
  std::vector<int64_t> shape;
  size_t run_size = 1, runs = 1;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) order.push_back(i), runs *= static_cast<size_t>(array.shape[i]);
    if (!reduced[i] || keep) shape.push_back(reduced[i] ? 1 : array.shape[i]);
  }
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) order.push_back(i), run_size *= static_cast<size_t>(array.shape[i]);
  }
  Value sorted = array.elements.empty() ? value : transposed(ev, value, order);
  DType dtype = reduced_dtype(name, array.dtype);
  std::vector<Value> out;
  for (size_t i = 0; i < runs; ++i) {
    const auto& all = sorted.as<ArrayObject>().elements;
    auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * run_size);
    std::vector<Value> run(begin, begin + static_cast<std::ptrdiff_t>(run_size));
    auto result = reduce(name, array.dtype, run, freedom.as_double());
    if (!result) return ev.fail(Message::kRaised, a.span, {"np." + a.name + " of an empty array"});
    out.push_back(*result);
  }
  DType computed = out.empty() || !out[0].is(ValueKind::kFloat) ? dtype : DType::kF64;
  return cast_array(ev, make_array(ev, computed, std::move(shape), std::move(out)), dtype, a.span);
}

Value np_cumsum(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"a"});
  if (!named.needs(a, 1)) return Value::poison();
  Value value = named.array(0);
  if (value.is_poison()) return value;
  const auto& array = value.as<ArrayObject>();
  DType dtype = reduced_dtype("sum", array.dtype);
  Value total = make_array(ev, dtype, {}, {whole_or_real(dtype, 0)});
  std::vector<Value> out;
  for (const Value& element : array.elements) {
    total = array_binary(ev, "+", total, make_array(ev, array.dtype, {}, {element}), a.span);
    if (total.is_poison()) return total;
    out.push_back(plain(total));
  }
  auto size = static_cast<int64_t>(out.size());
  return make_array(ev, dtype, {size}, std::move(out));
}

// Vectors and matrices.
Value np_dot(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"a", "b"});
  if (!named.needs(a, 2)) return Value::poison();
  Value x = named.array(0), y = named.array(1);
  return x.is_poison() || y.is_poison() ? Value::poison() : array_product(ev, x, y, a.span);
}

Value np_tolist(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"a"});
  return named.needs(a, 1) ? array_to_lists(ev, named[0]) : Value::poison();
}

Value np_item(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"a", "index"});
  if (!named.needs(a, 1)) return Value::poison();
  const auto& elements = named[0].as<ArrayObject>().elements;
  Value at = Value::of(int64_t{0});
  if (named.given(1) && !named.number(1, at)) return Value::poison();
  auto size = static_cast<int64_t>(elements.size());
  int64_t place = at.is_integral() ? at.as_int() : size;
  if (place < 0) place += size;
  if (named.given(1) && (place < 0 || place >= size))
    return ev.fail(Message::kIndexRange, named.span(1), {repr(at), "array", std::to_string(size)});
  if (!named.given(1) && size != 1)
    return ev.fail(Message::kArrayTruth, a.span, {"`item`", std::to_string(size), "give an index"});
  return elements[static_cast<size_t>(place)];
}

Value np_astype(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"a", "dtype"});
  std::optional<DType> dtype;
  if (!named.needs(a, 2) || !named.dtype(1, dtype)) return Value::poison();
  return cast_array(ev, named[0], *dtype, a.span);
}

// ---- the rest of the module ----

Value np_seed(Evaluator& ev, CallArguments& a) {
  ev.note(
      Message::kNoEffect, a.span,
      {"`np.random.seed`", "random numbers follow from the seed of the pipeline: `@pipeline_def(seed=…)`"});
  return Value::none();
}

Value np_isinstance_only(Evaluator& ev, CallArguments& a) {
  return ev.fail(Message::kNotCallable, a.span, {"a type of `numpy`"});
}

struct Function {
  const char* name;
  BuiltinFunction function;
};
constexpr Function kFunctions[] = {{"array", np_array},
                                   {"asarray", np_array},
                                   {"zeros", np_filled},
                                   {"ones", np_filled},
                                   {"empty", np_filled},
                                   {"full", np_filled},
                                   {"zeros_like", np_filled_like},
                                   {"ones_like", np_filled_like},
                                   {"full_like", np_filled_like},
                                   {"arange", np_arange},
                                   {"linspace", np_linspace},
                                   {"eye", np_eye},
                                   {"identity", np_eye},
                                   {"reshape", np_reshape},
                                   {"ravel", np_ravel},
                                   {"transpose", np_transpose},
                                   {"stack", np_join},
                                   {"concatenate", np_join},
                                   {"round", np_round},
                                   {"around", np_round},
                                   {"clip", np_clip},
                                   {"where", np_where},
                                   {"min", np_reduce},
                                   {"max", np_reduce},
                                   {"amin", np_reduce},
                                   {"amax", np_reduce},
                                   {"sum", np_reduce},
                                   {"prod", np_reduce},
                                   {"mean", np_reduce},
                                   {"std", np_reduce},
                                   {"var", np_reduce},
                                   {"any", np_reduce},
                                   {"all", np_reduce},
                                   {"argmin", np_reduce},
                                   {"argmax", np_reduce},
                                   {"cumsum", np_cumsum},
                                   {"dot", np_dot},
                                   {"matmul", np_dot},
                                   {"abs", np_unary},
                                   {"absolute", np_unary},
                                   {"fabs", np_unary},
                                   {"negative", np_unary},
                                   {"sign", np_unary},
                                   {"square", np_unary},
                                   {"logical_not", np_unary},
                                   {"maximum", np_binary},
                                   {"minimum", np_binary},
                                   {"arctan2", np_binary},
                                   {"logical_and", np_binary},
                                   {"logical_or", np_binary},
                                   {"add", np_binary},
                                   {"subtract", np_binary},
                                   {"multiply", np_binary},
                                   {"divide", np_binary},
                                   {"true_divide", np_binary},
                                   {"floor_divide", np_binary},
                                   {"mod", np_binary},
                                   {"remainder", np_binary},
                                   {"power", np_binary},
                                   {"equal", np_binary},
                                   {"not_equal", np_binary},
                                   {"less", np_binary},
                                   {"greater", np_binary},
                                   {"less_equal", np_binary},
                                   {"greater_equal", np_binary},
                                   {"bitwise_and", np_binary},
                                   {"bitwise_or", np_binary}};
constexpr Function kMethods[] = {
    {"astype", np_astype}, {"reshape", np_reshape}, {"tolist", np_tolist},       {"item", np_item},
    {"ravel", np_ravel},   {"flatten", np_ravel},   {"transpose", np_transpose}, {"round", np_round},
    {"clip", np_clip},     {"min", np_reduce},      {"max", np_reduce},          {"sum", np_reduce},
    {"prod", np_reduce},   {"mean", np_reduce},     {"std", np_reduce},          {"var", np_reduce},
    {"any", np_reduce},    {"all", np_reduce},      {"argmin", np_reduce},       {"argmax", np_reduce},
    {"cumsum", np_cumsum}, {"dot", np_dot},         {"copy", np_array}};

// A method: its function, with the array in front.
Value call_method(Evaluator& ev, CallArguments& a) {
  a.positional.insert(a.positional.begin(), a.self);
  a.spans.insert(a.spans.begin(), a.span);
  for (CallArguments::Keyword& keyword : a.keywords) {
    if (a.name == "clip" && keyword.name == "min") keyword.name = "a_min";
    if (a.name == "clip" && keyword.name == "max") keyword.name = "a_max";
  }
  for (const Function& method : kMethods) {
    if (a.name == method.name) return method.function(ev, a);
  }
  return Value::poison();
}

}  // namespace

std::optional<Value> array_attribute(Evaluator& ev, const Value& base, const std::string& name) {
  const auto& array = base.as<ArrayObject>();
  if (name == "dtype") return Value::of(array.dtype);
  if (name == "ndim") return Value::of(static_cast<int64_t>(array.shape.size()));
  if (name == "size") return Value::of(static_cast<int64_t>(array.elements.size()));
  if (name == "shape") {
    std::vector<Value> extents;
    for (int64_t extent : array.shape) extents.push_back(Value::of(extent));
    return ev.make_tuple(std::move(extents));
  }
  if (name == "T") {
    std::vector<size_t> order;
    for (size_t i = array.shape.size(); i-- > 0;) order.push_back(i);
    return transposed(ev, base, order);
  }
  for (const Function& method : kMethods) {
    if (name == method.name) return ev.make_builtin(name, call_method, base);
  }
  return std::nullopt;
}

std::vector<std::string> array_attribute_names() {
  std::vector<std::string> names = {"dtype", "ndim", "size", "shape", "T"};
  for (const Function& method : kMethods) names.emplace_back(method.name);
  return names;
}

Value call_dtype(Evaluator& ev, DType dtype, CallArguments& a) {
  if (a.positional.size() > 1 || !a.keywords.empty())
    return ev.fail(Message::kArgumentCount, a.span,
                   {"np." + std::string(numpy_name(dtype)), "0 to 1", std::to_string(a.positional.size())});
  if (a.positional.empty()) return to_array(ev, Value::of(int64_t{0}), a.span, dtype);
  return to_array(ev, a.positional[0], a.spans[0], dtype);
}

void add_numpy(Evaluator& ev, std::map<std::string, ModuleObject*>& modules) {
  auto add = [&](const std::string& name) {
    auto* module = ev.arena.make<ModuleObject>();
    module->name = name;
    modules[name] = module;
    return module;
  };
  ModuleObject* numpy = add("numpy");
  for (const Function& f : kFunctions) numpy->names[f.name] = {ev.make_builtin(f.name, f.function), {}};
  for (const RealFunction& f : kReal) numpy->names[f.name] = {ev.make_builtin(f.name, np_real), {}};
  for (const RealFunction& f : kRounding) numpy->names[f.name] = {ev.make_builtin(f.name, np_real), {}};
  for (int i = 0; i < kNumDTypes; ++i) {
    auto dtype = static_cast<DType>(i);
    numpy->names[std::string(numpy_name(dtype))] = {Value::of(dtype), {}};
  }
  for (auto [name, dtype] : {std::pair{"bool_", DType::kBool},
                             {"int_", DType::kI64},
                             {"float_", DType::kF64},
                             {"single", DType::kF32},
                             {"double", DType::kF64},
                             {"half", DType::kF16},
                             {"intc", DType::kI32}})
    numpy->names[name] = {Value::of(dtype), {}};
  for (auto [name, value] :
       {std::pair{"pi", std::numbers::pi}, {"e", std::numbers::e}, {"inf", HUGE_VAL}, {"nan", std::nan("")}})
    numpy->names[name] = {Value::of(value), {}};
  numpy->names["newaxis"] = {Value::none(), {}};
  numpy->names["ndarray"] = {ev.make_builtin("ndarray", np_isinstance_only, Value::none(), true), {}};
  ModuleObject* random = add("numpy.random");
  random->names["seed"] = {ev.make_builtin("seed", np_seed), {}};
  numpy->names["random"] = {Value(ValueKind::kModule, random), {}};
}

}  // namespace galatea::dsl
