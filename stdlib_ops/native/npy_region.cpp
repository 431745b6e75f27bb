#include "stdlib_ops/native/npy_region.h"

#include <strings.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "base/scalar_op.h"

namespace galatea::native {
namespace {

/// Bounds beyond it are no bounds of memory: sums of two never overflow.
constexpr int64_t kMostBound = int64_t{1} << 52;

template <typename T>
std::vector<T> numbers_of(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return {};
  if (found->is_number()) return {found->get<T>()};
  return found->get<std::vector<T>>();
}

template <typename T>
T of_axis(const std::vector<T>& numbers, size_t k) {
  return numbers.size() == 1 ? numbers.front() : numbers[k];
}

}  // namespace

Result<NpyRegion::Part> NpyRegion::of(const std::vector<int64_t>& extents, const std::string& name) const {
  Part part{std::vector<int64_t>(extents.size()), extents};
  const auto rank = static_cast<int64_t>(extents.size());
  std::vector<int64_t> bounded = axes;
  if (bounded.empty()) {
    bounded.resize(extents.size());
    std::iota(bounded.begin(), bounded.end(), 0);
  }
  auto wrong = [&](const std::string& what) {
    return make_error(ErrorKind::kUser, "G0802", fmt::format("{}: {}", name, what),
                      R"(out_of_bounds_policy="pad" fills what lies outside, "trim_to_shape" leaves it out)");
  };
  for (const size_t count :
       {start.size(), end.size(), shape.size(), rel_start.size(), rel_end.size(), rel_shape.size()})
    if (count > 1 && count != bounded.size())
      return wrong(fmt::format("{} bounds are given for {} axes", count, bounded.size()));
  for (size_t k = 0; k < bounded.size(); ++k) {
    const int64_t axis = bounded[k] < 0 ? bounded[k] + rank : bounded[k];
    if (axis < 0 || axis >= rank)
      return wrong(fmt::format("roi_axes names axis {} of an array of {} axes", bounded[k], rank));
    const int64_t extent = extents[static_cast<size_t>(axis)];
    auto of_extent = [&](float share) {
      return static_cast<int64_t>(std::llround(std::clamp(std::isnan(share) ? 0.0F : share, -1e6F, 1e6F) *
                                               static_cast<float>(extent)));
    };
    int64_t from = 0, to = extent;
    if (!start.empty()) from = of_axis(start, k);
    if (!rel_start.empty()) from = of_extent(of_axis(rel_start, k));
    if (from < -kMostBound || from > kMostBound)
      return wrong(fmt::format("the start {} of axis {} is out of all bounds", from, axis));
    if (!end.empty()) to = of_axis(end, k);
    if (!rel_end.empty()) to = of_extent(of_axis(rel_end, k));
    if (!shape.empty()) {
      const int64_t length = of_axis(shape, k);
      if (length < 0) return wrong(fmt::format("{} elements of axis {} are wanted", length, axis));
      to = from + std::min(length, 2 * kMostBound + 1);
    }
    if (!rel_shape.empty())
      to = rel_start.empty() ? from + of_extent(of_axis(rel_shape, k))
                             : of_extent(of_axis(rel_start, k) + of_axis(rel_shape, k));
    // Without an end nothing is wanted behind the array.
    if (end.empty() && rel_end.empty() && shape.empty() && rel_shape.empty()) to = std::max(from, to);
    if (to < -kMostBound || to > kMostBound)
      return wrong(fmt::format("the end {} of axis {} is out of all bounds", to, axis));
    if (to < from)
      return wrong(fmt::format("the end {} of axis {} lies before its start {}", to, axis, from));
    if (policy == OutOfBounds::kTrim) {
      from = std::clamp<int64_t>(from, 0, extent);
      to = std::clamp<int64_t>(to, from, extent);
    } else if (policy == OutOfBounds::kError && (from < 0 || to > extent)) {
      return wrong(
          fmt::format("[{}, {}) of axis {} is wanted, which has an extent of {}", from, to, axis, extent));
    }
    part.start[static_cast<size_t>(axis)] = from;
    part.shape[static_cast<size_t>(axis)] = to - from;
  }
  return part;
}

NpyRegion region_of(const nlohmann::json& config) {
  const std::string policy = config.value("out_of_bounds_policy", "error");
  return {.axes = numbers_of<int64_t>(config, "roi_axes"),
          .start = numbers_of<int64_t>(config, "roi_start"),
          .end = numbers_of<int64_t>(config, "roi_end"),
          .shape = numbers_of<int64_t>(config, "roi_shape"),
          .rel_start = numbers_of<float>(config, "rel_roi_start"),
          .rel_end = numbers_of<float>(config, "rel_roi_end"),
          .rel_shape = numbers_of<float>(config, "rel_roi_shape"),
          .policy = ::strcasecmp(policy.c_str(), "pad") == 0 ? OutOfBounds::kPad
                    : policy == "trim_to_shape"              ? OutOfBounds::kTrim
                                                             : OutOfBounds::kError,
          .fill_value = config.value("fill_value", 0.0)};
}

void fill_with(const runtime::Tensor& tensor, double value) {
  const auto size = static_cast<size_t>(size_of(tensor.dtype));
  const Cell cell = cell_from_double(tensor.dtype, is_float(tensor.dtype) ? value : std::round(value));
  uint8_t element[sizeof(uint64_t)];
  store_cell(tensor.dtype, element, cell);
  for (int64_t i = 0; i < tensor.volume(); ++i)
    std::memcpy(tensor.data + static_cast<size_t>(i) * size, element, size);
}

}  // namespace galatea::native
