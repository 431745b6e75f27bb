// evaluate(): one scalar operation on cells, and what cells are.
//
// Comes in: operation, types, cells. Goes out: a cell. Names and arities are the table at the top; half
// precision and Philox are in base/half.cpp and base/philox.cpp; the mathematical functions in
// base/math_expand.h.
#include "base/scalar_op.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/math_numeric.h"
#include "base/result.h"

namespace galatea {
namespace {

struct OpInfo {
  std::string_view name;
  int operands;
};
constexpr std::array<OpInfo, kNumScalarOps> kOps = {{
    {"neg", 1},     {"abs", 1},      {"add", 2},     {"sub", 2},        {"mul", 2},    {"div", 2},
    {"rem", 2},     {"min", 2},      {"max", 2},     {"fma", 3},        {"sqrt", 1},   {"floor", 1},
    {"ceil", 1},    {"trunc", 1},    {"round", 1},   {"round_away", 1}, {"and", 2},    {"or", 2},
    {"xor", 2},     {"not", 1},      {"shl", 2},     {"shr", 2},        {"mul_hi", 2}, {"eq", 2},
    {"ne", 2},      {"lt", 2},       {"le", 2},      {"gt", 2},         {"ge", 2},     {"select", 3},
    {"convert", 1}, {"saturate", 1}, {"bitcast", 1}, {"exp", 1},        {"log", 1},    {"log2", 1},
    {"log10", 1},   {"sin", 1},      {"cos", 1},     {"tan", 1},        {"asin", 1},   {"acos", 1},
    {"atan", 1},    {"sinh", 1},     {"cosh", 1},    {"tanh", 1},       {"asinh", 1},  {"acosh", 1},
    {"atanh", 1},   {"cbrt", 1},     {"rsqrt", 1},   {"pow", 2},        {"atan2", 2},  {"pow_int", 2},
}};

/// Apart from evaluate(), so that its frame holds no text.
[[noreturn, gnu::noinline]] void refuse(ScalarOp op, std::string_view operand) {
  throw InternalError(std::string(name_of(op)) + " on " + std::string(operand));
}

constexpr int bits_of(DType type) { return is_bool(type) ? 1 : 8 * size_of(type); }

/// The low bits of `value`, extended as a cell of the type holds them.
Cell wrap(DType type, uint64_t value) {
  int bits = bits_of(type);
  if (bits == 64) return {value};
  uint64_t low = value & ((uint64_t{1} << bits) - 1);
  if (is_signed_int(type) && (low >> (bits - 1)) != 0) low |= ~uint64_t{0} << bits;
  return {low};
}

template <typename T>
T float_of(Cell cell) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<float>(static_cast<uint32_t>(cell.bits));
  } else {
    return std::bit_cast<double>(cell.bits);
  }
}
template <typename T>
Cell cell_of(T value) {
  if constexpr (sizeof(T) == 4) {
    return {std::bit_cast<uint32_t>(value)};
  } else {
    return {std::bit_cast<uint64_t>(value)};
  }
}
Cell bool_cell(bool value) { return {value ? uint64_t{1} : uint64_t{0}}; }

template <typename T>
Cell compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::kEq:
      return bool_cell(a == b);
    case ScalarOp::kNe:
      return bool_cell(a != b);
    case ScalarOp::kLt:
      return bool_cell(a < b);
    case ScalarOp::kLe:
      return bool_cell(a <= b);
    case ScalarOp::kGt:
      return bool_cell(a > b);
    default:
      return bool_cell(a >= b);
  }
}

template <typename T>
Cell float_op(ScalarOp op, const Cell* operands) {
  T a = float_of<T>(operands[0]);
  switch (op) {
    case ScalarOp::kNeg:
      return cell_of<T>(-a);
    case ScalarOp::kAbs:
      return cell_of<T>(std::fabs(a));
    case ScalarOp::kSqrt:
      return cell_of<T>(std::sqrt(a));
    case ScalarOp::kFloor:
      return cell_of<T>(std::floor(a));
    case ScalarOp::kCeil:
      return cell_of<T>(std::ceil(a));
    case ScalarOp::kTrunc:
      return cell_of<T>(std::trunc(a));
    case ScalarOp::kRound:
      return cell_of<T>(std::nearbyint(a));
    case ScalarOp::kRoundAway:
      return cell_of<T>(std::round(a));
    default:
      break;
  }
  if (num_operands(op) < 2) refuse(op, "a float");
  T b = float_of<T>(operands[1]);
  switch (op) {
    case ScalarOp::kAdd:
      return cell_of<T>(a + b);
    case ScalarOp::kSub:
      return cell_of<T>(a - b);
    case ScalarOp::kMul:
      return cell_of<T>(a * b);
    case ScalarOp::kDiv:
      return cell_of<T>(a / b);
    case ScalarOp::kRem:
      return cell_of<T>(std::fmod(a, b));
    case ScalarOp::kMin:
      return cell_of<T>(a < b ? a : b);
    case ScalarOp::kMax:
      return cell_of<T>(a > b ? a : b);
    case ScalarOp::kFma:
      return cell_of<T>(std::fma(a, b, float_of<T>(operands[2])));
    default:
      break;
  }
  if (!is_comparison(op)) refuse(op, "a float");
  return compare(op, a, b);
}

