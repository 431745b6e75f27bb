// TIFF by libtiff: only the strips and tiles that a window needs.
//
// Comes in: a whole file, a picture's number and a window. Goes out: its rows. Tiles and strips that the window
// touches are decoded as they are, a band of them at a time; large strips line by line.
// Palettes, inks and numbers of less than 8 bits are turned into plain samples here; L*a*b*, and YCbCr that is
// not in a JPEG, libtiff turns into RGB of the whole picture.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <tiffio.h>

#include "base/scalar_op.h"
#include "stdlib_ops/native/image_codecs.h"
#include "stdlib_ops/native/tiff_layout.h"

namespace galatea::native {
namespace {

/// What libtiff's calls see of the file, and what they said went wrong first.
struct TiffStream {
  Bytes bytes;
  uint64_t at = 0;
  char message[160] = {};
};

int on_tiff_error(TIFF*, void* data, const char*, const char* format, va_list arguments) {
  auto* stream = static_cast<TiffStream*>(data);
  if (stream->message[0] == 0)
    static_cast<void>(std::vsnprintf(stream->message, sizeof stream->message, format, arguments));
  return 1;
}
int on_tiff_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

tmsize_t read_tiff(thandle_t handle, void* to, tmsize_t size) {
  auto* stream = static_cast<TiffStream*>(handle);
  const uint64_t left = stream->bytes.size() - std::min<uint64_t>(stream->at, stream->bytes.size());
  const uint64_t count = std::min<uint64_t>(left, static_cast<uint64_t>(std::max<tmsize_t>(size, 0)));
  if (count > 0) std::memcpy(to, stream->bytes.data() + stream->at, count);
  stream->at += count;
  return static_cast<tmsize_t>(count);
}
tmsize_t write_tiff(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek_tiff(thandle_t handle, toff_t offset, int from) {
  auto* stream = static_cast<TiffStream*>(handle);
  if (from == SEEK_CUR) offset += stream->at;
  if (from == SEEK_END) offset += stream->bytes.size();
  return stream->at = offset;
}
int close_tiff(thandle_t) { return 0; }
toff_t size_of_tiff(thandle_t handle) { return static_cast<TiffStream*>(handle)->bytes.size(); }
/// It reads where the bytes lie, and copies what it would change.
int map_tiff(thandle_t handle, void** base, toff_t* size) {
  const Bytes bytes = static_cast<TiffStream*>(handle)->bytes;
  *base = const_cast<uint8_t*>(bytes.data());
  *size = bytes.size();
  return 1;
}
void unmap_tiff(thandle_t, void*, toff_t) {}

struct TiffCloser {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using TiffHandle = std::unique_ptr<TIFF, TiffCloser>;

std::unexpected<Error> tiff_error(const TiffStream& stream) {
  return image_error(fmt::format("the TIFF cannot be decoded: {}",
                                 stream.message[0] ? stream.message : "its data is damaged or cut off"));
}

Result<TiffHandle> open_tiff(TiffStream& stream, const TiffLayout& layout, int64_t most_memory) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_tiff_error, &stream);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_tiff_warning, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most_memory);
  // "h": it shall not read the first directory, which need not be the picture's; "c": strips are as large as
  // the file says.
  TiffHandle tiff(TIFFClientOpenExt("TIFF", "rhc", &stream, read_tiff, write_tiff, seek_tiff, close_tiff,
                                    size_of_tiff, map_tiff, unmap_tiff, options.get()));
  if (!tiff || !TIFFSetSubDirectory(tiff.get(), static_cast<uint64_t>(layout.directory)))
    return tiff_error(stream);
  uint32_t width = 0, height = 0, tile_width = 0, tile_height = 0;
  uint16_t bits = 0, samples = 0, planar = 0, compression = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_PLANARCONFIG, &planar);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_COMPRESSION, &compression);
  if (TIFFIsTiled(tiff.get())) {
    TIFFGetField(tiff.get(), TIFFTAG_TILEWIDTH, &tile_width);
    TIFFGetField(tiff.get(), TIFFTAG_TILELENGTH, &tile_height);
  }
  if (width != layout.width || height != layout.height || bits != layout.bits || samples != layout.samples ||
      (planar == PLANARCONFIG_SEPARATE && samples > 1) != layout.is_planar ||
      compression != layout.compression || tile_width != layout.tile_width ||
      tile_height != layout.tile_height)
    return image_error("the TIFF cannot be decoded: its headers contradict each other");
  if (!TIFFIsCODECConfigured(compression))
    return image_error(
        fmt::format("the TIFF is compressed by method {}, which this machine's libtiff lacks", compression),
        "save it with LZW or deflate compression");
  if (compression == COMPRESSION_JPEG && layout.color == TiffColor::kYCbCr)
    TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  return tiff;
}

