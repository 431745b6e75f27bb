// Non-maximum suppression: see nms.h.
#include "stdlib_ops/native/nms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/json.h"
#include "stdlib_ops/native/boxes.h"

namespace galatea::native {
namespace {

/// Boxes of one class, the best first, column by column: the inner loop takes several at once.
class Overlaps {
 public:
  explicit Overlaps(size_t boxes)
      : left_(boxes), top_(boxes), right_(boxes), bottom_(boxes), area_(boxes), gone_(boxes) {}

  void set(size_t n, const Corners& box) {
    left_[n] = box.left;
    top_[n] = box.top;
    right_[n] = box.right;
    bottom_[n] = box.bottom;
    area_[n] = (box.right - box.left) * (box.bottom - box.top);
    gone_[n] = 0;
  }
  bool is_gone(size_t n) const { return gone_[n] != 0; }

  /// Marks the boxes in (best, end) whose intersection with `best`, by the union of both, is above the
  /// threshold. That of two boxes without an area is 0 / 0, which is not.
  void suppress(size_t best, size_t end, float threshold) {
    const float left = left_[best], top = top_[best], right = right_[best], bottom = bottom_[best];
    const float area = area_[best];
    for (size_t n = best + 1; n < end; ++n) {
      const float width = std::max(0.0F, std::min(right, right_[n]) - std::max(left, left_[n]));
      const float height = std::max(0.0F, std::min(bottom, bottom_[n]) - std::max(top, top_[n]));
      const float both = width * height;
      gone_[n] |= static_cast<uint8_t>(both / (area + area_[n] - both) > threshold);
    }
  }

 private:
  std::vector<float> left_, top_, right_, bottom_, area_;
  std::vector<uint8_t> gone_;
};

/// The largest f32 that is not above a threshold: an f32 is above the one where it is above the other.
float narrowed(double threshold) {
  const auto near = static_cast<float>(threshold);
  return static_cast<double>(near) > threshold ? std::nextafter(near, -std::numeric_limits<float>::infinity())
                                               : near;
}

class NmsState final : public runtime::NativeState {
 public:
  int64_t max_boxes = -1;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_nms(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "nms: configuration is not a JSON object");
  auto state = std::make_shared<NmsState>();
  state->max_boxes = json.value("max_boxes", int64_t{-1});
  return state;
}

std::unexpected<Error> nms_error(std::string message, std::string help) {
  return make_error(ErrorKind::kUser, "G0910", std::move(message), std::move(help));
}

Result<std::vector<Corners>> corners_of(const runtime::Tensor& tensor) {
  std::vector<Corners> boxes;
  for (int64_t row = 0; row < tensor.extents[0]; ++row) {
    const Corners box = {number_at(tensor, row, 0), number_at(tensor, row, 1), number_at(tensor, row, 2),
                         number_at(tensor, row, 3)};
    for (const float number : {box.left, box.top, box.right, box.bottom})
      if (!std::isfinite(number))
        return nms_error(fmt::format("box {} has the coordinate {}", row, number),
                         "leave boxes out that are not there");
    boxes.push_back(box);
  }
  return boxes;
}

Result<std::vector<float>> scores_of(const runtime::Tensor& tensor) {
  std::vector<float> scores;
  const int64_t size = size_of(tensor.dtype);
  for (int64_t row = 0; row < tensor.extents[0]; ++row) {
    const auto score = static_cast<float>(
        cell_to_double(tensor.dtype, load_cell(tensor.dtype, tensor.data + row * tensor.strides[0] * size)));
    if (std::isnan(score))
      return nms_error(fmt::format("the score of box {} is not a number", row),
                       "boxes are ordered by their scores: look where they come from");
    scores.push_back(score);
  }
  return scores;
}

std::vector<int64_t> classes_of(const runtime::Tensor& tensor) {
  std::vector<int64_t> classes;
  const int64_t size = size_of(tensor.dtype);
  for (int64_t row = 0; row < tensor.extents[0]; ++row) {
    const uint8_t* address = tensor.data + row * tensor.strides[0] * size;
    classes.push_back(cell_to_int(tensor.dtype, load_cell(tensor.dtype, address)));
  }
  return classes;
}

Status nms(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const std::vector<Corners> boxes, corners_of(context.inputs[0]));
  GALATEA_ASSIGN(const std::vector<float> scores, scores_of(context.inputs[1]));
  const std::vector<int64_t> classes =
      context.inputs.size() > 2 ? classes_of(context.inputs[2]) : std::vector<int64_t>();
  const NmsOptions options = {.iou_threshold = cell_to_double(DType::kF64, context.scalars[0]),
                              .score_threshold = cell_to_double(DType::kF64, context.scalars[1]),
                              .max_boxes = static_cast<const NmsState*>(context.state)->max_boxes};
  const auto kept = suppress_overlaps(boxes, scores, classes, options, [&] { return context.cancelled(); });
  const std::vector<int64_t>& rows = kept ? *kept : std::vector<int64_t>();
  GALATEA_TRY(context.allocate_output(DType::kI64, {static_cast<int64_t>(rows.size())}));
  std::ranges::copy(rows, reinterpret_cast<int64_t*>(context.output->data));
  return {};
}

}  // namespace

std::optional<std::vector<int64_t>> suppress_overlaps(std::span<const Corners> boxes,
                                                      std::span<const float> scores,
                                                      std::span<const int64_t> classes,
                                                      const NmsOptions& options,
                                                      const std::function<bool()>& cancelled) {
  std::vector<size_t> order;
  for (size_t row = 0; row < boxes.size(); ++row)
    if (static_cast<double>(scores[row]) > options.score_threshold) order.push_back(row);
  std::ranges::stable_sort(order, std::greater(), [&](size_t row) { return scores[row]; });
  // Places in that order, class by class.
  std::vector<size_t> places(order.size());
  for (size_t place = 0; place < places.size(); ++place) places[place] = place;
  const auto class_of = [&](size_t place) { return classes.empty() ? 0 : classes[order[place]]; };
  if (!classes.empty()) std::ranges::stable_sort(places, std::less(), class_of);

  Overlaps overlaps(places.size());
  for (size_t n = 0; n < places.size(); ++n) overlaps.set(n, boxes[order[places[n]]]);
  const float threshold = narrowed(options.iou_threshold);
  std::vector<bool> is_kept(order.size());
  for (size_t first = 0, end = 0; first < places.size(); first = end) {
    while (end < places.size() && class_of(places[end]) == class_of(places[first])) ++end;
    for (size_t n = first; n < end; ++n) {
      if (cancelled && n % 64 == 0 && cancelled()) return std::nullopt;
      if (overlaps.is_gone(n)) continue;
      is_kept[places[n]] = true;
      overlaps.suppress(n, end, threshold);
    }
  }
  std::vector<int64_t> kept;
  for (size_t place = 0; place < order.size(); ++place) {
    if (options.max_boxes >= 0 && static_cast<int64_t>(kept.size()) >= options.max_boxes) break;
    if (is_kept[place]) kept.push_back(static_cast<int64_t>(order[place]));
  }
  return kept;
}

runtime::NativeFunction nms_function() {
  runtime::NativeFunction made;
  made.name = kBoxesNms;
  made.category = "compute";
  made.prepare = prepare_nms;
  made.call = nms;
  return made;
}

}  // namespace galatea::native
