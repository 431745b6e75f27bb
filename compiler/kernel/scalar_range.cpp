#include "compiler/kernel/scalar_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace galatea::kernel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Wide smallest(DType type) { return type == DType::kU64 ? Wide{0} : Wide{min_int(type)}; }
Wide largest(DType type) {
  return type == DType::kU64 ? static_cast<Wide>(max_unsigned(type)) : Wide{max_int(type)};
}

Cell cell_of(DType type, Wide value) {
  return type == DType::kU64 ? Cell{static_cast<uint64_t>(value)}
                             : cell_from_int(type, static_cast<int64_t>(value));
}
Wide value_of(DType type, Cell cell) {
  return type == DType::kU64 ? static_cast<Wide>(cell.bits) : Wide{cell_to_int(type, cell)};
}

ScalarRange floats(double from, double to, bool nan = false) {
  if (std::isnan(from) || std::isnan(to)) return {0, 0, -kInfinity, kInfinity, true};
  return {0, 0, from, to, nan};
}

ScalarRange truth_values(bool may_be_false, bool may_be_true) {
  return integers(may_be_false ? 0 : 1, may_be_true ? 1 : 0);
}

/// Integers that wrap: what leaves the type may be anything.
ScalarRange wrapped(DType type, Wide low, Wide high) {
  return low >= smallest(type) && high <= largest(type) ? integers(low, high) : everything(type);
}

double step(ScalarOp op, DType type, double a, double b = 0, double c = 0) {
  const Cell cells[] = {cell_from_double(type, a), cell_from_double(type, b), cell_from_double(type, c)};
  uint32_t flags = 0;
  return cell_to_double(type, evaluate(op, type, type, cells, &flags));
}

// ---- conversions

/// Conversions keep the order of what they convert (integers that wrap do not: see below), so the ends of the
/// result are the converted ends.
ScalarRange converted_float(ScalarOp op, DType type, DType from, const ScalarRange& a) {
  auto convert = [&](double value) {
    const Cell cell = cell_from_double(from, value);
    uint32_t flags = 0;
    return evaluate(op, type, from, &cell, &flags);
  };
  if (is_bool(type)) {
    const bool zero_only = a.from == 0 && a.to == 0 && !a.nan;
    return truth_values(a.from <= 0 && a.to >= 0, !zero_only);
  }
  if (is_float(type))
    return floats(cell_to_double(type, convert(a.from)), cell_to_double(type, convert(a.to)), a.nan);
  ScalarRange out = integers(value_of(type, convert(a.from)), value_of(type, convert(a.to)));
  return a.nan ? hull(type, out, integers(0, 0)) : out;
}

ScalarRange converted_integer(ScalarOp op, DType type, DType from, const ScalarRange& a) {
  if (is_bool(type)) return truth_values(a.low <= 0 && a.high >= 0, a.low != 0 || a.high != 0);
  if (is_float(type)) {
    auto convert = [&](Wide value) {
      const Cell cell = cell_of(from, value);
      uint32_t flags = 0;
      return cell_to_double(type, evaluate(op, type, from, &cell, &flags));
    };
    return floats(convert(a.low), convert(a.high));
  }
  if (op == ScalarOp::kConvert) return wrapped(type, a.low, a.high);
  return integers(std::clamp(a.low, smallest(type), largest(type)),
                  std::clamp(a.high, smallest(type), largest(type)));
}

// ---- comparisons

ScalarRange compared(ScalarOp op, DType from, const ScalarRange& a, const ScalarRange& b) {
  const bool float_operands = is_float(from);
  const bool nan = float_operands && (a.nan || b.nan);
  // Whether some pair of the two ranges is less, equal, greater.
  const bool less = float_operands ? a.from < b.to : a.low < b.high;
  const bool greater = float_operands ? a.to > b.from : a.high > b.low;
  const bool equal = float_operands ? a.from <= b.to && b.from <= a.to : a.low <= b.high && b.low <= a.high;
  switch (op) {
    case ScalarOp::kEq:
      return truth_values(less || greater || nan, equal);
    case ScalarOp::kNe:
      return truth_values(equal, less || greater || nan);
    case ScalarOp::kLt:
      return truth_values(equal || greater || nan, less);
    case ScalarOp::kLe:
      return truth_values(greater || nan, less || equal);
    case ScalarOp::kGt:
      return truth_values(equal || less || nan, greater);
    default:
      return truth_values(less || nan, greater || equal);
  }
}

