// Memory for the intermediates of one sample: blocks that are counted by references and used again by the
// next sample.
//
// Comes in: sizes; where memory is limited, a budget. Goes out: block numbers. Belongs to one frame, so it
// needs no lock and moves with the frame from thread to thread.
//
// With a gate an arena holds no more than its budget, a claim at the gate, as long as it is awake; asleep, it
// keeps what it has until somebody else needs it.
#pragma once

#include <vector>

#include "runtime/memory_gate.h"
#include "runtime/tensor.h"

namespace galatea::runtime {

class Arena {
 public:
  explicit Arena(Allocator& allocator, MemoryGate* gate = nullptr) : allocator_(allocator), gate_(gate) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A block of at least `bytes` bytes with one reference.
  Result<int32_t> acquire(int64_t bytes);
  uint8_t* data(int32_t block) const { return blocks_[static_cast<size_t>(block)].buffer->data(); }
  void retain(int32_t block);
  void release(int32_t block);
  /// Ends a sample: every block is free again. Blocks far beyond what samples need are given back, oldest
  /// first.
  void reset();
  int64_t retained_bytes() const { return retained_bytes_; }

  // Only with a gate.
  /// Starts a sample, which may have at most `limit` bytes: what the arena keeps becomes its budget.
  void wake(int64_t limit);
  /// After reset(): the budget goes back to the gate.
  void sleep();
  int64_t budget() const { return budget_; }
  /// The gate has granted this much more.
  void add_budget(int64_t bytes) { budget_ += bytes; }
  /// Asleep: gives everything back.
  void shrink_idle();
  /// What the last acquire() lacked that failed for want of budget; 0: it failed for another reason.
  int64_t lacking() const { return lacking_; }

 private:
  struct Block {
    std::shared_ptr<Buffer> buffer;  ///< null: unused entry
    int references = 0;
    uint64_t last_use = 0;
  };
  static int64_t cost(const Block& block) { return block.buffer->size() + kBufferPadding; }
  int64_t largest_for(int64_t bytes) const;
  int32_t find_free(int64_t bytes) const;
  void drop(Block& block);
  void drop_free_blocks();
  /// Makes the budget large enough for `bytes` more.
  Status stay_within_budget(int64_t bytes);
  Result<int32_t> grow(int64_t bytes);

  Allocator& allocator_;
  MemoryGate* gate_;
  std::vector<Block> blocks_;
  int64_t live_bytes_ = 0, peak_live_bytes_ = 0, retained_bytes_ = 0;
  int64_t limit_ = 0, budget_ = 0, lacking_ = 0;
  bool awake_ = false;
  uint64_t clock_ = 0;
};

/// Rounds up to one of eight sizes per power of two, so that buffers of nearly equal size can take each
/// other's place.
int64_t round_up_capacity(int64_t bytes);

}  // namespace galatea::runtime
