// JPEG by libjpeg-turbo: only the rows and columns that a window needs.
//
// Comes in: a whole file and a window. Goes out: its rows. Entropy decoding starts at the file's beginning
// and stops after the window's last row; inverse transform, upsampling and colour run for the window's
// columns only (jpeg_crop_scanline, jpeg_skip_scanlines). Rows well above the window are stepped over by code
// lengths (jpeg_rows.h).
//
// Where the options ask for an eighth, a quarter or half of the size, the inverse transform makes that at
// once; windows are then those of the smaller image.
//
// Bit-equal to a full decode (of that size): fancy upsampling looks at neighbouring chroma samples, so
// subsampled images get one chroma sample of margin on the left and right, which is decoded and dropped
// (tests compare every sampling over many windows).
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

#include "runtime/messages.h"
#include "stdlib_ops/native/image_codecs.h"
#include "stdlib_ops/native/jpeg_rows.h"

namespace galatea::native {
namespace {

/// Rows decoded before they are passed on. Upright, few stay in the nearest cache; where the orientation
/// swaps axes, each is a column of what is written, and a row of that gets so many pixels at once: with more,
/// the lines that one strip begins and the next one ends would have left the cache in between.
constexpr int kStripRows = 8, kTurnedStripRows = kMostStripRows;

struct Failure {
  jpeg_error_mgr manager;
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
  bool truncated = false;
  bool out_of_memory = false;
};

Failure* failure_of(j_common_ptr info) { return reinterpret_cast<Failure*>(info->err); }

[[noreturn]] void on_error(j_common_ptr info) {
  Failure* failure = failure_of(info);
  failure->out_of_memory = info->err->msg_code == JERR_OUT_OF_MEMORY;
  info->err->format_message(info, failure->message);
  std::longjmp(failure->escape, 1);
}

/// Warnings go by, except that data ended too early: the library would fill the rest with grey.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  int code = info->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER) {
    Failure* failure = failure_of(info);
    failure->truncated = true;
    info->err->format_message(info, failure->message);
    std::longjmp(failure->escape, 1);
  }
}

void on_progress(j_common_ptr info) {
  auto* decompress = reinterpret_cast<j_decompress_ptr>(info);
  if (decompress->input_scan_number > kMaxJpegScans) {
    Failure* failure = failure_of(info);
    std::snprintf(failure->message, sizeof failure->message, "more than %d scans", kMaxJpegScans);
    std::longjmp(failure->escape, 1);
  }
}

/// The state that must survive a longjmp; plain members only.
struct Decoder {
  jpeg_decompress_struct info;
  Failure failure;
  jpeg_progress_mgr progress;
  JpegSplice splice;
};

J_COLOR_SPACE output_space(const jpeg_decompress_struct& info, ImageType type) {
  bool four = info.num_components == 4;
  if (four) return JCS_CMYK;
  if (type == ImageType::kGray &&
      (info.jpeg_color_space == JCS_YCbCr || info.jpeg_color_space == JCS_GRAYSCALE))
    return JCS_GRAYSCALE;
  if (info.num_components == 1) return type == ImageType::kAny ? JCS_GRAYSCALE : JCS_RGB;
  return type == ImageType::kBgr ? JCS_EXT_BGR : JCS_RGB;
}

/// CMYK as Adobe writes it (inverted) to RGB, in place: three of each four bytes.
void cmyk_to_rgb(uint8_t* row, int64_t pixels, bool inverted) {
  for (int64_t x = 0; x < pixels; ++x) {
    for (int c = 0; c < 3; ++c) {
      int ink = row[4 * x + c], black = row[4 * x + 3];
      if (!inverted) ink = 255 - ink, black = 255 - black;
      row[3 * x + c] = static_cast<uint8_t>((ink * black + 127) / 255);
    }
  }
}

