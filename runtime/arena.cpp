#include "runtime/arena.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/messages.h"

namespace galatea::runtime {

int64_t round_up_capacity(int64_t bytes) {
  if (bytes <= 512) return (bytes + 63) / 64 * 64;
  int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes))) / 8;
  return (bytes + step - 1) / step * step;
}

Arena::~Arena() {
  if (!gate_) return;
  const int64_t kept = retained_bytes_;
  blocks_.clear();
  awake_ ? gate_->release(budget_) : gate_->idle_shrank(kept);
}

/// The largest block that a need of so many bytes may take: one twice too large is better kept for a larger
/// need, among those that a near cache holds any will do; a budget knows nothing of larger blocks.
int64_t Arena::largest_for(int64_t bytes) const {
  constexpr int64_t kSmall = 16 << 10, kCached = 1 << 20;
  if (gate_) return round_up_capacity(bytes);
  return std::max(2 * bytes + 4096, bytes >= kSmall ? kCached : 0);
}

/// The block that was used last, of those that fit: its memory is in the nearest cache.
int32_t Arena::find_free(int64_t bytes) const {
  int32_t best = -1;
  const int64_t largest = largest_for(bytes);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    if (!block.buffer || block.references > 0) continue;
    const int64_t size = block.buffer->size();
    if (size < bytes || size > largest) continue;
    if (best < 0 || block.last_use > blocks_[static_cast<size_t>(best)].last_use)
      best = static_cast<int32_t>(i);
  }
  return best;
}

void Arena::drop(Block& block) {
  retained_bytes_ -= cost(block);
  block.buffer.reset();
}

void Arena::drop_free_blocks() {
  for (Block& block : blocks_) {
    if (block.buffer && block.references == 0) drop(block);
  }
}

Status Arena::stay_within_budget(int64_t bytes) {
  lacking_ = 0;
  if (!gate_ || retained_bytes_ + bytes <= budget_) return {};
  drop_free_blocks();
  const int64_t missing = retained_bytes_ + bytes - budget_;
  if (missing <= 0) return {};
  if (budget_ + missing > limit_)
    return make_error(message::kMemoryLimit, budget_ + missing, gate_->limit(), limit_);
  if (!gate_->try_claim(missing)) {
    lacking_ = missing;
    return make_error(message::kNoRoom, missing, gate_->limit(), gate_->limit() - gate_->bytes_free());
  }
  budget_ += missing;
  return {};
}

Result<int32_t> Arena::grow(int64_t bytes) {
  const int64_t capacity = round_up_capacity(bytes);
  GALATEA_TRY(stay_within_budget(capacity + kBufferPadding));
  auto buffer = allocator_.allocate(capacity, gate_ != nullptr);
  if (!buffer) {
    drop_free_blocks();
    buffer = allocator_.allocate(capacity, gate_ != nullptr);
  }
  if (!buffer) return std::unexpected(std::move(buffer.error()));
  auto unused =
      std::find_if(blocks_.begin(), blocks_.end(), [](const Block& block) { return !block.buffer; });
  if (unused == blocks_.end()) unused = blocks_.emplace(blocks_.end());
  unused->buffer = std::move(*buffer);
  retained_bytes_ += cost(*unused);
  return static_cast<int32_t>(unused - blocks_.begin());
}

Result<int32_t> Arena::acquire(int64_t bytes) {
  int32_t id = find_free(bytes);
  if (id < 0) {
    GALATEA_ASSIGN(id, grow(bytes));
  }
  Block& block = blocks_[static_cast<size_t>(id)];
  block.references = 1;
  block.last_use = ++clock_;
  live_bytes_ += cost(block);
  peak_live_bytes_ = std::max(peak_live_bytes_, live_bytes_);
  return id;
}

void Arena::retain(int32_t block) {
  if (block >= 0) ++blocks_[static_cast<size_t>(block)].references;
}

void Arena::release(int32_t id) {
  if (id < 0) return;
  Block& block = blocks_[static_cast<size_t>(id)];
  GALATEA_CHECK(block.references > 0);
  if (--block.references == 0) live_bytes_ -= cost(block);
}

void Arena::reset() {
  for (Block& block : blocks_) block.references = 0;
  live_bytes_ = 0;
  while (retained_bytes_ > 2 * peak_live_bytes_) {
    Block* oldest = nullptr;
    for (Block& block : blocks_) {
      if (block.buffer && (!oldest || block.last_use < oldest->last_use)) oldest = &block;
    }
    if (!oldest) return;
    drop(*oldest);
  }
}

void Arena::wake(int64_t limit) {
  awake_ = true;
  limit_ = limit;
  lacking_ = 0;
  budget_ = retained_bytes_;
  gate_->wake(budget_);
}

void Arena::sleep() {
  if (!awake_) return;
  awake_ = false;
  gate_->rest(std::exchange(budget_, 0), retained_bytes_);
}

void Arena::shrink_idle() {
  const int64_t before = retained_bytes_;
  drop_free_blocks();
  gate_->idle_shrank(before - retained_bytes_);
}

}  // namespace galatea::runtime
