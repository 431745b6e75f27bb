// Copies of views into a batch that nobody reads soon.
//
// Comes in: a tensor of any strides, and memory. Goes out: its elements in row-major order. Rows that lie in
// reverse order (a vertical flip) are copied from the last of the copy to its first, so that what is read
// runs forwards in memory, and whole lines go past the cache: each by itself gains nothing, together they
// halve the time.
#pragma once

#include "runtime/tensor.h"

namespace galatea::runtime {

/// As copy_dense; `to` must not be needed in the cache.
void copy_past_cache(const Tensor& from, uint8_t* to);

}  // namespace galatea::runtime
