#include "stdlib_ops/native/png_pixels.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

constexpr size_t kMostInflated = kMostInflatedPng;
constexpr size_t kMostStored = 65535;
constexpr size_t kHeaderEnd = 33;  ///< of IHDR, which comes first

uint32_t big_number(const uint8_t* at) {
  return static_cast<uint32_t>(at[0]) << 24 | static_cast<uint32_t>(at[1]) << 16 |
         static_cast<uint32_t>(at[2]) << 8 | at[3];
}

/// Filtered rows of a file without interlacing; 0: none that is known, or too many bytes.
size_t bytes_of_rows(Bytes file) {
  const uint64_t width = big_number(&file[16]), height = big_number(&file[20]);
  const uint64_t channels[] = {1, 0, 3, 1, 2, 0, 4};
  const uint64_t bits = file[25] < std::size(channels) ? file[24] * channels[file[25]] : 0;
  if (bits == 0 || width > kMostInflated || height > kMostInflated) return 0;
  const uint64_t bytes = ((width * bits + 7) / 8 + 1) * height;
  return bytes > kMostInflated ? 0 : bytes;
}

struct DecompressorEnd {
  void operator()(libdeflate_decompressor* one) const { libdeflate_free_decompressor(one); }
};

}  // namespace

std::optional<PngPixels> find_png_pixels(Bytes file) {
  if (file.size() < kHeaderEnd || big_number(&file[8]) != 13 || !starts_with(file, "IHDR", 12) ||
      file[28] != 0)
    return std::nullopt;
  PngPixels pixels;
  pixels.inflated = bytes_of_rows(file);
  if (pixels.inflated == 0) return std::nullopt;
  for (size_t at = kHeaderEnd; file.size() - at >= 12;) {
    const size_t length = big_number(&file[at]);
    if (length > file.size() - at - 12) return std::nullopt;
    if (starts_with(file, "IDAT", at + 4)) {
      if (pixels.chunks == 0) pixels.first = at;
      ++pixels.chunks;
      pixels.deflated += length;
    } else if (pixels.chunks > 0) {
      break;
    }
    at += 12 + length;
  }
  // What grows when it is deflated is no picture.
  if (pixels.chunks == 0 || pixels.deflated > pixels.inflated + 1024) return std::nullopt;
  return pixels;
}

std::optional<Bytes> inflate_png_pixels(Bytes file, const PngPixels& pixels, uint8_t* memory) {
  uint8_t* const gathered = memory + pixels.inflated;
  const uint8_t* stream = gathered;
  size_t at = pixels.first, done = 0;
  for (size_t chunk = 0; chunk < pixels.chunks; ++chunk) {
    const size_t length = big_number(&file[at]);
    if (libdeflate_crc32(0, &file[at + 4], 4 + length) != big_number(&file[at + 8 + length]))
      return std::nullopt;
    if (pixels.chunks == 1)
      stream = &file[at + 8];
    else
      std::memcpy(gathered + done, &file[at + 8], length);
    done += length;
    at += 12 + length;
  }
  // A smaller window than the largest is one that libpng holds the stream against.
  if (pixels.deflated < 6 || stream[0] != 0x78) return std::nullopt;
  const std::unique_ptr<libdeflate_decompressor, DecompressorEnd> decompressor(
      libdeflate_alloc_decompressor());
  size_t made = 0;
  if (!decompressor || libdeflate_zlib_decompress(decompressor.get(), stream, pixels.deflated, memory,
                                                  pixels.inflated, &made) != LIBDEFLATE_SUCCESS)
    return std::nullopt;
  if (made != pixels.inflated) return std::nullopt;
  return Bytes(memory, made);
}

void PngBytes::put(uint32_t value, int bytes, bool little) {
  for (int byte = 0; byte < bytes; ++byte)
    frame_[frame_size_++] = static_cast<uint8_t>(value >> 8 * (little ? byte : bytes - 1 - byte));
}

/// What stands before the next block: of the first one, the chunk's and the stream's beginning; behind the last one,
/// the checksums (the chunk's is not looked at).
void PngBytes::next_frame() {
  frame_at_ = frame_size_ = 0;
  if (rows_at_ == rows_.size()) {
    put(libdeflate_adler32(1, rows_.data(), rows_.size()), 4, false);
    put(0, 4, false);
    is_done_ = true;
    return;
  }
  const size_t blocks = (rows_.size() + kMostStored - 1) / kMostStored;
  if (!std::exchange(has_begun_, true)) {
    put(static_cast<uint32_t>(2 + 5 * blocks + rows_.size() + 4), 4, false);
    put(0x49444154, 4, false);  // "IDAT"
    put(0x081D, 2, false);      // a window of 256 bytes: nothing refers to it
  }
  const size_t size = std::min(kMostStored, rows_.size() - rows_at_);
  block_end_ = rows_at_ + size;
  put(block_end_ == rows_.size(), 1, true);
  put(static_cast<uint32_t>(size), 2, true);
  put(~static_cast<uint32_t>(size), 2, true);
}

bool PngBytes::take(uint8_t* out, size_t count) {
  const auto copy = [&](const uint8_t* from, size_t there, size_t& at) {
    const size_t taken = std::min(count, there);
    std::memcpy(out, from, taken);
    out += taken;
    count -= taken;
    at += taken;
  };
  if (rows_.empty() && count > file_.size() - at_) return false;
  while (count > 0) {
    if (at_ < file_.size())
      copy(&file_[at_], file_.size() - at_, at_);
    else if (frame_at_ < frame_size_)
      copy(frame_ + frame_at_, frame_size_ - frame_at_, frame_at_);
    else if (rows_at_ < block_end_)
      copy(&rows_[rows_at_], block_end_ - rows_at_, rows_at_);
    else if (is_done_)
      return false;
    else
      next_frame();
  }
  return true;
}

}  // namespace galatea::native
