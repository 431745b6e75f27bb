// Recycling behind memory_pool.h. Nothing that may wait for the device is called under the lock.
#include "runtime/cuda/memory_pool.h"

#include <algorithm>
#include <utility>

#include "runtime/arena.h"
#include "runtime/kernel_abi.h"
#include "runtime/messages.h"

namespace galatea::runtime::cuda {

// ---- one block

MemoryBlock::MemoryBlock(std::shared_ptr<MemoryPool> pool, std::unique_ptr<Block> block,
                         std::shared_ptr<const Stream> stream)
    : pool_(std::move(pool)), block_(std::move(block)) {
  streams_.push_back(std::move(stream));
}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  pool_ = std::move(other.pool_);
  block_ = std::move(other.block_);
  streams_ = std::move(other.streams_);
  return *this;
}

MemoryBlock::~MemoryBlock() { give_back(); }

void MemoryBlock::give_back() {
  if (block_) {
    try {
      for (const auto& stream : streams_)
        if (auto use = pool_->mark(stream)) block_->uses.push_back(std::move(*use));
      pool_->keep(std::move(block_));
    } catch (const std::bad_alloc&) {  // nobody would know when it may be used again: it stays taken
      block_.reset();
    }
  }
  streams_.clear();
}

void MemoryBlock::also_used_by(std::shared_ptr<const Stream> stream) {
  if (std::none_of(streams_.begin(), streams_.end(),
                   [&](const auto& known) { return known->handle() == stream->handle(); }))
    streams_.push_back(std::move(stream));
}

// ---- the pool

std::shared_ptr<MemoryPool> MemoryPool::make(std::shared_ptr<const Context> context, MemoryKind kind,
                                             int64_t limit_bytes) {
  return std::shared_ptr<MemoryPool>(new MemoryPool(std::move(context), kind, limit_bytes));
}

MemoryPool::~MemoryPool() { drop_idle(); }

Result<MemoryBlock> MemoryPool::acquire(int64_t bytes, std::shared_ptr<const Stream> stream) {
  const int64_t capacity = round_up_capacity(std::max<int64_t>(bytes, 1) + kBufferPadding);
  const bool is_pinned = kind_ == MemoryKind::kPinned;
  std::unique_ptr<Block> block = recycle(capacity, is_pinned);
  if (block && is_pinned) {
    block->uses.clear();  // they are done
  } else if (!block && is_pinned && !has_room(capacity)) {
    // At the limit, waiting for a copy is quicker than giving memory back and taking other.
    block = recycle(capacity, false);
  }
  if (!block) {
    if (is_pinned) note_use(capacity);
    GALATEA_ASSIGN(block, grow(capacity));
    if (is_pinned) trim();
  }
  if (auto settled = settle_uses(*block, *stream); !settled) {
    keep(std::move(block));
    return std::unexpected(std::move(settled.error()));
  }
  return MemoryBlock(shared_from_this(), std::move(block), std::move(stream));
}

Result<MemoryBlock> MemoryPool::acquire_unused(int64_t bytes, std::shared_ptr<const Stream> stream) {
  const int64_t capacity = round_up_capacity(std::max<int64_t>(bytes, 1) + kBufferPadding);
  std::unique_ptr<Block> block = recycle(capacity, true);
  if (!block) {
    GALATEA_ASSIGN(block, grow(capacity));
  }
  block->uses.clear();  // they are done
  return MemoryBlock(shared_from_this(), std::move(block), std::move(stream));
}

bool MemoryPool::would_do(const Block& block, int64_t bytes) const {
  // Under a limit nobody gets more than asked for: what a batch needs must not depend on what was idle.
  const int64_t most = limit_ > 0 ? bytes : 2 * bytes + 4096;
  return bytes <= block.size && block.size <= most;
}

