// Memory for the intermediates of one sample: blocks that are counted by references and used again by the
// next sample.
//
// Comes in: sizes. Goes out: block numbers. Belongs to one frame, so it needs no lock and moves with the
// frame from thread to thread.
#pragma once

#include <vector>

#include "runtime/tensor.h"

namespace galatea::runtime {

class Arena {
 public:
  explicit Arena(Allocator& allocator) : allocator_(allocator) {}
  /// A block of at least `bytes` bytes with one reference.
  Result<int32_t> acquire(int64_t bytes);
  uint8_t* data(int32_t block) const { return blocks_[static_cast<size_t>(block)].buffer->data(); }
  void retain(int32_t block);
  void release(int32_t block);
  /// Ends a sample: every block is free again. Blocks far beyond what samples need are given back, oldest
  /// first.
  void reset();
  int64_t retained_bytes() const { return retained_bytes_; }

 private:
  struct Block {
    std::shared_ptr<Buffer> buffer;  ///< null: unused entry
    int references = 0;
    uint64_t last_use = 0;
  };
  int32_t find_free(int64_t bytes) const;
  void drop_free_blocks();
  Result<int32_t> grow(int64_t bytes);

  Allocator& allocator_;
  std::vector<Block> blocks_;
  int64_t live_bytes_ = 0, peak_live_bytes_ = 0, retained_bytes_ = 0;
  uint64_t clock_ = 0;
};

/// Rounds up to one of eight sizes per power of two, so that buffers of nearly equal size can take each
/// other's place.
int64_t round_up_capacity(int64_t bytes);

}  // namespace galatea::runtime
