// How generated code is called; shared by the compiler, which emits it, and the runtime, which calls it.
#pragma once

#include <cstdint>

namespace galatea::runtime {

inline constexpr int kMaxRank = 8;

/// A tensor as a kernel sees it. Strides count elements and may be negative or zero; `data` is the element at
/// index 0.
struct KernelTensor {
  void* data = nullptr;
  int64_t extents[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
};

/// Of an output of a batch about which nothing is known.
inline constexpr int64_t kStreamFrom = 256 * 1024;
/// A batch of so many bytes has left the nearest caches before anybody reads it.
inline constexpr int64_t kCachedBatch = 2 * 1024 * 1024;

/// One call for one sample. Generated code knows this layout.
struct KernelCall {
  const KernelTensor* tensors = nullptr;  ///< inputs, then outputs
  const uint64_t* params = nullptr;       ///< one Cell each
  uint8_t* scratch = nullptr;  ///< 64-byte aligned, of the size that the loops computed for these parameters
  uint32_t* status = nullptr;  ///< flags are ORed in
  /// Outputs of at least so many bytes are stored past the cache, where the kernel has such stores.
  int64_t stream_from = kStreamFrom;
};

using KernelFunction = void (*)(const KernelCall*);

/// Every buffer that galatea allocates has this many readable bytes after its end, and this alignment.
inline constexpr int64_t kBufferPadding = 64;
inline constexpr int64_t kBufferAlignment = 64;

}  // namespace galatea::runtime
