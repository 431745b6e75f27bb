// Encoded images: what the codecs share.
//
// Comes in: bytes of a file. Goes out: header facts without decoding, and pixels of a window, row by row,
// into a sink that converts colour, element type and orientation. Formats are recognised from content, never
// from a file name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/result.h"

namespace galatea::native {

using Bytes = std::span<const uint8_t>;

enum class ImageFormat : uint8_t {
  kUnknown,
  kJpeg,
  kPng,
  kWebp,
  kBmp,
  kTiff,
  kJpeg2000,
  kPnm,
  kGif,
  kAvif,
  kHeif
};
ImageFormat detect_format(Bytes bytes);
std::string_view format_name(ImageFormat format);
/// "JPEG, PNG, …": all that are known, for messages.
std::string known_formats();
/// The usual ending of its files, without the dot; "bin" for none.
std::string_view format_extension(ImageFormat format);
/// Whether files of a known format end so, in small letters and without the dot.
bool is_image_extension(std::string_view extension);

/// What `output_type` asks for; the numbers are DALIImageType's.
enum class ImageType : uint8_t { kRgb = 0, kBgr = 1, kGray = 2, kYCbCr = 3, kAny = 4 };

/// Facts of the header. Height and width are as stored (before EXIF orientation).
struct ImageHeader {
  ImageFormat format = ImageFormat::kUnknown;
  int64_t height = 0, width = 0;
  int channels = 3;  ///< as stored, palettes expanded, transparent colours (PNG tRNS) left out: 1, 2 (grey +
                     ///< alpha), 3, 4; TIFF and JPEG 2000 up to kMaxChannels
  int orientation = 1;       ///< EXIF 1..8; 1 where absent or invalid
  int bits = 8;              ///< per channel of the rows that decoding gives: 8 or 16, unsigned; 32: float
  double white = 255;        ///< the sample that stands for 1; of floats 1
  int least_eighths = 8;     ///< of its size, at which it can be decoded (1, 2 or 4), unless it is turned
  bool is_low_pass = false;  ///< a smaller image has its pixels where every n-th of this one lies, not amid n
};

/// Progressive files with more scans than this cost time out of proportion to their size.
inline constexpr int kMaxJpegScans = 256;
/// Rows of a JPEG that are decoded before they are passed on.
inline constexpr int kMostStripRows = 16;
/// Images with more pixels are refused as absurd (a header costs nothing to forge; memory does).
inline constexpr int64_t kMaxPixels = int64_t{1} << 28;
/// More channels than any instrument's file has; with more than 4, fewer pixels.
inline constexpr int kMaxChannels = 1024;

/// Reads the header of picture `page` (from 0) of the file. Errors: unknown format, damaged or truncated
/// header, absurd size, no such picture.
Result<ImageHeader> read_header(Bytes bytes, int64_t page = 0);
/// EXIF orientation in a TIFF block ("II*\0" or "MM\0*" …); 1 where there is none.
int orientation_from_exif(Bytes tiff);

/// Channels of the decoded tensor.
int decoded_channels(const ImageHeader& header, ImageType type);
/// Whether the orientation swaps height and width.
constexpr bool swaps_axes(int orientation) { return orientation >= 5; }

/// A window [y0, y1) x [x0, x1).
struct Window {
  int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;
  int64_t height() const { return y1 - y0; }
  int64_t width() const { return x1 - x0; }
};
/// The window of the stored image that shows up as `window` of the oriented image.
Window to_stored(const Window& window, const ImageHeader& header, int orientation);

/// Which JPEGs a device's JPEG engine decodes, where it has one.
enum class JpegEngineUse : uint8_t {
  kAlike,    ///< those that come out as the codec makes them, but for rounding: chroma of full size
  kNever,    ///< none
  kWherever  ///< all that it can, also those whose chroma it has to enlarge
};

/// What to decode.
struct DecodeOptions {
  ImageType type = ImageType::kRgb;
  DType dtype = DType::kU8;
  bool adjust_orientation = true;
  bool fast_idct = false;
  int eighths = 8;  ///< 1, 2 or 4: the image at that many eighths of its size; see least_eighths()
  /// Of device="mixed": a device decodes the Huffman codes of images with more pixels, too.
  int64_t hybrid_huffman_threshold = 1'000'000;
  JpegEngineUse engine = JpegEngineUse::kAlike;
  int64_t page = 0;  ///< which picture of a file that holds several
};
/// The least size at which the codec can decode the image, with positions that scale exactly; 8 where it is
/// turned or mirrored (its last block may reach past the image, so a mirrored edge lies off by a fraction).
constexpr int least_eighths(const ImageHeader& header, int orientation) {
  return orientation == 1 ? header.least_eighths : 8;
}

/// Takes stored rows of the window and writes the output tensor (HWC, dense).
class RowSink {
 public:
  /// `source_channels` and `source_bits` are those of the rows that put() gets: 8 or 16, in the machine's
  /// byte order, or 32 for floats; `header.white` is their white. `converted` says that the codec has done the
  /// colour conversion.
  RowSink(const ImageHeader& header, const Window& stored, const DecodeOptions& options, int orientation,
          int source_channels, int source_bits, bool converted, uint8_t* output);
  /// Row `y` of the stored window (from 0), starting at the window's first column.
  void put(int64_t y, const uint8_t* row) { put(y, row, 0, 1); }
  /// Rows `y` to `y + count - 1`, `stride` bytes apart. Where the orientation swaps axes, many at once are
  /// faster: each column of them is written as one run.
  void put(int64_t y, const uint8_t* rows, int64_t stride, int64_t count);