/// Division and remainder of integers, with the flag of a zero divisor.
Cell divide(ScalarOp op, DType type, Cell a, Cell b, uint32_t* flags) {
  if (b.bits == 0) {
    *flags |= kFlagDivisionByZero;
    return {0};
  }
  bool quotient = op == ScalarOp::kDiv;
  if (!is_signed_int(type)) return wrap(type, quotient ? a.bits / b.bits : a.bits % b.bits);
  auto dividend = static_cast<int64_t>(a.bits);
  auto divisor = static_cast<int64_t>(b.bits);
  // The minimum divided by -1 does not fit and would trap.
  if (divisor == -1) return quotient ? wrap(type, 0 - a.bits) : Cell{0};
  return wrap(type, static_cast<uint64_t>(quotient ? dividend / divisor : dividend % divisor));
}

Cell shift_or_high(ScalarOp op, DType type, Cell a, Cell b) {
  int width = bits_of(type);
  int count = static_cast<int>(b.bits & static_cast<uint64_t>(width - 1));
  if (op == ScalarOp::kShl) return wrap(type, a.bits << count);
  if (op == ScalarOp::kShr) {
    return is_signed_int(type) ? wrap(type, static_cast<uint64_t>(static_cast<int64_t>(a.bits) >> count))
                               : wrap(type, a.bits >> count);
  }
  if (type != DType::kU32 && type != DType::kI32) refuse(op, "what is neither u32 nor i32");
  if (type == DType::kU32) return wrap(type, (a.bits * b.bits) >> 32);
  return wrap(type,
              static_cast<uint64_t>((static_cast<int64_t>(a.bits) * static_cast<int64_t>(b.bits)) >> 32));
}

Cell int_op(ScalarOp op, DType type, const Cell* operands, uint32_t* flags) {
  Cell a = operands[0];
  bool is_signed = is_signed_int(type);
  auto signed_a = static_cast<int64_t>(a.bits);
  switch (op) {
    case ScalarOp::kNeg:
      return wrap(type, 0 - a.bits);
    case ScalarOp::kAbs:
      return is_signed && signed_a < 0 ? wrap(type, 0 - a.bits) : a;
    case ScalarOp::kNot:
      return wrap(type, ~a.bits);
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kTrunc:
    case ScalarOp::kRound:
    case ScalarOp::kRoundAway:
      return a;
    default:
      break;
  }
  if (num_operands(op) < 2) refuse(op, "an integer");
  Cell b = operands[1];
  auto signed_b = static_cast<int64_t>(b.bits);
  bool less = is_signed ? signed_a < signed_b : a.bits < b.bits;
  switch (op) {
    case ScalarOp::kAdd:
      return wrap(type, a.bits + b.bits);
    case ScalarOp::kSub:
      return wrap(type, a.bits - b.bits);
    case ScalarOp::kMul:
      return wrap(type, a.bits * b.bits);
    case ScalarOp::kDiv:
    case ScalarOp::kRem:
      return divide(op, type, a, b, flags);
    case ScalarOp::kMin:
      return less ? a : b;
    case ScalarOp::kMax:
      return less || a == b ? b : a;
    case ScalarOp::kFma:
      return wrap(type, a.bits * b.bits + operands[2].bits);
    case ScalarOp::kAnd:
      return {a.bits & b.bits};
    case ScalarOp::kOr:
      return {a.bits | b.bits};
    case ScalarOp::kXor:
      return {a.bits ^ b.bits};
    case ScalarOp::kShl:
    case ScalarOp::kShr:
    case ScalarOp::kMulHi:
      return shift_or_high(op, type, a, b);
    default:
      break;
  }
  if (!is_comparison(op)) refuse(op, "an integer");
  return is_signed ? compare(op, signed_a, signed_b) : compare(op, a.bits, b.bits);
}

constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

/// `value` has no fraction, or loses it here by truncation; out of range clamps, NaN gives 0.
Cell double_to_int(DType type, double value) {
  if (value != value) return {0};
  if (is_bool(type)) return bool_cell(value != 0);
  double truncated = std::trunc(value);
  if (is_signed_int(type)) {
    // -2^(n-1) and 2^(n-1) are doubles; the largest i64 is not.
    if (truncated < static_cast<double>(min_int(type))) return {static_cast<uint64_t>(min_int(type))};
    if (truncated >= power_of_two(bits_of(type) - 1)) return {static_cast<uint64_t>(max_int(type))};
    return {static_cast<uint64_t>(static_cast<int64_t>(truncated))};
  }
  if (truncated <= 0) return {0};
  if (truncated >= power_of_two(bits_of(type))) return {max_unsigned(type)};
  return {static_cast<uint64_t>(truncated)};
}

