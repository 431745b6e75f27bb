// One function for each family of operations; see ptx_arithmetic.h.
#include "tests/ptx/ptx_arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace galatea::testing {

namespace {

__extension__ using Wide = __int128;
__extension__ using WideBits = unsigned __int128;

template <typename T>
T real(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<double>(bits);
}
uint64_t bits(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

/// The value that is a number is the lesser and the greater; -0 is less than 0.
template <typename T>
T extreme(T a, T b, bool least) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == least ? a : b;
  return (a < b) == least ? a : b;
}

template <typename T>
std::optional<uint64_t> compute_real(PtxOp op, std::span<const uint64_t> args) {
  const auto a = [&](size_t k) { return real<T>(args[k]); };
  if (op == PtxOp::kAdd) return bits(a(0) + a(1));
  if (op == PtxOp::kSub) return bits(a(0) - a(1));
  if (op == PtxOp::kMul) return bits(a(0) * a(1));
  if (op == PtxOp::kDiv) return bits(a(0) / a(1));
  if (op == PtxOp::kFma) return bits(std::fma(a(0), a(1), a(2)));
  if (op == PtxOp::kSqrt) return bits(std::sqrt(a(0)));
  if (op == PtxOp::kAbs) return bits(std::fabs(a(0)));
  if (op == PtxOp::kNeg) return bits(-a(0));
  if (op == PtxOp::kMin || op == PtxOp::kMax) return bits(extreme(a(0), a(1), op == PtxOp::kMin));
  return std::nullopt;
}

Wide number(uint64_t value, const PtxType& type) {
  return type.kind == 's' ? Wide{static_cast<int64_t>(value)} : Wide{value};
}

std::optional<uint64_t> compute_integer(PtxOp op, const PtxInstruction& i, std::span<const uint64_t> args) {
  const auto a = [&](size_t k) { return number(args[k], i.type); };
  if (op == PtxOp::kAdd) return args[0] + args[1];
  if (op == PtxOp::kSub) return args[0] - args[1];
  if (op == PtxOp::kNeg) return -args[0];
  if (op == PtxOp::kMul || op == PtxOp::kMad) {
    const Wide product = a(0) * a(1);
    const uint64_t part = static_cast<uint64_t>(i.has("hi") ? product >> i.type.bits : product);
    return op == PtxOp::kMad ? part + args[2] : part;
  }
  if (op == PtxOp::kDiv) return args[1] == 0 ? ~uint64_t{0} : static_cast<uint64_t>(a(0) / a(1));
  if (op == PtxOp::kRem) return args[1] == 0 ? args[0] : static_cast<uint64_t>(a(0) % a(1));
  if (op == PtxOp::kMin) return static_cast<uint64_t>(std::min(a(0), a(1)));
  if (op == PtxOp::kMax) return static_cast<uint64_t>(std::max(a(0), a(1)));
  if (op == PtxOp::kAbs) return static_cast<uint64_t>(a(0) < 0 ? -a(0) : a(0));
  if (op == PtxOp::kAnd) return args[0] & args[1];
  if (op == PtxOp::kOr) return args[0] | args[1];
  if (op == PtxOp::kXor) return args[0] ^ args[1];
  if (op == PtxOp::kNot) return i.type.kind == 'p' ? args[0] ^ 1U : ~args[0];
  const uint64_t most = static_cast<uint64_t>(i.type.bits);
  if (op == PtxOp::kShl) return args[1] >= most ? 0 : args[0] << args[1];
  if (op == PtxOp::kShr && i.type.kind == 's')
    return static_cast<uint64_t>(static_cast<int64_t>(args[0]) >> std::min(args[1], most - 1));
  if (op == PtxOp::kShr) return args[1] >= most ? 0 : args[0] >> args[1];
  if (op == PtxOp::kPopc) return static_cast<uint64_t>(std::popcount(args[0]));
  if (op == PtxOp::kBfe && i.type.kind == 'u') {
    const uint64_t first = args[1] & 0xffU, count = args[2] & 0xffU;
    const uint64_t rest = first >= most ? 0 : args[0] >> first;
    return count >= most ? rest : rest & ((uint64_t{1} << count) - 1);
  }
  if (op == PtxOp::kPrmt) {
    const uint64_t bytes = (args[1] << 32) | (args[0] & 0xffffffffU);
    uint64_t out = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const uint64_t selector = args[2] >> (4 * byte);
      uint64_t part = bytes >> (8 * (selector & 7U)) & 0xffU;
      if ((selector & 8U) != 0) part = (part & 0x80U) != 0 ? 0xffU : 0;
      out |= part << (8 * byte);
    }
    return out;
  }
  if (op == PtxOp::kShf) {
    const uint64_t pair = (args[1] << 32) | (args[0] & 0xffffffffU), by = args[2] & 31U;
    return i.has("l") ? (pair << by) >> 32 : pair >> by;
  }
  return std::nullopt;
}