 private:
  /// Bytes of the output: where stored pixel (0, 0) goes, and how far from it its neighbours on the right
  /// and below.
  struct Walk {
    int64_t first, across, down;
  };
  Walk walk() const;
  bool is_bytes() const { return source_bits_ == 8 && white_ == 255; }
  void convert_row(const uint8_t* row, uint8_t* out, int64_t step) const;
  template <class Sample>
  void convert_samples(const uint8_t* row, uint8_t* out, int64_t step) const;

  Window stored_;
  DecodeOptions options_;
  int orientation_;
  int source_channels_, source_bits_;
  double white_;
  bool converted_;
  int channels_;
  int64_t pixel_bytes_, row_bytes_;
  uint8_t* output_;
};

/// Memory for a codec's strips, kept by a thread.
class Scratch {
 public:
  virtual ~Scratch() = default;
  virtual Result<uint8_t*> bytes(int64_t size) = 0;
};
/// The same for functions that a longjmp may leave, where nothing may have a destructor: null where there is
/// an error.
uint8_t* scratch_or_null(Scratch& scratch, int64_t size, Error* error);
/// Whether it has written one; for want of memory it may have no words.
inline bool is_error(const Error& error) {
  return error.kind != ErrorKind::kUser || !error.diagnostics.empty();
}

/// Decodes `window` (in oriented coordinates if orientation is adjusted) into `output`, which has room for
/// it: dense HWC of options.dtype.
Status decode_window(Bytes bytes, const ImageHeader& header, const Window& window,
                     const DecodeOptions& options, Scratch& scratch, uint8_t* output);

/// The most memory that decode_window() takes for a picture of a file, beside its output.
int64_t decode_working_bytes(Bytes bytes, int64_t page = 0);
/// The same of all JPEG, PNG, WebP and BMP whose images are at most `height` x `width`: of those that are
/// decoded row by row, and of all, progressive JPEG, interlaced PNG and WebP included, whose image the library
/// has as a whole.
struct DecodeBounds {
  int64_t by_rows = 0, whole = 0;
};
DecodeBounds most_decode_working_bytes(int64_t height, int64_t width);

/// What each codec gets; `stored` is the window in stored coordinates, `orientation` 1 where it is not to be
/// applied.
struct DecodeJob {
  Bytes bytes;
  const ImageHeader& header;
  Window stored;
  const DecodeOptions& options;
  int orientation = 1;
  Scratch& scratch;
  uint8_t* output = nullptr;

  RowSink sink(int source_channels, int source_bits, bool converted) const {
    return RowSink(header, stored, options, orientation, source_channels, source_bits, converted, output);
  }
};

/// A format: what recognises it, and what reads it. All are rows of one table (image_formats.cpp).
struct Codec {
  ImageFormat format;
  std::string_view name;
  std::string_view extensions;  ///< of its files, the usual one first, with blanks between
  bool (*recognises)(Bytes bytes);
  /// `page` is 0 unless has_pages.
  Result<ImageHeader> (*read_header)(Bytes bytes, int64_t page);
  Status (*decode)(const DecodeJob& job);
  /// The most memory that decode() takes beside the output, without what every decoder has around it.
  int64_t (*working_bytes)(Bytes bytes, const ImageHeader& header, int64_t page);
  bool has_pages = false;  ///< a file may hold several pictures
};
/// Null where the bytes are of no known format.
const Codec* codec_of(Bytes bytes);

/// Errors about the image itself: code G0810, with what to do.
std::unexpected<Error> image_error(std::string message, std::string help = {});

}  // namespace galatea::native
