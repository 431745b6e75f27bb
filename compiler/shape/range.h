// What a scalar may be: the numbers between two ends.
//
// Comes in: ranges of operands. Goes out: the range of an operation's result, for any operation of
// base/scalar_op.h. Both ends belong to a range. The ends are computed by the operation itself, in its own
// rounding, so that they hold bit for bit.
#pragma once

#include <vector>

#include "base/dtype.h"
#include "base/scalar_op.h"

namespace galatea::shape {

/// Wide enough for every integer type, and for a product of two of them.
__extension__ using Wide = __int128;

struct Range {
  Wide low = 0, high = 0;   ///< integers and bools
  double from = 0, to = 0;  ///< floats
  bool nan = false;         ///< floats: may also be no number

  bool is_point() const { return low == high; }
  friend bool operator==(const Range&, const Range&) = default;
};

Range everything(DType type);
Range integers(Wide low, Wide high);
Range point(DType type, Cell value);
/// Whatever is in one or the other.
Range hull(DType type, const Range& a, const Range& b);
/// Whatever is in both; `a` where nothing is.
Range intersection(DType type, const Range& a, const Range& b);

/// `from`: type of the (first) operand. Selections take their condition first.
Range range_of(ScalarOp op, DType type, DType from, const std::vector<Range>& args);

}  // namespace galatea::shape
