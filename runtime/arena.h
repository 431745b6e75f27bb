// Memory for the intermediates of one sample: blocks that are counted by references and used again by the
// next sample.
//
// Comes in: sizes; where memory is limited, a budget. Goes out: block numbers. Belongs to one frame, so it
// needs no lock and moves with the frame from thread to thread.
//
// Blocks are cut from pieces, each at the lowest place where it fits, so that samples of any sizes use the
// same memory again: what was used last is in the nearest cache. A sample that took several pieces leaves one
// for its followers, of whole huge pages where it is large: a page that is touched for the first time costs
// as much as a tenth of a sample in a virtual machine.
//
// With a gate an arena holds no more than its budget, a claim at the gate, as long as it is awake; asleep, it
// keeps what it has until somebody else needs it. A piece is one block then, of the size that was claimed.
#pragma once

#include <vector>

#include "runtime/free_ranges.h"
#include "runtime/memory_gate.h"
#include "runtime/tensor.h"

namespace galatea::runtime {

class Arena {
 public:
  /// Pieces of whole huge pages are for arenas of which there are few: one or two a thread.
  enum class Pieces : uint8_t { kHugePages, kAsNeeded };
  explicit Arena(Allocator& allocator, MemoryGate* gate = nullptr, Pieces pieces = Pieces::kHugePages)
      : allocator_(allocator), gate_(gate), pieces_of_(pieces) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A block of at least `bytes` bytes with one reference.
  Result<int32_t> acquire(int64_t bytes);
  uint8_t* data(int32_t block) const { return blocks_[static_cast<size_t>(block)].data; }
  void retain(int32_t block);
  void release(int32_t block);
  /// Ends a sample: every block is free again. What is far beyond what samples need is given back.
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
  /// Awake: takes up to so many bytes out of the budget, of what no block is in; how many.
  int64_t cede(int64_t bytes);
  /// Asleep: gives everything back.
  void shrink_idle();
  /// What the last acquire() lacked that failed for want of budget; 0: it failed for another reason.
  int64_t lacking() const { return lacking_; }

 private:
  struct Piece {
    std::shared_ptr<Buffer> buffer;
    FreeRanges free;
    uint64_t last_use = 0;
    int64_t size() const { return buffer->size() + kBufferPadding; }
    bool is_free() const { return free.is_whole(size()); }
  };
  struct Block {
    uint8_t* data = nullptr;  ///< null: unused entry
    size_t piece = 0;
    int64_t begin = 0, size = 0;  ///< in the piece
    int references = 0;
  };
  int64_t need_of(int64_t bytes) const;
  int64_t size_of_piece(int64_t need) const;
  /// A new block at the start of a free range that has room for it; -1: there is none.
  int32_t cut(int64_t need);
  int32_t new_block();
  void drop_piece(size_t at);
  void drop_free_pieces();
  /// Makes the budget large enough for `bytes` more.
  Status stay_within_budget(int64_t bytes);
  Status grow(int64_t need);

  Allocator& allocator_;
  MemoryGate* gate_;
  Pieces pieces_of_;
  std::vector<Piece> pieces_;
  std::vector<Block> blocks_;
  int64_t live_bytes_ = 0, peak_live_bytes_ = 0, retained_bytes_ = 0;
  int64_t expected_bytes_ = 0;  ///< what a sample took that did not fit into one piece
  int64_t limit_ = 0, budget_ = 0, lacking_ = 0;
  bool awake_ = false;
  uint64_t clock_ = 0;
};

/// Rounds up to one of eight sizes per power of two, so that buffers of nearly equal size can take each
/// other's place.
int64_t round_up_capacity(int64_t bytes);

}  // namespace galatea::runtime