/// Samples as they lie in a row of the file, as samples of 8 or 16 bits or floats.
class SampleReader {
 public:
  explicit SampleReader(const TiffLayout& layout) : layout_(layout) {}

  /// Bytes of a sample that comes out.
  int64_t bytes() const { return layout_.is_float ? 4 : layout_.bits > 8 ? 2 : 1; }
  /// Whether rows are what is wanted already.
  bool is_plain() const {
    return layout_.is_float ? layout_.bits == 32 : layout_.bits == 8 || layout_.bits == 16;
  }
  /// Samples `first` to `first + count - 1` of a row to every `step`-th place.
  void read(const uint8_t* row, int64_t first, int64_t count, uint8_t* out, int64_t step) const {
    if (layout_.is_float) return read_floats(row, first, count, out, step);
    switch (layout_.bits) {
      case 8:
        return copy<uint8_t>(row, first, count, out, step);
      case 16:
        return copy<uint16_t>(row, first, count, out, step);
      case 12:
        return read_twelve(row, first, count, out, step);
      default:
        return read_few(row, first, count, out, step);
    }
  }

 private:
  template <class T>
  static void copy(const uint8_t* row, int64_t first, int64_t count, uint8_t* out, int64_t step) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    if (step == 1) {
      std::memcpy(out, row + first * kSize, static_cast<size_t>(count * kSize));
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(out + i * step * kSize, row + (first + i) * kSize, sizeof(T));
  }

  void read_floats(const uint8_t* row, int64_t first, int64_t count, uint8_t* out, int64_t step) const {
    if (layout_.bits == 32) return copy<float>(row, first, count, out, step);
    const DType type = layout_.bits == 16 ? DType::kF16 : DType::kF64;
    for (int64_t i = 0; i < count; ++i) {
      const Cell cell = load_cell(type, row + (first + i) * (layout_.bits / 8));
      const auto value = static_cast<float>(cell_to_double(type, cell));
      std::memcpy(out + i * step * 4, &value, sizeof value);
    }
  }

  /// Two samples in three bytes, the first one's high bits first.
  static void read_twelve(const uint8_t* row, int64_t first, int64_t count, uint8_t* out, int64_t step) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t bit = 12 * (first + i);
      const uint8_t* at = row + bit / 8;
      const auto value =
          static_cast<uint16_t>(bit % 8 == 0 ? at[0] << 4 | at[1] >> 4 : (at[0] & 15) << 8 | at[1]);
      std::memcpy(out + i * step * 2, &value, sizeof value);
    }
  }

  /// 1, 2 and 4 bits, spread over a byte's range; indices into a palette as they are.
  void read_few(const uint8_t* row, int64_t first, int64_t count, uint8_t* out, int64_t step) const {
    const int bits = layout_.bits, most = (1 << bits) - 1;
    const int factor = layout_.color == TiffColor::kPalette ? 1 : 255 / most;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t bit = bits * (first + i);
      const int value = row[bit / 8] >> (8 - bits - bit % 8) & most;
      out[i * step] = static_cast<uint8_t>(value * factor);
    }
  }

  const TiffLayout& layout_;
};

