// Copies of tensors, row-major and without gaps.
//
// Comes in: a tensor of any strides. Goes out: its elements in order. Runs that lie together are copied as
// runs; where the result is large and nobody reads it soon, line by line past the cache.
#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "runtime/copy_dense.h"

namespace galatea::runtime {

namespace {

#if defined(__SSE2__)
/// Appends runs to memory, whole lines past the cache. A line that two runs share waits for the second one.
class LineWriter {
 public:
  explicit LineWriter(uint8_t* to) : to_(to) {}
  ~LineWriter() {
    if (filled_ > 0) std::memcpy(to_, line_, filled_);
    _mm_sfence();
  }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  void append(const uint8_t* from, size_t bytes) {
    // Up to the first whole line of the destination, plainly.
    const size_t before = -reinterpret_cast<uintptr_t>(to_) % kLine;
    if (filled_ == 0 && before > 0) {
      const size_t count = std::min(before, bytes);
      std::memcpy(to_, from, count);
      to_ += count, from += count, bytes -= count;
    }
    if (filled_ > 0) {
      const size_t count = std::min(kLine - filled_, bytes);
      std::memcpy(line_ + filled_, from, count);
      filled_ += count, from += count, bytes -= count;
      if (filled_ < kLine) return;
      store_line(line_);
      filled_ = 0;
    }
    for (; bytes >= kLine; from += kLine, bytes -= kLine) store_line(from);
    if (bytes == 0) return;
    std::memcpy(line_, from, bytes);
    filled_ = bytes;
  }

 private:
  static constexpr size_t kLine = 64;

  void store_line(const uint8_t* from) {
    __m128i parts[4];
    std::memcpy(parts, from, kLine);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to_) + i, parts[i]);
    to_ += kLine;
  }

  uint8_t* to_;
  size_t filled_ = 0;
  alignas(16) uint8_t line_[kLine];
};
#endif

/// Appends runs to memory, to be read soon.
class PlainWriter {
 public:
  explicit PlainWriter(uint8_t* to) : to_(to) {}
  void append(const uint8_t* from, size_t bytes) {
    std::memcpy(to_, from, bytes);
    to_ += bytes;
  }

 private:
  uint8_t* to_;
};

/// Calls visit(row) for each index of the first `outer` axes, in order: the address of its first element.
template <typename F>
void for_each_row(const Tensor& from, int outer, const F& visit) {
  const int size = size_of(from.dtype);
  int64_t index[kMaxRank] = {};
  for (;;) {
    int64_t offset = 0;
    for (int i = 0; i < outer; ++i) offset += index[i] * from.strides[i];
    visit(from.data + offset * size);
    int axis = outer - 1;
    while (axis >= 0 && ++index[axis] == from.extents[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

/// Single elements, `stride` apart.
template <typename T>
void copy_elements(const uint8_t* from, int64_t stride, int64_t count, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), from + i * stride * static_cast<int64_t>(sizeof(T)),
                sizeof(T));
  }
}

void copy_strided_row(int size, const uint8_t* from, int64_t stride, int64_t count, uint8_t* to) {
  switch (size) {
    case 1:
      return copy_elements<uint8_t>(from, stride, count, to);
    case 2:
      return copy_elements<uint16_t>(from, stride, count, to);
    case 4:
      return copy_elements<uint32_t>(from, stride, count, to);
    default:
      return copy_elements<uint64_t>(from, stride, count, to);
  }
}

/// Runs go to the writer; what has none goes to where the writer begins.
template <typename Writer>
void copy(const Tensor& from, uint8_t* to, Writer& writer) {
  if (from.volume() == 0) return;
  const int size = size_of(from.dtype);
  // `inner`: first axis of the dense tail, which is one run.
  int inner = from.ndim;
  int64_t run = 1;
  while (inner > 0 && (from.extents[inner - 1] == 1 || from.strides[inner - 1] == run))
    run *= from.extents[--inner];
  if (run > 1 || inner == 0) {
    for_each_row(from, inner,
                 [&](const uint8_t* row) { writer.append(row, static_cast<size_t>(run * size)); });
    return;
  }
  const int64_t stride = from.strides[inner - 1], count = from.extents[inner - 1];
  for_each_row(from, inner - 1, [&](const uint8_t* row) {
    copy_strided_row(size, row, stride, count, to);
    to += count * size;
  });
}

}  // namespace

void copy_dense(const Tensor& from, uint8_t* to) {
  PlainWriter writer(to);
  copy(from, to, writer);
}

void copy_past_cache(const Tensor& from, uint8_t* to) {
#if defined(__SSE2__)
  LineWriter writer(to);
  copy(from, to, writer);
#else
  copy_dense(from, to);
#endif
}

}  // namespace galatea::runtime