std::unique_ptr<MemoryPool::Block> MemoryPool::recycle(int64_t bytes, bool done_only) {
  std::lock_guard lock(mutex_);
  auto best = idle_.end();
  for (auto at = idle_.begin(); at != idle_.end(); ++at) {
    const int64_t size = (*at)->size;
    if (!would_do(**at, bytes) || !mark_late(**at)) continue;
    if (best != idle_.end() && size >= (*best)->size) continue;
    if (!done_only || is_done(**at)) best = at;
  }
  if (best == idle_.end()) return nullptr;
  std::unique_ptr<Block> out = std::move(*best);
  idle_.erase(best);
  idle_bytes_ -= out->size;
  peak_used_ = std::max(peak_used_, total_bytes_ - idle_bytes_);
  return out;
}

bool MemoryPool::is_done(const Block& block) {
  return std::all_of(block.uses.begin(), block.uses.end(), [](const Use& use) {
    if (!use.event) return false;
    const auto done = use.event->is_done();
    return done && *done;
  });
}

bool MemoryPool::has_room(int64_t bytes) const {
  std::lock_guard lock(mutex_);
  return limit_ == 0 || total_bytes_ + bytes <= limit_;
}

Result<std::unique_ptr<MemoryPool::Block>> MemoryPool::grow(int64_t bytes) {
  auto block = std::make_unique<Block>();
  block->size = bytes;
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (limit_ == 0 || total_bytes_ + bytes <= limit_) {
        total_bytes_ += bytes;  // promised, before it is there
        break;
      }
    }
    if (drop_oldest()) continue;
    return make_error(message::kDeviceMemoryLimit, bytes, kind_ == MemoryKind::kPinned ? "pinned" : "device",
                      limit_, bytes_in_use());
  }
  Code result = allocate(*block);
  if (result == code::kOutOfMemory) {
    drop_idle();
    result = allocate(*block);
  }
  std::lock_guard lock(mutex_);
  if (result == code::kSuccess) {
    peak_bytes_ = std::max(peak_bytes_, total_bytes_);
    return block;
  }
  total_bytes_ -= bytes;
  if (result != code::kOutOfMemory)
    return context_->failure(result, kind_ == MemoryKind::kPinned ? context_->api().allocate_pinned.name
                                                                  : context_->api().allocate.name);
  if (kind_ == MemoryKind::kPinned) return make_error(message::kOutOfMemory, fmt::format("{} pinned", bytes));
  size_t free_now = 0, all = 0;
  context_->call_raw(context_->api().memory_info, &free_now, &all);
  return make_error(message::kDeviceOutOfMemory, context_->device().describe(), bytes, free_now,
                    total_bytes_);
}

void MemoryPool::note_use(int64_t bytes) {
  std::lock_guard lock(mutex_);
  int64_t used = total_bytes_ + bytes;
  for (const auto& block : idle_)
    if (!would_do(*block, bytes) && is_done(*block)) used -= block->size;
  peak_used_ = std::max(peak_used_, used);
}

/// Waits for nothing: what is still being copied stays, and the driver, which may wait for the whole device
/// to take back pinned memory, is called by another thread.
void MemoryPool::trim() {
  for (;;) {
    std::unique_ptr<Block> oldest;
    {
      std::lock_guard lock(mutex_);
      if (idle_bytes_ <= peak_used_ || !is_done(*idle_.front())) return;
      oldest = std::move(idle_.front());
      idle_.erase(idle_.begin());
      idle_bytes_ -= oldest->size;
      total_bytes_ -= oldest->size;
    }
    note_freed(*oldest);
    background_.enqueue(
        [context = context_, host = oldest->host] { context->release(context->api().free_pinned, host); });
  }
}

Code MemoryPool::allocate(Block& block) {
  const auto bytes = static_cast<size_t>(block.size);
  if (kind_ == MemoryKind::kDevice) return context_->call_raw(context_->api().allocate, &block.device, bytes);
  void* host = nullptr;
  const Code result = context_->call_raw(context_->api().allocate_pinned, &host, bytes, kHostAllocPortable);
  block.host = static_cast<uint8_t*>(host);
  return result;
}

