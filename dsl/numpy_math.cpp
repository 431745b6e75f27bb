// numpy's functions of elements. In: evaluated arguments. Out: arrays.
#include <cmath>
#include <numbers>

#include "dsl/numpy_functions.h"

namespace galatea::dsl::numpy {
namespace {

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

}  // namespace

std::vector<const char*> real_functions() {
  std::vector<const char*> names;
  for (const RealFunction& f : kReal) names.push_back(f.name);
  for (const RealFunction& f : kRounding) names.push_back(f.name);
  return names;
}

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
  Value parts[3];
  std::vector<int64_t> shape;
  for (size_t i = 0; i < 3; ++i) {
    const Value& part = parts[i] = named.array(i);
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

}  // namespace galatea::dsl::numpy
