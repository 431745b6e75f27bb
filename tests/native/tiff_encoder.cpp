#include "tests/native/tiff_encoder.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <tiffio.h>

#include "base/result.h"

namespace galatea::native {
namespace {

struct Writer {
  File file;
  size_t at = 0;
};

tmsize_t read_back(thandle_t handle, void* to, tmsize_t size) {
  auto* writer = static_cast<Writer*>(handle);
  const size_t count =
      std::min(static_cast<size_t>(size), writer->file.size() - std::min(writer->at, writer->file.size()));
  std::memcpy(to, writer->file.data() + writer->at, count);
  writer->at += count;
  return static_cast<tmsize_t>(count);
}
tmsize_t write_more(thandle_t handle, void* from, tmsize_t size) {
  auto* writer = static_cast<Writer*>(handle);
  const auto count = static_cast<size_t>(size);
  writer->file.resize(std::max(writer->file.size(), writer->at + count));
  std::memcpy(writer->file.data() + writer->at, from, count);
  writer->at += count;
  return size;
}
toff_t seek_to(thandle_t handle, toff_t offset, int from) {
  auto* writer = static_cast<Writer*>(handle);
  writer->at = from == SEEK_SET   ? offset
               : from == SEEK_CUR ? writer->at + offset
                                  : writer->file.size() + offset;
  return writer->at;
}
int close_nothing(thandle_t) { return 0; }
toff_t size_so_far(thandle_t handle) { return static_cast<Writer*>(handle)->file.size(); }

/// Samples [first, first + count) of channels `channel` to `channel + channels - 1` of a row, packed.
std::vector<uint8_t> tiff_row(const Picture& picture, const TiffSettings& settings, int bits, int y, int x0,
                              int x1, int channel, int channels) {
  std::vector<uint8_t> out;
  uint32_t held = 0;
  int held_bits = 0;
  for (int x = x0; x < x1; ++x)
    for (int c = channel; c < channel + channels; ++c) {
      // Tiles reach past the picture.
      const int value = y < picture.height && x < picture.width ? picture.at(y, x, c) : 0;
      if (settings.is_float) {
        const float narrow = static_cast<float>(value / 65535.0);
        const double wide = value / 65535.0;
        const auto* bytes =
            bits == 32 ? reinterpret_cast<const uint8_t*>(&narrow) : reinterpret_cast<const uint8_t*>(&wide);
        out.insert(out.end(), bytes, bytes + bits / 8);
      } else if (bits == 16) {
        const auto wide = static_cast<uint16_t>(value);
        const auto* bytes = reinterpret_cast<const uint8_t*>(&wide);
        out.insert(out.end(), bytes, bytes + 2);
      } else {
        held = held << bits | static_cast<uint32_t>(value);
        for (held_bits += bits; held_bits >= 8; held_bits -= 8)
          out.push_back(static_cast<uint8_t>(held >> (held_bits - 8)));
      }
    }
  if (held_bits > 0) out.push_back(static_cast<uint8_t>(held << (8 - held_bits)));
  return out;
}

void write_page(TIFF* tiff, const Picture& picture, const TiffSettings& settings) {
  const int bits = settings.bits ? settings.bits : picture.bits;
  const int photometric = settings.photometric >= 0 ? settings.photometric
                          : picture.channels <= 2   ? PHOTOMETRIC_MINISBLACK
                                                    : PHOTOMETRIC_RGB;
  const int colors = photometric == PHOTOMETRIC_SEPARATED ? 4
                     : photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_YCBCR ||
                             photometric == PHOTOMETRIC_CIELAB
                         ? 3
                         : 1;
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, picture.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, picture.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, picture.channels);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, settings.planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, settings.compression);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, settings.is_float ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  if (picture.channels > colors) {
    const std::vector<uint16_t> extra(static_cast<size_t>(picture.channels - colors), EXTRASAMPLE_UNASSALPHA);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(extra.size()), extra.data());
  }
  if (settings.predictor) TIFFSetField(tiff, TIFFTAG_PREDICTOR, settings.is_float ? 3 : 2);
  if (settings.orientation) TIFFSetField(tiff, TIFFTAG_ORIENTATION, settings.orientation);
  if (settings.compression == COMPRESSION_JPEG) {
    TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 92);
    if (photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  } else if (photometric == PHOTOMETRIC_YCBCR) {
    TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
  }
  std::vector<uint16_t> palette[3];
  if (!settings.colors.empty()) {
    for (size_t c = 0; c < 3; ++c) {
      palette[c].resize(size_t{1} << bits);
      for (size_t i = 0; 3 * i < settings.colors.size(); ++i)
        palette[c][i] = static_cast<uint16_t>(settings.colors[3 * i + c]);
    }
    TIFFSetField(tiff, TIFFTAG_COLORMAP, palette[0].data(), palette[1].data(), palette[2].data());
  }
  const int planes = settings.planar ? picture.channels : 1, channels = picture.channels / planes;
  bool is_written = true;
  if (settings.tile_width) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, settings.tile_width);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, settings.tile_height);
    for (int plane = 0; plane < planes; ++plane)
      for (int top = 0; top < picture.height; top += settings.tile_height)
        for (int left = 0; left < picture.width; left += settings.tile_width) {
          std::vector<uint8_t> tile;
          for (int y = top; y < top + settings.tile_height; ++y) {
            const auto row =
                tiff_row(picture, settings, bits, y, left, left + settings.tile_width, plane, channels);
            tile.insert(tile.end(), row.begin(), row.end());
          }
          is_written &= TIFFWriteTile(tiff, tile.data(), static_cast<uint32_t>(left),
                                      static_cast<uint32_t>(top), 0, static_cast<uint16_t>(plane)) >= 0;
        }
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, settings.strip_rows ? settings.strip_rows : picture.height);
    for (int plane = 0; plane < planes; ++plane)
      for (int y = 0; y < picture.height; ++y) {
        auto row = tiff_row(picture, settings, bits, y, 0, picture.width, plane, channels);
        is_written &=
            TIFFWriteScanline(tiff, row.data(), static_cast<uint32_t>(y), static_cast<uint16_t>(plane)) >= 0;
      }
  }
  GALATEA_CHECK(is_written && TIFFWriteDirectory(tiff), "the test's TIFF cannot be written");
}

}  // namespace

