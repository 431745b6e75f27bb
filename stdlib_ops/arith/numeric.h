// Element arithmetic with the language's meaning, over expressions of any type.
//
// Comes in: operand expressions in their own types. Goes out: the result expression. f16 is a storage type:
// computed in f32.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// The type in which a value of `type` is computed.
constexpr DType compute_type(DType type) { return type == DType::kF16 ? DType::kF32 : type; }
/// Both operands in the compute type of `type`, then the operation, then back.
Expr in_type(DType type, ScalarOp op, const Expr& a, const Expr& b);
/// Comparison by true value: signed and unsigned 64-bit integers compare as numbers.
Expr compare(ScalarOp op, const Expr& a, const Expr& b);
/// What is said of an operation on bools alone.
std::string bools_alone(std::string_view operation, int num_inputs);
/// Remainder with the sign of the dividend (C's % and fmod).
Expr remainder(DType type, const Expr& a, const Expr& b);

}  // namespace galatea::ops
