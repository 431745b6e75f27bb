#include "tests/native/encoders.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <jpeglib.h>
#include <png.h>
#include <webp/decode.h>
#include <webp/encode.h>

namespace galatea::native {
namespace {

void put(File& file, uint64_t value, int bytes, bool big_endian = false) {
  for (int i = 0; i < bytes; ++i)
    file.push_back(static_cast<uint8_t>(value >> 8 * (big_endian ? bytes - 1 - i : i)));
}
void put(File& file, const char* text) { file.insert(file.end(), text, text + std::strlen(text)); }

std::vector<uint8_t> row_bytes(const Picture& picture, int y) {
  std::vector<uint8_t> row;
  for (int x = 0; x < picture.width; ++x)
    for (int c = 0; c < picture.channels; ++c)
      put(row, static_cast<uint64_t>(picture.at(y, x, c)), picture.bits / 8, true);
  return row;
}

/// Rows of `bits`-bit numbers, most significant first.
std::vector<uint8_t> packed_row(const Picture& picture, int y, int bits) {
  std::vector<uint8_t> row(static_cast<size_t>((picture.width * bits + 7) / 8));
  for (int x = 0; x < picture.width; ++x)
    row[static_cast<size_t>(x * bits / 8)] |=
        static_cast<uint8_t>(picture.at(y, x, 0) << (8 - bits - x * bits % 8));
  return row;
}

Picture from_bytes(const std::vector<uint8_t>& bytes, int height, int width, int channels) {
  Picture out(height, width, channels);
  for (size_t i = 0; i < out.values.size(); ++i) out.values[i] = bytes[i];
  return out;
}

}  // namespace

File exif_block(int orientation, bool big) {
  File out;
  put(out, big ? "MM" : "II");
  put(out, 42, 2, big);
  put(out, 8, 4, big);
  put(out, 2, 2, big);  // two entries: an ASCII one first, so that readers have to look for theirs
  put(out, 0x010F, 2, big), put(out, 2, 2, big), put(out, 3, 4, big), put(out, 0x61620000, 4, true);
  put(out, 0x0112, 2, big), put(out, 3, 2, big), put(out, 1, 4, big);
  put(out, static_cast<uint64_t>(orientation), 2, big), put(out, 0, 2, big);
  put(out, 0, 4, big);
  return out;
}

File encode_jpeg(const Picture& picture, const JpegSettings& settings) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(picture.width);
  info.image_height = static_cast<JDIMENSION>(picture.height);
  info.input_components = picture.channels;
  info.in_color_space = settings.cmyk ? JCS_CMYK : picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  if (settings.rgb_space) jpeg_set_colorspace(&info, JCS_RGB);
  jpeg_set_quality(&info, settings.quality, TRUE);
  info.comp_info[0].h_samp_factor = settings.h;
  info.comp_info[0].v_samp_factor = settings.v;
  info.restart_in_rows = settings.restart_rows;
  info.arith_code = settings.arithmetic;
  info.optimize_coding = settings.arithmetic || settings.standard_tables ? FALSE : TRUE;
  if (settings.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (settings.orientation != 0) {
    File exif{'E', 'x', 'i', 'f', 0, 0};
    File tiff = exif_block(settings.orientation, settings.big_endian_exif);
    exif.insert(exif.end(), tiff.begin(), tiff.end());
    jpeg_write_marker(&info, JPEG_APP0 + 1, exif.data(), static_cast<unsigned>(exif.size()));
  }
  for (int y = 0; y < picture.height; ++y) {
    std::vector<uint8_t> row = row_bytes(picture, y);
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&info, rows, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  File out(memory, memory + size);
  std::free(memory);
  return out;
}

Picture decode_whole_jpeg(const File& file, bool gray, int eighths) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&info, TRUE);
  info.out_color_space = gray ? JCS_GRAYSCALE : info.num_components == 4 ? JCS_CMYK : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  info.scale_num = static_cast<unsigned>(eighths);
  info.scale_denom = 8;
  jpeg_start_decompress(&info);
  auto stride = static_cast<size_t>(info.output_width) * static_cast<size_t>(info.output_components);
  std::vector<uint8_t> pixels(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW rows[] = {pixels.data() + stride * info.output_scanline};
    jpeg_read_scanlines(&info, rows, 1);
  }
  Picture out = from_bytes(pixels, static_cast<int>(info.output_height), static_cast<int>(info.output_width),
                           info.output_components);
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return out;
}

File encode_png(const Picture& picture, const PngSettings& settings) {
  File out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep data, png_size_t size) {
        auto* file = static_cast<File*>(png_get_io_ptr(p));
        file->insert(file->end(), data, data + size);
      },
      nullptr);
  constexpr int kTypes[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  int type = settings.palette ? PNG_COLOR_TYPE_PALETTE : kTypes[picture.channels];
  int depth = picture.bits == 16 ? 16 : settings.depth;
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               depth, type, settings.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (settings.palette) {
    std::vector<png_color> palette;
    for (size_t i = 0; i + 2 < settings.colors.size(); i += 3)
      palette.push_back({static_cast<png_byte>(settings.colors[i]),
                         static_cast<png_byte>(settings.colors[i + 1]),
                         static_cast<png_byte>(settings.colors[i + 2])});
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  if (!settings.transparency.empty()) {
    std::vector<png_byte> alphas(settings.transparency.begin(), settings.transparency.end());
    png_color_16 color = {};
    if (!settings.palette && picture.channels == 1)
      color.gray = static_cast<png_uint_16>(settings.transparency[0]);
    if (!settings.palette && picture.channels == 3) {
      color.red = static_cast<png_uint_16>(settings.transparency[0]);
      color.green = static_cast<png_uint_16>(settings.transparency[1]);
      color.blue = static_cast<png_uint_16>(settings.transparency[2]);
    }
    png_set_tRNS(png, info, alphas.data(), settings.palette ? static_cast<int>(alphas.size()) : 1,
                 settings.palette ? nullptr : &color);
  }
  File exif = exif_block(settings.orientation, true);
  if (settings.orientation != 0)
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(exif.size()), exif.data());
  png_write_info(png, info);
  std::vector<std::vector<uint8_t>> rows;
  std::vector<png_bytep> pointers;
  for (int y = 0; y < picture.height; ++y)
    rows.push_back(depth < 8 ? packed_row(picture, y, depth) : row_bytes(picture, y));
  for (auto& row : rows) pointers.push_back(row.data());
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return out;
}

