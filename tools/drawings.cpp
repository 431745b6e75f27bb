#include "tools/drawings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/core.h>

#include "base/scalar_op.h"
#include "tools/contact_sheet.h"

namespace galatea::tools {
namespace {

using runtime::Tensor;

constexpr int kWidth = 208, kHeight = 104;  // of a waveform: a cell of a sheet
constexpr int64_t kLeastFrames = 256;       // fewer are easier to read as numbers
constexpr int64_t kMostChannels = 8;
constexpr int kFrameColumns = 3, kFrameSide = 68, kFrameGap = 2;  // of a strip
constexpr int64_t kMostFrames = 6;

double element(const Tensor& tensor, int64_t offset) {
  return cell_to_double(tensor.dtype, load_cell(tensor.dtype, tensor.data + offset * size_of(tensor.dtype)));
}

struct Range {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  void add(double value) {
    if (!std::isfinite(value)) return;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  bool is_empty() const { return greatest < least; }
  /// Where a value lies, in [0, 1].
  double part(double value) const { return greatest > least ? (value - least) / (greatest - least) : 0.5; }
};

std::string text_of(const Range& range) {
  return range.is_empty() ? "no numbers" : fmt::format("{:.3g} to {:.3g}", range.least, range.greatest);
}

bool is_sound(const Tensor& tensor, const Layout& layout) {
  const std::string name = layout.str();
  const bool is_named = name == "t" || name == "T" || name == "tc" || name == "TC";
  const bool has_numbers = tensor.dtype == DType::kF32 || tensor.dtype == DType::kI16;
  if (!has_numbers || (!layout.empty() && !is_named) || tensor.ndim < 1 || tensor.ndim > 2) return false;
  return tensor.extents[0] >= kLeastFrames && (tensor.ndim == 1 || tensor.extents[1] <= kMostChannels);
}

bool is_spectrogram(const Tensor& tensor, const Layout& layout) {
  const int f_axis = layout.find('f'), t_axis = layout.find('t');
  if (tensor.ndim != 2 || f_axis < 0 || t_axis < 0) return false;
  constexpr int64_t kMost = 65500;
  const auto fits = [&](int axis) { return tensor.extents[axis] >= 1 && tensor.extents[axis] <= kMost; };
  return fits(f_axis) && fits(t_axis);
}

/// The part of a tensor at a position along an axis, which stays, with the extent 1.
bool take_at(Tensor& tensor, int axis, int64_t position) {
  if (axis < 0 || axis >= tensor.ndim || position < 0 || position >= tensor.extents[axis]) return false;
  tensor.data += position * tensor.strides[axis] * size_of(tensor.dtype);
  tensor.extents[axis] = 1;
  return true;
}

/// In a picture: of its own, or in a strip.
std::optional<DrawnPlace> place_in_picture(Tensor tensor, const Layout& layout, int64_t x, int64_t y) {
  const Layout axes = !layout.empty() ? layout : Layout(tensor.ndim == 3 ? "HWC" : "HW");
  if (axes.size() != tensor.ndim || !take_at(tensor, axes.find('H'), y) ||
      !take_at(tensor, axes.find('W'), x))
    return std::nullopt;
  return DrawnPlace{fmt::format("column {}, row {}", x, y), std::move(tensor)};
}

std::optional<DrawnPlace> place_in_strip(const Tensor& tensor, const Layout& layout,
                                         const std::vector<DrawnFrame>& frames, int64_t x, int64_t y) {
  const Layout axes(layout.str().substr(1));
  for (const DrawnFrame& one : frames) {
    if (x < one.left || y < one.top || x >= one.left + one.width || y >= one.top + one.height) continue;
    const Tensor frame = frame_of(tensor, 0, one.frame);
    const int h = axes.find('H'), w = axes.find('W');
    if (axes.size() != frame.ndim || h < 0 || w < 0) return std::nullopt;
    auto place = place_in_picture(frame, axes, (x - one.left) * frame.extents[w] / one.width,
                                  (y - one.top) * frame.extents[h] / one.height);
    if (place) place->words = fmt::format("frame {}, {}", one.frame, place->words);
    return place;
  }
  return std::nullopt;
}

/// Puts a picture, grey or RGB, into an RGB one.
void paste(const Pixels& from, Pixels& to, int left, int top) {
  for (int y = 0; y < from.height; ++y)
    for (int x = 0; x < from.width; ++x)
      for (int c = 0; c < 3; ++c) {
        const auto source =
            static_cast<size_t>((y * from.width + x) * from.channels + (from.channels == 3 ? c : 0));
        to.bytes[static_cast<size_t>(((top + y) * to.width + left + x) * 3 + c)] = from.bytes[source];
      }
}

}  // namespace

std::optional<Drawing> draw_waveform(const Tensor& tensor, const Layout& layout) {
  if (!is_sound(tensor, layout)) return std::nullopt;
  const int64_t frames = tensor.extents[0], channels = tensor.ndim == 2 ? tensor.extents[1] : 1;
  std::vector<Range> columns(kWidth);
  Range all;
  for (int64_t t = 0; t < frames; ++t)
    for (int64_t c = 0; c < channels; ++c) {
      const double value =
          element(tensor, t * tensor.strides[0] + (tensor.ndim == 2 ? c * tensor.strides[1] : 0));
      columns[static_cast<size_t>(t * kWidth / frames)].add(value);
      all.add(value);
    }
  constexpr uint8_t kPaper = 255, kInk = 40, kZero = 200;
  Pixels picture{kWidth, kHeight, 1, std::vector<uint8_t>(size_t{kWidth} * kHeight, kPaper)};
  const auto row_of = [&](double value) {
    return static_cast<int>(std::lround((1 - all.part(value)) * (kHeight - 1)));
  };
  const auto set = [&](int x, int y, uint8_t grey) {
    picture.bytes[static_cast<size_t>(y * kWidth + x)] = grey;
  };
  for (int x = 0; x < kWidth; ++x) {
    if (!all.is_empty() && all.least <= 0 && all.greatest >= 0) set(x, row_of(0), kZero);
    const Range& column = columns[static_cast<size_t>(x)];
    if (column.is_empty()) continue;
    for (int y = row_of(column.greatest); y <= row_of(column.least); ++y) set(x, y, kInk);
  }
  return Drawing{std::move(picture), text_of(all)};
}

std::optional<Drawing> draw_spectrogram(const Tensor& tensor, const Layout& layout) {
  if (!is_spectrogram(tensor, layout)) return std::nullopt;
  const int f_axis = layout.find('f'), t_axis = layout.find('t');
  const int64_t bands = tensor.extents[f_axis], windows = tensor.extents[t_axis];
  const auto value_at = [&](int64_t f, int64_t t) {
    return element(tensor, f * tensor.strides[f_axis] + t * tensor.strides[t_axis]);
  };
  Range all;
  for (int64_t f = 0; f < bands; ++f)
    for (int64_t t = 0; t < windows; ++t) all.add(value_at(f, t));
  Pixels picture{static_cast<int>(windows), static_cast<int>(bands), 1, {}};
  picture.bytes.reserve(static_cast<size_t>(bands * windows));
  for (int64_t f = bands; f-- > 0;)
    for (int64_t t = 0; t < windows; ++t) {
      const double value = value_at(f, t);
      picture.bytes.push_back(std::isfinite(value) ? static_cast<uint8_t>(std::lround(255 * all.part(value)))
                                                   : 0);
    }
  return Drawing{std::move(picture), text_of(all)};
}

std::vector<DrawnFrame> drawn_frames(const Tensor& tensor, const Layout& layout) {
  if (layout.find('F') != 0 || tensor.ndim < 3 || tensor.extents[0] < 1) return {};
  const auto first = to_pixels(frame_of(tensor, 0, 0), Layout(layout.str().substr(1)), true);
  if (!first) return {};
  const Pixels fitted = fit(*first, kFrameSide);
  const int64_t frames = tensor.extents[0], shown = std::min(frames, kMostFrames);
  std::vector<DrawnFrame> drawn;
  for (int64_t k = 0; k < shown; ++k) {
    const int64_t frame = shown == 1 ? 0 : k * (frames - 1) / (shown - 1);
    const int left = static_cast<int>(k) % kFrameColumns * (fitted.width + kFrameGap);
    const int top = static_cast<int>(k) / kFrameColumns * (fitted.height + kFrameGap);
    drawn.push_back({left, top, fitted.width, fitted.height, frame});
  }
  return drawn;
}

std::optional<Drawing> draw_frames(const Tensor& tensor, const Layout& layout) {
  const std::vector<DrawnFrame> frames = drawn_frames(tensor, layout);
  if (frames.empty()) return std::nullopt;
  const Layout of_frame(layout.str().substr(1));
  const size_t last_of_row = std::min<size_t>(kFrameColumns, frames.size()) - 1;
  Pixels strip{frames[last_of_row].left + frames[0].width, frames.back().top + frames[0].height, 3, {}};
  strip.bytes.assign(static_cast<size_t>(strip.width) * static_cast<size_t>(strip.height) * 3, 255);
  for (const DrawnFrame& one : frames) {
    const auto pixels = to_pixels(frame_of(tensor, 0, one.frame), of_frame, true);
    if (!pixels) return std::nullopt;
    paste(fit(*pixels, kFrameSide), strip, one.left, one.top);
  }
  return Drawing{std::move(strip), fmt::format("{} of {} frames", frames.size(), tensor.extents[0])};
}

std::optional<Drawing> drawing_of(const Tensor& tensor, const Layout& layout) {
  if (auto frames = draw_frames(tensor, layout)) return frames;
  if (auto spectrogram = draw_spectrogram(tensor, layout)) return spectrogram;
  return draw_waveform(tensor, layout);
}

std::optional<DrawnPlace> place_under(const Tensor& tensor, const Layout& layout, int64_t x, int64_t y) {
  if (const std::vector<DrawnFrame> frames = drawn_frames(tensor, layout); !frames.empty())
    return place_in_strip(tensor, layout, frames, x, y);
  Tensor part = tensor;
  if (is_spectrogram(tensor, layout)) {
    const int64_t band = tensor.extents[layout.find('f')] - 1 - y;
    if (!take_at(part, layout.find('f'), band) || !take_at(part, layout.find('t'), x)) return std::nullopt;
    return DrawnPlace{fmt::format("band {}, window {}", band, x), std::move(part)};
  }
  if (is_sound(tensor, layout)) {
    const int64_t number = x * tensor.extents[0] / kWidth;
    if (x < 0 || x >= kWidth || !take_at(part, 0, number)) return std::nullopt;
    return DrawnPlace{fmt::format("number {}", number), std::move(part)};
  }
  return place_in_picture(std::move(part), layout, x, y);
}

}  // namespace galatea::tools
