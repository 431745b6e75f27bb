// Writes the kept inputs of fuzz_image: tiny files of every kind, each with its eight bytes of choice before
// it.
#include <cstdio>
#include <fstream>

#include "tests/native/encoders.h"
#include "tests/native/jpeg2000_encoder.h"
#include "tests/native/pictures.h"
#include "tests/native/tiff_encoder.h"

namespace {

using namespace galatea::native;

bool write(const std::string& folder, const std::string& name, const File& file, int type, int dtype) {
  std::ofstream out(folder + "/" + name, std::ios::binary);
  for (int choice : {type, dtype, 0, 0, 60, 100, 90, 120}) out.put(static_cast<char>(choice));
  for (uint8_t byte : file) out.put(static_cast<char>(byte));
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_image_corpus FOLDER\n");
    return 2;
  }
  std::string folder = arguments[1];
  Picture rgb = make_picture(19, 22, 3, 1), grey = make_picture(19, 22, 1, 2),
          rgba = make_picture(19, 22, 4, 3), indices(19, 22, 1);
  for (size_t i = 0; i < indices.values.size(); ++i) indices.values[i] = static_cast<int>(i % 4);
  std::vector<int> colors{1, 2, 3, 40, 50, 60, 70, 80, 90, 250, 240, 230};
  bool ok =
      write(folder, "jpeg_444_turned", encode_jpeg(rgb, {.orientation = 6}), 0, 0) &&
      write(folder, "jpeg_420", encode_jpeg(rgb, {.h = 2, .v = 2}), 1, 0) &&
      write(folder, "jpeg_rows_above",
            encode_jpeg(make_picture(400, 240, 3, 5), {.quality = 10, .standard_tables = true}), 0, 0) &&
      write(folder, "jpeg_440", encode_jpeg(rgb, {.h = 1, .v = 2, .big_endian_exif = true}), 3, 2) &&
      write(folder, "jpeg_progressive", encode_jpeg(rgb, {.h = 2, .v = 1, .progressive = true}), 0, 0) &&
      write(folder, "jpeg_restarts", encode_jpeg(rgb, {.h = 2, .v = 2, .restart_rows = 1}), 0, 3) &&
      write(folder, "jpeg_arithmetic", encode_jpeg(rgb, {.arithmetic = true}), 4, 0) &&
      write(folder, "jpeg_grey", encode_jpeg(grey, {}), 2, 0) &&
      write(folder, "jpeg_cmyk", encode_jpeg(rgba, {.cmyk = true}), 0, 0) &&
      write(folder, "jpeg_rgb", encode_jpeg(rgb, {.rgb_space = true}), 2, 0) &&
      write(folder, "png_rgb_turned", encode_png(rgb, {.orientation = 8}), 0, 0) &&
      write(folder, "png_interlaced", encode_png(rgba, {.interlaced = true}), 4, 0) &&
      write(folder, "png_16", encode_png(make_picture(9, 12, 2, 4, 16)), 4, 2) &&
      write(folder, "png_palette",
            encode_png(indices, {.depth = 4, .palette = true, .colors = colors, .transparency = {0}}), 4,
            0) &&
      write(folder, "png_transparent", encode_png(grey, {.transparency = {90}}), 4, 5) &&
      write(folder, "webp_lossy", encode_webp(rgb, 50), 0, 0) &&
      write(folder, "webp_lossless", encode_webp(rgb, -1), 3, 0) &&
      write(folder, "webp_alpha", encode_webp(rgba, 50), 4, 0) &&
      write(folder, "webp_exif", with_webp_exif(encode_webp(rgb, -1), rgb, 5), 0, 0) &&
      write(folder, "bmp_24", encode_bmp(rgb, {}), 0, 0) &&
      write(folder, "bmp_masks", encode_bmp(rgb, {.bits = 32, .masks = true}), 2, 0) &&
      write(folder, "bmp_palette", encode_bmp(indices, {.bits = 4, .colors = colors}), 4, 1) &&
      write(folder, "tiff_strips_lzw",
            encode_tiff(rgb, {.strip_rows = 4, .compression = 5, .predictor = true}), 0, 0) &&
      write(folder, "tiff_tiles", encode_tiff(rgba, {.tile_height = 16, .tile_width = 16, .orientation = 6}),
            4, 2) &&
      write(folder, "tiff_planes_deflate",
            encode_tiff(rgb, {.strip_rows = 4, .planar = true, .compression = 8}), 0, 3) &&
      write(folder, "tiff_jpeg", encode_tiff(rgb, {.strip_rows = 16, .compression = 7, .photometric = 6}), 0,
            0) &&
      write(folder, "tiff_palette", encode_tiff(indices, {.bits = 4, .photometric = 3, .colors = colors}), 4,
            2) &&
      write(folder, "tiff_inks", encode_tiff(rgba, {.photometric = 5}), 2, 0) &&
      write(folder, "tiff_float",
            encode_tiff(make_picture(19, 22, 1, 4, 16), {.bits = 32, .is_float = true, .big_file = true}), 4,
            3) &&
      write(folder, "tiff_lab", encode_tiff(rgb, {.photometric = 8}), 3, 0) &&
      write(folder, "tiff_pages", encode_tiff({rgb, grey}, {.compression = 32773}), 0, 0) &&
      write(folder, "jpeg2000", encode_jpeg2000(rgb), 0, 0) &&
      write(folder, "jpeg2000_tiles", encode_jpeg2000(rgb, {.has_boxes = false, .tile = 8, .rate = 4}), 1,
            0) &&
      write(folder, "jpeg2000_ycc", encode_jpeg2000(rgb, {.ycc = true, .half_chroma = true}), 2, 3) &&
      write(folder, "pnm_bits", encode_pnm(grey, 4), 2, 0) &&
      write(folder, "pnm_text", encode_pnm(rgb, 3), 0, 2) &&
      write(folder, "pnm_wide", encode_pnm(make_picture(9, 12, 3, 4, 16), 6, 65535), 4, 2) &&
      write(folder, "gif_interlaced", read_picture("interlaced.gif"), 0, 0) &&
      write(folder, "gif_transparent", read_picture("transparent.gif"), 4, 0) &&
      write(folder, "avif", read_picture("rgb.avif"), 0, 0) &&
      write(folder, "heic", read_picture("rgb.heic"), 4, 2) &&
      write(folder, "bmp_os2", encode_bmp(indices, {.bits = 8, .colors = colors, .os2 = true}), 4, 7);
  if (!ok) std::fprintf(stderr, "cannot write into %s\n", folder.c_str());
  return ok ? 0 : 1;
}
