#include "runtime/buffer_pool.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/arena.h"
#include "runtime/free_ranges.h"
#include "runtime/huge_page.h"

namespace galatea::runtime {

namespace {

/// Buffers of such sizes are cut from slabs.
constexpr int64_t kSliceFrom = 64 << 10, kSliceTo = 2 * kHugePage;
constexpr int64_t kSmallestSlab = 2 * kHugePage, kLargestSlab = 4 * kHugePage;

/// Huge pages for buffers that are smaller than those: what varies in size is a buffer a sample.
class Slab {
 public:
  explicit Slab(std::shared_ptr<Buffer> memory) : memory_(std::move(memory)), free_(size()) {}
  int64_t size() const { return memory_->size() + kBufferPadding; }
  uint8_t* cut(int64_t bytes) {
    std::lock_guard lock(mutex_);
    const int64_t begin = free_.cut(bytes);
    return begin < 0 ? nullptr : memory_->data() + begin;
  }
  void give_back(uint8_t* data, int64_t bytes) {
    std::lock_guard lock(mutex_);
    free_.give_back(data - memory_->data(), bytes);
  }

 private:
  std::mutex mutex_;  ///< slices end on any thread, also when the pool is gone
  std::shared_ptr<Buffer> memory_;
  FreeRanges free_;
};

/// A part of a slab, which lives as long as one of its slices.
class Slice final : public Buffer {
 public:
  static int64_t taken(int64_t capacity) {
    return (capacity + kBufferPadding + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  }
  Slice(std::shared_ptr<Slab> slab, uint8_t* data, int64_t capacity) : slab_(std::move(slab)) {
    data_ = data;
    size_ = capacity;
  }
  ~Slice() override { slab_->give_back(data_, taken(size_)); }
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;

 private:
  std::shared_ptr<Slab> slab_;
};

}  // namespace

struct BufferPool::State {
  std::mutex mutex;
  std::vector<std::weak_ptr<Slab>> slabs;
  std::multimap<int64_t, std::pair<uint64_t, std::shared_ptr<Buffer>>>
      free;  ///< capacity → (when it came back, memory)
  int64_t free_bytes = 0, live_bytes = 0, peak_live_bytes = 0, num_recycled = 0;
  uint64_t clock = 0;
  bool closed = false;

  /// The mutex is held.
  void count_live(int64_t capacity) {
    live_bytes += capacity;
    peak_live_bytes = std::max(peak_live_bytes, live_bytes);
  }
  /// Null where no slab has room. The mutex is held.
  std::shared_ptr<Buffer> slice(int64_t capacity) {
    std::erase_if(slabs, [](const std::weak_ptr<Slab>& slab) { return slab.expired(); });
    for (const std::weak_ptr<Slab>& one : slabs) {
      std::shared_ptr<Slab> slab = one.lock();
      uint8_t* data = slab ? slab->cut(Slice::taken(capacity)) : nullptr;
      if (data) return std::make_shared<Slice>(std::move(slab), data, capacity);
    }
    return nullptr;
  }
  /// The mutex is held. The memory that is to be freed goes to `out`, so that freeing happens without the
  /// lock.
  void evict_oldest(std::shared_ptr<Buffer>& out) {
    auto oldest = std::min_element(free.begin(), free.end(), [](const auto& a, const auto& b) {
      return a.second.first < b.second.first;
    });
    free_bytes -= oldest->first;
    out = std::move(oldest->second.second);
    free.erase(oldest);
  }

  /// Destructors call it.
  void give_back(std::shared_ptr<Buffer> memory) noexcept {
    std::shared_ptr<Buffer> evicted;
    std::lock_guard lock(mutex);
    live_bytes -= memory->size();
    if (closed) {
      evicted = std::move(memory);
      return;
    }
    int64_t capacity = memory->size();
    try {
      free.emplace(capacity, std::pair{++clock, std::move(memory)});
    } catch (const std::bad_alloc&) {  // no memory for its place among the free ones: it is gone
      return;
    }
    free_bytes += capacity;
    while (free_bytes > peak_live_bytes) evict_oldest(evicted);
  }
};

/// What the consumer holds; its end brings the memory back.
class PooledBuffer final : public Buffer {
 public:
  PooledBuffer(std::shared_ptr<Buffer> memory, int64_t size, std::shared_ptr<BufferPool::State> state)
      : memory_(std::move(memory)), state_(std::move(state)) {
    data_ = memory_->data();
    size_ = size;
  }
  ~PooledBuffer() override { state_->give_back(std::move(memory_)); }
  PooledBuffer(const PooledBuffer&) = delete;
  PooledBuffer& operator=(const PooledBuffer&) = delete;