// ---- integers

ScalarRange quotient(DType type, const ScalarRange& a, const ScalarRange& b) {
  if (b.low <= 0 && b.high >= 0) return everything(type);
  const Wide ends[] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
  return wrapped(type, *std::min_element(std::begin(ends), std::end(ends)),
                 *std::max_element(std::begin(ends), std::end(ends)));
}

ScalarRange remainder(const ScalarRange& a, const ScalarRange& b) {
  const Wide furthest = std::max(b.low < 0 ? -b.low : b.low, b.high < 0 ? -b.high : b.high);
  if (furthest == 0) return integers(0, 0);
  return integers(a.low < 0 ? std::max(a.low, 1 - furthest) : Wide{0},
                  a.high > 0 ? std::min(a.high, furthest - 1) : Wide{0});
}

ScalarRange product(DType type, const ScalarRange& a, const ScalarRange& b) {
  if (a.high > max_int(DType::kI64) || b.high > max_int(DType::kI64)) return everything(type);
  const Wide ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return wrapped(type, *std::min_element(std::begin(ends), std::end(ends)),
                 *std::max_element(std::begin(ends), std::end(ends)));
}

/// Numbers that have no bit beyond the highest of the operands.
ScalarRange any_bits(DType type, const ScalarRange& a, const ScalarRange& b) {
  if (is_bool(type) || a.low < 0 || b.low < 0) return everything(type);
  Wide ones = 0;
  while (ones < std::max(a.high, b.high)) ones = ones * 2 + 1;
  return integers(0, ones);
}

ScalarRange of_integers(ScalarOp op, DType type, std::span<const ScalarRange> args) {
  const ScalarRange& a = args[0];
  const ScalarRange& b = args.size() > 1 ? args[1] : args[0];
  switch (op) {
    case ScalarOp::kNeg:
      return wrapped(type, -a.high, -a.low);
    case ScalarOp::kAbs:
      if (a.low >= 0) return a;
      return wrapped(type, a.high <= 0 ? -a.high : Wide{0}, std::max(-a.low, a.high));
    case ScalarOp::kAdd:
      return wrapped(type, a.low + b.low, a.high + b.high);
    case ScalarOp::kSub:
      return wrapped(type, a.low - b.high, a.high - b.low);
    case ScalarOp::kMul:
      return product(type, a, b);
    case ScalarOp::kDiv:
      return quotient(type, a, b);
    case ScalarOp::kRem:
      return remainder(a, b);
    case ScalarOp::kMin:
      return integers(std::min(a.low, b.low), std::min(a.high, b.high));
    case ScalarOp::kMax:
      return integers(std::max(a.low, b.low), std::max(a.high, b.high));
    case ScalarOp::kAnd:
      if (is_bool(type)) return integers(a.low & b.low, a.high & b.high);
      if (a.low >= 0 || b.low >= 0)  // no larger than the one that is not negative
        return integers(0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high));
      return everything(type);
    case ScalarOp::kOr:
      return is_bool(type) ? integers(a.low | b.low, a.high | b.high) : any_bits(type, a, b);
    case ScalarOp::kXor:
      if (is_bool(type) && a.is_point() && b.is_point()) return integers(a.low ^ b.low, a.low ^ b.low);
      return any_bits(type, a, b);
    case ScalarOp::kNot:
      if (is_bool(type)) return integers(1 - a.high, 1 - a.low);
      return is_signed_int(type) ? integers(-1 - a.high, -1 - a.low) : everything(type);
    case ScalarOp::kShr:
      if (!b.is_point() || b.low < 0 || b.low >= 8 * size_of(type)) return everything(type);
      return integers(a.low >> static_cast<int>(b.low), a.high >> static_cast<int>(b.low));
    default:
      return everything(type);
  }
}

// ---- floats

