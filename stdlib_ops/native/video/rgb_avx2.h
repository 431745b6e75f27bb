// The pixels of a row of 8-bit film, by vectors of 32 bytes: the bits of the loops in colour.cpp.
#pragma once

#include <cstdint>

namespace galatea::native::video {

/// Behind the point: 13 places of the factors, and 4 of luma and chroma.
struct RgbFactors {
  int32_t y = 0, r_cr = 0, b_cb = 0, g_cb = 0, g_cr = 0;
  int32_t offset = 0;  ///< half a level, less black
  bool is_bgr = false;
};

/// Columns that a call may read behind the last one of a line of chroma.
constexpr int64_t kChromaBehind = 18;

#ifdef __x86_64__
/// Pixels [x0, x1) of a row of `width`. `cb`, `cr`: a sample for two columns, in quarters; they can be read from -1 on,
/// and kChromaBehind further.
void write_rgb_row_avx2(const uint8_t* luma, const int16_t* cb, const int16_t* cr, int64_t x0, int64_t x1,
                        int64_t width, const RgbFactors& factors, uint8_t* to);
#endif

}  // namespace galatea::native::video
