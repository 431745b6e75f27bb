// RoIAlign: see roi_align.h.
#include "stdlib_ops/native/roi_align.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "base/json.h"
#include "stdlib_ops/native/boxes.h"

namespace galatea::native {
namespace {

constexpr float kMostPlaces = 1 << 24;

class RoiState final : public runtime::NativeState {
 public:
  std::array<int64_t, 2> bins = {1, 1};  ///< rows, columns
  int64_t sampling_ratio = -1;
  bool aligned = false;
  std::string layout;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_roi(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "roi_align: configuration is not a JSON object");
  auto state = std::make_shared<RoiState>();
  state->bins = {json.value("rows", int64_t{1}), json.value("columns", int64_t{1})};
  state->sampling_ratio = json.value("sampling_ratio", int64_t{-1});
  state->aligned = json.value("aligned", false);
  state->layout = json.value("layout", "");
  return state;
}

const RoiState& roi_state_of(const runtime::NativeContext& context) {
  return *static_cast<const RoiState*>(context.state);
}

std::unexpected<Error> roi_error(std::string message, std::string help) {
  return make_error(ErrorKind::kUser, "G0910", std::move(message), std::move(help));
}

/// A box along one axis, in pixels.
struct Side {
  float start = 0, end = 0, length = 0, bin = 0;
  int64_t samples = 0;  ///< of a bin
};

Side side_of(const runtime::Tensor& boxes, int64_t row, size_t axis, float scale, const RoiState& state) {
  const float offset = state.aligned ? 0.5F : 0.0F;
  const int corner = axis == 0 ? 1 : 0;
  Side side;
  side.start = number_at(boxes, row, corner) * scale - offset;
  side.end = number_at(boxes, row, corner + 2) * scale - offset;
  side.length = side.end - side.start;
  if (!state.aligned) side.length = std::max(side.length, 1.0F);
  side.bin = side.length / static_cast<float>(state.bins[axis]);
  // A box that ends before its start has none. More than fit are refused before they are counted.
  side.samples = state.sampling_ratio > 0
                     ? state.sampling_ratio
                     : static_cast<int64_t>(std::clamp(std::ceil(side.bin), 0.0F, 2 * kMostPlaces));
  return side;
}

Status roi_reach(runtime::NativeContext& context) {
  const RoiState& state = roi_state_of(context);
  const runtime::Tensor& boxes = context.inputs[0];
  const auto scale = static_cast<float>(cell_to_double(DType::kF32, context.scalars[0]));
  std::array<int64_t, 4> reach = {0, 1, 0, 1};  // of no boxes, the first pixel
  for (int64_t row = 0; row < boxes.extents[0]; ++row) {
    int64_t samples = 1;
    for (const size_t axis : {size_t{0}, size_t{1}}) {
      const Side side = side_of(boxes, row, axis, scale, state);
      for (const float place : {side.start, side.end})
        if (!(std::abs(place) <= kMostPlaces))
          return roi_error(
              fmt::format("box {} reaches to {} of {}", row, place, axis == 0 ? "rows" : "columns"),
              "boxes are left, top, right, bottom; spatial_scale makes pixels of them");
      const float low = std::min(side.start, side.start + side.length);
      const float high = std::max(side.start, side.start + side.length);
      // RoiPlaces are rounded some times on their way: by less than this.
      const float margin = 1 + std::max(std::abs(low), std::abs(high)) * 0x1p-20F;
      const auto first = static_cast<int64_t>(std::floor(low - margin));
      const auto end = static_cast<int64_t>(std::ceil(high + margin)) + 2;
      reach[2 * axis] = row == 0 ? first : std::min(reach[2 * axis], first);
      reach[2 * axis + 1] = row == 0 ? end : std::max(reach[2 * axis + 1], end);
      samples *= side.samples;
    }
    if (samples > kMostRoiSamples)
      return roi_error(fmt::format("a bin of box {} has {} samples", row, samples),
                       "give sampling_ratio, or smaller boxes");
  }
  for (size_t k = 0; k < reach.size(); ++k) context.scalar_results[k] = cell_from_int(DType::kI64, reach[k]);
  return {};
}

/// Where a sample looks along one axis: the pixels on both sides, as offsets in elements, and their weights.
struct Place {
  ptrdiff_t low = 0, high = 0;
  float low_weight = 0, high_weight = 0;
};

/// An axis of the image, of which there is a window.
struct ImageAxis {
  int64_t first = 0, extent = 0;  ///< of the window; of the image
  ptrdiff_t stride = 0;
};

/// The samples of a box along one axis: those of bin k are [ends[k - 1], ends[k]). Those that count nothing,
/// outside of the image, are left out.
struct RoiPlaces {
  std::vector<Place> places;
  std::vector<size_t> ends;

