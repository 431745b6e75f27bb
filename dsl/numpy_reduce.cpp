// numpy's functions of whole arrays: sums, products, conversions. In: evaluated arguments. Out: arrays and
// numbers.
#include <cmath>

#include "dsl/numpy_functions.h"

namespace galatea::dsl::numpy {
namespace {

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

}  // namespace

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

}  // namespace galatea::dsl::numpy
