#include "runtime/buffer_pool.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "runtime/arena.h"

namespace galatea::runtime {

struct BufferPool::State {
  std::mutex mutex;
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

  void give_back(std::shared_ptr<Buffer> memory) {
    std::shared_ptr<Buffer> evicted;
    std::lock_guard lock(mutex);
    live_bytes -= memory->size();
    if (closed) {
      evicted = std::move(memory);
      return;
    }
    int64_t capacity = memory->size();
    free.emplace(capacity, std::pair{++clock, std::move(memory)});
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

Result<std::shared_ptr<Buffer>> BufferPool::acquire(int64_t bytes) {
  if (auto buffer = recycle(bytes)) return buffer;
  const int64_t capacity = round_up_capacity(bytes);
  auto fresh = allocator_.allocate(capacity);
  // What lies idle must not stand in the way of what is needed.
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