/// With a 'u' behind it an unordered comparison: true where one is no number.
bool compare_real(const std::string& how, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (how == "nan") return unordered;
  if (how == "num") return !unordered;
  if (unordered) return how == "ne" ? false : how.size() == 3;
  const std::string ordered = how.substr(0, 2);
  if (ordered == "eq") return a == b;
  if (ordered == "ne") return a != b;
  if (ordered == "lt") return a < b;
  if (ordered == "le") return a <= b;
  return ordered == "gt" ? a > b : a >= b;
}
bool compare_integer(const std::string& how, Wide a, Wide b) {
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt" || how == "lo") return a < b;
  if (how == "le" || how == "ls") return a <= b;
  return how == "gt" || how == "hi" ? a > b : a >= b;
}

double to_integral(const PtxInstruction& i, double value) {
  if (i.has("rni")) return std::nearbyint(value);
  if (i.has("rmi")) return std::floor(value);
  if (i.has("rpi")) return std::ceil(value);
  return i.has("rzi") ? std::trunc(value) : value;
}
/// Saturates; what is no number is 0.
uint64_t to_integer(double value, const PtxType& type) {
  if (std::isnan(value)) return 0;
  const bool has_sign = type.kind == 's';
  const double past = std::ldexp(1.0, has_sign ? type.bits - 1 : type.bits), low = has_sign ? -past : 0;
  if (value >= past) return has_sign ? (uint64_t{1} << (type.bits - 1)) - 1 : ~uint64_t{0};
  if (value <= low) return has_sign ? uint64_t{0} - (uint64_t{1} << (type.bits - 1)) : 0;
  return has_sign ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
}

std::optional<uint64_t> convert(const PtxInstruction& i, uint64_t value) {
  const bool to_real = i.type.kind == 'f', from_real = i.from.kind == 'f';
  if ((to_real && i.type.bits < 32) || (from_real && i.from.bits < 32)) return std::nullopt;
  if (from_real) {
    const double number =
        to_integral(i, i.from.bits == 32 ? static_cast<double>(real<float>(value)) : real<double>(value));
    if (!to_real) return to_integer(number, i.type);
    return i.type.bits == 32 ? bits(static_cast<float>(number)) : bits(number);
  }
  if (!to_real) return value;
  if (i.from.kind == 's') {
    const auto number = static_cast<int64_t>(value);
    return i.type.bits == 32 ? bits(static_cast<float>(number)) : bits(static_cast<double>(number));
  }
  return i.type.bits == 32 ? bits(static_cast<float>(value)) : bits(static_cast<double>(value));
}

}  // namespace

uint64_t ptx_extend(uint64_t value, const PtxType& type) {
  if (type.bits >= 64) return value;
  const uint64_t mask = (uint64_t{1} << type.bits) - 1;
  value &= mask;
  const bool is_negative = type.kind == 's' && (value >> (type.bits - 1) & 1U) != 0;
  return is_negative ? value | ~mask : value;
}

std::optional<uint64_t> ptx_compute(PtxOp op, const PtxInstruction& i, std::span<const uint64_t> args) {
  if (op == PtxOp::kSelp) return (args[2] & 1U) != 0 ? args[0] : args[1];
  if (op == PtxOp::kMov || op == PtxOp::kCvta) return args[0];
  if (op == PtxOp::kCvt) return convert(i, args[0]);
  if (op == PtxOp::kSetp) {
    const std::string& how = i.modifiers.front();
    if (i.type.kind != 'f')
      return compare_integer(how, number(args[0], i.type), number(args[1], i.type)) ? 1 : 0;
    const bool single = i.type.bits == 32;
    return compare_real(how, single ? static_cast<double>(real<float>(args[0])) : real<double>(args[0]),
                        single ? static_cast<double>(real<float>(args[1])) : real<double>(args[1]))
               ? 1
               : 0;
  }
  if (i.type.kind == 'f')
    return i.type.bits == 32 ? compute_real<float>(op, args) : compute_real<double>(op, args);
  return compute_integer(op, i, args);
}

}  // namespace galatea::testing
