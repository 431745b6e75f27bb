// What the presets' type rules share: words, and the checks that nearly all of them make.
//
// Comes in: a call under a preset. Goes out: an error at its argument, with the way back to DALI's numbers.
#pragma once

#include <initializer_list>
#include <utility>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

using op::Compat;

/// `resize under compat="pil"`.
std::string under_preset(const TypeContext& ctx);
/// The error `under_preset(ctx) + message`, whose help ends in the way back to DALI.
std::unexpected<Error> preset_error(const TypeContext& ctx, const std::string& message,
                                    const std::string& help, std::string_view arg = {});
/// Presets are of bytes.
Status check_bytes(const TypeContext& ctx);
/// Arguments that may not be given, each with the reason.
Status check_without(const TypeContext& ctx,
                     std::initializer_list<std::pair<const char*, const char*>> arguments);

// ---- little words for fixed-point arithmetic
inline Expr i32(int64_t value) { return kernel::const_int(value, DType::kI32); }
inline Expr to_i32(const Expr& e) { return kernel::convert(e, DType::kI32); }
/// Arithmetic.
inline Expr shift_right(const Expr& value, int64_t bits) {
  return kernel::binary(ScalarOp::kShr, value, kernel::const_int(bits, value.type()));
}
inline Expr shift_left(const Expr& value, int64_t bits) {
  return kernel::binary(ScalarOp::kShl, value, kernel::const_int(bits, value.type()));
}
/// The whole part below, in the float type.
inline Expr whole_below(const Expr& value) { return kernel::unary(ScalarOp::kFloor, value); }
/// Half to even, in the float type.
inline Expr nearest_even(const Expr& value) { return kernel::unary(ScalarOp::kRound, value); }

}  // namespace galatea::ops
