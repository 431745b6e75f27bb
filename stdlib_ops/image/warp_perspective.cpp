// experimental.warp_perspective: shows images through a projective map.
//
// Comes in: an image and a matrix of three rows, as an argument or as the second input. Goes out: the warped
// image.
#include <algorithm>
#include <utility>

#include "stdlib_ops/common/matrix.h"
#include "stdlib_ops/common/perspective.h"
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/compat/perspective.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr std::array<std::pair<const char*, Outside>, 5> kBorderModes = {
    {{"constant", Outside::kFill},
     {"replicate", Outside::kEdge},
     {"reflect", Outside::kReflect1001},
     {"reflect_101", Outside::kReflect101},
     {"wrap", Outside::kWrap}}};

/// Of the table; its end for another name.
auto border_mode(const std::string& name) {
  return std::ranges::find(kBorderModes, name, [](const auto& mode) { return std::string(mode.first); });
}

Types warp_perspective_types(const TypeContext& ctx) {
  GALATEA_TRY(check_given_matrix(ctx, 3, 3,
                                 "rows give X, Y and W of a place in the image, which is at (X / W, Y / W)"));
  GALATEA_TRY(check_lookup_filter(ctx, "interp_type", {Filter::kNearest, Filter::kLinear, Filter::kCubic}));
  if (border_mode(ctx.text("border_mode")) == kBorderModes.end())
    return ctx.error(
        fmt::format("experimental.warp_perspective: unknown border_mode \"{}\"", ctx.text("border_mode")),
        "use \"constant\", \"replicate\", \"reflect\", \"reflect_101\" or \"wrap\"", "border_mode");
  const std::string origin = ctx.text("pixel_origin");
  if (origin != "corner" && origin != "center")
    return ctx.error(fmt::format("experimental.warp_perspective: unknown pixel_origin \"{}\"", origin),
                     "use \"corner\" or \"center\"", "pixel_origin");
  GALATEA_TRY(check_warp_size(ctx));
  GALATEA_TRY(check_fill_value(ctx));
  if (ctx.compat() != op::Compat::kDali) GALATEA_TRY(check_compat_perspective(ctx));
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  if (ctx.given("size")) set_warp_extents(ctx, out);
  return std::vector{out};
}

ProjectiveMap projective_map(RecipeBuilder& b) {
  const std::vector<Expr> elements = given_matrix(b, 3, 3);
  ProjectiveMap map;
  std::ranges::copy(elements, map.begin());
  return map;
}

ProjectiveMap inverse_or_fail(RecipeBuilder& b, const ProjectiveMap& map, const char* complaint) {
  const Expr det = determinant(map);
  b.check(not_equal(det, f64(0)), complaint, {}, "no row may be a sum of multiples of the others",
          b.given("matrix") ? "matrix" : "");
  ProjectiveMap inverse = adjugate(map);
  for (Expr& element : inverse) element = element / det;
  return inverse;
}

void define_warp_perspective_places(RecipeBuilder& b) {
  ProjectiveMap map = projective_map(b);
  if (b.flag("inverse_map"))
    map = inverse_or_fail(b, map, "the matrix has no inverse: boxes and points cannot follow it");
  output_places(b, b.text("pixel_origin") == "corner" ? map : of_corners(map));
}

void define_warp_perspective(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  ProjectiveMap map = projective_map(b);
  if (!b.flag("inverse_map"))
    map = inverse_or_fail(b, map, "the matrix has no inverse, and inverse_map=False asks for it");
  std::array<Expr, 2> size = {b.extent(0, at.h), b.extent(0, at.w)};
  if (b.given("size")) {
    const std::vector<Expr> given = list_arg(b, "size", 2, DType::kF32);
    for (size_t k = 0; k < 2; ++k) {
      b.check((given[k] >= f32(0)) & (given[k] <= f32(kMostPixels)),
              "the size {} is not an extent of an image", {given[k]}, {}, "size");
      size[k] = max(round_to_i64(given[k]), i64(1));
    }
  }
  const bool from_corners = b.text("pixel_origin") == "corner";
  if (b.compat() != op::Compat::kDali)
    return output_compat_perspective(b, map, from_corners, size[0], size[1]);
  const Lookup lookup{.b = b,
                      .at = at,
                      .filter = static_cast<Filter>(b.integer("interp_type")),
                      .outside = border_mode(b.text("border_mode"))->second,
                      .fill = fill_or_zero(b, at)};
  output_perspective(b, from_corners ? of_centres(map) : map, size[0], size[1], lookup);
}

}  // namespace