void MemoryPool::free(std::unique_ptr<Block> block) {
  // A device that is lost answers with an error, and is done with the block as well.
  // What a captured stream was given before is waited for by the driver itself.
  mark_late(*block);
  for (const Use& use : block->uses)
    if (use.event) (void)use.event->synchronize();
  note_freed(*block);
  if (kind_ == MemoryKind::kDevice)
    context_->release(context_->api().free, block->device);
  else
    context_->release(context_->api().free_pinned, block->host);
  std::lock_guard lock(mutex_);
  total_bytes_ -= block->size;
}

void MemoryPool::note_freed(const Block& block) {
  std::shared_ptr<FreedMemory> freed;
  {
    std::lock_guard lock(mutex_);
    freed = freed_.lock();
  }
  if (freed)
    freed->note({kind_ == MemoryKind::kDevice ? block.device : reinterpret_cast<uintptr_t>(block.host),
                 static_cast<uint64_t>(block.size)});
}

bool MemoryPool::drop_oldest() {
  std::unique_ptr<Block> oldest;
  {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return false;
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
    idle_bytes_ -= oldest->size;
  }
  free(std::move(oldest));
  return true;
}

void MemoryPool::drop_idle() {
  while (drop_oldest()) {
  }
}

Status MemoryPool::settle_uses(Block& block, const Stream& stream) {
  for (const Use& use : block.uses) {
    if (kind_ == MemoryKind::kPinned) {
      GALATEA_ASSIGN(const bool done, use.event->is_done());
      if (!done) GALATEA_TRY(use.event->synchronize());
    } else if (use.stream.get() != &stream) {
      GALATEA_TRY(stream.wait_for(*use.event));
    }
  }
  block.uses.clear();
  return {};
}

std::optional<MemoryPool::Use> MemoryPool::mark(const std::shared_ptr<const Stream>& stream) {
  if (stream->is_capturing()) return Use{stream, nullptr};
  if (auto event = record(*stream)) return Use{stream, std::move(event)};
  (void)stream->synchronize();
  return std::nullopt;
}

std::shared_ptr<const Event> MemoryPool::record(const Stream& stream) {
  auto event = event_pool_->take();
  if (!event || !(*event)->record(stream)) return nullptr;
  return std::move(*event);
}

bool MemoryPool::mark_late(Block& block) {
  return std::ranges::all_of(block.uses, [&](Use& use) {
    if (!use.event && !use.stream->is_capturing()) use.event = record(*use.stream);
    return use.event != nullptr;
  });
}

void MemoryPool::keep(std::unique_ptr<Block> block) {
  std::lock_guard lock(mutex_);
  idle_bytes_ += block->size;
  idle_.push_back(std::move(block));
}

void MemoryPool::give_back(std::vector<MemoryBlock> blocks) {
  std::vector<std::pair<const Stream*, std::optional<Use>>> marks;
  for (MemoryBlock& block : blocks) {
    if (!block) continue;
    for (const auto& stream : block.streams_) {
      auto found = std::ranges::find(marks, stream.get(), &decltype(marks)::value_type::first);
      if (found == marks.end()) found = marks.emplace(found, stream.get(), block.pool_->mark(stream));
      if (found->second) block.block_->uses.push_back(*found->second);
    }
    block.pool_->keep(std::move(block.block_));
    block.streams_.clear();
  }
}

void MemoryPool::tell(std::weak_ptr<FreedMemory> freed) {
  std::lock_guard lock(mutex_);
  freed_ = std::move(freed);
}

int64_t MemoryPool::bytes_in_use() const {
  std::lock_guard lock(mutex_);
  return total_bytes_ - idle_bytes_;
}

int64_t MemoryPool::idle_bytes() const {
  std::lock_guard lock(mutex_);
  return idle_bytes_;
}

int64_t MemoryPool::peak_bytes() const {
  std::lock_guard lock(mutex_);
  return peak_bytes_;
}

}  // namespace galatea::runtime::cuda
