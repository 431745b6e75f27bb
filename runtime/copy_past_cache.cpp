#include "runtime/copy_past_cache.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace galatea::runtime {

#if defined(__SSE2__)

namespace {

constexpr int64_t kLine = 64;            ///< bytes
constexpr int64_t kLongRun = 4 * kLine;  ///< from here on whole lines are most of a run
/// Bytes between what is copied and what is asked for, at least: processors follow a stream to the end of its
/// page and no further.
constexpr int64_t kAhead = 4096;

/// Asks for what is copied later; nobody minds where there is nothing.
void ask_for(const uint8_t* from, int64_t ahead) {
  _mm_prefetch(reinterpret_cast<const char*>(from) + ahead, _MM_HINT_T1);
}

using CopyLines = void (*)(const uint8_t* from, int64_t lines, int64_t ahead, uint8_t* to);

/// Whole lines to the beginning of a line, past the cache.
void copy_lines_sse(const uint8_t* from, int64_t lines, int64_t ahead, uint8_t* to) {
  for (int64_t i = 0; i < lines; ++i, from += kLine, to += kLine) {
    ask_for(from, ahead);
    __m128i parts[4];
    for (int k = 0; k < 4; ++k) parts[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + k);
    for (int k = 0; k < 4; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + k, parts[k]);
  }
}

/// The same by half as many stores.
[[gnu::target("avx")]] void copy_lines_avx(const uint8_t* from, int64_t lines, int64_t ahead, uint8_t* to) {
  for (int64_t i = 0; i < lines; ++i, from += kLine, to += kLine) {
    ask_for(from, ahead);
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + 1);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  }
}

/// Writes runs past the cache. Lines that two neighbouring runs share are put together first: one that is
/// written in part is read before. The destructor writes what is left, and orders all stores before whatever
/// tells others that they are there.
class LineWriter {
 public:
  LineWriter() : copy_lines_(__builtin_cpu_supports("avx") ? copy_lines_avx : copy_lines_sse) {}
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  ~LineWriter() {
    store_kept();
    _mm_sfence();
  }

  /// `ahead`: how many bytes further on is what will be copied later. `downwards`: the next run ends where
  /// this one begins.
  void write(const uint8_t* from, int64_t bytes, int64_t ahead, bool downwards, uint8_t* to) {
    const int64_t head =
        std::min(bytes, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) % uintptr_t{kLine}));
    const int64_t lines = (bytes - head) / kLine;
    const int64_t tail = head + lines * kLine;
    if (downwards)
      keep(from + tail, bytes - tail, to + tail);
    else
      keep(from, head, to);
    copy_lines_(from + head, lines, ahead, to + head);
    if (downwards)
      keep(from, head, to);
    else
      keep(from + tail, bytes - tail, to + tail);
  }

 private:
  /// A part of one line.
  void keep(const uint8_t* from, int64_t bytes, uint8_t* to) {
    if (bytes == 0) return;
    const auto begin = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % uintptr_t{kLine});
    const int64_t end = begin + bytes;
    if (to - begin != line_ || (begin != end_ && end != begin_)) {
      store_kept();
      line_ = to - begin, begin_ = begin, end_ = end;
    } else {
      begin_ = std::min(begin_, begin), end_ = std::max(end_, end);
    }
    std::memcpy(kept_ + begin, from, static_cast<size_t>(bytes));
    if (end_ - begin_ < kLine) return;
    copy_lines_(kept_, 1, 0, line_);
    line_ = nullptr;
  }

  void store_kept() {
    if (line_) std::memcpy(line_ + begin_, kept_ + begin_, static_cast<size_t>(end_ - begin_));
    line_ = nullptr;
  }

  CopyLines copy_lines_;
  uint8_t* line_ = nullptr;      ///< the line of which a part is kept
  int64_t begin_ = 0, end_ = 0;  ///< which part
  alignas(kLine) uint8_t kept_[kLine];
};

}  // namespace

void copy_past_cache(const Tensor& from, uint8_t* to) {
  const int64_t size = size_of(from.dtype);
  // `inner`: first axis of the dense tail, which is one run.
  int inner = from.ndim;
  int64_t run = 1;
  while (inner > 0 && (from.extents[inner - 1] == 1 || from.strides[inner - 1] == run))
    run *= from.extents[--inner];
  const int64_t run_bytes = run * size;
  if (run_bytes < kLongRun || from.volume() == 0) return copy_dense(from, to);
  const int64_t row_step = inner > 0 ? from.strides[inner - 1] * size : 0;
  const int64_t row_count = inner > 0 ? from.extents[inner - 1] : 1;
  const int outer = std::max(0, inner - 1);
  const bool downwards = row_step < 0;
  // Of rows with gaps between them, what is asked for lies in another row.
  const int64_t distance = std::abs(row_step);
  const int64_t ahead = distance == 0 ? kAhead : (kAhead + distance - 1) / distance * distance;
  LineWriter writer;
  int64_t index[kMaxRank] = {};
  for (;;) {
    int64_t offset = 0;
    for (int i = 0; i < outer; ++i) offset += index[i] * from.strides[i];
    const uint8_t* rows = from.data + offset * size;
    for (int64_t i = 0; i < row_count; ++i) {
      const int64_t row = downwards ? row_count - 1 - i : i;
      writer.write(rows + row * row_step, run_bytes, ahead, downwards, to + row * run_bytes);
    }
    to += row_count * run_bytes;
    int axis = outer - 1;
    while (axis >= 0 && ++index[axis] == from.extents[axis]) index[axis--] = 0;
    if (axis < 0) break;
  }
}

#else

void copy_past_cache(const Tensor& from, uint8_t* to) { copy_dense(from, to); }

#endif

}  // namespace galatea::runtime