ScalarRange of_floats(ScalarOp op, DType type, std::span<const ScalarRange> args) {
  const ScalarRange& a = args[0];
  const ScalarRange& b = args.size() > 1 ? args[1] : args[0];
  const bool nan = a.nan || b.nan;
  auto over_corners = [&]() {
    const double ends[] = {step(op, type, a.from, b.from), step(op, type, a.from, b.to),
                           step(op, type, a.to, b.from), step(op, type, a.to, b.to)};
    if (std::any_of(std::begin(ends), std::end(ends), [](double e) { return std::isnan(e); }))
      return everything(type);
    return floats(*std::min_element(std::begin(ends), std::end(ends)),
                  *std::max_element(std::begin(ends), std::end(ends)), nan);
  };
  // 0 * infinity is no number although neither end of the other range need be 0.
  auto has_infinity = [](const ScalarRange& r) { return std::isinf(r.from) || std::isinf(r.to); };
  auto has_zero = [](const ScalarRange& r) { return r.from <= 0 && r.to >= 0; };
  switch (op) {
    case ScalarOp::kNeg:
      return floats(-a.to, -a.from, a.nan);
    case ScalarOp::kAbs:
      if (a.from >= 0) return a;
      return floats(a.to <= 0 ? -a.to : 0, std::max(-a.from, a.to), a.nan);
    case ScalarOp::kAdd:
      if (has_infinity(a) && has_infinity(b)) return everything(type);
      return floats(step(op, type, a.from, b.from), step(op, type, a.to, b.to), nan);
    case ScalarOp::kSub:
      if (has_infinity(a) && has_infinity(b)) return everything(type);
      return floats(step(op, type, a.from, b.to), step(op, type, a.to, b.from), nan);
    case ScalarOp::kMul:
      if ((has_infinity(a) && has_zero(b)) || (has_infinity(b) && has_zero(a))) return everything(type);
      return over_corners();
    case ScalarOp::kDiv:
      if (has_zero(b) || (has_infinity(a) && has_infinity(b))) return everything(type);
      return over_corners();
    // The second operand where either is no number.
    case ScalarOp::kMin:
      return floats(std::min(a.from, b.from), a.nan ? b.to : std::min(a.to, b.to), b.nan);
    case ScalarOp::kMax:
      return floats(a.nan ? b.from : std::max(a.from, b.from), std::max(a.to, b.to), b.nan);
    case ScalarOp::kSqrt:
      if (a.from < 0) return everything(type);
      [[fallthrough]];
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kTrunc:
    case ScalarOp::kRound:
    case ScalarOp::kRoundAway:
      return floats(step(op, type, a.from), step(op, type, a.to), a.nan);
    case ScalarOp::kSin:
    case ScalarOp::kCos:
      // Approximations may pass 1 by a rounding.
      return floats(-1.001, 1.001, a.nan || has_infinity(a));
    default:
      return everything(type);
  }
}

}  // namespace

ScalarRange everything(DType type) {
  if (is_float(type)) return {0, 0, -kInfinity, kInfinity, true};
  return {smallest(type), largest(type), 0, 0, false};
}

ScalarRange integers(Wide low, Wide high) { return {low, high, 0, 0, false}; }

ScalarRange point(DType type, Cell value) {
  if (!is_float(type)) return integers(value_of(type, value), value_of(type, value));
  const double number = cell_to_double(type, value);
  return floats(number, number);
}

ScalarRange hull(DType type, const ScalarRange& a, const ScalarRange& b) {
  if (!is_float(type)) return integers(std::min(a.low, b.low), std::max(a.high, b.high));
  return floats(std::min(a.from, b.from), std::max(a.to, b.to), a.nan || b.nan);
}

ScalarRange intersection(DType type, const ScalarRange& a, const ScalarRange& b) {
  ScalarRange out = is_float(type) ? floats(std::max(a.from, b.from), std::min(a.to, b.to), a.nan && b.nan)
                                   : integers(std::max(a.low, b.low), std::min(a.high, b.high));
  return out.low <= out.high && out.from <= out.to ? out : a;
}

ScalarRange range_of(ScalarOp op, DType type, DType from, std::span<const ScalarRange> args) {
  if (op == ScalarOp::kBitcast) return everything(type);
  if (op == ScalarOp::kSelect) {
    if (args[0].is_point()) return args[0].low != 0 ? args[1] : args[2];
    return hull(type, args[1], args[2]);
  }
  if (is_conversion(op))
    return is_float(from) ? converted_float(op, type, from, args[0])
                          : converted_integer(op, type, from, args[0]);
  if (is_comparison(op)) return compared(op, from, args[0], args[1]);
  return is_float(type) ? of_floats(op, type, args) : of_integers(op, type, args);
}

}  // namespace galatea::kernel
