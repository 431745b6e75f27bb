// Buffers and tensors: bytes, and typed strided views of them.
//
// Comes in: allocations counted by an Allocator. Goes out: Tensor, cheap to copy, which keeps its buffer
// alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/layout.h"
#include "base/result.h"
#include "runtime/kernel_abi.h"

namespace galatea::runtime {

/// Bytes with kBufferPadding readable bytes after their end. Freed (or returned to its pool) with the last
/// reference.
class Buffer {
 public:
  virtual ~Buffer() = default;
  uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }

 protected:
  uint8_t* data_ = nullptr;
  int64_t size_ = 0;
};

enum class Memory : uint8_t {
  kHost,
  kDevice,  ///< of the GPU: an address that the host must not follow, virtual before its batch is enqueued
};

/// A typed view. Strides count elements.
struct Tensor {
  std::shared_ptr<Buffer> buffer;  ///< may be null for memory borrowed for the length of a call
  uint8_t* data = nullptr;         ///< element at index 0
  DType dtype = DType::kU8;
  Memory memory = Memory::kHost;
  int ndim = 0;
  int64_t extents[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};

  int64_t volume() const;
  bool is_dense() const;  ///< row-major without gaps
  int64_t num_bytes() const { return volume() * size_of(dtype); }
  /// Takes dtype and extents, and row-major strides; leaves the memory alone.
  void set_dense(DType type, std::span<const int64_t> new_extents);
};

/// The tensor as kernels see it.
inline KernelTensor kernel_tensor(const Tensor& tensor) {
  KernelTensor out;
  out.data = tensor.data;
  for (int d = 0; d < kMaxRank; ++d) {
    out.extents[d] = tensor.extents[d];
    out.strides[d] = tensor.strides[d];
  }
  return out;
}

/// No tensor has more bytes: far beyond any machine, far below overflow.
inline constexpr int64_t kMostTensorBytes = int64_t{1} << 46;
/// Bytes of a dense tensor, or an error if an extent is negative, the rank above kMaxRank, or the size beyond
/// what can be addressed.
Result<int64_t> dense_bytes(DType dtype, std::span<const int64_t> extents);

/// Counts all memory of a session and keeps to a limit. Thread-safe. Buffers may outlive it: the counters are
/// shared with them.
class Allocator {
 public:
  explicit Allocator(int64_t limit_bytes = 0);
  /// A new buffer (not cleared), or an error that names the limit (user) or the size (system: out of memory).
  Result<std::shared_ptr<Buffer>> allocate(int64_t bytes, bool in_arena = false);
  int64_t bytes_in_use() const { return counters_->in_use.load(); }
  int64_t bytes_outside_arenas() const { return counters_->outside_arenas.load(); }
  int64_t peak_bytes() const { return counters_->peak.load(); }
  int64_t num_allocations() const { return counters_->count.load(); }
  int64_t limit() const { return limit_; }
  /// Tests: the n-th allocation from now (1 = next) fails, and the `times` - 1 behind it.
  void fail_after(int64_t n, int64_t times = 1) {
    counters_->fail_times.store(times);
    counters_->fail_in.store(n);
  }

 private:
  friend class OwnedBuffer;
  struct Counters {
    std::atomic<int64_t> in_use{0}, outside_arenas{0}, peak{0}, count{0};
    std::atomic<int64_t> fail_in{int64_t{1} << 62}, fail_times{0};  ///< counts down with every allocation
  };
  int64_t limit_;
  std::shared_ptr<Counters> counters_;
};

/// A dense tensor in a new buffer.
Result<Tensor> allocate_tensor(Allocator& allocator, DType dtype, std::span<const int64_t> extents);
inline Result<Tensor> allocate_tensor(Allocator& allocator, DType dtype,
                                      const std::vector<int64_t>& extents) {
  return allocate_tensor(allocator, dtype, std::span<const int64_t>(extents));
}
/// Copies the elements of `from` in row-major order to `to`, which has room for them all.
void copy_dense(const Tensor& from, uint8_t* to);

}  // namespace galatea::runtime
