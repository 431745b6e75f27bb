// Boxes of an image that is turned: see bbox_rotate.h.
#include "stdlib_ops/native/bbox_rotate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"

namespace galatea::native {

std::optional<Box> turned_box(const Box& box, const BboxTurn& turn) {
  const std::array<double, 2> own = {box.hi[0] - box.lo[0], box.hi[1] - box.lo[1]};
  const std::array<double, 2> middle = {(box.lo[0] + box.hi[0] - turn.image[0]) / 2,
                                        (box.lo[1] + box.hi[1] - turn.image[1]) / 2};
  const std::array<double, 2> at = {
      middle[0] * turn.cos + middle[1] * turn.sin + turn.canvas[0] / 2,
      middle[1] * turn.cos - middle[0] * turn.sin + turn.canvas[1] / 2,
  };
  const double c = std::abs(turn.cos), s = std::abs(turn.sin);
  // Past 45 degrees the box's height lies along the canvas's width.
  const bool lies = s > c;
  Box clipped;
  double area = 1, visible = 1;
  for (size_t d = 0; d < 2; ++d) {
    const double hull = c * own[d] + s * own[1 - d];
    const double extent = hull + turn.shrink * (own[lies ? 1 - d : d] - hull);
    clipped.lo[d] = std::clamp(at[d] - extent / 2, 0.0, turn.canvas[d]);
    clipped.hi[d] = std::clamp(at[d] + extent / 2, 0.0, turn.canvas[d]);
    area *= extent;
    visible *= clipped.hi[d] - clipped.lo[d];
  }
  if (!(area > 0) || visible / area < turn.least_visible) return std::nullopt;
  return clipped;
}

namespace {

class TurnState final : public runtime::NativeState {
 public:
  BoxLayout layout;
  bool normalized = true;
  double shrink = 0, least_visible = 0;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_bbox_rotate(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "bbox_rotate: configuration is not a JSON object");
  auto state = std::make_shared<TurnState>();
  const auto layout = BoxLayout::parse(json.value("layout", ""));
  GALATEA_CHECK(layout.has_value() && layout->dims == 2, "bbox_rotate: no layout in the configuration");
  state->layout = *layout;
  state->normalized = json.value("normalized", true);
  state->shrink = json.value("shrink", 0.0);
  state->least_visible = json.value("least_visible", 0.0);
  return state;
}

const TurnState& turn_state(const runtime::NativeContext& context) {
  return *static_cast<const TurnState*>(context.state);
}

/// The boxes that are left, in pixels, and their rows.
struct TurnedBoxes {
  BboxTurn turn;
  std::vector<Box> boxes;
  std::vector<int64_t> rows;
};

Result<TurnedBoxes> turned_boxes(const runtime::NativeContext& context) {
  const TurnState& state = turn_state(context);
  TurnedBoxes out;
  BboxTurn& turn = out.turn;
  const auto pixels = [&](size_t n) {
    return static_cast<double>(cell_to_int(DType::kI64, context.scalars[n]));
  };
  turn.cos = cell_to_double(DType::kF64, context.scalars[0]);
  turn.sin = cell_to_double(DType::kF64, context.scalars[1]);
  turn.image = {pixels(2), pixels(3)};
  turn.canvas = {pixels(4), pixels(5)};
  turn.shrink = state.shrink;
  turn.least_visible = state.least_visible;
  const runtime::Tensor& given = context.inputs[0];
  for (int64_t row = 0; row < given.extents[0]; ++row) {
    Box box = box_at(given, row, state.layout);
    for (size_t d = 0; d < 2; ++d) {
      if (!(std::isfinite(box.lo[d]) && std::isfinite(box.hi[d]) && box.lo[d] <= box.hi[d]))
        return make_error(ErrorKind::kUser, "G0910",
                          fmt::format("box {} reaches from {:.6g} to {:.6g} along {}: it must end behind its "
                                      "start",
                                      row, box.lo[d], box.hi[d], "xy"[d]),
                          "give bbox_layout as the boxes are: xyXY has ends, xyWH extents");
      if (state.normalized) box.lo[d] *= turn.image[d], box.hi[d] *= turn.image[d];
    }
    if (const auto turned = turned_box(box, turn)) {
      out.boxes.push_back(*turned);
      out.rows.push_back(row);
    }
  }
  return out;
}

Status count_turned(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const TurnedBoxes turned, turned_boxes(context));
  context.scalar_results[0] = cell_from_int(DType::kI64, static_cast<int64_t>(turned.rows.size()));
  return {};
}

void check_count(const TurnedBoxes& turned, const runtime::NativeContext& context) {
  GALATEA_CHECK(static_cast<int64_t>(turned.rows.size()) == context.output->extents[0],
                "another number of turned boxes is left than was counted");
}

Status keep_turned(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const TurnedBoxes turned, turned_boxes(context));
  check_count(turned, context);
  const TurnState& state = turn_state(context);
  auto* out = reinterpret_cast<float*>(context.output->data);
  for (const Box& box : turned.boxes) {
    for (size_t d = 0; d < 2; ++d) {
      const double unit = state.normalized ? turned.turn.canvas[d] : 1;
      const double end = state.layout.is_extent[d] ? box.hi[d] - box.lo[d] : box.hi[d];
      out[state.layout.start[d]] = static_cast<float>(box.lo[d] / unit);
      out[state.layout.other[d]] = static_cast<float>(end / unit);
    }
    out += 4;
  }
  return {};
}

Status keep_turned_rows(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const TurnedBoxes turned, turned_boxes(context));
  check_count(turned, context);
  copy_rows(context.inputs[1], turned.rows, reinterpret_cast<int32_t*>(context.output->data));
  return {};
}

}  // namespace

std::vector<runtime::NativeFunction> bbox_rotate_functions() {
  const auto function = [](const char* name, Status (*call)(runtime::NativeContext&)) {
    runtime::NativeFunction made;
    made.name = name;
    made.category = "compute";
    made.prepare = prepare_bbox_rotate;
    made.call = call;
    return made;
  };
  return {function(kBboxCountTurned, count_turned), function(kBboxKeepTurned, keep_turned),
          function(kBboxKeepTurnedRows, keep_turned_rows)};
}

}  // namespace galatea::native