  void set(const Side& side, int64_t bins, const ImageAxis& axis) {
    places.clear();
    ends.clear();
    const auto extent = static_cast<float>(axis.extent);
    for (int64_t bin = 0; bin < bins; ++bin) {
      for (int64_t k = 0; k < side.samples; ++k) {
        const float at = side.start + static_cast<float>(bin) * side.bin +
                         (static_cast<float>(k) + 0.5F) * side.bin / static_cast<float>(side.samples);
        if (at < -1 || at > extent) continue;
        const float inside = std::min(std::max(at, 0.0F), extent - 1);
        const auto low = static_cast<int64_t>(inside);
        const int64_t high = std::min(low + 1, axis.extent - 1);
        const float high_weight = inside - static_cast<float>(low);
        places.push_back({static_cast<ptrdiff_t>(low - axis.first) * axis.stride,
                          static_cast<ptrdiff_t>(high - axis.first) * axis.stride, 1 - high_weight,
                          high_weight});
      }
      ends.push_back(places.size());
    }
  }
  std::span<const Place> of_bin(size_t bin) const {
    const size_t first = bin == 0 ? 0 : ends[bin - 1];
    return std::span(places).subspan(first, ends[bin] - first);
  }
};

/// A bin of so many channels, in f32: samples row by row, of each the four pixels row by row.
template <int kChannels, typename T>
std::array<float, kChannels> sum_of(const T* image, ptrdiff_t channel_stride, std::span<const Place> rows,
                                    std::span<const Place> columns) {
  std::array<float, kChannels> sum{};
  for (const Place& y : rows)
    for (const Place& x : columns) {
      const float w00 = y.low_weight * x.low_weight, w01 = y.low_weight * x.high_weight;
      const float w10 = y.high_weight * x.low_weight, w11 = y.high_weight * x.high_weight;
      const T *a = image + y.low + x.low, *b = image + y.low + x.high;
      const T *c = image + y.high + x.low, *d = image + y.high + x.high;
      for (size_t n = 0; n < kChannels; ++n) {
        const ptrdiff_t at = static_cast<ptrdiff_t>(n) * channel_stride;
        sum[n] += w00 * static_cast<float>(a[at]) + w01 * static_cast<float>(b[at]) +
                  w10 * static_cast<float>(c[at]) + w11 * static_cast<float>(d[at]);
      }
    }
  return sum;
}

/// Half to even, clamped; what is not a number is 0.
template <typename T>
T finished(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    if (std::isnan(value)) return 0;
    constexpr auto kLow = static_cast<float>(std::numeric_limits<T>::min());
    constexpr auto kHigh = static_cast<float>(std::numeric_limits<T>::max());
    return static_cast<T>(std::clamp(std::nearbyint(value), kLow, kHigh));
  }
}

/// Strides of what a frame has; a layout without C has one channel.
struct FrameStrides {
  ptrdiff_t row = 0, column = 0, channel = 0;
};

class RoiCall {
 public:
  explicit RoiCall(runtime::NativeContext& context)
      : context_(context),
        state_(roi_state_of(context)),
        window_(context.inputs[0]),
        output_(*context.output) {
    const auto integer = [&](size_t k) { return cell_to_int(DType::kI64, context.scalars[k]); };
    std::vector<size_t> own;
    for (size_t d = 0; d < state_.layout.size(); ++d)
      (std::string_view("HWC").find(state_.layout[d]) == std::string_view::npos ? frame_dims_ : own)
          .push_back(d);
    for (size_t n = 0; n < own.size(); ++n) {
      const char letter = state_.layout[own[n]];
      const ptrdiff_t from = window_.strides[own[n]], to = output_.strides[frame_dims_.size() + 1 + n];
      if (letter == 'H') {
        rows_ = {integer(1), integer(3), from};
        to_.row = to;
      } else if (letter == 'W') {
        columns_ = {integer(2), integer(4), from};
        to_.column = to;
      } else {
        channels_ = window_.extents[own[n]];
        channel_stride_ = from;
        to_.channel = to;
      }
    }
  }

