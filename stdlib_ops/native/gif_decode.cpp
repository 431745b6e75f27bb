// GIF, by hand: the first picture of a file, on the canvas of the logical screen (GIF89a, W3C's copy).
//
// Comes in: a whole file and a window. Goes out: its rows, RGB, or RGBA where pixels of the canvas are
// transparent: those of the transparent index, and those that the picture does not cover, which are black.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

uint32_t gif16(Bytes bytes, size_t at) { return static_cast<uint32_t>(bytes[at] | bytes[at + 1] << 8); }

std::unexpected<Error> gif_damaged() { return image_error("the GIF is damaged or cut off"); }

struct GifLayout {
  int64_t height = 0, width = 0;                     ///< of the canvas
  int64_t top = 0, left = 0, rows = 0, columns = 0;  ///< of the picture on it
  bool is_interlaced = false;
  std::optional<int> transparent;
  Bytes palette;      ///< r, g, b, …
  int code_bits = 0;  ///< of LZW's first codes, without the two special ones
  size_t data = 0;    ///< where its blocks begin
  bool covers() const { return top <= 0 && left <= 0 && rows >= height && columns >= width; }
  int channels() const { return transparent || !covers() ? 4 : 3; }
};

/// Steps over blocks of data; their last one is empty.
bool skip_blocks(Bytes bytes, size_t& at) {
  while (at < bytes.size()) {
    const size_t length = bytes[at++];
    if (length == 0) return true;
    if (length > bytes.size() - at) return false;
    at += length;
  }
  return false;
}

/// A palette of 2 to 256 colours, as the flags in front of it say; empty where they say none.
std::optional<Bytes> take_palette(Bytes bytes, uint8_t flags, size_t& at) {
  if ((flags & 0x80) == 0) return Bytes{};
  const size_t length = size_t{3} << ((flags & 7) + 1);
  if (length > bytes.size() - at) return std::nullopt;
  const Bytes palette = bytes.subspan(at, length);
  at += length;
  return palette;
}

Result<GifLayout> read_gif_layout(Bytes bytes) {
  GifLayout out;
  if (bytes.size() < 13) return gif_damaged();
  out.width = gif16(bytes, 6);
  out.height = gif16(bytes, 8);
  size_t at = 13;
  const auto all = take_palette(bytes, bytes[10], at);
  if (!all) return gif_damaged();
  while (at < bytes.size()) {
    const uint8_t kind = bytes[at++];
    if (kind == '!') {  // an extension; of graphic control it has four bytes
      if (bytes.size() - at < 1) return gif_damaged();
      const uint8_t label = bytes[at++];
      if (label == 0xF9 && bytes.size() - at >= 5 && bytes[at] == 4) {
        out.transparent.reset();
        if (bytes[at + 1] & 1) out.transparent = bytes[at + 4];
      }
      if (!skip_blocks(bytes, at)) return gif_damaged();
      continue;
    }
    if (kind == ';') return image_error("the GIF holds no picture");
    if (kind != ',' || bytes.size() - at < 9) return gif_damaged();
    out.left = gif16(bytes, at);
    out.top = gif16(bytes, at + 2);
    out.columns = gif16(bytes, at + 4);
    out.rows = gif16(bytes, at + 6);
    const uint8_t flags = bytes[at + 8];
    at += 9;
    out.is_interlaced = (flags & 0x40) != 0;
    const auto own = take_palette(bytes, flags, at);
    if (!own || at >= bytes.size()) return gif_damaged();
    out.palette = own->empty() ? *all : *own;
    if (out.palette.empty()) return image_error("the GIF has no palette");
    out.code_bits = bytes[at++];
    if (out.code_bits < 1 || out.code_bits > 8 || out.rows == 0 || out.columns == 0) return gif_damaged();
    out.data = at;
    return out;
  }
  return gif_damaged();
}

/// Codes of a stream of blocks, least significant bits first.
class GifCodes {
 public:
  GifCodes(Bytes bytes, size_t at) : bytes_(bytes), at_(at) {}
  /// -1: the data is at its end.
  int next(int bits) {
    while (held_ < bits) {
      if (left_ == 0) {
        if (at_ >= bytes_.size() || bytes_[at_] == 0) return -1;
        left_ = bytes_[at_++];
      }
      if (at_ >= bytes_.size()) return -1;
      bits_ |= static_cast<uint32_t>(bytes_[at_++]) << held_;
      held_ += 8;
      --left_;
    }
    const int code = static_cast<int>(bits_ & ((1U << bits) - 1));
    bits_ >>= bits;
    held_ -= bits;
    return code;
  }

 private:
  Bytes bytes_;
  size_t at_;
  size_t left_ = 0;
  uint32_t bits_ = 0;
  int held_ = 0;
};

