// Arrays: making them, converting their elements, and arithmetic with broadcasting. In: values. Out: arrays,
// or poison after an error.
#include "dsl/array.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/scalar_op.h"

namespace galatea::dsl {
namespace {

double round_to(DType dtype, double value) {
  if (dtype == DType::kF32) return static_cast<double>(static_cast<float>(value));
  if (dtype == DType::kF16) return half_to_float(float_to_half(static_cast<float>(value)));
  return value;
}

// The low bits of an integer, as a value of the type.
int64_t wrap(DType dtype, int64_t value) {
  int bits = 8 * size_of(dtype);
  if (bits == 64) return value;
  uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t low = static_cast<uint64_t>(value) & mask;
  bool negative = is_signed_int(dtype) && (low >> (bits - 1)) != 0;
  return static_cast<int64_t>(negative ? low | ~mask : low);
}

bool fits(DType dtype, int64_t value) {
  return dtype == DType::kU64 ? value >= 0 : value >= min_int(dtype) && value <= max_int(dtype);
}

// One element as the type; nullopt: a float that no integer of 64 bits is near.
std::optional<Value> convert(const Value& element, DType dtype) {
  if (is_bool(dtype)) return Value::of(truth(element));
  if (is_float(dtype)) return Value::of(round_to(dtype, element.as_double()));
  if (element.is_integral()) return Value::of(wrap(dtype, element.as_int()));
  if (!std::isfinite(element.number) || std::fabs(element.number) >= 9.2e18) return std::nullopt;
  return Value::of(wrap(dtype, static_cast<int64_t>(element.number)));
}

DType own_dtype(const Value& number) {
  return number.is(ValueKind::kFloat) ? DType::kF64 : number.is(ValueKind::kInt) ? DType::kI64 : DType::kBool;
}

// Numbers of nested lists in row-major order; false: rows of different lengths, or something that is no
// number.
bool flatten(const Value& value, size_t axis, std::vector<int64_t>& shape, std::vector<Value>& out,
             std::optional<DType>& dtype) {
  auto within_bound = [&] { return static_cast<int64_t>(out.size()) <= kMaxArrayElements; };
  auto meet = [&](DType own) { dtype = dtype ? numpy_promote(*dtype, own) : own; };
  if (value.is_number()) {
    meet(own_dtype(value));
    out.push_back(value);
    return axis == shape.size() && within_bound();
  }
  bool first = out.empty() && axis == shape.size();
  if (value.is(ValueKind::kArray)) {
    const auto& array = value.as<ArrayObject>();
    if (first) shape.insert(shape.end(), array.shape.begin(), array.shape.end());
    if (!std::equal(shape.begin() + static_cast<std::ptrdiff_t>(std::min(axis, shape.size())), shape.end(),
                    array.shape.begin(), array.shape.end()))
      return false;
    meet(array.dtype);
    out.insert(out.end(), array.elements.begin(), array.elements.end());
    return within_bound();
  }
  if (!value.is_sequence() || axis > 16) return false;
  auto size = static_cast<int64_t>(value.elements().size());
  if (first) shape.push_back(size);
  if (axis >= shape.size() || shape[axis] != size) return false;
  return std::all_of(value.elements().begin(), value.elements().end(),
                     [&](const Value& v) { return flatten(v, axis + 1, shape, out, dtype); });
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out;
  for (int64_t extent : shape) out += (out.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + out + (shape.size() == 1 ? ",)" : ")");
}

DType numpy_promote(DType a, DType b) {
  if (a == b) return a;
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  if (is_float(a) && is_float(b)) return size_of(a) > size_of(b) ? a : b;
  if (is_float(a) || is_float(b)) {
    DType real = is_float(a) ? a : b, whole = is_float(a) ? b : a;
    DType enough = size_of(whole) == 1 ? DType::kF16 : size_of(whole) == 2 ? DType::kF32 : DType::kF64;
    return size_of(real) > size_of(enough) ? real : enough;
  }
  if (is_signed_int(a) == is_signed_int(b)) return size_of(a) > size_of(b) ? a : b;
  DType with_sign = is_signed_int(a) ? a : b, without = is_signed_int(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  return size_of(without) == 1   ? DType::kI16
         : size_of(without) == 2 ? DType::kI32
         : size_of(without) == 4 ? DType::kI64
                                 : DType::kF64;
}

Value plain(const Value& value) {
  if (!value.is(ValueKind::kArray) || !value.as<ArrayObject>().shape.empty()) return value;
  return value.as<ArrayObject>().elements[0];
}

Value make_array(Evaluator& evaluator, DType dtype, std::vector<int64_t> shape, std::vector<Value> elements) {
  auto* array = evaluator.arena.make<ArrayObject>(elements.size() * sizeof(Value));
  array->home = evaluator.home_of_array();
  array->dtype = dtype;
  array->shape = std::move(shape);
  array->elements = std::move(elements);
  return Value(ValueKind::kArray, array);
}

Value to_array(Evaluator& evaluator, const Value& value, Span span, std::optional<DType> wanted) {
  if (contains_poison(value)) return Value::poison();
  if (contains_node(value)) {
    Diagnostic diagnostic =
        diagnose(Message::kNodeInArray, span, {value.is_node() ? evaluator.type_text(value) : "a data node"});
    if (std::string help = evaluator.operator_for_call(span); !help.empty())
      diagnostic.help = std::move(help);
    return evaluator.report(std::move(diagnostic));
  }
  Value source = value;
  if (value.is(ValueKind::kRange)) {
    auto elements = evaluator.iterate(value, span, "made an array");
    if (!elements) return Value::poison();
    source = evaluator.make_tuple(std::move(*elements));
  }
  std::vector<int64_t> shape;
  std::vector<Value> elements;
  std::optional<DType> dtype;
  if (!flatten(source, 0, shape, elements, dtype)) {
    if (static_cast<int64_t>(elements.size()) > kMaxArrayElements)
      return evaluator.fail(Message::kArrayTooLarge, span, {std::to_string(kMaxArrayElements)});
    return evaluator.fail(Message::kNotAnArray, span, {describe_kind(value)});
  }
  DType own = dtype.value_or(DType::kF64), type = wanted.value_or(own);
  // A plain integer must fit the type that is asked for; an element of another array wraps, as in numpy.
  for (Value& element : elements) {
    bool from_list = !value.is(ValueKind::kArray) && element.is(ValueKind::kInt) && is_integral(type);
    if (from_list && !is_bool(type) && !fits(type, element.integer))
      return evaluator.fail(Message::kArrayRange, span, {repr(element), std::string(numpy_name(type))});
    auto converted = convert(element, type);
    if (!converted)
      return evaluator.fail(Message::kArrayRange, span, {repr(element), std::string(numpy_name(type))});
    element = *converted;
  }
  return make_array(evaluator, type, std::move(shape), std::move(elements));
}

Value cast_array(Evaluator& evaluator, const Value& value, DType dtype, Span span) {
  const auto& array = value.as<ArrayObject>();
  std::vector<Value> out;
  for (const Value& element : array.elements) {
    auto converted = convert(element, dtype);
    if (!converted)
      return evaluator.fail(Message::kArrayRange, span, {repr(element), std::string(numpy_name(dtype))});
    out.push_back(*converted);
  }
  return make_array(evaluator, dtype, array.shape, std::move(out));
}

std::optional<DType> to_dtype(Evaluator& evaluator, const Value& value, Span span) {
  if (value.is(ValueKind::kDType)) return value.dtype;
  std::string name = value.is(ValueKind::kString) ? value.text() : "";
  if (value.is(ValueKind::kBuiltin) && value.as<BuiltinObject>().is_type)
    name = value.as<BuiltinObject>().name;
  if (name == "float") return DType::kF64;
  if (name == "int") return DType::kI64;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (name == numpy_name(static_cast<DType>(i))) return static_cast<DType>(i);
  }
  if (!value.is_poison())
    evaluator.fail(Message::kArgumentKind, span,
                   {"dtype", "a type such as `np.float32`", evaluator.type_text(value)});
  return std::nullopt;
}

// ---- arithmetic ----

namespace {

struct Operand {
  Value array;        ///< the value as an array
  bool weak = false;  ///< a plain number, which adapts to the other operand
};

DType common_dtype(const Operand& a, const Operand& b) {
  DType x = a.array.as<ArrayObject>().dtype, y = b.array.as<ArrayObject>().dtype;
  if (a.weak == b.weak) return numpy_promote(x, y);
  DType strong = a.weak ? y : x, weak = a.weak ? x : y;
  if (is_bool(weak)) return strong;
  if (weak == DType::kI64) return is_bool(strong) ? DType::kI64 : strong;
  return is_float(strong) ? strong : DType::kF64;
}

bool is_comparison(const std::string& op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

bool holds(const std::string& op, const Value& a, const Value& b) {
  bool whole = a.is_integral() && b.is_integral();
  int64_t i = whole ? a.as_int() : 0, k = whole ? b.as_int() : 0;
  double x = a.as_double(), y = b.as_double();
  if (op == "==") return whole ? i == k : x == y;
  if (op == "!=") return whole ? i != k : x != y;
  if (op == "<") return whole ? i < k : x < y;
  if (op == "<=") return whole ? i <= k : x <= y;
  if (op == ">") return whole ? i > k : x > y;
  return whole ? i >= k : x >= y;
}

enum class Trouble : uint8_t { kNone, kZero, kNegativePower, kKind };

Trouble whole_operation(const std::string& op, DType dtype, int64_t a, int64_t b, int64_t& out) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  if (op == "+") return out = static_cast<int64_t>(ua + ub), Trouble::kNone;
  if (op == "-") return out = static_cast<int64_t>(ua - ub), Trouble::kNone;
  if (op == "*") return out = static_cast<int64_t>(ua * ub), Trouble::kNone;
  if (op == "&") return out = a & b, Trouble::kNone;
  if (op == "|") return out = a | b, Trouble::kNone;
  if (op == "^") return out = a ^ b, Trouble::kNone;
  if (op == "minimum") return out = std::min(a, b), Trouble::kNone;
  if (op == "maximum") return out = std::max(a, b), Trouble::kNone;
  if (op == "//" || op == "%") {
    if (b == 0) return Trouble::kZero;
    if (b == -1) return out = op == "%" ? 0 : static_cast<int64_t>(0 - ua), Trouble::kNone;
    int64_t rest = a % b;
    bool lower = rest != 0 && (rest < 0) != (b < 0);
    return out = op == "//" ? a / b - (lower ? 1 : 0) : rest + (lower ? b : 0), Trouble::kNone;
  }
  if (op == "**") {
    if (b < 0) return Trouble::kNegativePower;
    uint64_t result = 1;
    for (; b > 0; b >>= 1, ua *= ua) {
      if (b & 1) result *= ua;
    }
    return out = static_cast<int64_t>(result), Trouble::kNone;
  }
  int bits = 8 * size_of(dtype);
  bool far = b < 0 || b >= bits;
  if (op == "<<") return out = far ? 0 : static_cast<int64_t>(ua << b), Trouble::kNone;
  if (op == ">>") return out = far ? (a < 0 ? -1 : 0) : a >> b, Trouble::kNone;
  return Trouble::kKind;
}

Trouble real_operation(const std::string& op, double a, double b, double& out) {
  if (op == "+") return out = a + b, Trouble::kNone;
  if (op == "-") return out = a - b, Trouble::kNone;
  if (op == "*") return out = a * b, Trouble::kNone;
  if (op == "arctan2") return out = std::atan2(a, b), Trouble::kNone;
  if (op == "minimum") return out = std::isnan(a) || a < b ? a : b, Trouble::kNone;
  if (op == "maximum") return out = std::isnan(a) || a > b ? a : b, Trouble::kNone;
  if (op == "**") {
    if (a == 0 && b < 0) return Trouble::kZero;
    return out = std::pow(a, b), Trouble::kNone;
  }
  if (op != "/" && op != "//" && op != "%") return Trouble::kKind;
  if (b == 0) return Trouble::kZero;
  if (op == "/") return out = a / b, Trouble::kNone;
  out = op == "%" ? float_remainder(a, b) : float_quotient(a, b);
  return Trouble::kNone;
}

// Where element `i` of the result finds its operand.
size_t source_of(size_t i, const std::vector<int64_t>& result, const std::vector<int64_t>& own) {
  size_t offset = 0, stride = 1;
  for (size_t back = 1; back <= result.size(); ++back) {
    auto extent = static_cast<size_t>(result[result.size() - back]);
    size_t at = i % extent;
    i /= extent;
    if (back > own.size()) continue;
    auto own_extent = static_cast<size_t>(own[own.size() - back]);
    if (own_extent != 1) offset += at * stride;
    stride *= own_extent;
  }
  return offset;
}

}  // namespace

std::optional<std::vector<int64_t>> broadcast_shapes(const std::vector<int64_t>& a,
                                                     const std::vector<int64_t>& b) {
  std::vector<int64_t> out = a.size() > b.size() ? a : b;
  const std::vector<int64_t>& other = a.size() > b.size() ? b : a;
  for (size_t back = 1; back <= other.size(); ++back) {
    int64_t& extent = out[out.size() - back];
    int64_t own = other[other.size() - back];
    if (extent != own && extent != 1 && own != 1) return std::nullopt;
    if (extent == 1) extent = own;
  }
  return out;
}

Value broadcast_array(Evaluator& evaluator, const Value& value, const std::vector<int64_t>& shape) {
  const auto& array = value.as<ArrayObject>();
  size_t size = 1;
  for (int64_t extent : shape) size *= static_cast<size_t>(extent);
  std::vector<Value> out;
  for (size_t i = 0; i < size; ++i) out.push_back(array.elements[source_of(i, shape, array.shape)]);
  return make_array(evaluator, array.dtype, shape, std::move(out));
}

Value array_binary(Evaluator& evaluator, const std::string& op, const Value& a_value, const Value& b_value,
                   Span span) {
  Operand a{to_array(evaluator, a_value, span), a_value.is_number()};
  Operand b{to_array(evaluator, b_value, span), b_value.is_number()};
  if (a.array.is_poison() || b.array.is_poison()) return Value::poison();
  const auto &x = a.array.as<ArrayObject>(), &y = b.array.as<ArrayObject>();
  auto shape = broadcast_shapes(x.shape, y.shape);
  if (!shape) return evaluator.fail(Message::kBroadcast, span, {shape_text(x.shape), shape_text(y.shape)});
  auto refuse = [&] {
    return evaluator.fail(Message::kArrayOperator, span,
                          {op, std::string(numpy_name(x.dtype)), std::string(numpy_name(y.dtype))});
  };
  DType dtype = common_dtype(a, b);
  bool comparison = is_comparison(op), logical = op == "logical_and" || op == "logical_or";
  bool bitwise = op == "&" || op == "|" || op == "^", shift = op == "<<" || op == ">>";
  if ((bitwise || shift) && is_float(dtype)) return refuse();
  if (is_bool(dtype) && op == "-") return refuse();
  if (op == "/" || op == "arctan2") dtype = is_float(dtype) ? dtype : DType::kF64;
  if (is_bool(dtype) && (op == "//" || op == "%" || op == "**" || shift)) dtype = DType::kI8;
  for (const Operand& operand : {a, b}) {
    const Value& number = operand.array.as<ArrayObject>().elements.empty()
                              ? Value::of(false)
                              : operand.array.as<ArrayObject>().elements[0];
    bool checked = operand.weak && !comparison && !logical && number.is(ValueKind::kInt) && !is_float(dtype);
    if (checked && !fits(dtype, number.integer))
      return evaluator.fail(Message::kArrayRange, span, {repr(number), std::string(numpy_name(dtype))});
  }
  int64_t size = 1;
  for (int64_t extent : *shape) {
    if (__builtin_mul_overflow(size, extent, &size) || size > kMaxArrayElements)
      return evaluator.fail(Message::kArrayTooLarge, span, {std::to_string(kMaxArrayElements)});
  }
  std::vector<Value> out(static_cast<size_t>(size));
  for (size_t i = 0; i < out.size(); ++i) {
    const Value &p = x.elements[source_of(i, *shape, x.shape)],
                &q = y.elements[source_of(i, *shape, y.shape)];
    Trouble trouble = Trouble::kNone;
    if (comparison) {
      out[i] = Value::of(holds(op, p, q));
    } else if (logical) {
      out[i] = Value::of(op == "logical_and" ? truth(p) && truth(q) : truth(p) || truth(q));
    } else if (is_float(dtype)) {
      double result = 0;
      trouble = real_operation(op, round_to(dtype, p.as_double()), round_to(dtype, q.as_double()), result);
      out[i] = Value::of(round_to(dtype, result));
    } else {
      int64_t result = 0;
      trouble = whole_operation(op, dtype, p.as_int(), q.as_int(), result);
      if (is_bool(dtype))
        out[i] = Value::of(op == "+" || op == "|" ? p.as_int() + q.as_int() > 0 : result != 0);
      else
        out[i] = Value::of(wrap(dtype, result));
    }
    if (trouble == Trouble::kZero) return evaluator.fail(Message::kDivisionByZero, span);
    if (trouble == Trouble::kNegativePower)
      return evaluator.fail(Message::kMathDomain, span, {"**", "integers with negative exponents"});
    if (trouble == Trouble::kKind) return refuse();
  }
  return make_array(evaluator, comparison || logical ? DType::kBool : dtype, std::move(*shape),
                    std::move(out));
}

Value array_unary(Evaluator& evaluator, const std::string& op, const Value& a, Span span) {
  const auto& array = a.as<ArrayObject>();
  bool refused = op == "~" ? is_float(array.dtype) : is_bool(array.dtype) && op != "abs";
  if (refused)
    return evaluator.fail(Message::kOperandKind, span,
                          {op, "an array of " + std::string(numpy_name(array.dtype))});
  std::vector<Value> out;
  for (const Value& element : array.elements) {
    if (is_bool(array.dtype)) {
      out.push_back(Value::of(op == "~" ? !element.boolean : element.boolean));
    } else if (element.is(ValueKind::kFloat)) {
      double x = element.number;
      out.push_back(Value::of(op == "-" ? -x : op == "abs" ? std::fabs(x) : x));
    } else {
      int64_t x = element.integer;
      bool negate = op == "-" || (op == "abs" && x < 0);
      auto negated = static_cast<int64_t>(0 - static_cast<uint64_t>(x));
      out.push_back(Value::of(wrap(array.dtype, op == "~" ? ~x : negate ? negated : x)));
    }
  }
  return make_array(evaluator, array.dtype, array.shape, std::move(out));
}

Value array_product(Evaluator& evaluator, const Value& a, const Value& b, Span span) {
  const auto &x = a.as<ArrayObject>(), &y = b.as<ArrayObject>();
  auto refuse = [&] {
    return evaluator.fail(Message::kBroadcast, span, {shape_text(x.shape), shape_text(y.shape)});
  };
  if (x.shape.empty() || y.shape.empty() || x.shape.size() > 2 || y.shape.size() > 2) return refuse();
  int64_t rows = x.shape.size() == 2 ? x.shape[0] : 1, columns = y.shape.size() == 2 ? y.shape[1] : 1;
  int64_t inner = x.shape.back();
  if (inner != y.shape[0]) return refuse();
  int64_t work = 0;
  if (__builtin_mul_overflow(rows * columns, inner, &work) || work > 100 * kMaxArrayElements ||
      rows * columns > kMaxArrayElements)
    return evaluator.fail(Message::kArrayTooLarge, span, {std::to_string(kMaxArrayElements)});
  DType dtype = numpy_promote(x.dtype, y.dtype);
  std::vector<Value> out;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      double real = 0;
      uint64_t whole = 0;
      for (int64_t k = 0; k < inner; ++k) {
        const Value& p = x.elements[static_cast<size_t>(row * inner + k)];
        const Value& q = y.elements[static_cast<size_t>(k * columns + column)];
        if (is_float(dtype))
          real += p.as_double() * q.as_double();
        else
          whole += static_cast<uint64_t>(p.as_int()) * static_cast<uint64_t>(q.as_int());
      }
      out.push_back(is_float(dtype)  ? Value::of(round_to(dtype, real))
                    : is_bool(dtype) ? Value::of(whole != 0)
                                     : Value::of(wrap(dtype, static_cast<int64_t>(whole))));
    }
  }
  std::vector<int64_t> shape;
  if (x.shape.size() == 2) shape.push_back(rows);
  if (y.shape.size() == 2) shape.push_back(columns);
  return make_array(evaluator, dtype, std::move(shape), std::move(out));
}

Value array_map(Evaluator& evaluator, const Value& value, double (*function)(double)) {
  const auto& array = value.as<ArrayObject>();
  DType dtype = is_float(array.dtype)       ? array.dtype
                : size_of(array.dtype) == 1 ? DType::kF16
                : size_of(array.dtype) == 2 ? DType::kF32
                                            : DType::kF64;
  std::vector<Value> out;
  for (const Value& element : array.elements)
    out.push_back(Value::of(round_to(dtype, function(round_to(dtype, element.as_double())))));
  return make_array(evaluator, dtype, array.shape, std::move(out));
}

}  // namespace galatea::dsl
