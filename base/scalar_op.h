// Scalar operations: the one definition of every bit that bytecode, interpreters and generated code compute.
//
// Comes in: an operation, element types, operand cells. Goes out: the result cell. The bytecode interpreter
// (runtime), the stage and loop interpreters and constant folding (compiler) call evaluate(); code generators
// emit the same meaning.
//
// Meaning
// - Integers wrap modulo 2^bits. kDiv and kRem on integers truncate toward zero (C); a zero divisor gives 0
// and sets
//   kFlagDivisionByZero; the minimum divided by -1 wraps.
// - Floats follow IEEE 754 in their own width, round to nearest even, no contraction: kFma is the only fused
// operation.
//   kMin/kMax return the second operand if the comparison `a < b` / `a > b` is false (so NaN in either gives
//   b), as x86 does.
// - kConvert: int to int wraps; int to float rounds to nearest even; float to int truncates, out of range and
// NaN give the
//   clamped value and 0; anything to bool is `!= 0`.
// - kSaturate: float to int rounds half to even, then clamps, NaN gives 0; int to int clamps; to bool is `!=
// 0`;
//   to a float type it is kConvert.
// - kRound rounds half to even, kRoundAway half away from zero (both stay in the float type).
// - Shift counts are taken modulo the width. kShr is arithmetic for signed types. kMulHi: high half of the
// 2N-bit product (u32, i32).
//   kRem on floats is C's fmod (exact).
// - f16 is a storage type: only kConvert, kSaturate, kBitcast, kSelect take it. Conversions between it and
// another type than f32 go through f32.
// - The sign and payload of a NaN carry no meaning: backends may differ in them.
// - Mathematical functions (from kExp on) are defined by base/math_expand.h, as sequences of the operations
// above.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace galatea {

enum class ScalarOp : uint8_t {
  // arithmetic; operands and result of one type
  kNeg,
  kAbs,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kMin,
  kMax,
  kFma,
  kSqrt,
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kRoundAway,
  // integers and bool
  kAnd,
  kOr,
  kXor,
  kNot,
  kShl,
  kShr,
  kMulHi,
  // comparisons: operands of one type, result bool (floats: ordered, kNe unordered)
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  // kSelect(condition bool, a, b)
  kSelect,
  // conversions: operand type `from`, result type `type`
  kConvert,
  kSaturate,
  kBitcast,
  // mathematics on f32 and f64; expanded before any code generator sees them
  kExp,
  kLog,
  kLog2,
  kLog10,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kCbrt,
  kRsqrt,
  kPow,
  kAtan2,
  // kPowInt: integer power (negative exponent gives 0, see docs); also expanded
  kPowInt,
};
inline constexpr int kNumScalarOps = static_cast<int>(ScalarOp::kPowInt) + 1;

/// Lower-case name in IR texts: "add", "saturate".
std::string_view name_of(ScalarOp op);
std::optional<ScalarOp> scalar_op_from_name(std::string_view name);
int num_operands(ScalarOp op);
constexpr bool is_comparison(ScalarOp op) { return op >= ScalarOp::kEq && op <= ScalarOp::kGe; }
constexpr bool is_conversion(ScalarOp op) { return op >= ScalarOp::kConvert && op <= ScalarOp::kBitcast; }
constexpr bool is_math(ScalarOp op) { return op >= ScalarOp::kExp; }

/// One scalar of any type in 64 bits: integers sign- or zero-extended, bool 0 or 1, floats as their bits in
/// the low part.
struct Cell {
  uint64_t bits = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

Cell cell_from_int(DType type, int64_t value);    ///< wraps into `type` (also converts to a float type)
Cell cell_from_double(DType type, double value);  ///< kConvert from f64
int64_t cell_to_int(DType type,
                    Cell cell);  ///< value of an integer or bool cell (u64 keeps its bits); floats truncate
double cell_to_double(DType type, Cell cell);

/// Reads or writes one element in memory (any alignment).
Cell load_cell(DType type, const void* address);
void store_cell(DType type, void* address, Cell cell);

inline constexpr uint32_t kFlagDivisionByZero = 1;

/// The operation on cells. `type` is the result type (for comparisons: the operand type); `from` is the
/// operand type of conversions and unused otherwise. Flags are ORed into *flags.
Cell evaluate(ScalarOp op, DType type, DType from, const Cell* operands, uint32_t* flags);

/// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): one word (0..3) of
/// the block with the 64-bit key and the 128-bit counter (low, high).
uint32_t philox(uint64_t key, uint64_t counter_low, uint64_t counter_high, int word);

/// Half-precision conversions, round to nearest even.
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);

}  // namespace galatea