File encode_webp(const Picture& picture, float quality) {
  std::vector<uint8_t> pixels(picture.values.begin(), picture.values.end());
  uint8_t* memory = nullptr;
  int stride = picture.width * picture.channels;
  size_t size = 0;
  if (picture.channels == 4)
    size = quality < 0
               ? WebPEncodeLosslessRGBA(pixels.data(), picture.width, picture.height, stride, &memory)
               : WebPEncodeRGBA(pixels.data(), picture.width, picture.height, stride, quality, &memory);
  else
    size = quality < 0
               ? WebPEncodeLosslessRGB(pixels.data(), picture.width, picture.height, stride, &memory)
               : WebPEncodeRGB(pixels.data(), picture.width, picture.height, stride, quality, &memory);
  File out(memory, memory + size);
  WebPFree(memory);
  return out;
}

Picture decode_whole_webp(const File& file, int channels) {
  int width = 0, height = 0;
  uint8_t* memory = channels == 4 ? WebPDecodeRGBA(file.data(), file.size(), &width, &height)
                                  : WebPDecodeRGB(file.data(), file.size(), &width, &height);
  Picture out =
      from_bytes(std::vector<uint8_t>(memory, memory + static_cast<ptrdiff_t>(width) * height * channels),
                 height, width, channels);
  WebPFree(memory);
  return out;
}

File with_webp_exif(const File& simple, const Picture& picture, int orientation) {
  File exif = exif_block(orientation, false);
  File body;
  put(body, "WEBP");
  put(body, "VP8X");
  put(body, 10, 4);
  put(body, 0x08, 4);  // there is EXIF
  put(body, static_cast<uint64_t>(picture.width - 1), 3);
  put(body, static_cast<uint64_t>(picture.height - 1), 3);
  body.insert(body.end(), simple.begin() + 12, simple.end());
  put(body, "EXIF");
  put(body, exif.size(), 4);
  body.insert(body.end(), exif.begin(), exif.end());
  if (exif.size() % 2 == 1) body.push_back(0);
  File out;
  put(out, "RIFF");
  put(out, body.size(), 4);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

File encode_bmp(const Picture& picture, const BmpSettings& settings) {
  int row_size = (picture.width * settings.bits + 31) / 32 * 4;
  File head;
  if (settings.os2) {
    put(head, 12, 4), put(head, static_cast<uint64_t>(picture.width), 2),
        put(head, static_cast<uint64_t>(picture.height), 2);
    put(head, 1, 2), put(head, static_cast<uint64_t>(settings.bits), 2);
  } else {
    put(head, 40, 4), put(head, static_cast<uint64_t>(picture.width), 4);
    put(head, static_cast<uint64_t>(settings.top_down ? -picture.height : picture.height), 4);
    put(head, 1, 2), put(head, static_cast<uint64_t>(settings.bits), 2), put(head, settings.masks ? 3 : 0, 4);
    put(head, 0, 4), put(head, 2835, 4), put(head, 2835, 4),
        put(head, settings.bits <= 8 ? settings.colors.size() / 3 : 0, 4), put(head, 0, 4);
  }
  if (settings.masks) put(head, 0x000000FF, 4), put(head, 0x0000FF00, 4), put(head, 0x00FF0000, 4);
  if (settings.bits <= 8) {
    // The 12-byte header cannot say how many colours there are: all of them.
    size_t entries = settings.os2 ? size_t{1} << settings.bits : settings.colors.size() / 3;
    for (size_t i = 0; i < entries; ++i) {
      for (size_t c = 3; c-- > 0;)
        head.push_back(
            static_cast<uint8_t>(3 * i + c < settings.colors.size() ? settings.colors[3 * i + c] : 0));
      if (!settings.os2) head.push_back(0);
    }
  }
  File out;
  put(out, "BM");
  put(out, 14 + head.size() + static_cast<size_t>(row_size) * static_cast<size_t>(picture.height), 4);
  put(out, 0, 4);
  put(out, 14 + head.size(), 4);
  out.insert(out.end(), head.begin(), head.end());
  for (int i = 0; i < picture.height; ++i) {
    int y = settings.top_down ? i : picture.height - 1 - i;
    std::vector<uint8_t> row;
    if (settings.bits <= 8) {
      row = packed_row(picture, y, settings.bits);
    } else {
      for (int x = 0; x < picture.width; ++x) {
        for (int c = 0; c < 3; ++c)
          row.push_back(static_cast<uint8_t>(picture.at(y, x, settings.masks ? c : 2 - c)));
        if (settings.bits == 32) row.push_back(0x77);
      }
    }
    row.resize(static_cast<size_t>(row_size));
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

}  // namespace galatea::native