  template <typename In, typename Out>
  Status run() {
    const auto scale = static_cast<float>(cell_to_double(DType::kF32, context_.scalars[0]));
    RoiPlaces rows, columns;
    for (int64_t box = 0; box < context_.inputs[1].extents[0]; ++box) {
      if (context_.cancelled()) return {};
      const Side down = side_of(context_.inputs[1], box, 0, scale, state_);
      const Side across = side_of(context_.inputs[1], box, 1, scale, state_);
      rows.set(down, state_.bins[0], rows_);
      columns.set(across, state_.bins[1], columns_);
      const auto count = static_cast<float>(std::max<int64_t>(down.samples * across.samples, 1));
      each_frame([&](ptrdiff_t from, ptrdiff_t to) {
        pool<In, Out>(reinterpret_cast<const In*>(window_.data) + from,
                      reinterpret_cast<Out*>(output_.data) + to +
                          static_cast<ptrdiff_t>(box) * output_.strides[frame_dims_.size()],
                      rows, columns, count);
      });
    }
    return {};
  }

 private:
  /// Calls body(offset of the frame, offset of its output).
  template <typename F>
  void each_frame(const F& body) const {
    std::array<int64_t, runtime::kMaxRank> at{};
    for (;;) {
      ptrdiff_t from = 0, to = 0;
      for (size_t n = 0; n < frame_dims_.size(); ++n) {
        from += at[n] * window_.strides[frame_dims_[n]];
        to += at[n] * output_.strides[n];
      }
      body(from, to);
      size_t n = frame_dims_.size();
      while (n > 0 && ++at[n - 1] == output_.extents[n - 1]) at[--n] = 0;
      if (n == 0) return;
    }
  }

  template <typename In, typename Out>
  void pool(const In* image, Out* out, const RoiPlaces& rows, const RoiPlaces& columns, float count) const {
    for (size_t y = 0; y < rows.ends.size(); ++y)
      for (size_t x = 0; x < columns.ends.size(); ++x) {
        const auto some = [&]<int kChannels>(int64_t channel) {
          const auto sum = sum_of<kChannels>(image + channel * channel_stride_, channel_stride_,
                                             rows.of_bin(y), columns.of_bin(x));
          for (size_t n = 0; n < kChannels; ++n)
            out[static_cast<ptrdiff_t>(y) * to_.row + static_cast<ptrdiff_t>(x) * to_.column +
                (channel + static_cast<ptrdiff_t>(n)) * to_.channel] = finished<Out>(sum[n] / count);
        };
        // Channels side by side share a cache line; planes are better read one after the other.
        const int64_t together = channel_stride_ == 1 ? 4 : 1;
        for (int64_t channel = 0; channel < channels_;) {
          const int64_t count_of = std::min(together, channels_ - channel);
          if (count_of == 4) some.template operator()<4>(channel);
          if (count_of == 3) some.template operator()<3>(channel);
          if (count_of == 2) some.template operator()<2>(channel);
          if (count_of == 1) some.template operator()<1>(channel);
          channel += count_of;
        }
      }
  }

  runtime::NativeContext& context_;
  const RoiState& state_;
  const runtime::Tensor& window_;
  const runtime::Tensor& output_;
  std::vector<size_t> frame_dims_;  ///< of the window; in the output they stand in front
  ImageAxis rows_, columns_;
  FrameStrides to_;
  int64_t channels_ = 1;
  ptrdiff_t channel_stride_ = 0;
};

template <typename In>
Status align_as(RoiCall& call, DType out) {
  if (out == DType::kF32) return call.run<In, float>();
  return call.run<In, In>();
}

Status roi_align(runtime::NativeContext& context) {
  if (context.output->volume() == 0) return {};
  RoiCall call(context);
  const DType out = context.output->dtype;
  switch (context.inputs[0].dtype) {
    case DType::kU8:
      return align_as<uint8_t>(call, out);
    case DType::kU16:
      return align_as<uint16_t>(call, out);
    case DType::kI16:
      return align_as<int16_t>(call, out);
    default:
      return align_as<float>(call, out);
  }
}

}  // namespace

std::vector<runtime::NativeFunction> roi_align_functions() {
  const auto function = [](const char* name, Status (*call)(runtime::NativeContext&)) {
    runtime::NativeFunction made;
    made.name = name;
    made.category = "compute";
    made.prepare = prepare_roi;
    made.call = call;
    return made;
  };
  return {function(kRoiReach, roi_reach), function(kRoiAlign, roi_align)};
}

}  // namespace galatea::native
