#include "stdlib_ops/native/far/block_memory.h"

namespace galatea::native::far {

SharedBlock BlockMemory::use(const Key& key) {
  const auto at = blocks_.find(key);
  if (at == blocks_.end() || !at->second.bytes) return nullptr;
  Block& block = at->second;
  used_.splice(used_.begin(), used_, block.use);
  if (block.is_ahead) ahead_bytes_ -= block.size;
  block.is_ahead = false;
  return block.bytes;
}

void BlockMemory::claim(const Key& key, int64_t size, bool is_ahead) {
  const bool is_new = blocks_.try_emplace(key, Block{.size = size, .is_ahead = is_ahead}).second;
  if (is_new && is_ahead) ahead_bytes_ += size;
}

void BlockMemory::put(const Key& key, SharedBlock bytes, bool is_ahead) {
  claim(key, static_cast<int64_t>(bytes->size()), is_ahead);
  Block& block = blocks_.at(key);
  if (!block.bytes) {
    used_.push_front(key);
    block.use = used_.begin();
    held_bytes_ += block.size;
    block.bytes = std::move(bytes);
  }
  while (held_bytes_ > limit_ && !used_.empty()) drop(Key(used_.back()));
}

void BlockMemory::drop(const Key& key) {
  const auto at = blocks_.find(key);
  if (at == blocks_.end()) return;
  const Block& block = at->second;
  if (block.is_ahead) ahead_bytes_ -= block.size;
  if (block.bytes) {
    held_bytes_ -= block.size;
    used_.erase(block.use);
  }
  blocks_.erase(at);
}

}  // namespace galatea::native::far
