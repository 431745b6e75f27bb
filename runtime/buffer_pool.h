// Recycled buffers for outputs: fresh pages are dear, so a buffer that a consumer lets go serves the next
// batch.
//
// Comes in: sizes. Goes out: buffers whose last reference brings their memory back here, on whatever thread
// that happens, or frees it if the pool is gone by then.
//
// Buffers that are smaller than huge pages are cut from slabs of them once there are many.
//
// Invariant: free bytes never exceed the most that was ever in use at once.
#pragma once

#include <memory>

#include "runtime/tensor.h"

namespace galatea::runtime {

class BufferPool {
 public:
  explicit BufferPool(Allocator& allocator);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A buffer of `bytes` bytes, recycled where one fits, else new.
  Result<std::shared_ptr<Buffer>> acquire(int64_t bytes);
  /// The same, null where none fits.
  std::shared_ptr<Buffer> recycle(int64_t bytes);
  /// Lays a buffer aside whose pages were touched, if there is none to recycle and the bound allows it.
  void prepare(int64_t bytes);
  /// Frees what lies idle; returns whether there was any.
  bool drop_free();
  int64_t free_bytes() const;
  int64_t bytes_in_use() const;
  int64_t num_recycled() const;

 private:
  struct State;
  friend class PooledBuffer;
  Result<std::shared_ptr<Buffer>> fresh(int64_t capacity);
  std::shared_ptr<Buffer> cut_from_slab(int64_t capacity);
  Allocator& allocator_;
  std::shared_ptr<State> state_;
};

}  // namespace galatea::runtime
