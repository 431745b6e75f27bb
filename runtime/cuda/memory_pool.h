// Memory of a device, and pinned memory of the host for copies to and from it; both recycled in the order of
// streams.
//
// Comes in: sizes, and the stream that is going to use them. Goes out: blocks that return with their last
// owner, on any thread, while the device may still be at work on them: the pool puts an event behind each
// stream that used a block, and the next owner's stream waits for it on the device, without the host. Of
// pinned memory the host is the next owner, so that only blocks are given out whose events have passed; so it
// is of memory of the device where the next owner asks for it (acquire_unused). A
// stream that the host is capturing takes no event: such a block stays idle until the capture is over.
//
// Invariant: the bytes of all blocks never exceed the limit. Of pinned memory, which the system cannot take
// away, no more lies idle than was ever in use, or being copied, at once: a device works on batches that the
// host has long let go, and blocks that go back each time one is done with would be taken anew each time.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/cuda/background_free.h"
#include "runtime/cuda/event_pool.h"
#include "runtime/cuda/freed_memory.h"

namespace galatea::runtime::cuda {

enum class MemoryKind : uint8_t { kDevice, kPinned };

class MemoryPool;

/// Room that is owned; empty after a move.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  MemoryBlock(MemoryBlock&&) noexcept = default;
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;
  ~MemoryBlock();

  explicit operator bool() const { return block_ != nullptr; }
  /// Device blocks, aligned to 256 bytes.
  DevicePointer device() const { return block_->device; }
  /// Pinned blocks.
  uint8_t* host() const { return block_->host; }
  /// At least what was asked for.
  int64_t size() const { return block_->size; }
  /// Another stream works on it as well, at least until now.
  void also_used_by(std::shared_ptr<const Stream> stream);

 private:
  friend class MemoryPool;
  struct Use {
    std::shared_ptr<const Stream> stream;
    std::shared_ptr<const Event> event;  ///< null: the stream was being captured, and takes one later
  };
  struct Block {
    DevicePointer device = 0;
    uint8_t* host = nullptr;
    int64_t size = 0;
    std::vector<Use> uses;  ///< of the owners before
  };
  MemoryBlock(std::shared_ptr<MemoryPool> pool, std::unique_ptr<Block> block,
              std::shared_ptr<const Stream> stream);
  void give_back();

  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<Block> block_;
  std::vector<std::shared_ptr<const Stream>> streams_;
};

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  /// `limit_bytes` 0: as much as the driver gives.
  static std::shared_ptr<MemoryPool> make(std::shared_ptr<const Context> context, MemoryKind kind,
                                          int64_t limit_bytes = 0);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// At least `bytes` bytes for work that `stream` is given from now on. Pinned memory may be written at
  /// once.
  Result<MemoryBlock> acquire(int64_t bytes, std::shared_ptr<const Stream> stream);
  /// Memory of the device that it is done with, for who writes there at once, beside all streams; work that
  /// `stream` is given later comes behind.
  Result<MemoryBlock> acquire_unused(int64_t bytes, std::shared_ptr<const Stream> stream);
  /// Gives blocks back together, for which one event a stream is enough.
  static void give_back(std::vector<MemoryBlock> blocks);
  /// Where every block is noted that is freed from now on.
  void tell(std::weak_ptr<FreedMemory> freed);
  /// Frees what is idle; waits until the device is done with it.
  void drop_idle();

  int64_t bytes_in_use() const;
  int64_t idle_bytes() const;
  int64_t peak_bytes() const;  ///< the most there ever was, idle blocks included
  int64_t limit() const { return limit_; }
  MemoryKind kind() const { return kind_; }

 private:
  friend class MemoryBlock;
  using Block = MemoryBlock::Block;
  using Use = MemoryBlock::Use;
  MemoryPool(std::shared_ptr<const Context> context, MemoryKind kind, int64_t limit_bytes)
      : context_(std::move(context)),
        event_pool_(EventPool::make(context_)),
        kind_(kind),
        limit_(limit_bytes) {}

  /// The idle block that fits best, taken out; null: none.
  std::unique_ptr<Block> recycle(int64_t bytes, bool done_only);
  /// Whether it may be given to who asks for so much.
  bool would_do(const Block& block, int64_t bytes) const;
  bool has_room(int64_t bytes) const;
  /// So much is about to be taken, since all that would do is in use, or its copies are not done.
  void note_use(int64_t bytes);
  /// Has freed what has been idle for longest, as long as more is idle than was ever in use.
  void trim();
  Result<std::unique_ptr<Block>> grow(int64_t bytes);
  Code allocate(Block& block);
  void free(std::unique_ptr<Block> block);
  /// Notes that its addresses are about to mean nothing.
  void note_freed(const Block& block);
  bool drop_oldest();
  static bool is_done(const Block& block);
  /// Makes the block the next owner's.
  Status settle_uses(Block& block, const Stream& stream);
  /// Where `stream` stands; none could be had: waits until there is nothing to wait for.
  std::optional<Use> mark(const std::shared_ptr<const Stream>& stream);
  /// An event behind what the stream was given; null: it takes none now.
  std::shared_ptr<const Event> record(const Stream& stream);
  /// Marks what could not be marked when the block came back. False: a capture is not over.
  bool mark_late(Block& block);
  void keep(std::unique_ptr<Block> block);

  std::shared_ptr<const Context> context_;
  std::shared_ptr<EventPool> event_pool_;
  MemoryKind kind_;
  int64_t limit_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> idle_;  ///< oldest first
  std::weak_ptr<FreedMemory> freed_;
  BackgroundFree background_;  ///< of pinned memory
  int64_t total_bytes_ = 0, idle_bytes_ = 0, peak_bytes_ = 0, peak_used_ = 0;
};

}  // namespace galatea::runtime::cuda
