// Boxes of four pictures that make up a mosaic: see mosaic_boxes.h.
#include "stdlib_ops/native/mosaic_boxes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"

namespace galatea::native {

std::optional<Box> box_on_canvas(const Box& box, const MosaicTile& tile, const std::array<double, 2>& canvas,
                                 double least_visible) {
  Box clipped;
  double area = 1, visible = 1;
  for (size_t d = 0; d < 2; ++d) {
    area *= box.hi[d] - box.lo[d];
    clipped.lo[d] = std::clamp(box.lo[d] + tile.start[d], 0.0, canvas[d]);
    clipped.hi[d] = std::clamp(box.hi[d] + tile.start[d], 0.0, canvas[d]);
    visible *= clipped.hi[d] - clipped.lo[d];
  }
  if (!(visible > 0) || visible < least_visible * area) return std::nullopt;
  return clipped;
}

namespace {

constexpr size_t kTiles = 4;

class MosaicState final : public runtime::NativeState {
 public:
  BoxLayout layout;
  bool normalized = true;
  double least_visible = 0;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_mosaic(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "mosaic: configuration is not a JSON object");
  auto state = std::make_shared<MosaicState>();
  const auto layout = BoxLayout::parse(json.value("layout", ""));
  GALATEA_CHECK(layout.has_value() && layout->dims == 2, "mosaic: no layout in the configuration");
  state->layout = *layout;
  state->normalized = json.value("normalized", true);
  state->least_visible = json.value("least_visible", 0.0);
  return state;
}

const MosaicState& mosaic_state(const runtime::NativeContext& context) {
  return *static_cast<const MosaicState*>(context.state);
}

struct MosaicBoxes {
  std::array<double, 2> canvas{};
  std::vector<Box> boxes;  ///< on the canvas, in pixels
  std::array<std::vector<int64_t>, kTiles> rows;
};

Result<MosaicBoxes> mosaic_boxes(const runtime::NativeContext& context) {
  const MosaicState& state = mosaic_state(context);
  const auto pixels = [&](size_t n) {
    return static_cast<double>(cell_to_int(DType::kI64, context.scalars[n]));
  };
  MosaicBoxes out;
  out.canvas = {pixels(4 * kTiles), pixels(4 * kTiles + 1)};
  for (size_t k = 0; k < kTiles; ++k) {
    const MosaicTile tile{{pixels(4 * k), pixels(4 * k + 1)}, {pixels(4 * k + 2), pixels(4 * k + 3)}};
    const runtime::Tensor& given = context.inputs[k];
    for (int64_t row = 0; row < given.extents[0]; ++row) {
      Box box = box_at(given, row, state.layout);
      for (size_t d = 0; d < 2; ++d) {
        if (!(std::isfinite(box.lo[d]) && std::isfinite(box.hi[d]) && box.lo[d] <= box.hi[d]))
          return make_error(
              ErrorKind::kUser, "G0910",
              fmt::format("box {} of picture {} of the mosaic reaches from {:.6g} to {:.6g} along {}: "
                          "it must end behind its start",
                          row, k, box.lo[d], box.hi[d], "xy"[d]),
              "give bbox_layout as the boxes are: xyXY has ends, xyWH extents");
        if (state.normalized) box.lo[d] *= tile.picture[d], box.hi[d] *= tile.picture[d];
      }
      if (const auto left = box_on_canvas(box, tile, out.canvas, state.least_visible)) {
        out.boxes.push_back(*left);
        out.rows[k].push_back(row);
      }
    }
  }
  return out;
}

Status count_boxes(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const MosaicBoxes left, mosaic_boxes(context));
  context.scalar_results[0] = cell_from_int(DType::kI64, static_cast<int64_t>(left.boxes.size()));
  return {};
}

Result<MosaicBoxes> counted_boxes(const runtime::NativeContext& context) {
  GALATEA_ASSIGN(MosaicBoxes left, mosaic_boxes(context));
  GALATEA_CHECK(static_cast<int64_t>(left.boxes.size()) == context.output->extents[0],
                "another number of boxes is left in a mosaic than was counted");
  return left;
}

Status make_boxes(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const MosaicBoxes left, counted_boxes(context));
  const MosaicState& state = mosaic_state(context);
  auto* out = reinterpret_cast<float*>(context.output->data);
  for (const Box& box : left.boxes) {
    for (size_t d = 0; d < 2; ++d) {
      const double unit = state.normalized ? left.canvas[d] : 1;
      const double end = state.layout.is_extent[d] ? box.hi[d] - box.lo[d] : box.hi[d];
      out[state.layout.start[d]] = static_cast<float>(box.lo[d] / unit);
      out[state.layout.other[d]] = static_cast<float>(end / unit);
    }
    out += 4;
  }
  return {};
}

Status make_rows(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const MosaicBoxes left, counted_boxes(context));
  auto* out = reinterpret_cast<int32_t*>(context.output->data);
  const runtime::Tensor& made = *context.output;
  const int64_t columns = made.ndim == 2 ? made.extents[1] : 1;
  for (size_t k = 0; k < kTiles; ++k) {
    copy_rows(context.inputs[kTiles + k], left.rows[k], out);
    out += static_cast<int64_t>(left.rows[k].size()) * columns;
  }
  return {};
}

}  // namespace

std::vector<runtime::NativeFunction> mosaic_box_functions() {
  const auto function = [](const char* name, Status (*call)(runtime::NativeContext&)) {
    runtime::NativeFunction made;
    made.name = name;
    made.category = "compute";
    made.prepare = prepare_mosaic;
    made.call = call;
    return made;
  };
  return {function(kMosaicCountBoxes, count_boxes), function(kMosaicBoxes, make_boxes),
          function(kMosaicRows, make_rows)};
}

}  // namespace galatea::native
