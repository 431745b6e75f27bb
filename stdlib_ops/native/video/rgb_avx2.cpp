#include "stdlib_ops/native/video/rgb_avx2.h"

#ifdef __x86_64__
#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace galatea::native::video {
namespace {

#define GALATEA_AVX2 [[gnu::target("avx2"), gnu::always_inline]] inline

constexpr int64_t kPixels = 32, kBytes = 3 * kPixels;
constexpr int kPlaces = 17, kSixteenths = 4;
constexpr int16_t kMiddle = 128 << kSixteenths;

/// 32 numbers of 16 bits, as unpacking bytes leaves them: of columns 0 to 7 and 16 to 23; the others.
struct Halves {
  __m256i low, high;
};

GALATEA_AVX2 __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

/// Chroma at every column, around 0.
GALATEA_AVX2 Halves spread(const int16_t* line) {
  const __m256i near = load(line);
  const __m256i three =
      _mm256_sub_epi16(_mm256_add_epi16(near, _mm256_add_epi16(near, near)), _mm256_set1_epi16(kMiddle));
  const __m256i even = _mm256_add_epi16(three, load(line - 1));
  const __m256i odd = _mm256_add_epi16(three, load(line + 1));
  return {_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd)};
}

GALATEA_AVX2 Halves sixteenths(const uint8_t* luma) {
  const __m256i bytes = load(luma), zero = _mm256_setzero_si256();
  return {_mm256_slli_epi16(_mm256_unpacklo_epi8(bytes, zero), kSixteenths),
          _mm256_slli_epi16(_mm256_unpackhi_epi8(bytes, zero), kSixteenths)};
}

/// A factor for each of two numbers side by side.
GALATEA_AVX2 __m256i pair(int32_t first, int32_t second) {
  return _mm256_set1_epi32(static_cast<int32_t>(static_cast<uint32_t>(second) << 16 | (first & 0xFFFF)));
}

/// Sums without the places behind the point, as 16 bits.
GALATEA_AVX2 __m256i rounded(__m256i low, __m256i high, __m256i offset) {
  return _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, offset), kPlaces),
                            _mm256_srai_epi32(_mm256_add_epi32(high, offset), kPlaces));
}

struct Weights {
  __m256i red, blue, green, green_rest, offset;
};
struct Channels {
  __m256i red, green, blue;
};
GALATEA_AVX2 Channels weighed(__m256i y, __m256i cb, __m256i cr, const Weights& by) {
  const __m256i r0 = _mm256_unpacklo_epi16(y, cr), r1 = _mm256_unpackhi_epi16(y, cr);
  const __m256i b0 = _mm256_unpacklo_epi16(y, cb), b1 = _mm256_unpackhi_epi16(y, cb);
  const __m256i g0 = _mm256_add_epi32(_mm256_madd_epi16(r0, by.green), _mm256_madd_epi16(b0, by.green_rest));
  const __m256i g1 = _mm256_add_epi32(_mm256_madd_epi16(r1, by.green), _mm256_madd_epi16(b1, by.green_rest));
  return {rounded(_mm256_madd_epi16(r0, by.red), _mm256_madd_epi16(r1, by.red), by.offset),
          rounded(g0, g1, by.offset),
          rounded(_mm256_madd_epi16(b0, by.blue), _mm256_madd_epi16(b1, by.blue), by.offset)};
}

/// Where in 48 bytes of three channels side by side those of one channel are: its number, or nothing.
struct Places {
  alignas(32) uint8_t of[3][3][32];  ///< [16 bytes of output][channel], the same for both halves of a vector
};
constexpr Places places() {
  Places out{};
  for (int part = 0; part < 3; ++part)
    for (int channel = 0; channel < 3; ++channel)
      for (int k = 0; k < 32; ++k) {
        const int byte = part * 16 + k % 16;
        out.of[part][channel][k] = static_cast<uint8_t>(byte % 3 == channel ? byte / 3 : 0x80);
      }
  return out;
}
constexpr Places kPlacesOf = places();

GALATEA_AVX2 __m256i part(int number, __m256i a, __m256i b, __m256i c) {
  const auto& at = kPlacesOf.of[number];
  return _mm256_or_si256(
      _mm256_shuffle_epi8(a, load(at[0])),
      _mm256_or_si256(_mm256_shuffle_epi8(b, load(at[1])), _mm256_shuffle_epi8(c, load(at[2]))));
}

GALATEA_AVX2 void store(__m256i from, uint8_t* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), from);
}

GALATEA_AVX2 void interleave(__m256i a, __m256i b, __m256i c, uint8_t* to) {
  const __m256i first = part(0, a, b, c), second = part(1, a, b, c), third = part(2, a, b, c);
  store(_mm256_permute2x128_si256(first, second, 0x20), to);
  store(_mm256_permute2x128_si256(third, first, 0x30), to + 32);
  store(_mm256_permute2x128_si256(second, third, 0x31), to + 64);
}

GALATEA_AVX2 void write_block(const uint8_t* luma, const int16_t* cb, const int16_t* cr, const Weights& by,
                              bool is_bgr, uint8_t* to) {
  const Halves y = sixteenths(luma), b = spread(cb), r = spread(cr);
  const Channels low = weighed(y.low, b.low, r.low, by), high = weighed(y.high, b.high, r.high, by);
  const __m256i red = _mm256_packus_epi16(low.red, high.red);
  const __m256i green = _mm256_packus_epi16(low.green, high.green);
  const __m256i blue = _mm256_packus_epi16(low.blue, high.blue);
  interleave(is_bgr ? blue : red, green, is_bgr ? red : blue, to);
}

}  // namespace

[[gnu::target("avx2")]] void write_rgb_row_avx2(const uint8_t* luma, const int16_t* cb, const int16_t* cr,
                                                int64_t x0, int64_t x1, int64_t width,
                                                const RgbFactors& factors, uint8_t* to) {
  const Weights by = {.red = pair(factors.y, factors.r_cr),
                      .blue = pair(factors.y, factors.b_cb),
                      .green = pair(factors.y, -factors.g_cr),
                      .green_rest = pair(0, -factors.g_cb),
                      .offset = _mm256_set1_epi32(factors.offset)};
  for (int64_t x = x0 - x0 % 2; x < x1; x += kPixels) {
    if (x >= x0 && x + kPixels <= x1) {
      write_block(luma + x, cb + x / 2, cr + x / 2, by, factors.is_bgr, to + 3 * (x - x0));
      continue;
    }
    uint8_t in[kPixels] = {}, out[kBytes];
    std::memcpy(in, luma + x, static_cast<size_t>(std::min(kPixels, width - x)));
    write_block(in, cb + x / 2, cr + x / 2, by, factors.is_bgr, out);
    const int64_t from = std::max(x, x0), until = std::min(x + kPixels, x1);
    std::memcpy(to + 3 * (from - x0), out + 3 * (from - x), static_cast<size_t>(3 * (until - from)));
  }
}

}  // namespace galatea::native::video
#endif