/// Indices of `count` pixels, in the order of the data; false where it ends before or is no LZW.
bool unpack_gif(Bytes bytes, const GifLayout& gif, uint8_t* out, int64_t count) {
  constexpr int kMostCodes = 4096;
  const int clear = 1 << gif.code_bits, end = clear + 1;
  // A code is another one and a byte more.
  std::array<uint16_t, kMostCodes> before{};
  std::array<uint8_t, kMostCodes> last{};
  std::array<uint16_t, kMostCodes> length{};
  for (int code = 0; code < clear; ++code)
    last[static_cast<size_t>(code)] = static_cast<uint8_t>(code), length[static_cast<size_t>(code)] = 1;
  GifCodes codes(bytes, gif.data);
  int bits = gif.code_bits + 1, next = end + 1, previous = -1;
  int64_t done = 0;
  while (done < count) {
    const int code = codes.next(bits);
    if (code < 0 || code == end) return false;
    if (code == clear) {
      bits = gif.code_bits + 1, next = end + 1, previous = -1;
      continue;
    }
    if (code > next || (code == next && previous < 0) || (code > end && previous < 0)) return false;
    // The code that is about to be made is the previous one with its own first byte.
    const int known = code == next ? previous : code;
    const auto run = static_cast<int64_t>(length[static_cast<size_t>(known)]);
    uint8_t first = 0;
    int walk = known;
    for (int64_t i = run - 1; i >= 0; --i) {
      first = last[static_cast<size_t>(walk)];
      if (done + i < count) out[done + i] = first;
      walk = before[static_cast<size_t>(walk)];
    }
    done += run;
    if (code == next && done < count) out[done] = first;
    if (code == next) ++done;
    if (previous >= 0 && next < kMostCodes) {
      const auto made = static_cast<size_t>(next);
      before[made] = static_cast<uint16_t>(previous);
      last[made] = first;
      length[made] = static_cast<uint16_t>(length[static_cast<size_t>(previous)] + 1);
      if (++next == 1 << bits && bits < 12) ++bits;
    }
    previous = code;
  }
  return true;
}

/// The row of the picture that comes at place `i` of its data.
int64_t gif_row(const GifLayout& gif, int64_t i) {
  if (!gif.is_interlaced) return i;
  struct Pass {
    int64_t first, step;
  };
  for (const Pass pass : {Pass{0, 8}, {4, 8}, {2, 4}, {1, 2}}) {
    const int64_t rows = gif.rows > pass.first ? (gif.rows - pass.first + pass.step - 1) / pass.step : 0;
    if (i < rows) return pass.first + i * pass.step;
    i -= rows;
  }
  return 0;
}

int64_t gif_scratch(const GifLayout& gif) { return gif.rows * gif.columns + 8 * gif.rows + 4 * gif.width; }

}  // namespace

bool is_gif(Bytes bytes) { return starts_with(bytes, "GIF87a") || starts_with(bytes, "GIF89a"); }

Result<ImageHeader> read_gif_header(Bytes bytes, int64_t /*page*/) {
  GALATEA_ASSIGN(const GifLayout gif, read_gif_layout(bytes));
  ImageHeader header;
  header.height = gif.height;
  header.width = gif.width;
  header.channels = gif.channels();
  return header;
}

Status decode_gif(const DecodeJob& job) {
  GALATEA_ASSIGN(const GifLayout gif, read_gif_layout(job.bytes));
  // A code stands for 4096 pixels at most, and has 2 bits at least.
  if (gif.rows * gif.columns / (4096 * 4) > static_cast<int64_t>(job.bytes.size() - gif.data))
    return gif_damaged();
  const auto memory = job.scratch.bytes(gif_scratch(gif));
  if (!memory) return std::unexpected(memory.error());
  uint8_t* const row_starts = *memory;  // offsets of the picture's rows, as numbers of 8 bytes
  uint8_t* const indices = row_starts + 8 * gif.rows;
  uint8_t* const line = indices + gif.rows * gif.columns;
  for (int64_t i = 0; i < gif.rows; ++i) {
    const int64_t at = i * gif.columns;
    std::memcpy(row_starts + 8 * gif_row(gif, i), &at, sizeof at);
  }
  if (!unpack_gif(job.bytes, gif, indices, gif.rows * gif.columns)) return gif_damaged();
  const int channels = gif.channels();
  const ImageType type = job.options.type;
  RowSink sink = job.sink(channels, 8, type == ImageType::kAny || (type == ImageType::kRgb && channels == 3));
  const Window& window = job.stored;
  for (int64_t y = window.y0; y < window.y1; ++y) {
    std::memset(line, 0, static_cast<size_t>(window.width() * channels));
    const int64_t row = y - gif.top;
    if (row >= 0 && row < gif.rows) {
      int64_t start = 0;
      std::memcpy(&start, row_starts + 8 * row, sizeof start);
      for (int64_t x = std::max(window.x0, gif.left); x < std::min(window.x1, gif.left + gif.columns); ++x) {
        const size_t index = indices[start + x - gif.left];
        uint8_t* pixel = line + (x - window.x0) * channels;
        // An index without a colour is black.
        if (3 * index < gif.palette.size()) std::memcpy(pixel, &gif.palette[3 * index], 3);
        if (channels == 4)
          pixel[3] = gif.transparent && index == static_cast<size_t>(*gif.transparent) ? 0 : 255;
      }
    }
    sink.put(y - window.y0, line);
  }
  return {};
}

int64_t gif_working_bytes(Bytes bytes, const ImageHeader& /*header*/, int64_t /*page*/) {
  const auto gif = read_gif_layout(bytes);
  return gif ? gif_scratch(*gif) : 0;
}

}  // namespace galatea::native
