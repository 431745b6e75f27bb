// Colour, element type and orientation, applied to each decoded row on its way into the output.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/scalar_op.h"
#include "stdlib_ops/native/image.h"

namespace galatea::native {
namespace {

/// Pixels that are converted together: a few lines of the nearest cache.
constexpr int64_t kTogether = 128;

/// One output channel of as many pixels, as samples of the source.
using Channel = std::array<double, kTogether>;

/// Samples as elements of another type: integers fill 0..max, floats keep [0, 1]. In double: 32-bit integers
/// are exact. Halves round up; what is no number is 0.
template <class T>
void store_unit(const Channel& samples, int64_t count, double white, uint8_t* out, int64_t step) {
  constexpr double kMost = std::numeric_limits<T>::max();
  for (int64_t x = 0; x < count; ++x) {
    const double unit = std::min(std::max(0.0, samples[static_cast<size_t>(x)] / white), 1.0);
    const T value = static_cast<T>(unit * kMost + 0.5);
    std::memcpy(out + x * step, &value, sizeof value);
  }
}

/// What a file of floats holds goes by as it is, outside of [0, 1] too.
void store_floats(DType dtype, const Channel& samples, int64_t count, double white, uint8_t* out,
                  int64_t step) {
  for (int64_t x = 0; x < count; ++x) {
    const double unit = samples[static_cast<size_t>(x)] / white;
    store_cell(dtype, out + x * step, cell_from_double(dtype, unit));
  }
}

void store_f32(const Channel& samples, int64_t count, double white, uint8_t* out, int64_t step) {
  for (int64_t x = 0; x < count; ++x) {
    const float unit = static_cast<float>(samples[static_cast<size_t>(x)] / white);
    std::memcpy(out + x * step, &unit, sizeof unit);
  }
}

void store(DType dtype, const Channel& samples, int64_t count, double white, uint8_t* out, int64_t step) {
  switch (dtype) {
    case DType::kU8:
      return store_unit<uint8_t>(samples, count, white, out, step);
    case DType::kI8:
      return store_unit<int8_t>(samples, count, white, out, step);
    case DType::kU16:
      return store_unit<uint16_t>(samples, count, white, out, step);
    case DType::kI16:
      return store_unit<int16_t>(samples, count, white, out, step);
    case DType::kU32:
      return store_unit<uint32_t>(samples, count, white, out, step);
    case DType::kI32:
      return store_unit<int32_t>(samples, count, white, out, step);
    case DType::kF32:
      return store_f32(samples, count, white, out, step);
    default:
      GALATEA_CHECK(is_float(dtype), "images are not decoded to this type");
      return store_floats(dtype, samples, count, white, out, step);
  }
}

/// What a channel of the output is of a pixel's red, green and blue: a weighted sum, and an offset: in 255ths of
/// white for bytes, in 256ths for other types, as DALI has it.
struct Weights {
  float r, g, b, offset;
};

/// Channel `c` of a type that is no choice among the source's channels.
Weights weights_of(ImageType type, int c) {
  // ITU-R BT.601 luma; studio range.
  if (type == ImageType::kGray) return {0.299F, 0.587F, 0.114F, 0};
  constexpr Weights kStudio[] = {
      {65.481F, 128.553F, 24.966F, 16}, {-37.797F, -74.203F, 112.0F, 128}, {112.0F, -93.786F, -18.214F, 128}};
  return kStudio[c];
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
      white_(header.white),
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
  if (!converted_ || options_.dtype != DType::kU8 || source_channels_ != channels_ || !is_bytes()) {
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
  switch (source_bits_) {
    case 8:
      return convert_samples<uint8_t>(row, out, step);
    case 16:
      return convert_samples<uint16_t>(row, out, step);
    default:
      return convert_samples<float>(row, out, step);
  }
}

template <class Sample>
void RowSink::convert_samples(const uint8_t* row, uint8_t* out, int64_t step) const {
  const int64_t pixel = int64_t{source_channels_} * static_cast<int64_t>(sizeof(Sample));
  const int element = size_of(options_.dtype);
  const bool is_chosen = converted_ || options_.type == ImageType::kAny;
  const bool is_gray = source_channels_ <= 2;
  // Of a pixel with more than three, the first three are red, green and blue.
  const auto sample = [&](int64_t x, int c) {
    Sample value;
    std::memcpy(&value, row + x * pixel + c * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
  };
  // The source's channel that is channel `c`; -1: a sum of several.
  const auto picked = [&](int c) {
    if (is_chosen) return c;
    const bool is_rgb = options_.type == ImageType::kRgb, is_bgr = options_.type == ImageType::kBgr;
    if (is_gray) return is_rgb || is_bgr || options_.type == ImageType::kGray ? 0 : -1;
    return is_rgb ? c : is_bgr ? 2 - c : -1;
  };
  if constexpr (std::is_integral_v<Sample>) {
    // To bytes in whole numbers: v * 255 / 65535, rounded, which is never half.
    constexpr uint32_t kFactor = sizeof(Sample) == 1 ? 1 : 257;
    if (options_.dtype == DType::kU8 && white_ == 255.0 * kFactor && picked(0) >= 0) {
      for (int c = 0; c < channels_; ++c)
        for (int64_t x = 0; x < stored_.width(); ++x)
          out[x * step + c] = static_cast<uint8_t>((uint32_t{sample(x, picked(c))} + kFactor / 2) / kFactor);
      return;
    }
  }
  Channel channel;
  for (int64_t done = 0; done < stored_.width(); done += kTogether) {
    const int64_t count = std::min(kTogether, stored_.width() - done);
    for (int c = 0; c < channels_; ++c) {
      if (const int from = picked(c); from >= 0) {
        for (int64_t x = 0; x < count; ++x) channel[static_cast<size_t>(x)] = sample(done + x, from);
      } else {
        const Weights w = weights_of(options_.type, c);
        const bool is_studio = options_.type == ImageType::kYCbCr;
        const float white = static_cast<float>(white_);
        const bool to_bytes = options_.dtype == DType::kU8;
        const float scale = is_studio ? 255.0F : 1.0F,
                    offset = w.offset * (white / (to_bytes ? 255.0F : 256.0F));
        const int g = is_gray ? 0 : 1, b = is_gray ? 0 : 2;
        for (int64_t x = 0; x < count; ++x) {
          const float sum = w.r * static_cast<float>(sample(done + x, 0)) +
                            w.g * static_cast<float>(sample(done + x, g)) +
                            w.b * static_cast<float>(sample(done + x, b));
          // Greys of bytes are bytes before they are scaled to another type, as in a decoder that converts
          // afterwards; YCbCr is made of red, green and blue last.
          const float color = offset + sum / scale;
          channel[static_cast<size_t>(x)] = is_bytes() && (to_bytes || !is_studio)
                                                ? std::clamp(std::nearbyint(color), 0.0F, 255.0F)
                                                : color;
        }
      }
      store(options_.dtype, channel, count, white_, out + done * step + c * element, step);
    }
  }
}

}  // namespace galatea::native