/// What a row's samples are to a sink: grey the right way round, palettes and inks as RGB.
class RowColors {
 public:
  Status prepare(TIFF* tiff, const TiffLayout& layout) {
    layout_ = &layout;
    if (layout.color != TiffColor::kPalette) return {};
    uint16_t* channels[3] = {};
    if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &channels[0], &channels[1], &channels[2]))
      return image_error("the TIFF cannot be decoded: its palette is missing");
    const size_t entries = size_t{1} << layout.bits;
    palette_.resize(3 * entries);
    for (size_t i = 0; i < palette_.size(); ++i) palette_[i] = channels[i % 3][i / 3];
    // Some writers state bytes.
    if (std::all_of(palette_.begin(), palette_.end(), [](uint16_t v) { return v < 256; }))
      for (uint16_t& value : palette_) value = static_cast<uint16_t>(value * 257);
    return {};
  }

  bool leaves_rows() const {
    return layout_->color != TiffColor::kPalette && layout_->color != TiffColor::kInks &&
           (layout_->color != TiffColor::kWhiteIsZero || layout_->is_float);
  }
  /// Of a pixel that comes out.
  int64_t pixel_bytes() const { return layout_->channels() * layout_->row_bits() / 8; }

  void convert(const uint8_t* samples, int64_t pixels, uint8_t* out) const {
    if (layout_->color == TiffColor::kPalette) {
      for (int64_t x = 0; x < pixels; ++x)
        std::memcpy(out + 6 * x, &palette_[size_t{3} * samples[x]], 3 * sizeof(uint16_t));
    } else if (layout_->row_bits() == 16) {
      convert_as<uint16_t>(samples, pixels, out);
    } else {
      convert_as<uint8_t>(samples, pixels, out);
    }
  }

 private:
  template <class T>
  void convert_as(const uint8_t* samples, int64_t pixels, uint8_t* out) const {
    const auto white = static_cast<uint32_t>(layout_->white());
    const int count = layout_->samples;
    const auto sample = [&](int64_t i) {
      T value;
      std::memcpy(&value, samples + i * static_cast<int64_t>(sizeof value), sizeof value);
      return uint32_t{value};
    };
    const auto put = [&](int64_t i, uint32_t value) {
      const auto narrow = static_cast<T>(value);
      std::memcpy(out + i * static_cast<int64_t>(sizeof narrow), &narrow, sizeof narrow);
    };
    if (layout_->color == TiffColor::kInks) {
      for (int64_t x = 0; x < pixels; ++x) {
        const uint32_t black = white - sample(x * count + 3);
        for (int c = 0; c < 3; ++c)
          put(3 * x + c, ((white - sample(x * count + c)) * black + white / 2) / white);
      }
      return;
    }
    // Of grey the first sample is inverted; what comes behind it (alpha) is not.
    for (int64_t x = 0; x < pixels; ++x)
      for (int c = 0; c < count; ++c) {
        const uint32_t value = sample(x * count + c);
        put(x * count + c, c == 0 ? white - value : value);
      }
  }

  const TiffLayout* layout_ = nullptr;
  std::vector<uint16_t> palette_;  ///< r, g, b, …
};

/// Bytes of a row of `pixels` pixels as it lies in the file, of one plane or of all samples.
int64_t stored_row_bytes(const TiffLayout& layout, int64_t pixels) {
  return (pixels * (layout.is_planar ? 1 : layout.samples) * layout.bits + 7) / 8;
}

/// The chunks that are decoded as a whole: tiles or strips.
struct TiffChunks {
  int64_t height, width;
  explicit TiffChunks(const TiffLayout& layout)
      : height(layout.has_tiles() ? layout.tile_height : layout.strip_rows),
        width(layout.has_tiles() ? layout.tile_width : layout.width) {}
};

/// Scratch of decoding `columns` columns.
struct TiffNeeds {
  int64_t chunk = 0;   ///< as it comes from libtiff: a line, or a chunk
  int64_t band = 0;    ///< samples of the window's part of a band of chunks
  int64_t colors = 0;  ///< a converted row
  int64_t all() const { return chunk + band + colors; }
};

/// Strips of plain lines come line by line where they are large: a whole one is faster, but takes memory.
bool comes_by_lines(const TiffLayout& layout) {
  constexpr int64_t kMostWhole = 1 << 20;
  return !layout.has_tiles() && !layout.is_planar &&
         stored_row_bytes(layout, layout.width) * layout.strip_rows > kMostWhole;
}

TiffNeeds needs_of(const TiffLayout& layout, int64_t columns) {
  if (layout.comes_as_rgba()) return {.chunk = 4 * layout.width * layout.height};
  const SampleReader reader(layout);
  const int64_t row = columns * layout.samples * reader.bytes();
  TiffNeeds out;
  out.colors = (columns * layout.channels() * layout.row_bits() / 8 + 63) / 64 * 64;
  if (comes_by_lines(layout)) {
    out.chunk = (stored_row_bytes(layout, layout.width) + 63) / 64 * 64;
    out.band = (row + 63) / 64 * 64;
    return out;
  }
  const TiffChunks chunks(layout);
  out.chunk = (stored_row_bytes(layout, chunks.width) * chunks.height + 63) / 64 * 64;
  out.band = (row * std::min(chunks.height, layout.height) + 63) / 64 * 64;
  return out;
}

class TiffDecoder {
 public:
  TiffDecoder(const DecodeJob& job, const TiffLayout& layout, TIFF* tiff, const TiffStream& stream)
      : job_(job), layout_(layout), tiff_(tiff), stream_(stream), reader_(layout) {}

