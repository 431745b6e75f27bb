// The pixels of a PNG inflated at once: libdeflate takes a whole stream, in less than half the time of zlib.
//
// Comes in: a whole file. Goes out: its filtered rows, for libpng to read as if they had been stored
// (PngBytes). A file that has anything unusual, or is damaged, is left to libpng from its start.
#pragma once

#include <optional>

#include "stdlib_ops/native/image.h"

namespace galatea::native {

/// More are inflated row by row.
inline constexpr int64_t kMostInflatedPng = int64_t{32} << 20;

struct PngPixels {
  size_t first = 0;     ///< where the first IDAT begins
  size_t chunks = 0;    ///< they stand one behind the other
  size_t deflated = 0;  ///< bytes in them
  size_t inflated = 0;  ///< bytes of the rows, with a filter each
  /// Memory that inflating takes: the rows, and the stream where it lies in several chunks.
  int64_t bytes() const { return static_cast<int64_t>(inflated + (chunks > 1 ? deflated : 0)); }
};

/// Where they are; nothing of interlaced files, of large ones (memory stays with their rows), and where the chunks
/// are not what is usual.
std::optional<PngPixels> find_png_pixels(Bytes file);

/// Inflates them into `memory` (bytes() of it); the rows, or nothing where a checksum or a length is wrong.
std::optional<Bytes> inflate_png_pixels(Bytes file, const PngPixels& pixels, uint8_t* memory);

/// A file's bytes in order, its pixels as blocks that are stored (RFC 1951, section 3.2.4), where there are rows.
/// A plain object: a longjmp may leave it.
class PngBytes {
 public:
  /// With rows, the file up to the first IDAT.
  explicit PngBytes(Bytes file, Bytes rows = {}) : file_(file), rows_(rows) {}
  bool has_rows() const { return !rows_.empty(); }
  /// False: there are no more.
  bool take(uint8_t* out, size_t count);

 private:
  void next_frame();
  void put(uint32_t value, int bytes, bool little);

  Bytes file_, rows_;
  size_t at_ = 0, rows_at_ = 0, block_end_ = 0;
  uint8_t frame_[24] = {};  ///< what stands between two blocks
  size_t frame_at_ = 0, frame_size_ = 0;
  bool has_begun_ = false, is_done_ = false;
};

}  // namespace galatea::native
