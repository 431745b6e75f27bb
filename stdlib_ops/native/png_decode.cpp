// PNG by libpng: rows up to the window's last one; interlaced files whole.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <png.h>

#include "runtime/messages.h"
#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

struct Reader {
  const uint8_t* data;
  size_t size, at;
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
  if (count > reader->size - reader->at) png_error(png, "the data ends too early");
  std::memcpy(out, reader->data + reader->at, count);
  reader->at += count;
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
  uint8_t* memory = scratch_or_null(job.scratch, row_bytes * rows, scratch_error);
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

}  // namespace

Status decode_png(const DecodeJob& job) {
  Reader reader{job.bytes.data(), job.bytes.size(), 0, {}, false};
  Error scratch_error;
  const bool is_done = decode_rows(reader, job, &scratch_error);
  if (is_error(scratch_error)) return std::unexpected(std::move(scratch_error));
  if (reader.out_of_memory) return runtime::make_error(runtime::message::kNoMemory);
  if (is_done) return {};
  return image_error(fmt::format("the PNG cannot be decoded: {}", reader.message));
}

}  // namespace galatea::native
