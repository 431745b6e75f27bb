#include "runtime/cuda/staging.h"

#include <algorithm>

#include "runtime/device_record.h"
#include "runtime/messages.h"

namespace galatea::runtime::cuda {

Result<Staging::Place> Staging::take(int64_t bytes) {
  const int64_t room = device_bytes(bytes);
  std::lock_guard lock(mutex_);
  if (is_sealed_ || chunks_.back().used + room > chunks_.back().capacity) {
    if (chunks_.size() >= static_cast<size_t>(virtual_memory::kEnd - virtual_memory::kFirstChunk))
      return make_error(message::kBadOptions,
                        "the samples of one batch need too many pieces of memory; lower the batch size");
    Chunk chunk;
    chunk.capacity = std::max(chunk_bytes_, room);
    GALATEA_ASSIGN(chunk.host, pinned_->acquire(chunk.capacity, stream_));
    chunks_.push_back(std::move(chunk));
    is_sealed_ = false;
    // A batch that needs many chunks needs large ones.
    constexpr int64_t kLargest = int64_t{64} << 20;
    chunk_bytes_ = std::min(2 * chunk_bytes_, kLargest);
  }
  Chunk& chunk = chunks_.back();
  const Place out{chunks_.size() - 1, chunk.used, chunk.host.host() + chunk.used};
  chunk.used += room;
  return out;
}

void Staging::seal() {
  std::lock_guard lock(mutex_);
  is_sealed_ = true;
}

int64_t Staging::total_bytes() const {
  std::lock_guard lock(mutex_);
  int64_t out = 0;
  for (const Chunk& chunk : chunks_) out += chunk.used;
  return out;
}

DevicePointer Staging::device(size_t chunk) const {
  std::lock_guard lock(mutex_);
  return chunks_[chunk].device;
}

}  // namespace galatea::runtime::cuda
