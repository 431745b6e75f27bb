#include "stdlib_ops/decoders/video_window.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "compiler/ir/attr_json.h"
#include "stdlib_ops/decoders/decoder.h"

namespace galatea::ops {
namespace {

/// DALIImageType's.
constexpr int64_t kGrayClip = 2;

int64_t channels_of_clip(int64_t image_type) { return image_type == kGrayClip ? 1 : 3; }

}  // namespace

ArgSpec fill_value_arg() {
  return {.name = "fill_value",
          .kind = ArgKind::kIntList,
          .default_value = std::vector<int64_t>{0},
          .documentation =
              "What pad_mode=\"constant\" fills with, 0 to 255: one number, or one for each channel."};
}

Status check_frame_fill(const TypeContext& ctx) {
  const std::vector<int64_t> fill = ctx.integers("fill_value");
  if (fill.size() != 1 && fill.size() != 3)
    return ctx.error(fmt::format("{}: fill_value has {} numbers", ctx.op().name, fill.size()),
                     "give one, or one for each of three channels", "fill_value");
  for (const int64_t value : fill)
    if (value < 0 || value > 255)
      return ctx.error(fmt::format("{}: fill_value is {}", ctx.op().name, value), "from 0 to 255",
                       "fill_value");
  return {};
}

std::vector<ArgSpec> look_args() {
  return {
      {.name = "image_type",
       .kind = ArgKind::kImageType,
       .default_value = int64_t{0},
       .documentation = "RGB, BGR, GRAY (the luma) or YCbCr (as stored). Not in DALI."},
      {.name = "color_space",
       .kind = ArgKind::kString,
       .default_value = std::string("bt601"),
       .documentation =
           "\"bt601\": every film is converted by BT.601, as DALI does; \"tagged\": by the matrix that it "
           "names (BT.601, BT.709, BT.2020). Not in DALI."},
      {.name = "adjust_orientation",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation =
           "Whether frames are turned as the file asks its viewers to. Not in DALI, which does not."}};
}

ir::Type clip_type(int64_t frames, int64_t image_type) {
  ir::Type out;
  out.dtype = DType::kU8;
  out.ndim = 4;
  out.layout = Layout("FHWC");
  out.extents = {frames, -1, -1, channels_of_clip(image_type)};
  return out;
}

nlohmann::json look_config(const RecipeBuilder& b) {
  nlohmann::json config = nlohmann::json::object();
  for (const char* name : {"image_type", "color_space", "adjust_orientation"})
    if (b.node().op->find_arg(name) != nullptr) config[name] = ir::attr_json(b.attr(name));
  config["fill_value"] = b.integers("fill_value");
  return config;
}

void output_clip(RecipeBuilder& b, const char* function, std::vector<int> inputs, std::vector<Expr> scalars,
                 const nlohmann::json& config, std::array<Expr, 3> extents) {
  using Part = op::WindowScalar::Part;
  op::NativeOutput native;
  native.function = function;
  native.inputs = std::move(inputs);
  native.scalars = std::move(scalars);
  native.config = json_text(config);
  native.makes = "clip";
  // The luma of another matrix has other weights, and what fills up has to be grey.
  if (config.value("color_space", "bt601") == "bt601" && config.at("fill_value").size() == 1)
    native.plane = luma_offer(b, "image_type");
  for (const Part part : {Part::kBegin, Part::kEnd})
    for (const char axis : {'F', 'H', 'W'}) native.window.push_back({axis, part});
  const int64_t channels = b.output_type(0).extents[3];
  b.output_native(0, std::move(native), {extents[0], extents[1], extents[2], i64(channels)});
}

}  // namespace galatea::ops
