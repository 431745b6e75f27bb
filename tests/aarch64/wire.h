// What the test and the runner say to each other, through pipes. Both are little-endian.
//
// A request: RequestHeader, the code's bytes, the parameters (8 bytes each), then per tensor a TensorHeader
// and its block. An answer: the status word, then every block as the kernel left it. End of file ends the
// runner.
#pragma once

#include <cstdint>

#include "runtime/kernel_abi.h"

namespace galatea::testing {

struct RequestHeader {
  uint64_t code_bytes = 0, entry = 0;
  uint64_t params = 0, tensors = 0, scratch_bytes = 0;
};

/// A block holds every element of the tensor and the padding after the last.
struct TensorHeader {
  uint64_t block_bytes = 0;
  uint64_t misalignment = 0;  ///< of the block's first byte, modulo runtime::kBufferAlignment
  uint64_t origin = 0;        ///< where in the block the element at index 0 begins
  int64_t extents[runtime::kMaxRank] = {};
  int64_t strides[runtime::kMaxRank] = {};
};

}  // namespace galatea::testing
