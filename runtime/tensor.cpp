#include "runtime/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "runtime/huge_page.h"
#include "runtime/messages.h"

namespace galatea::runtime {

int64_t Tensor::volume() const {
  int64_t product = 1;
  for (int i = 0; i < ndim; ++i) product *= extents[i];
  return product;
}

bool Tensor::is_dense() const {
  int64_t expected = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    if (extents[i] != 1 && strides[i] != expected) return volume() == 0;
    expected *= extents[i];
  }
  return true;
}

void Tensor::set_dense(DType type, std::span<const int64_t> new_extents) {
  dtype = type;
  ndim = static_cast<int>(new_extents.size());
  int64_t stride = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    extents[i] = new_extents[static_cast<size_t>(i)];
    strides[i] = stride;
    stride *= extents[i];
  }
}

Result<int64_t> dense_bytes(DType dtype, std::span<const int64_t> extents) {
  auto refuse = [&](const char* why) {
    return make_error(message::kBadExtents, fmt::join(extents, ", "), why);
  };
  if (extents.size() > kMaxRank) return refuse("too many dimensions");
  bool empty = false;
  for (int64_t extent : extents) {
    if (extent < 0) return refuse("an extent is negative");
    empty = empty || extent == 0;
  }
  if (empty) return 0;
  int64_t bytes = size_of(dtype);
  for (int64_t extent : extents) {
    if (extent > kMostTensorBytes / bytes) return refuse("it is too large");
    bytes *= extent;
  }
  return bytes;
}

namespace {

/// From here on a buffer asks for huge pages: touching it costs a quarter, and reading it needs few
/// translations. Arenas, which know their size, ask from one page on.
bool wants_huge_pages(int64_t counted, bool in_arena) {
  return counted >= (in_arena ? kHugePage : 2 * kHugePage);
}

std::align_val_t alignment_of(int64_t counted, bool in_arena) {
  return std::align_val_t{
      static_cast<size_t>(wants_huge_pages(counted, in_arena) ? kHugePage : kBufferAlignment)};
}

/// Null where the system has none.
uint8_t* take_memory(int64_t counted, bool in_arena) {
  void* memory = ::operator new(static_cast<size_t>(counted), alignment_of(counted, in_arena), std::nothrow);
#if defined(MADV_HUGEPAGE)
  // Whole pages only: the end of a buffer shall not take 2 MB. It is a wish; a system without them says no.
  if (memory && wants_huge_pages(counted, in_arena))
    (void)::madvise(memory, static_cast<size_t>(counted / kHugePage * kHugePage), MADV_HUGEPAGE);
#endif
  return static_cast<uint8_t*>(memory);
}

}  // namespace

/// Memory from the operating system, given back and counted down with the last reference.
class OwnedBuffer final : public Buffer {
 public:
  using Counters = Allocator::Counters;
  OwnedBuffer(uint8_t* memory, int64_t size, int64_t counted, bool in_arena,
              std::shared_ptr<Counters> counters)
      : counted_(counted), in_arena_(in_arena), counters_(std::move(counters)) {
    data_ = memory;
    size_ = size;
  }
  ~OwnedBuffer() override {
    ::operator delete(data_, alignment_of(counted_, in_arena_));
    if (!in_arena_) counters_->outside_arenas.fetch_sub(counted_);
    counters_->in_use.fetch_sub(counted_);
  }
  OwnedBuffer(const OwnedBuffer&) = delete;
  OwnedBuffer& operator=(const OwnedBuffer&) = delete;

 private:
  int64_t counted_;
  bool in_arena_;
  std::shared_ptr<Counters> counters_;
};

Allocator::Allocator(int64_t limit_bytes) : limit_(limit_bytes), counters_(std::make_shared<Counters>()) {}