 private:
  std::shared_ptr<Buffer> memory_;
  std::shared_ptr<BufferPool::State> state_;
};

BufferPool::BufferPool(Allocator& allocator) : allocator_(allocator), state_(std::make_shared<State>()) {}

BufferPool::~BufferPool() {
  decltype(state_->free) leftover;
  std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->free_bytes = 0;
  leftover.swap(state_->free);
}

std::shared_ptr<Buffer> BufferPool::recycle(int64_t bytes) {
  std::shared_ptr<Buffer> memory;
  {
    std::lock_guard lock(state_->mutex);
    auto fit = state_->free.lower_bound(bytes);
    // Where memory is limited, a buffer was asked for by the size that it has.
    const int64_t largest = allocator_.limit() > 0 ? round_up_capacity(bytes) : 2 * bytes + 4096;
    if (fit == state_->free.end() || fit->first > largest) return nullptr;
    // Of those, the one that came back last: fewer go round, so that more of them are still in the cache.
    fit = std::prev(state_->free.upper_bound(fit->first));
    memory = std::move(fit->second.second);
    state_->free_bytes -= fit->first;
    state_->free.erase(fit);
    ++state_->num_recycled;
    state_->count_live(memory->size());
  }
  return std::make_shared<PooledBuffer>(std::move(memory), bytes, state_);
}

void BufferPool::prepare(int64_t bytes) {
  const int64_t capacity = round_up_capacity(bytes);
  {
    std::lock_guard lock(state_->mutex);
    if (state_->free.lower_bound(bytes) != state_->free.end() ||
        state_->free_bytes + capacity > state_->peak_live_bytes)
      return;
  }
  auto fresh = allocator_.allocate(capacity);
  if (!fresh) return;  // who needs it will say so
  std::shared_ptr<Buffer> memory = std::move(*fresh);
  for (int64_t page = 0; page < capacity; page += 4096) memory->data()[page] = 0;
  std::lock_guard lock(state_->mutex);
  state_->free.emplace(capacity, std::pair{++state_->clock, std::move(memory)});
  state_->free_bytes += capacity;
}

bool BufferPool::drop_free() {
  decltype(state_->free) dropped;
  std::lock_guard lock(state_->mutex);
  dropped.swap(state_->free);
  state_->free_bytes = 0;
  return !dropped.empty();
}

/// Null where it is not to be, or cannot be, cut from a slab. Few buffers do not make one worth it; where
/// memory is limited, a buffer takes what was claimed.
std::shared_ptr<Buffer> BufferPool::cut_from_slab(int64_t capacity) {
  if (allocator_.limit() > 0 || capacity < kSliceFrom || capacity >= kSliceTo) return nullptr;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->live_bytes < kHugePage) return nullptr;
    if (auto slice = state_->slice(capacity)) return slice;
  }
  const int64_t several = (8 * capacity + kHugePage - 1) / kHugePage * kHugePage;
  auto memory = allocator_.allocate(std::clamp(several, kSmallestSlab, kLargestSlab) - kBufferPadding);
  if (!memory) return nullptr;
  auto slab = std::make_shared<Slab>(std::move(*memory));
  std::lock_guard lock(state_->mutex);
  state_->slabs.push_back(slab);
  return state_->slice(capacity);
}

Result<std::shared_ptr<Buffer>> BufferPool::fresh(int64_t capacity) {
  if (auto slice = cut_from_slab(capacity)) return slice;
  return allocator_.allocate(capacity);
}

Result<std::shared_ptr<Buffer>> BufferPool::acquire(int64_t bytes) {
  if (auto buffer = recycle(bytes)) return buffer;
  const int64_t capacity = round_up_capacity(bytes);
  auto fresh = this->fresh(capacity);
  // Idle buffers must not stand in the way of those that are needed.
  if (!fresh) {
    drop_free();
    fresh = allocator_.allocate(capacity);
  }
  if (!fresh) return std::unexpected(std::move(fresh.error()));
  std::shared_ptr<Buffer> memory = std::move(*fresh);
  {
    std::lock_guard lock(state_->mutex);
    state_->count_live(capacity);
  }
  return std::make_shared<PooledBuffer>(std::move(memory), bytes, state_);
}

int64_t BufferPool::free_bytes() const {
  std::lock_guard lock(state_->mutex);
  return state_->free_bytes;
}

int64_t BufferPool::bytes_in_use() const {
  std::lock_guard lock(state_->mutex);
  return state_->live_bytes;
}

int64_t BufferPool::num_recycled() const {
  std::lock_guard lock(state_->mutex);
  return state_->num_recycled;
}

}  // namespace galatea::runtime
