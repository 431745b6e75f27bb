// PNG by libpng: rows up to the window's last one; interlaced files whole. Where the window ends in the lower
// half, the pixels are inflated before (png_pixels.h), and libpng finds them stored.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <png.h>

#include "runtime/messages.h"
#include "stdlib_ops/native/image_codecs.h"
#include "stdlib_ops/native/png_pixels.h"

namespace galatea::native {
namespace {

struct Reader {
  PngBytes bytes;
  uint8_t* row;  ///< memory for one, or null
  char message[128];
  bool out_of_memory;
};

/// The library goes on without what it takes for dispensable, and calls other lacks of memory many names.
void* take_memory(png_structp png, png_alloc_size_t size) {
  void* memory = std::malloc(size);
  if (!memory) static_cast<Reader*>(png_get_mem_ptr(png))->out_of_memory = true;
  return memory;
}
void give_memory(png_structp, void* memory) { std::free(memory); }

void read_bytes(png_structp png, png_bytep out, png_size_t count) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (!reader->bytes.take(out, count)) png_error(png, "the data ends too early");
}

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* reader = static_cast<Reader*>(png_get_error_ptr(png));
  std::snprintf(reader->message, sizeof reader->message, "%s", message);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

/// Plain objects only: errors leave by longjmp.
bool decode_rows(Reader& reader, const DecodeJob& job, Error* scratch_error) {
  png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning, &reader,
                                             take_memory, give_memory);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info) {
    reader.out_of_memory = true;
    png_destroy_read_struct(&png, nullptr, nullptr);
    return false;
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, &reader, read_bytes);
  // A chunk may claim gigabytes; only IHDR, PLTE, tRNS and the pixels matter here (the header reader has seen
  // eXIf).
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(png, info);
  if (png_get_image_width(png, info) != job.header.width ||
      png_get_image_height(png, info) != job.header.height)
    png_error(png, "its headers contradict each other");
  // Deflate shrinks by 1032 at most: a small file that claims more is refused before memory is taken.
  auto claimed = static_cast<int64_t>(png_get_rowbytes(png, info)) * job.header.height;
  if (claimed / 1032 > static_cast<int64_t>(job.bytes.size())) png_error(png, "the data ends too early");
  // What was stored was held against its checksums when it was inflated.
  if (reader.bytes.has_rows()) {
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
    png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
  }
  png_set_expand(png);  // palettes to RGB, fewer bits to 8, tRNS to alpha, which is dropped
  if (job.header.bits == 16) png_set_swap(png);
  if (job.options.type != ImageType::kAny || (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) == 0)
    png_set_strip_alpha(png);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  auto row_bytes = static_cast<int64_t>(png_get_rowbytes(png, info));
  int channels = png_get_channels(png, info);
  int bits = png_get_bit_depth(png, info);
  int64_t pixel = int64_t{channels} * (bits / 8);
  int64_t rows = passes > 1 ? job.header.height : 1;
  uint8_t* memory = reader.row ? reader.row : scratch_or_null(job.scratch, row_bytes * rows, scratch_error);
  if (!memory) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  bool converted = channels == decoded_channels(job.header, job.options.type) &&
                   (job.options.type == ImageType::kRgb || job.options.type == ImageType::kGray ||
                    job.options.type == ImageType::kAny) &&
                   !(job.options.type == ImageType::kRgb && channels == 1);
  RowSink sink = job.sink(channels, bits, converted);
  if (passes > 1) {
    for (int pass = 0; pass < passes; ++pass)
      for (int64_t y = 0; y < job.header.height; ++y) png_read_row(png, memory + y * row_bytes, nullptr);
    for (int64_t y = job.stored.y0; y < job.stored.y1; ++y)
      sink.put(y - job.stored.y0, memory + y * row_bytes + job.stored.x0 * pixel);
  } else {
    for (int64_t y = 0; y < job.stored.y1; ++y) {
      png_read_row(png, memory, nullptr);
      if (y >= job.stored.y0) sink.put(y - job.stored.y0, memory + job.stored.x0 * pixel);
    }
  }
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

/// False: the file is left to libpng from its start.
bool decode_inflated(const DecodeJob& job) {
  if (2 * job.stored.y1 < job.header.height) return false;
  const std::optional<PngPixels> pixels = find_png_pixels(job.bytes);
  if (!pixels) return false;
  const int64_t row_bytes = most_png_row(job.header.width, job.header.bits);
  const auto memory = job.scratch.bytes(row_bytes + pixels->bytes());
  if (!memory) return false;
  const std::optional<Bytes> rows = inflate_png_pixels(job.bytes, *pixels, *memory + row_bytes);
  if (!rows) return false;
  Reader reader{PngBytes(job.bytes.first(pixels->first), *rows), *memory, {}, false};
  Error scratch_error;
  return decode_rows(reader, job, &scratch_error);
}

}  // namespace

Status decode_png(const DecodeJob& job) {
  if (decode_inflated(job)) return {};
  Reader reader{PngBytes(job.bytes), nullptr, {}, false};
  Error scratch_error;
  const bool is_done = decode_rows(reader, job, &scratch_error);
  if (is_error(scratch_error)) return std::unexpected(std::move(scratch_error));
  if (reader.out_of_memory) return runtime::make_error(runtime::message::kNoMemory);
  if (is_done) return {};
  return image_error(fmt::format("the PNG cannot be decoded: {}", reader.message));
}

}  // namespace galatea::native
