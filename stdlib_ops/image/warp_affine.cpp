// warp_affine: shows images through an affine map.
//
// Comes in: an image and a matrix of two rows, as an argument or as the second input. Goes out: the warped
// image.
#include <cmath>

#include "stdlib_ops/common/matrix.h"
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/compat/warp.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Status check_matrix(const TypeContext& ctx) {
  GALATEA_TRY(check_given_matrix(ctx, 2, 3, "rows give x, then y, of a place in the image"));
  if (given_static(ctx, "matrix") && !ctx.flag("inverse_map")) {
    const auto numbers = ctx.numbers("matrix");
    auto f = [&](size_t i) { return static_cast<double>(static_cast<float>(numbers[i])); };
    if (f(0) * f(4) - f(1) * f(3) == 0)
      return ctx.error("warp_affine: the matrix has no inverse, and inverse_map=False asks for it",
                       "the first two columns must not be multiples of each other", "matrix");
  }
  return {};
}

Types warp_affine_types(const TypeContext& ctx) {
  GALATEA_TRY(check_matrix(ctx));
  if (ctx.compat() != op::Compat::kDali) GALATEA_TRY(check_compat_warp(ctx));
  GALATEA_ASSIGN(ir::Type out, warp_type(ctx));
  if (!ctx.given("size")) out.extents = ctx.input(0).extents;
  return std::vector{out};
}

AffineMap given_map(RecipeBuilder& b) {
  const std::vector<Expr> elements = given_matrix(b, 2, 3);
  AffineMap map;
  for (size_t i = 0; i < elements.size(); ++i) map[i / 3][i % 3] = elements[i];
  return map;
}

/// The determinant of f32 elements is exact but for one rounding, so it is 0 where it should be.
void check_inverse(RecipeBuilder& b, const AffineMap& m, const std::string& message) {
  b.check(not_equal(determinant(m), f64(0)), message, {},
          "the first two columns must not be multiples of each other", b.given("matrix") ? "matrix" : "");
}

void define_warp_affine(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const AffineMap given = given_map(b);
  const std::array<Expr, 2> size =
      b.given("size") ? warp_size(b) : std::array{b.extent(0, at.h), b.extent(0, at.w)};
  const bool maps_back = b.flag("inverse_map");
  if (!maps_back) check_inverse(b, given, "the matrix has no inverse, and inverse_map=False asks for it");
  const AffineMap map = maps_back ? given : inverse(given);
  if (b.compat() != op::Compat::kDali) return output_compat_warp(b, map, size[0], size[1]);
  output_warp(b, map, size[0], size[1]);
}

void define_warp_affine_places(RecipeBuilder& b) {
  const AffineMap given = given_map(b);
  const bool maps_back = b.flag("inverse_map");
  if (maps_back) check_inverse(b, given, "the matrix has no inverse: boxes and points cannot follow it");
  output_places(b, maps_back ? inverse(given) : given);
}

}  // namespace

Operator make_warp_affine() {
  Operator op;
  op.name = "warp_affine";
  op.summary = "Warps images by an affine map.";
  op.documentation =
      "Output pixel (x, y) shows the image at M (x + 1/2, y + 1/2, 1), where pixel k covers [k, k + 1); rows "
      "of M give x, then y. With inverse_map=False the matrix maps places of the image to places of the "
      "output, and its inverse (in f64) is used. INTERP_LINEAR blends the four pixels around the place, "
      "INTERP_NN takes the pixel that is hit; nothing is smoothed where the map shrinks. Places are "
      "evaluated in f32 as multiply-adds; values round half to even.";
  op.inputs = {warp_input(),
               {.name = "mtx",
                .documentation = "matrix, FLOAT [2, 3]; instead of the argument `matrix`",
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
       .documentation = "Six numbers, row by row, or a tensor [2, 3]."},
      {.name = "inverse_map",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether the matrix leads from the output to the image; else it leads from the "
                        "image to the output."}};
  append(op.args, warp_args("If not given, those of the input."));
  op.devices = {"cpu", "gpu"};
  op.effect = effect("fn.warp_affine(image, matrix=[1.0, {}, 0.0, 0.0, 1.0, 0.0], fill_value=0)",
                     {"0.1", "0.3", "0.8"});
  op.example =
      image_example("fn.warp_affine(image, matrix=[1.0, 0.1, -8.0, 0.0, 1.0, 0.0], fill_value=0), label");
  op.presets = warp_presets("Image.transform(AFFINE)", "affine");
  op.type_rule = warp_affine_types;
  op.define = define_warp_affine;
  moves_places(op, define_warp_affine_places);
  return op;
}

}  // namespace galatea::ops
