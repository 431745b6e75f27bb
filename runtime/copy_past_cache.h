// Copies of views into a batch that nobody reads soon.
//
// Comes in: a tensor of any strides, and memory. Goes out: its elements in row-major order. Runs go past the
// cache in whole lines, and what comes later is asked for. Rows that lie in reverse order (a vertical flip)
// are copied from the last of the copy to its first, so that what is read runs forwards in memory.
#pragma once

#include "runtime/tensor.h"

namespace galatea::runtime {

/// As copy_dense; `to` must not be needed in the cache.
void copy_past_cache(const Tensor& from, uint8_t* to);

}  // namespace galatea::runtime
