// See stream_form.h. Compiled once for each width, STREAM_FUNCTION being the name; nothing of the standard
// library that has code is included, since the linker would keep one copy for all machines.
#include "bench/limit/stream_form.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
using Vector = __m512i;
void store_past(uint8_t* to, Vector value) { _mm512_stream_si512(reinterpret_cast<Vector*>(to), value); }
#elif defined(__AVX2__)
using Vector = __m256i;
void store_past(uint8_t* to, Vector value) { _mm256_stream_si256(reinterpret_cast<Vector*>(to), value); }
#elif defined(__x86_64__)
using Vector = __m128i;
void store_past(uint8_t* to, Vector value) { _mm_stream_si128(reinterpret_cast<Vector*>(to), value); }
#else
using Vector = uint64_t __attribute__((vector_size(16)));
void store_past(uint8_t* to, Vector value) { *reinterpret_cast<Vector*>(to) = value; }
#endif

constexpr size_t kPerLine = kLine / sizeof(Vector);

template <bool past_cache, bool ahead>
void stream(const uint8_t* in, size_t bytes_in, uint8_t* out, size_t bytes_out, size_t block) {
  const size_t most = bytes_in > bytes_out ? bytes_in : bytes_out;
  const size_t steps = (most + block - 1) / block;
  Vector sums[kPerLine] = {};  // of their own, so that no load waits for another
  size_t read = 0, written = 0;
  for (size_t step = 1; step <= steps; ++step) {
    const size_t read_end = step == steps ? bytes_in : bytes_in * step / steps / kLine * kLine;
    const size_t write_end = step == steps ? bytes_out : bytes_out * step / steps / kLine * kLine;
    for (; read < read_end; read += kLine) {
      if (ahead) __builtin_prefetch(in + read + kPage, 0, 2);
      for (size_t i = 0; i < kPerLine; ++i)
        sums[i] ^= *reinterpret_cast<const Vector*>(in + read + i * sizeof(Vector));
    }
    for (; written < write_end; written += kLine)
      for (size_t i = 0; i < kPerLine; ++i) {
        uint8_t* to = out + written + i * sizeof(Vector);
        if (past_cache)
          store_past(to, sums[i]);
        else
          *reinterpret_cast<Vector*>(to) = sums[i];
      }
  }
}

}  // namespace

void STREAM_FUNCTION(const uint8_t* in, size_t bytes_in, uint8_t* out, size_t bytes_out, StreamForm form) {
  if (form.past_cache)
    (form.ahead ? stream<true, true> : stream<true, false>)(in, bytes_in, out, bytes_out, form.block);
  else
    (form.ahead ? stream<false, true> : stream<false, false>)(in, bytes_in, out, bytes_out, form.block);
}
