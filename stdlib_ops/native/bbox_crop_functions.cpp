// The search of fn.random_bbox_crop as native functions: configurations, tensors, scalars.
#include <fmt/format.h>

#include "base/json.h"
#include "stdlib_ops/native/bbox_crop.h"

namespace galatea::native {
namespace {

class BboxState final : public runtime::NativeState {
 public:
  BboxCropOptions options;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_bbox_crop(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "random_bbox_crop: configuration is not a JSON object");
  auto state = std::make_shared<BboxState>();
  BboxCropOptions& options = state->options;
  const auto layout = BoxLayout::parse(json.value("layout", ""));
  GALATEA_CHECK(layout.has_value(), "random_bbox_crop: no layout in the configuration");
  options.layout = *layout;
  options.thresholds = json.value("thresholds", std::vector<double>());
  options.overlap = json.value("overlap", false);
  options.all_above = json.value("all_above", true);
  options.allow_no_crop = json.value("allow_no_crop", true);
  options.attempts = json.value("attempts", int64_t{1});
  options.total_attempts = json.value("total_attempts", int64_t{-1});
  options.ratios.clear();
  const auto ratios = json.value("ratios", std::vector<double>());
  for (size_t n = 0; n + 1 < ratios.size(); n += 2) options.ratios.push_back({ratios[n], ratios[n + 1]});
  options.scaling = json.value("scaling", options.scaling);
  options.prune = json.value("prune", -1.0);
  options.fixed = json.value("fixed", false);
  options.needs_box = json.value("needs_box", false);
  GALATEA_CHECK(!options.thresholds.empty() && !options.ratios.empty(),
                "random_bbox_crop: thresholds or ratios are missing in the configuration");
  return state;
}

const BboxCropOptions& options_of(const runtime::NativeContext& context) {
  return static_cast<const BboxState*>(context.state)->options;
}

std::unexpected<Error> bbox_error(std::string message, std::string help) {
  return make_error(ErrorKind::kUser, "G0910", std::move(message), std::move(help));
}

Result<std::vector<Box>> boxes_of(const runtime::Tensor& tensor, const BoxLayout& layout) {
  // Sums of a start and an extent are rounded once.
  constexpr double kMost = 1 + 0x1p-23;
  std::vector<Box> boxes;
  for (int64_t row = 0; row < tensor.extents[0]; ++row) {
    const Box box = box_at(tensor, row, layout);
    for (size_t d = 0; d < static_cast<size_t>(layout.dims); ++d)
      if (!(box.lo[d] >= 0 && box.lo[d] <= 1 && box.hi[d] >= box.lo[d] && box.hi[d] <= kMost))
        return bbox_error(
            fmt::format(
                "box {} reaches from {:.6g} to {:.6g} along {}: boxes lie in [0, 1], start before end", row,
                box.lo[d], box.hi[d], "xyz"[d]),
            "give boxes as fractions of the image, and bbox_layout as they are");
    boxes.push_back(box);
  }
  return boxes;
}

BoxAxes extents_at(std::span<const Cell> scalars, size_t first, int dims) {
  BoxAxes extents{1, 1, 1};
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d)
    extents[d] = static_cast<double>(cell_to_int(DType::kI64, scalars[first + d]));
  return extents;
}

Status find_crop(runtime::NativeContext& context) {
  const BboxCropOptions& options = options_of(context);
  const int dims = options.layout.dims;
  const auto bits = [&](size_t n) {
    return static_cast<uint64_t>(cell_to_int(DType::kI64, context.scalars[n]));
  };
  GALATEA_ASSIGN(const std::vector<Box> boxes, boxes_of(context.inputs[0], options.layout));
  const auto found = find_bbox_crop(
      boxes, options, bits(0) << 32 | bits(1), extents_at(context.scalars, 2, dims),
      extents_at(context.scalars, 2 + static_cast<size_t>(dims), dims), [&] { return context.cancelled(); });
  if (!found)
    return bbox_error(fmt::format("none of {} windows reaches a threshold and keeps a box", kMostWindows),
                      "lower thresholds, widen scaling, let allow_no_crop stand, or set total_num_attempts: "
                      "the best window is taken then");
  size_t next = 0;
  for (const auto& numbers : {found->anchor, found->shape})
    for (size_t d = 0; d < static_cast<size_t>(dims); ++d)
      context.scalar_results[next++] = cell_from_double(DType::kF32, static_cast<double>(numbers[d]));
  context.scalar_results[next++] = cell_from_int(DType::kI64, found->whole ? 1 : 0);
  context.scalar_results[next] = cell_from_int(DType::kI64, found->left);
  return {};
}

/// The window that a call was given, and what it leaves.
struct Kept {
  BboxCrop crop;
  Box window;
  std::vector<int64_t> rows;
};

Kept kept_rows(const runtime::NativeContext& context) {
  const BboxCropOptions& options = options_of(context);
  const auto dims = static_cast<size_t>(options.layout.dims);
  Kept kept;
  for (size_t d = 0; d < dims; ++d) {
    kept.crop.anchor[d] = static_cast<float>(cell_to_double(DType::kF32, context.scalars[d]));
    kept.crop.shape[d] = static_cast<float>(cell_to_double(DType::kF32, context.scalars[dims + d]));
  }
  kept.crop.whole = cell_to_int(DType::kI64, context.scalars[2 * dims]) != 0;
  kept.window =
      relative_window(kept.crop, options, extents_at(context.scalars, 2 * dims + 1, options.layout.dims));
  for (int64_t row = 0; row < context.inputs[0].extents[0]; ++row)
    if (kept.crop.whole || is_left(box_at(context.inputs[0], row, options.layout), kept.window, options))
      kept.rows.push_back(row);
  GALATEA_CHECK(static_cast<int64_t>(kept.rows.size()) == context.output->extents[0],
                "the window keeps another number of boxes than it was found to");
  return kept;
}

Status keep_boxes(runtime::NativeContext& context) {
  const BoxLayout& layout = options_of(context).layout;
  const Kept kept = kept_rows(context);
  auto* out = reinterpret_cast<float*>(context.output->data);
  for (const int64_t row : kept.rows) {
    const Box box = box_at(context.inputs[0], row, layout);
    for (size_t d = 0; d < static_cast<size_t>(layout.dims); ++d) {
      const double lo = kept.window.lo[d], extent = kept.window.hi[d] - lo;
      const auto seen = [&](double at) {
        const double place = extent > 0 ? (at - lo) / extent : 0;
        return static_cast<float>(place < 0 ? 0 : place > 1 ? 1 : place);
      };
      const float start = seen(box.lo[d]), end = seen(box.hi[d]);
      out[layout.start[d]] = start;
      out[layout.other[d]] = layout.is_extent[d] ? end - start : end;
    }
    // The whole picture changes no number, not even by a rounding.
    if (kept.crop.whole)
      for (int column = 0; column < 2 * layout.dims; ++column)
        out[column] = number_at(context.inputs[0], row, column);
    out += 2 * static_cast<ptrdiff_t>(layout.dims);
  }
  return {};
}

Status keep_rows(runtime::NativeContext& context) {
  const Kept kept = kept_rows(context);
  auto* out = reinterpret_cast<int32_t*>(context.output->data);
  if (context.inputs.size() == 1) {
    for (const int64_t row : kept.rows) *out++ = static_cast<int32_t>(row);
    return {};
  }
  copy_rows(context.inputs[1], kept.rows, out);
  return {};
}

}  // namespace

