// What a scalar may be: the numbers between two ends.
//
// Comes in: ranges of operands. Goes out: the range of an operation's result, for any operation of
// base/scalar_op.h. Both ends belong to a range. The ends are computed by the operation itself, in its own
// rounding, so that they hold bit for bit.
#pragma once

#include <span>

#include "base/dtype.h"
#include "base/scalar_op.h"

namespace galatea::kernel {

/// Wide enough for every integer type, and for a product of two of them.
__extension__ using Wide = __int128;

struct ScalarRange {
  Wide low = 0, high = 0;   ///< integers and bools
  double from = 0, to = 0;  ///< floats
  bool nan = false;         ///< floats: may also be no number

  bool is_point() const { return low == high; }
  friend bool operator==(const ScalarRange&, const ScalarRange&) = default;
};

ScalarRange everything(DType type);
ScalarRange integers(Wide low, Wide high);
ScalarRange point(DType type, Cell value);
/// Whatever is in one or the other.
ScalarRange hull(DType type, const ScalarRange& a, const ScalarRange& b);
/// Whatever is in both; `a` where nothing is.
ScalarRange intersection(DType type, const ScalarRange& a, const ScalarRange& b);

/// `from`: type of the (first) operand. Selections take their condition first.
ScalarRange range_of(ScalarOp op, DType type, DType from, std::span<const ScalarRange> args);

}  // namespace galatea::kernel
