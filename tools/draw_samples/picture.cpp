#include "tools/draw_samples/picture.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <jpeglib.h>
#include <png.h>
#include <webp/encode.h>

namespace galatea::samples {
namespace {

/// An APP1 segment that says nothing but the orientation: "Exif", then a TIFF header, one directory, one
/// entry.
std::vector<uint8_t> orientation_segment(int orientation) {
  std::vector<uint8_t> bytes = {'E',
                                'x',
                                'i',
                                'f',
                                0,
                                0,
                                'I',
                                'I',
                                42,
                                0,
                                8,
                                0,
                                0,
                                0,  // little endian; the directory begins at 8
                                1,
                                0,  // entries
                                0x12,
                                0x01,
                                3,
                                0,
                                1,
                                0,
                                0,
                                0,  // tag 0x0112, type SHORT, one value
                                static_cast<uint8_t>(orientation),
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0};  // no further directory
  return bytes;
}

void put_u32(std::vector<uint8_t>& bytes, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(value >> shift));
}

void append_to_vector(png_structp png, png_bytep data, size_t size) {
  auto* out = static_cast<std::vector<uint8_t>*>(png_get_io_ptr(png));
  out->insert(out->end(), data, data + size);
}

}  // namespace

Picture make_picture(int width, int height, int channels) {
  Picture picture{width, height, channels, {}};
  picture.bytes.resize(static_cast<size_t>(width) * static_cast<size_t>(height) *
                       static_cast<size_t>(channels));
  return picture;
}

Picture to_grey(const Picture& picture) {
  Picture grey = make_picture(picture.width, picture.height, 1);
  for (size_t i = 0; i < grey.bytes.size(); ++i) {
    const uint8_t* rgb = &picture.bytes[3 * i];
    grey.bytes[i] = static_cast<uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
  }
  return grey;
}

Picture stored_for_orientation(const Picture& upright, int orientation) {
  if (orientation == 1) return upright;
  const bool turned = orientation == 6 || orientation == 8;
  Picture stored = make_picture(turned ? upright.height : upright.width,
                                turned ? upright.width : upright.height, upright.channels);
  for (int y = 0; y < upright.height; ++y) {
    for (int x = 0; x < upright.width; ++x) {
      // 3: shown turned by 180 degrees; 6: shown turned clockwise, so stored turned back; 8: the other way.
      int sx = orientation == 3 ? upright.width - 1 - x : orientation == 6 ? y : upright.height - 1 - y;
      int sy = orientation == 3 ? upright.height - 1 - y : orientation == 6 ? upright.width - 1 - x : x;
      for (int c = 0; c < upright.channels; ++c) stored.at(sx, sy)[c] = upright.at(x, y)[c];
    }
  }
  return stored;
}

std::vector<uint8_t> encode_jpeg(const Picture& picture, const JpegOptions& options) {
  jpeg_compress_struct encoder;
  jpeg_error_mgr errors;
  encoder.err =
      jpeg_std_error(&errors);  // its error_exit ends the program with a message: fit for a tool of ours
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_width = static_cast<JDIMENSION>(picture.width);
  encoder.image_height = static_cast<JDIMENSION>(picture.height);
  encoder.input_components = picture.channels;
  encoder.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, options.quality, TRUE);
  if (picture.channels == 3) {
    encoder.comp_info[0].h_samp_factor = options.subsampling == Subsampling::k444 ? 1 : 2;
    encoder.comp_info[0].v_samp_factor = options.subsampling == Subsampling::k420 ? 2 : 1;
  }
  if (options.progressive) jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  if (options.orientation != 1) {
    std::vector<uint8_t> segment = orientation_segment(options.orientation);
    jpeg_write_marker(&encoder, JPEG_APP0 + 1, segment.data(), static_cast<unsigned>(segment.size()));
  }
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(picture.at(0, static_cast<int>(encoder.next_scanline)));
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  std::vector<uint8_t> bytes(memory, memory + size);
  jpeg_destroy_compress(&encoder);
  std::free(memory);
  return bytes;
}

std::vector<uint8_t> encode_png(const Picture& picture) {
  // libpng's own error handler would leave by longjmp; here it ends the program with its message.
  auto die = [](png_structp, png_const_charp message) {
    std::fprintf(stderr, "libpng: %s\n", message);
    std::exit(4);
  };
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, die, nullptr);
  png_infop info = png_create_info_struct(png);
  std::vector<uint8_t> bytes;
  png_set_write_fn(png, &bytes, append_to_vector, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               8, picture.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int y = 0; y < picture.height; ++y) png_write_row(png, picture.at(0, y));
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

std::vector<uint8_t> encode_webp(const Picture& picture) {
  uint8_t* memory = nullptr;
  size_t size =
      WebPEncodeRGB(picture.bytes.data(), picture.width, picture.height, 3 * picture.width, 80.0f, &memory);
  if (size == 0) throw std::runtime_error("libwebp could not encode a picture");
  std::vector<uint8_t> bytes(memory, memory + size);
  WebPFree(memory);
  return bytes;
}

std::vector<uint8_t> encode_bmp(const Picture& picture) {
  const auto row_size = static_cast<uint32_t>((3 * picture.width + 3) / 4 * 4);
  const auto pixel_size = row_size * static_cast<uint32_t>(picture.height);
  std::vector<uint8_t> bytes = {'B', 'M'};
  for (uint32_t value :
       {54 + pixel_size, 0u, 54u, 40u, static_cast<uint32_t>(picture.width),
        static_cast<uint32_t>(picture.height), 1u | (24u << 16), 0u, pixel_size, 2835u, 2835u, 0u, 0u}) {
    put_u32(bytes, value);
  }
  for (int y = picture.height - 1; y >= 0; --y) {
    for (int x = 0; x < picture.width; ++x) {
      const uint8_t* rgb = picture.at(x, y);
      bytes.insert(bytes.end(), {rgb[2], rgb[1], rgb[0]});
    }
    bytes.resize(bytes.size() + row_size - 3 * static_cast<uint32_t>(picture.width));
  }
  return bytes;
}

}  // namespace galatea::samples