Operator make_experimental_warp_perspective() {
  Operator op;
  op.name = "experimental.warp_perspective";
  op.summary = "Warps images by a projective map.";
  op.documentation =
      "With (X, Y, W) = M (x, y, 1), output place (x, y) shows the image at (X / W, Y / W). pixel_origin says "
      "what places are: of \"corner\", pixel k covers [k, k + 1) and has its centre at k + 1/2; of "
      "\"center\", it has its centre at k, as in OpenCV. With inverse_map=False the matrix maps places of the "
      "image to places of the output, and its inverse (in f64) is used. INTERP_LINEAR blends four pixels, "
      "INTERP_CUBIC sixteen (Keys' cubic convolution with a = -3/4), INTERP_NN takes the nearest one, of two "
      "that are as near the even one. Places are evaluated in f32 as "
      "multiply-adds and a division (INTERP_NN: in f64); values round half to even. Nothing is smoothed where the map shrinks.";
  op.inputs = {{.name = "data",
                .documentation = "image",
                .layouts = {"HWC", "CHW", "HW"},
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}},
               {.name = "matrix",
                .documentation = "matrix, FLOAT [3, 3]; instead of the argument `matrix`",
                .dtypes = {DType::kF32},
                .axes = "^F",
                .optional = true,
                .any_device = true}};
  op.min_inputs = 1;
  op.max_inputs = 2;
  op.args = {
      {.name = "matrix",
       .kind = ArgKind::kAny,
       .per_sample = true,
       .documentation = "Nine numbers, row by row, or a tensor [3, 3]."},
      {.name = "inverse_map",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether the matrix leads from the output to the image; else it leads from the "
                        "image to the output."},
      {.name = "pixel_origin",
       .kind = ArgKind::kString,
       .default_value = std::string("corner"),
       .documentation = "\"corner\" or \"center\": what is at (0, 0), a corner of the first pixel or its "
                        "centre."},
      {.name = "size",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "Extents of the output, (h, w) or one number for both, rounded half away from zero, "
                        "at least 1. If not given, those of the input."},
      {.name = "border_mode",
       .kind = ArgKind::kString,
       .default_value = std::string("constant"),
       .documentation = "What stands outside the image: \"constant\": fill_value; \"replicate\": its edge "
                        "(aaa|abc|ccc); \"reflect\" (cba|abc|cba); \"reflect_101\" (dcb|abcd|cba); \"wrap\" "
                        "(abc|abc|abc)."},
      {.name = "fill_value",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{},
       .documentation = "What stands outside with border_mode=\"constant\", converted to the input's type: "
                        "one value, or one per channel; 0 if not given."},
      {.name = "interp_type",
       .kind = ArgKind::kInterp,
       .default_value = static_cast<int64_t>(Filter::kLinear),
       .documentation = "INTERP_NN, INTERP_LINEAR or INTERP_CUBIC."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example(
      "fn.experimental.warp_perspective(image, matrix=[1.0, 0.1, -8.0, 0.0, 1.0, 0.0, 0.0, 0.001, 1.0]), "
      "label");
  op.presets = perspective_presets();
  op.type_rule = warp_perspective_types;
  op.define = define_warp_perspective;
  moves_places(op, define_warp_perspective_places);
  return op;
}

}  // namespace galatea::ops
