#include "stdlib_ops/native/video/frames.h"

#include <algorithm>
#include <cmath>

namespace galatea::native::video {

std::optional<Padding> padding_of(std::string_view word) {
  if (word == "none") return Padding::kNone;
  if (word == "constant") return Padding::kConstant;
  if (word == "edge" || word == "repeat") return Padding::kEdge;
  if (word == "reflect_1001" || word == "symmetric") return Padding::kReflect1001;
  if (word == "reflect_101" || word == "reflect") return Padding::kReflect101;
  return std::nullopt;
}

std::optional<int64_t> padded(int64_t frame, int64_t frames, Padding padding) {
  if (frame >= 0 && frame < frames) return frame;
  const auto in_period = [&](int64_t period) { return (frame % period + period) % period; };
  switch (padding) {
    case Padding::kNone:
      return std::nullopt;
    case Padding::kConstant:
      return kFilled;
    case Padding::kEdge:
      return std::clamp<int64_t>(frame, 0, frames - 1);
    case Padding::kReflect1001: {
      const int64_t at = in_period(2 * frames);
      return std::min(at, 2 * frames - 1 - at);
    }
    case Padding::kReflect101: {
      if (frames == 1) return 0;
      const int64_t at = in_period(2 * frames - 2);
      return std::min(at, 2 * frames - 2 - at);
    }
  }
  return std::nullopt;
}

std::vector<int64_t> clip_starts(int64_t start, int64_t end, int64_t length, int64_t stride, int64_t step,
                                 Padding padding) {
  std::vector<int64_t> out;
  const int64_t last = padding == Padding::kNone ? end - length * stride : end - 1;
  for (int64_t first = start; first <= last; first += step) out.push_back(first);
  return out;
}

std::vector<int64_t> spread_frames(int64_t start, int64_t end, int64_t length) {
  std::vector<int64_t> out;
  const double step = length > 1 ? static_cast<double>(end - 1 - start) / static_cast<double>(length - 1) : 0;
  for (int64_t k = 0; k < length; ++k)
    out.push_back(std::llround(static_cast<double>(start) + step * static_cast<double>(k)));
  return out;
}

}  // namespace galatea::native::video
