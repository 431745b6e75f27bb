// Copies for a reader that is far away.
#pragma once

#include "runtime/tensor.h"

namespace galatea::runtime {

/// copy_dense() past the cache: for what nobody reads before it would have left the cache anyway.
void copy_past_cache(const Tensor& from, uint8_t* to);

}  // namespace galatea::runtime
