// Colour, element type and orientation, applied to each decoded row on its way into the output.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/scalar_op.h"
#include "stdlib_ops/native/image.h"

namespace galatea::native {
namespace {

/// A channel value in [0, 1] as an element of `dtype`: integers fill 0..max, floats keep [0, 1]. In double:
/// 32-bit integers are exact.
void store_unit(DType dtype, double unit, uint8_t* out) {
  if (is_float(dtype)) {
    store_cell(dtype, out, cell_from_double(dtype, unit));
    return;
  }
  double scaled = std::nearbyint(unit * static_cast<double>(max_unsigned(dtype)));
  double limit = static_cast<double>(max_unsigned(dtype));
  store_cell(dtype, out,
             scaled >= limit ? Cell{max_unsigned(dtype)}
                             : cell_from_int(dtype, static_cast<int64_t>(std::max(scaled, 0.0))));
}

uint8_t round_u8(float value) {
  return static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0F, 255.0F));
}

/// One pixel, r g b in 0..255, as `type` wants it; returns the number of channels written.
int convert_color(ImageType type, float r, float g, float b, float* out) {
  switch (type) {
    case ImageType::kBgr:
      out[0] = b, out[1] = g, out[2] = r;
      return 3;
    case ImageType::kGray:
      // ITU-R BT.601 luma.
      out[0] = 0.299F * r + 0.587F * g + 0.114F * b;
      return 1;
    case ImageType::kYCbCr:
      // ITU-R BT.601, studio range.
      out[0] = 16.0F + (65.481F * r + 128.553F * g + 24.966F * b) / 255.0F;
      out[1] = 128.0F + (-37.797F * r - 74.203F * g + 112.0F * b) / 255.0F;
      out[2] = 128.0F + (112.0F * r - 93.786F * g - 18.214F * b) / 255.0F;
      return 3;
    case ImageType::kRgb:
    case ImageType::kAny:
      break;
  }
  out[0] = r, out[1] = g, out[2] = b;
  return 3;
}

/// Runs of pixels, and how many bytes lie between neighbouring runs and between neighbours in one.
struct Pixels {
  const uint8_t* first;
  int64_t run_step, step;
  int64_t runs, length;
};

template <size_t kBytes>
void move_pixels_of(const Pixels& from, uint8_t* to, int64_t run_step, int64_t step) {
  // Runs of a turned strip are short and begin rows apart, on other pages, which no processor foresees.
  constexpr int64_t kAhead = 16;
  for (int64_t i = 0; i < from.runs; ++i) {
    const uint8_t* in = from.first + i * from.run_step;
    uint8_t* out = to + i * run_step;
    if (i + kAhead < from.runs) {
      const uint8_t* next = out + kAhead * run_step;
      __builtin_prefetch(next, 1);
      __builtin_prefetch(next + (from.length - 1) * step, 1);
    }
    for (int64_t j = 0; j < from.length; ++j) std::memcpy(out + j * step, in + j * from.step, kBytes);
  }
}

/// Puts pixels of `bytes` bytes, 1 to 4, where other steps lead.
void move_pixels(int64_t bytes, const Pixels& from, uint8_t* to, int64_t run_step, int64_t step) {
  switch (bytes) {
    case 1:
      return move_pixels_of<1>(from, to, run_step, step);
    case 2:
      return move_pixels_of<2>(from, to, run_step, step);
    case 3:
      return move_pixels_of<3>(from, to, run_step, step);
    default:
      return move_pixels_of<4>(from, to, run_step, step);
  }
}

}  // namespace

RowSink::RowSink(const ImageHeader& header, const Window& stored, const DecodeOptions& options,
                 int orientation, int source_channels, int source_bits, bool converted, uint8_t* output)
    : stored_(stored),
      options_(options),
      orientation_(orientation),
      source_channels_(source_channels),
      source_bits_(source_bits),
      converted_(converted),
      channels_(decoded_channels(header, options.type)),
      pixel_bytes_(int64_t{channels_} * size_of(options.dtype)),
      row_bytes_((swaps_axes(orientation) ? stored.height() : stored.width()) * pixel_bytes_),
      output_(output) {}

RowSink::Walk RowSink::walk() const {
  const int64_t last_y = stored_.height() - 1, last_x = stored_.width() - 1;
  const int64_t pixel = pixel_bytes_, row = row_bytes_;
  switch (orientation_) {
    case 2:
      return {last_x * pixel, -pixel, row};
    case 3:
      return {last_y * row + last_x * pixel, -pixel, -row};
    case 4:
      return {last_y * row, pixel, -row};
    case 5:
      return {0, row, pixel};
    case 6:
      return {last_y * pixel, row, -pixel};
    case 7:
      return {last_y * pixel + last_x * row, -row, -pixel};
    case 8:
      return {last_x * row, -row, pixel};
    default:
      return {0, pixel, row};
  }
}

void RowSink::put(int64_t y, const uint8_t* rows, int64_t stride, int64_t count) {
  const Walk at = walk();
  uint8_t* out = output_ + at.first + y * at.down;
  if (!converted_ || options_.dtype != DType::kU8 || source_bits_ != 8) {
    for (int64_t i = 0; i < count; ++i) convert_row(rows + i * stride, out + i * at.down, at.across);
  } else if (at.across == pixel_bytes_) {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(out + i * at.down, rows + i * stride, static_cast<size_t>(stored_.width() * pixel_bytes_));
  } else if (swaps_axes(orientation_)) {
    // What is written lies together: a column of the strip is a run of an output row.
    move_pixels(pixel_bytes_, {rows, pixel_bytes_, stride, stored_.width(), count}, out, at.across, at.down);
  } else {
    move_pixels(pixel_bytes_, {rows, stride, pixel_bytes_, count, stored_.width()}, out, at.down, at.across);
  }
}

void RowSink::convert_row(const uint8_t* row, uint8_t* out, int64_t step) const {
  float scale = source_bits_ == 16 ? 65535.0F : 255.0F;
  int64_t source_pixel = int64_t{source_channels_} * (source_bits_ / 8);
  int element = size_of(options_.dtype);
  for (int64_t x = 0; x < stored_.width(); ++x, row += source_pixel, out += step) {
    float in[4] = {};
    for (int c = 0; c < source_channels_; ++c) {
      if (source_bits_ == 16) {
        uint16_t value = 0;
        std::memcpy(&value, row + 2 * c, 2);
        in[c] = value;
      } else {
        in[c] = row[c];
      }
    }
    float color[4] = {};
    int count = channels_;
    if (converted_ || options_.type == ImageType::kAny) {
      std::copy(in, in + count, color);
    } else {
      bool gray = source_channels_ <= 2;
      float to255 = 255.0F / scale;
      convert_color(options_.type, in[0] * to255, in[gray ? 0 : 1] * to255, in[gray ? 0 : 2] * to255, color);
      for (int c = 0; c < count; ++c) color[c] /= to255;
    }
    for (int c = 0; c < count; ++c) {
      // Colours are 8-bit numbers before they are scaled to another type, as in a decoder that converts
      // afterwards.
      if (source_bits_ == 8) {
        uint8_t value = round_u8(color[c]);
        if (options_.dtype == DType::kU8)
          out[c] = value;
        else
          store_unit(options_.dtype, value / 255.0, out + c * element);
      } else {
        store_unit(options_.dtype, std::clamp(double{color[c]} / scale, 0.0, 1.0), out + c * element);
      }
    }
  }
}

}  // namespace galatea::native