std::string to_json(const BboxCropOptions& options) {
  nlohmann::ordered_json json;
  json["layout"] = options.layout.text();
  json["thresholds"] = options.thresholds;
  json["overlap"] = options.overlap;
  json["all_above"] = options.all_above;
  json["allow_no_crop"] = options.allow_no_crop;
  json["attempts"] = options.attempts;
  json["total_attempts"] = options.total_attempts;
  json["ratios"] = nlohmann::ordered_json::array();
  for (const std::array<double, 2>& range : options.ratios)
    for (const double ratio : range) json["ratios"].push_back(ratio);
  json["scaling"] = options.scaling;
  json["prune"] = options.prune;
  json["fixed"] = options.fixed;
  json["needs_box"] = options.needs_box;
  return json.dump();
}

std::vector<runtime::NativeFunction> bbox_crop_functions() {
  const auto function = [](const char* name, Status (*call)(runtime::NativeContext&)) {
    runtime::NativeFunction made;
    made.name = name;
    made.category = "compute";
    made.prepare = prepare_bbox_crop;
    made.call = call;
    return made;
  };
  return {function(kBboxFindCrop, find_crop), function(kBboxKeepBoxes, keep_boxes),
          function(kBboxKeepRows, keep_rows)};
}

}  // namespace galatea::native