  Status run() {
    if (layout_.comes_as_rgba()) return decode_rgba();
    GALATEA_TRY(colors_.prepare(tiff_, layout_));
    const TiffNeeds needs = needs_of(layout_, job_.stored.width());
    const auto memory = job_.scratch.bytes(needs.all());
    if (!memory) return std::unexpected(memory.error());
    chunk_ = *memory;
    band_ = chunk_ + needs.chunk;
    converted_row_ = band_ + needs.band;
    RowSink sink = sink_of(layout_.channels());
    return comes_by_lines(layout_) ? decode_lines(sink) : decode_chunks(sink);
  }

 private:
  RowSink sink_of(int channels) const {
    const ImageType type = job_.options.type;
    const bool converted = type == ImageType::kAny || (type == ImageType::kRgb && channels == 3) ||
                           (type == ImageType::kGray && channels == 1);
    return job_.sink(channels, layout_.row_bits(), converted);
  }

  Status decode_rgba() {
    // Its own turning would come on top of ours.
    TIFFSetField(tiff_, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    const int64_t stride = 4 * layout_.width;
    const auto memory = job_.scratch.bytes(stride * layout_.height);
    if (!memory) return std::unexpected(memory.error());
    std::memset(*memory, 0, static_cast<size_t>(stride * layout_.height));
    if (!TIFFReadRGBAImageOriented(tiff_, static_cast<uint32_t>(layout_.width),
                                   static_cast<uint32_t>(layout_.height),
                                   reinterpret_cast<uint32_t*>(*memory), ORIENTATION_TOPLEFT, 1))
      return tiff_error(stream_);
    // Red stands in the low byte of each number.
    RowSink sink = job_.sink(4, 8, false);
    const Window& window = job_.stored;
    for (int64_t y = window.y0; y < window.y1; ++y)
      sink.put(y - window.y0, *memory + y * stride + 4 * window.x0);
    return {};
  }

  /// A row's samples, from the window's first column, on their way into the sink.
  void put(RowSink& sink, int64_t y, const uint8_t* samples) {
    if (!colors_.leaves_rows()) {
      colors_.convert(samples, job_.stored.width(), converted_row_);
      samples = converted_row_;
    }
    sink.put(y - job_.stored.y0, samples);
  }

  Status decode_lines(RowSink& sink) {
    const Window& window = job_.stored;
    const int64_t samples = layout_.samples;
    if (TIFFScanlineSize(tiff_) != stored_row_bytes(layout_, layout_.width)) return tiff_error(stream_);
    // Lines of a strip come one behind the other.
    for (int64_t y = window.y0 - window.y0 % layout_.strip_rows; y < window.y1; ++y) {
      clear(stored_row_bytes(layout_, layout_.width));
      if (TIFFReadScanline(tiff_, chunk_, static_cast<uint32_t>(y), 0) < 0) return tiff_error(stream_);
      if (y < window.y0) continue;
      if (reader_.is_plain()) {
        put(sink, y, chunk_ + window.x0 * samples * reader_.bytes());
      } else {
        reader_.read(chunk_, window.x0 * samples, window.width() * samples, band_, 1);
        put(sink, y, band_);
      }
    }
    return {};
  }

  Status decode_chunks(RowSink& sink) {
    const Window& window = job_.stored;
    const TiffChunks chunks(layout_);
    const int planes = layout_.is_planar ? layout_.samples : 1;
    // Rows of a strip are what the sink takes.
    const bool is_direct = !layout_.has_tiles() && planes == 1 && reader_.is_plain() && colors_.leaves_rows();
    const int64_t band_row = window.width() * layout_.samples * reader_.bytes();
    for (int64_t top = window.y0 / chunks.height * chunks.height; top < window.y1; top += chunks.height) {
      const int64_t y0 = std::max(top, window.y0), y1 = std::min(top + chunks.height, window.y1);
      for (int64_t left = window.x0 / chunks.width * chunks.width; left < window.x1; left += chunks.width) {
        const int64_t x0 = std::max(left, window.x0), x1 = std::min(left + chunks.width, window.x1);
        for (int plane = 0; plane < planes; ++plane) {
          GALATEA_TRY(read_chunk(left, top, plane));
          if (is_direct) continue;
          for (int64_t y = y0; y < y1; ++y)
            place(chunk_ + (y - top) * stored_row_bytes(layout_, chunks.width), x0 - left, x1 - x0, plane,
                  band_ + (y - y0) * band_row, x0 - window.x0);
        }
      }
      if (is_direct) {
        const int64_t row = stored_row_bytes(layout_, chunks.width);
        sink.put(y0 - window.y0, chunk_ + (y0 - top) * row + window.x0 * layout_.samples * reader_.bytes(),
                 row, y1 - y0);
        continue;
      }
      for (int64_t y = y0; y < y1; ++y) put(sink, y, band_ + (y - y0) * band_row);
    }
    return {};
  }

  /// Pixels of a chunk's row to their places in the band's.
  void place(const uint8_t* row, int64_t first, int64_t count, int plane, uint8_t* out, int64_t at) const {
    const int64_t samples = layout_.samples, bytes = reader_.bytes();
    if (layout_.is_planar)
      reader_.read(row, first, count, out + (at * samples + plane) * bytes, samples);
    else
      reader_.read(row, first * samples, count * samples, out + at * samples * bytes, 1);
  }

  /// The chunk at a place, whole: a damaged one may come out differently in parts.
  Status read_chunk(int64_t x, int64_t y, int plane) {
    const TiffChunks chunks(layout_);
    const auto column = static_cast<uint32_t>(x), row = static_cast<uint32_t>(y);
    const int64_t rows = layout_.has_tiles() ? chunks.height : std::min(chunks.height, layout_.height - y);
    const tmsize_t bytes = stored_row_bytes(layout_, chunks.width) * rows;
    clear(bytes);
    tmsize_t got = -1;
    if (layout_.has_tiles()) {
      if (TIFFTileSize(tiff_) == bytes)
        got = TIFFReadEncodedTile(tiff_, TIFFComputeTile(tiff_, column, row, 0, static_cast<uint16_t>(plane)),
                                  chunk_, bytes);
    } else if (TIFFVStripSize(tiff_, static_cast<uint32_t>(rows)) == bytes) {
      got = TIFFReadEncodedStrip(tiff_, TIFFComputeStrip(tiff_, row, static_cast<uint16_t>(plane)), chunk_,
                                 bytes);
    }
    if (got != bytes) return tiff_error(stream_);
    return {};
  }

  /// Libtiff may say that it has decoded what it has left as it was.
  void clear(int64_t bytes) { std::memset(chunk_, 0, static_cast<size_t>(bytes)); }

  const DecodeJob& job_;
  const TiffLayout& layout_;
  TIFF* tiff_;
  const TiffStream& stream_;
  SampleReader reader_;
  RowColors colors_;
  uint8_t *chunk_ = nullptr, *band_ = nullptr, *converted_row_ = nullptr;
};

/// What libtiff and the codecs below it take of their own: bytes of a chunk as stored (where they are turned
/// round), tables of strips, rows of JPEG; whole pictures of coefficients where a JPEG is progressive.
int64_t libtiff_bytes(Bytes bytes, const TiffLayout& layout) {
  constexpr int64_t kStateOfCodecs = 4 << 20, kJpeg = 7;
  const TiffChunks chunks(layout);
  const int64_t pixels = chunks.width * std::min(chunks.height, layout.height + 8192);
  const int64_t coefficients = layout.compression == kJpeg ? 2 * layout.samples * pixels : 0;
  return kStateOfCodecs + 2 * static_cast<int64_t>(bytes.size()) + coefficients;
}

/// A chunk of absurd extents must not ask for memory.
Status check_chunk(const TiffLayout& layout) {
  const TiffChunks chunks(layout);
  constexpr int64_t kMostSide = 1 << 20;
  const int64_t most_row = kMaxPixels * 16;
  if (chunks.width > std::max(layout.width, kMostSide) ||
      chunks.height > std::max(layout.height, kMostSide) || chunks.width > kMaxPixels / chunks.height ||
      layout.samples * layout.width > most_row)
    return image_error(
        fmt::format("the TIFF states tiles of {} x {} pixels, which is beyond the limit of 2^28",
                    chunks.height, chunks.width));
  return {};
}

}  // namespace

Status decode_tiff(const DecodeJob& job) {
  GALATEA_ASSIGN(const TiffLayout layout, read_tiff_layout(job.bytes, job.options.page));
  GALATEA_TRY(check_chunk(layout));
  TiffStream stream{.bytes = job.bytes};
  // It asks for no block larger than a picture, a chunk, or the file.
  const int64_t most = libtiff_bytes(job.bytes, layout) + needs_of(layout, layout.width).all();
  GALATEA_ASSIGN(const TiffHandle tiff, open_tiff(stream, layout, most));
  return TiffDecoder(job, layout, tiff.get(), stream).run();
}

int64_t tiff_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page) {
  const auto layout = read_tiff_layout(bytes, page);
  if (!layout || !check_chunk(*layout)) return 0;  // decoding will fail
  return libtiff_bytes(bytes, *layout) + needs_of(*layout, header.width).all();
}

}  // namespace galatea::native
