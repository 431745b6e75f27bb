#include "runtime/arena.h"

#include <algorithm>
#include <bit>

namespace galatea::runtime {

int64_t round_up_capacity(int64_t bytes) {
  if (bytes <= 512) return (bytes + 63) / 64 * 64;
  int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes))) / 8;
  return (bytes + step - 1) / step * step;
}

int32_t Arena::find_free(int64_t bytes) const {
  int32_t best = -1;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    if (!block.buffer || block.references > 0) continue;
    int64_t size = block.buffer->size();
    // A block twice too large is better kept for a larger need.
    if (size < bytes || size > 2 * bytes + 4096) continue;
    if (best < 0 || size < blocks_[static_cast<size_t>(best)].buffer->size()) best = static_cast<int32_t>(i);
  }
  return best;
}

void Arena::drop_free_blocks() {
  for (Block& block : blocks_) {
    if (!block.buffer || block.references > 0) continue;
    retained_bytes_ -= block.buffer->size();
    block.buffer.reset();
  }
}

Result<int32_t> Arena::grow(int64_t bytes) {
  int64_t capacity = round_up_capacity(bytes);
  auto buffer = allocator_.allocate(capacity);
  if (!buffer) {
    drop_free_blocks();
    buffer = allocator_.allocate(capacity);
  }
  if (!buffer) return std::unexpected(std::move(buffer.error()));
  retained_bytes_ += capacity;
  auto unused =
      std::find_if(blocks_.begin(), blocks_.end(), [](const Block& block) { return !block.buffer; });
  if (unused == blocks_.end()) unused = blocks_.emplace(blocks_.end());
  unused->buffer = std::move(*buffer);
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
  live_bytes_ += block.buffer->size();
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
  if (--block.references == 0) live_bytes_ -= block.buffer->size();
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
    retained_bytes_ -= oldest->buffer->size();
    oldest->buffer.reset();
  }
}

}  // namespace galatea::runtime