/// Decodes into a sink. Errors leave by longjmp, so nothing here has a destructor.
bool decode_rows(Decoder& decoder, const DecodeJob& job, Error* scratch_error) {
  jpeg_decompress_struct& info = decoder.info;
  info.err = jpeg_std_error(&decoder.failure.manager);
  info.err->error_exit = on_error;
  info.err->emit_message = on_message;
  if (setjmp(decoder.failure.escape)) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, job.bytes.data(), static_cast<unsigned long>(job.bytes.size()));
  jpeg_read_header(&info, TRUE);
  if (info.image_width != static_cast<JDIMENSION>(job.header.width) ||
      info.image_height != static_cast<JDIMENSION>(job.header.height)) {
    std::snprintf(decoder.failure.message, sizeof decoder.failure.message,
                  "its headers contradict each other");
    jpeg_destroy_decompress(&info);
    return false;
  }
  if (jpeg_has_multiple_scans(&info)) {
    decoder.progress.progress_monitor = on_progress;
    info.progress = &decoder.progress;
  }
  info.out_color_space = output_space(info, job.options.type);
  info.dct_method = job.options.fast_idct ? JDCT_IFAST : JDCT_ISLOW;
  info.do_fancy_upsampling = TRUE;
  info.scale_num = static_cast<unsigned>(job.options.eighths);
  info.scale_denom = 8;
  bool subsampled = false;
  for (int c = 0; c < info.num_components; ++c)
    subsampled |= info.comp_info[c].h_samp_factor != info.max_h_samp_factor ||
                  info.comp_info[c].v_samp_factor != info.max_v_samp_factor;
  // Scaled, and with chroma of 4 x 2 pixels, the library upsamples windows differently: such files are read
  // whole.
  const bool whole = job.options.eighths < 8 && info.max_h_samp_factor * info.max_v_samp_factor > 4;
  // Output rows that the image has lost at its top.
  int64_t lost = 0;
  const int above = whole ? 0 : rows_above(info, job.stored.y0, job.options.eighths);
  if (above > 0 && leave_rows_out(info, above, job.bytes.data() + job.bytes.size(), decoder.splice))
    lost = int64_t{above - 1} * info.max_v_samp_factor * job.options.eighths;
  jpeg_start_decompress(&info);

  // Columns: the library aligns the first one to an iMCU; fancy upsampling looks one chroma sample further on
  // each side. Rows: jpeg_skip_scanlines keeps the rows around its end that upsampling needs, so no margin is
  // decoded.
  JDIMENSION margin = subsampled ? static_cast<JDIMENSION>(info.max_h_samp_factor) : 0;
  JDIMENSION x0 = static_cast<JDIMENSION>(job.stored.x0), x1 = static_cast<JDIMENSION>(job.stored.x1);
  JDIMENSION y0 = static_cast<JDIMENSION>(job.stored.y0 - lost);
  JDIMENSION y1 = static_cast<JDIMENSION>(job.stored.y1 - lost);
  JDIMENSION column = x0 > margin ? x0 - margin : 0;
  JDIMENSION last = x1 + margin < info.output_width ? x1 + margin : info.output_width;
  JDIMENSION width = last - column;
  if (width < info.output_width && !whole) {
    jpeg_crop_scanline(&info, &column, &width);
  } else {
    column = 0;
    width = info.output_width;
  }
  if (y0 > 0 && !whole) jpeg_skip_scanlines(&info, y0);

  // Rows off 32-byte alignment: the colour converter then stores through the cache, where the sink finds
  // them. An odd number of lines apart: columns of the strip lie all over the cache.
  const int64_t stride = (int64_t{info.output_width} * info.output_components + 4 + 63) / 64 * 64 | 64;
  const int strip_rows = swaps_axes(job.orientation) ? kTurnedStripRows : kStripRows;
  uint8_t* memory = scratch_or_null(job.scratch, stride * strip_rows + 64, scratch_error);
  if (!memory) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  uint8_t* strip = memory + 4;
  JSAMPROW rows[kTurnedStripRows];
  for (int i = 0; i < strip_rows; ++i) rows[i] = strip + i * stride;
  bool four = info.out_color_space == JCS_CMYK;
  int channels = four ? 3 : info.output_components;
  // The library has converted to RGB, BGR or grey already; studio-range YCbCr and CMYK are left to the sink.
  bool converted = !four && job.options.type != ImageType::kYCbCr &&
                   channels == decoded_channels(job.header, job.options.type);
  RowSink sink = job.sink(channels, 8, converted);
  while (info.output_scanline < y1) {
    const JDIMENSION first = info.output_scanline;
    int held = 0;
    // The library gives a row or two at a time.
    while (held < strip_rows && info.output_scanline < y1)
      held += static_cast<int>(
          jpeg_read_scanlines(&info, rows + held, static_cast<JDIMENSION>(strip_rows - held)));
    const int from = first < y0 ? static_cast<int>(std::min<int64_t>(y0 - first, held)) : 0;
    const int to = static_cast<int>(std::min<int64_t>(y1 - first, held));
    if (from >= to) continue;
    if (four)
      for (int i = from; i < to; ++i) cmyk_to_rgb(rows[i], width, info.saw_Adobe_marker != 0);
    sink.put(static_cast<int64_t>(first) + from - y0,
             rows[from] + static_cast<size_t>(x0 - column) * static_cast<size_t>(channels), stride,
             to - from);
  }
  jpeg_abort_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

}  // namespace

Status decode_jpeg(const DecodeJob& job) {
  Decoder decoder{};
  Error scratch_error;
  if (decode_rows(decoder, job, &scratch_error)) return {};
  if (is_error(scratch_error)) return std::unexpected(std::move(scratch_error));
  if (decoder.failure.out_of_memory) return runtime::make_error(runtime::message::kNoMemory);
  if (decoder.failure.truncated)
    return image_error(fmt::format("the JPEG is cut off or damaged: {}", decoder.failure.message));
  return image_error(fmt::format("the JPEG cannot be decoded: {}", decoder.failure.message));
}

}  // namespace galatea::native