File encode_tiff(const std::vector<Picture>& pages, const TiffSettings& settings) {
  Writer writer;
  const std::string mode =
      std::string("w") + (settings.big_endian ? "b" : "l") + (settings.big_file ? "8" : "");
  TIFF* tiff = TIFFClientOpen("test", mode.c_str(), &writer, read_back, write_more, seek_to, close_nothing,
                              size_so_far, nullptr, nullptr);
  GALATEA_CHECK(tiff, "the test's TIFF cannot be opened");
  for (const Picture& page : pages) write_page(tiff, page, settings);
  TIFFClose(tiff);
  return writer.file;
}

bool tiff_compresses(int compression) {
  return TIFFIsCODECConfigured(static_cast<uint16_t>(compression)) != 0;
}

File encode_pnm(const Picture& picture, int kind, int most, const char* comment) {
  const bool is_bits = kind == 1 || kind == 4, is_text = kind <= 3;
  std::string out = fmt::format("P{}\n{}{} {}\n", kind, comment, picture.width, picture.height);
  if (!is_bits) out += fmt::format("{}\n", most);
  for (int y = 0; y < picture.height; ++y) {
    int held = 0, held_bits = 0;
    for (int x = 0; x < picture.width; ++x)
      for (int c = 0; c < picture.channels; ++c) {
        const int value = picture.at(y, x, c), black = value == 0;
        if (is_text) {
          out += is_bits ? fmt::format("{}", black) : fmt::format("{} ", value);
        } else if (is_bits) {
          held = held << 1 | black;
          if (++held_bits == 8) out.push_back(static_cast<char>(std::exchange(held, held_bits = 0)));
        } else {
          if (most > 255) out.push_back(static_cast<char>(value >> 8));
          out.push_back(static_cast<char>(value));
        }
      }
    if (held_bits > 0) out.push_back(static_cast<char>(held << (8 - held_bits)));
    if (is_text) out += "\n";
  }
  return {out.begin(), out.end()};
}

}  // namespace galatea::native
