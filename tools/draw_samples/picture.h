// A picture in memory, and the functions that write it in the formats of the samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace galatea::samples {

/// Rows of RGB or grey bytes, without gaps.
struct Picture {
  int width = 0;
  int height = 0;
  int channels = 3;
  std::vector<uint8_t> bytes;

  uint8_t* at(int x, int y) { return &bytes[(static_cast<size_t>(y) * width + x) * channels]; }
  const uint8_t* at(int x, int y) const { return &bytes[(static_cast<size_t>(y) * width + x) * channels]; }
};

Picture make_picture(int width, int height, int channels);
/// Luma of ITU-R BT.601.
Picture to_grey(const Picture& picture);
/// The picture that a camera would store, so that a viewer which obeys the EXIF orientation (1, 3, 6, 8)
/// shows `upright`.
Picture stored_for_orientation(const Picture& upright, int orientation);

enum class Subsampling : uint8_t { k444, k422, k420 };

struct JpegOptions {
  Subsampling subsampling = Subsampling::k420;
  int quality = 85;
  bool progressive = false;
  int orientation = 1;  ///< written as an APP1 segment unless 1
};

std::vector<uint8_t> encode_jpeg(const Picture& picture, const JpegOptions& options);
std::vector<uint8_t> encode_png(const Picture& picture);
std::vector<uint8_t> encode_webp(const Picture& picture);
/// 24 bits a pixel, rows from the bottom up.
std::vector<uint8_t> encode_bmp(const Picture& picture);

}  // namespace galatea::samples
