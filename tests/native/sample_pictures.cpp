#include "tests/native/sample_pictures.h"

#include "tests/native/jpeg2000_encoder.h"
#include "tests/native/pictures.h"
#include "tests/native/tiff_encoder.h"

namespace galatea::native {

std::vector<Sample> samples() {
  Picture rgb = make_picture(19, 22, 3, 1), grey = make_picture(19, 22, 1, 2),
          rgba = make_picture(19, 22, 4, 3);
  Picture indices(19, 22, 1), small = make_picture(9, 11, 3, 5);
  for (size_t i = 0; i < indices.values.size(); ++i) indices.values[i] = static_cast<int>(i % 4);
  std::vector<int> colors{1, 2, 3, 40, 50, 60, 70, 80, 90, 250, 240, 230};
  return {
      {"jpeg 4:4:4", encode_jpeg(rgb, {.orientation = 6})},
      {"jpeg 4:2:0", encode_jpeg(rgb, {.h = 2, .v = 2})},
      {"jpeg progressive", encode_jpeg(rgb, {.h = 2, .v = 2, .progressive = true})},
      {"jpeg restarts", encode_jpeg(rgb, {.h = 2, .v = 1, .restart_rows = 1})},
      {"jpeg arithmetic", encode_jpeg(rgb, {.arithmetic = true})},
      {"jpeg grey", encode_jpeg(grey, {})},
      {"jpeg cmyk", encode_jpeg(rgba, {.cmyk = true})},
      {"png rgb", encode_png(rgb, {.orientation = 3})},
      {"png interlaced", encode_png(rgba, {.interlaced = true})},
      {"png 16", encode_png(make_picture(19, 22, 2, 4, 16))},
      {"png palette",
       encode_png(indices, {.depth = 4, .palette = true, .colors = colors, .transparency = {0}})},
      {"webp lossy", encode_webp(rgb, 80)},
      {"webp lossless", encode_webp(rgb, -1)},
      {"webp alpha", encode_webp(rgba, 80)},
      {"webp exif", with_webp_exif(encode_webp(rgb, -1), rgb, 5)},
      {"bmp 24", encode_bmp(rgb, {})},
      {"bmp masks", encode_bmp(rgb, {.bits = 32, .masks = true})},
      {"bmp palette", encode_bmp(indices, {.bits = 4, .colors = colors})},
      {"bmp os2", encode_bmp(indices, {.bits = 8, .colors = colors, .os2 = true})},
      {"tiff strips", encode_tiff(rgb, {.strip_rows = 4})},
      {"tiff tiles lzw", encode_tiff(rgb, {.tile_height = 16, .tile_width = 16, .compression = 5})},
      {"tiff planes deflate", encode_tiff(rgb, {.strip_rows = 4, .planar = true, .compression = 8})},
      {"tiff jpeg", encode_tiff(rgb, {.strip_rows = 16, .compression = 7, .photometric = 6})},
      {"tiff palette", encode_tiff(indices, {.bits = 4, .photometric = 3, .colors = colors})},
      {"tiff float",
       encode_tiff(make_picture(19, 22, 1, 4, 16), {.bits = 32, .is_float = true, .big_file = true})},
      {"tiff lab", encode_tiff(rgb, {.photometric = 8})},
      {"jpeg2000", encode_jpeg2000(small)},
      {"jpeg2000 tiles", encode_jpeg2000(small, {.has_boxes = false, .tile = 8, .rate = 4})},
      {"gif", read_picture("plain.gif")},
      {"gif interlaced", read_picture("interlaced.gif")},
      {"pnm bytes", encode_pnm(rgb, 6)},
      {"pnm text", encode_pnm(grey, 2)},
  };
}

}  // namespace galatea::native