/// Any integer cell as the nearest float.
template <typename T>
T int_to_float(DType type, Cell cell) {
  return is_signed_int(type) ? static_cast<T>(static_cast<int64_t>(cell.bits)) : static_cast<T>(cell.bits);
}

/// The value as f32, the step through which every conversion to f16 goes.
float to_single(DType type, Cell cell) {
  if (type == DType::kF32) return float_of<float>(cell);
  if (type == DType::kF64) return static_cast<float>(float_of<double>(cell));
  if (type == DType::kF16) return half_to_float(static_cast<uint16_t>(cell.bits));
  return int_to_float<float>(type, cell);
}

double to_double(DType type, Cell cell) {
  if (type == DType::kF64) return float_of<double>(cell);
  if (is_float(type)) return static_cast<double>(to_single(type, cell));
  return int_to_float<double>(type, cell);
}

Cell clamp_int(DType to, DType from, Cell cell) {
  if (is_bool(to)) return bool_cell(cell.bits != 0);
  bool negative = is_signed_int(from) && static_cast<int64_t>(cell.bits) < 0;
  if (negative) {
    if (!is_signed_int(to)) return {0};
    return static_cast<int64_t>(cell.bits) < min_int(to) ? Cell{static_cast<uint64_t>(min_int(to))} : cell;
  }
  return cell.bits > max_unsigned(to) ? Cell{max_unsigned(to)} : cell;
}

Cell convert_cell(ScalarOp op, DType to, DType from, Cell cell) {
  if (op == ScalarOp::kBitcast) {
    if (size_of(to) != size_of(from)) refuse(op, "types of two sizes");
    if (is_bool(to)) return bool_cell(cell.bits != 0);
    if (is_float(to))
      return {cell.bits & (to == DType::kF64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(to)) - 1)};
    return wrap(to, cell.bits);
  }
  if (to == from) return cell;
  if (to == DType::kF64) return cell_of<double>(to_double(from, cell));
  if (to == DType::kF32) return cell_of<float>(to_single(from, cell));
  if (to == DType::kF16) return {float_to_half(to_single(from, cell))};
  if (is_float(from)) {
    double value = to_double(from, cell);
    if (is_bool(to)) return bool_cell(value != 0);
    return double_to_int(to, op == ScalarOp::kSaturate ? std::nearbyint(value) : value);
  }
  if (op == ScalarOp::kSaturate) return clamp_int(to, from, cell);
  return is_bool(to) ? bool_cell(cell.bits != 0) : wrap(to, cell.bits);
}

}  // namespace

std::string_view name_of(ScalarOp op) { return kOps[static_cast<size_t>(op)].name; }
int num_operands(ScalarOp op) { return kOps[static_cast<size_t>(op)].operands; }

std::optional<ScalarOp> scalar_op_from_name(std::string_view name) {
  for (size_t i = 0; i < kOps.size(); ++i) {
    if (kOps[i].name == name) return static_cast<ScalarOp>(i);
  }
  return std::nullopt;
}

Cell cell_from_int(DType type, int64_t value) {
  Cell cell{static_cast<uint64_t>(value)};
  return convert_cell(ScalarOp::kConvert, type, DType::kI64, cell);
}

Cell cell_from_double(DType type, double value) {
  return convert_cell(ScalarOp::kConvert, type, DType::kF64, cell_of<double>(value));
}

int64_t cell_to_int(DType type, Cell cell) {
  if (is_float(type)) cell = convert_cell(ScalarOp::kConvert, DType::kI64, type, cell);
  return static_cast<int64_t>(cell.bits);
}

double cell_to_double(DType type, Cell cell) { return to_double(type, cell); }

Cell load_cell(DType type, const void* address) {
  uint64_t bits = 0;
  // Little-endian: the low bytes of the cell are the element.
  static_assert(std::endian::native == std::endian::little);
  switch (size_of(type)) {
    case 1:
      std::memcpy(&bits, address, 1);
      break;
    case 2:
      std::memcpy(&bits, address, 2);
      break;
    case 4:
      std::memcpy(&bits, address, 4);
      break;
    default:
      std::memcpy(&bits, address, 8);
  }
  if (is_bool(type)) return bool_cell(bits != 0);
  return is_float(type) ? Cell{bits} : wrap(type, bits);
}

void store_cell(DType type, void* address, Cell cell) {
  std::memcpy(address, &cell.bits, static_cast<size_t>(size_of(type)));
}

Cell evaluate(ScalarOp op, DType type, DType from, const Cell* operands, uint32_t* flags) {
  if (op == ScalarOp::kSelect) return operands[0].bits != 0 ? operands[1] : operands[2];
  if (is_conversion(op)) return convert_cell(op, type, from, operands[0]);
  if (is_math(op)) return evaluate_math(op, type, operands);
  if (type == DType::kF32) return float_op<float>(op, operands);
  if (type == DType::kF64) return float_op<double>(op, operands);
  if (type == DType::kF16) refuse(op, "f16, which is only stored: convert to f32 first");
  return int_op(op, type, operands, flags);
}

}  // namespace galatea