Result<std::shared_ptr<Buffer>> Allocator::allocate(int64_t bytes, bool in_arena) {
  GALATEA_CHECK(bytes >= 0);
  counters_->count.fetch_add(1);
  const int64_t fail_in = counters_->fail_in.fetch_sub(1);
  const bool injected = fail_in <= 1 && fail_in > 1 - counters_->fail_times.load();
  int64_t counted = bytes + kBufferPadding;
  int64_t in_use = counters_->in_use.fetch_add(counted) + counted;
  if (limit_ > 0 && in_use > limit_) {
    counters_->in_use.fetch_sub(counted);
    return make_error(message::kNoRoom, counted, limit_, in_use - counted);
  }
  uint8_t* data = injected ? nullptr : take_memory(counted, in_arena);
  if (!data) {
    counters_->in_use.fetch_sub(counted);
    return make_error(message::kOutOfMemory, counted);
  }
  int64_t peak = counters_->peak.load();
  while (in_use > peak && !counters_->peak.compare_exchange_weak(peak, in_use)) {
  }
  // Kernels may read the padding; it never reaches a result, but it shall be the same on every run.
  std::memset(data + bytes, 0, kBufferPadding);
  if (!in_arena) counters_->outside_arenas.fetch_add(counted);
  return std::make_shared<OwnedBuffer>(data, bytes, counted, in_arena, counters_);
}

Result<Tensor> allocate_tensor(Allocator& allocator, DType dtype, std::span<const int64_t> extents) {
  GALATEA_ASSIGN(int64_t bytes, dense_bytes(dtype, extents));
  Tensor tensor;
  GALATEA_ASSIGN(tensor.buffer, allocator.allocate(bytes));
  tensor.data = tensor.buffer->data();
  tensor.set_dense(dtype, extents);
  return tensor;
}

namespace {

/// Copies one row of `count` elements, `stride` elements apart.
template <typename T>
void copy_row(const uint8_t* from, int64_t stride, int64_t count, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), from + i * stride * static_cast<int64_t>(sizeof(T)),
                sizeof(T));
  }
}

void copy_strided_row(int size, const uint8_t* from, int64_t stride, int64_t count, uint8_t* to) {
  switch (size) {
    case 1:
      return copy_row<uint8_t>(from, stride, count, to);
    case 2:
      return copy_row<uint16_t>(from, stride, count, to);
    case 4:
      return copy_row<uint32_t>(from, stride, count, to);
    default:
      return copy_row<uint64_t>(from, stride, count, to);
  }
}

}  // namespace

void copy_dense(const Tensor& from, uint8_t* to) {
  int64_t volume = from.volume();
  if (volume == 0) return;
  const int size = size_of(from.dtype);
  if (from.is_dense()) {
    std::memcpy(to, from.data, static_cast<size_t>(volume * size));
    return;
  }
  // `inner`: first axis of the dense tail, which is copied as one run.
  int inner = from.ndim;
  int64_t run = 1;
  while (inner > 0 && (from.extents[inner - 1] == 1 || from.strides[inner - 1] == run))
    run *= from.extents[--inner];
  const int64_t row_stride = inner > 0 ? from.strides[inner - 1] : 0;
  const int64_t row_count = inner > 0 ? from.extents[inner - 1] : 1;
  const int outer = std::max(0, inner - 1);
  const int64_t run_bytes = run * size;
  int64_t index[kMaxRank] = {};
  for (;;) {
    int64_t offset = 0;
    for (int i = 0; i < outer; ++i) offset += index[i] * from.strides[i];
    const uint8_t* row = from.data + offset * size;
    if (run == 1) {
      copy_strided_row(size, row, row_stride, row_count, to);
    } else {
      for (int64_t i = 0; i < row_count; ++i)
        std::memcpy(to + i * run_bytes, row + i * row_stride * size, static_cast<size_t>(run_bytes));
    }
    to += row_count * run_bytes;
    int axis = outer - 1;
    while (axis >= 0 && ++index[axis] == from.extents[axis]) index[axis--] = 0;
    if (axis < 0) break;
  }
}

}  // namespace galatea::runtime
