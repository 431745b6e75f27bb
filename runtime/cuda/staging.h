// Pinned memory that many threads fill side by side, and that is copied in few large pieces.
//
// Comes in: sizes. Goes out: places in chunks, each for one thread to fill. Thread-safe but for chunks().
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "runtime/cuda/memory_pool.h"

namespace galatea::runtime::cuda {

class Staging {
 public:
  struct Chunk {
    MemoryBlock host;  ///< empty once its bytes are on their way and nobody fills it any more
    int64_t capacity = 0, used = 0;
    DevicePointer device = 0;  ///< where its bytes go
  };
  struct Place {
    size_t chunk = 0;
    int64_t offset = 0;
    uint8_t* host = nullptr;
  };

  /// `stream` copies the chunks; the first one has `chunk_bytes`, if need be more.
  Staging(std::shared_ptr<MemoryPool> pinned, std::shared_ptr<const Stream> stream, int64_t chunk_bytes)
      : pinned_(std::move(pinned)), stream_(std::move(stream)), chunk_bytes_(chunk_bytes) {}

  /// Room for `bytes` and kBufferPadding, aligned for a device.
  Result<Place> take(int64_t bytes);
  /// What is taken from now on is in new chunks.
  void seal();
  int64_t total_bytes() const;
  /// A chunk's address on the device, once it is known.
  DevicePointer device(size_t chunk) const;

  // Only while nobody takes.
  std::deque<Chunk>& chunks() { return chunks_; }

 private:
  std::shared_ptr<MemoryPool> pinned_;
  std::shared_ptr<const Stream> stream_;
  int64_t chunk_bytes_;
  mutable std::mutex mutex_;
  std::deque<Chunk> chunks_;
  bool is_sealed_ = true;
};

}  // namespace galatea::runtime::cuda
