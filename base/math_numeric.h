// The mathematical functions on cells.
//
// Comes in: a function and its operands (f32 or f64; integers for kPowInt). Goes out: the result, computed by
// the sequences of base/math_expand.h on native doubles.
#pragma once

#include "base/scalar_op.h"

namespace galatea {

Cell evaluate_math(ScalarOp op, DType type, const Cell* operands);

}  // namespace galatea
