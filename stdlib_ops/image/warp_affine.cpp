// warp_affine: shows images and volumes through an affine map.
//
// Comes in: an image and a matrix of two rows, or a volume and one of three, as an argument or as the second
// input. Goes out: what the map shows. A matrix of two rows warps a volume slice by slice.
#include <cmath>

#include "stdlib_ops/common/matrix.h"
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/compat/checks.h"
#include "stdlib_ops/compat/warp.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// The type of a matrix of the sample; null where the text has its numbers.
const ir::Type* matrix_type(const TypeContext& ctx) {
  if (ctx.num_inputs() > 1) return &ctx.input(1);
  return ctx.is_per_sample("matrix") ? &ctx.arg_type("matrix") : nullptr;
}
const ir::Type* matrix_type(const RecipeBuilder& b) {
  if (b.num_inputs() > 1) return &b.type_of(b.node().inputs[1]);
  const auto value = value_of_arg(b, "matrix");
  return value ? &b.type_of(*value) : nullptr;
}

/// Of a matrix in the text; -1 where there is none.
int64_t matrix_length(const TypeContext& ctx) {
  return given_static(ctx, "matrix") && check_numbers(ctx, "matrix") ? std::ssize(ctx.numbers("matrix")) : -1;
}
int64_t matrix_length(const RecipeBuilder& b) { return b.arg_length("matrix"); }

/// Whether the map is one of space: that of a volume, unless its matrix is known to have two rows.
template <typename Context>
bool warps_space(const Context& c) {
  if (!c.input_layout(0).contains('D')) return false;
  const ir::Type* type = matrix_type(c);
  if (type == nullptr) return matrix_length(c) != 6;
  return type->ndim == 2 ? type->extents[0] != 2 && type->extents[1] != 3 : type->static_volume() != 6;
}

const char* const kNoInverse = "the matrix has no inverse, and inverse_map=False asks for it";

template <size_t N>
std::string help_of_singular() {
  return N == 2 ? "the first two columns must not be multiples of each other"
                : "none of the first three columns may be a sum of multiples of the others";
}

template <size_t N>
Status check_matrix(const TypeContext& ctx) {
  GALATEA_TRY(check_given_matrix(ctx, N, N + 1,
                                 N == 2 ? "rows give x, then y, of a place in the image"
                                        : "rows give x, then y, then z, of a place in the volume"));
  if (!given_static(ctx, "matrix") || ctx.flag("inverse_map")) return {};
  const auto numbers = ctx.numbers("matrix");
  Affine<N> map;
  for (size_t i = 0; i < numbers.size(); ++i)
    map[i / (N + 1)][i % (N + 1)] = to_f64(f32(static_cast<float>(numbers[i])));
  if (kernel::is_const_int(equal(determinant(map), f64(0)), 1))
    return ctx.error(std::string("warp_affine: ") + kNoInverse, help_of_singular<N>(), "matrix");
  return {};
}

Types warp_affine_types(const TypeContext& ctx) {
  const bool in_space = warps_space(ctx);
  GALATEA_TRY(in_space ? check_matrix<3>(ctx) : check_matrix<2>(ctx));
  if (ctx.compat() != op::Compat::kDali) {
    GALATEA_TRY(check_compat_warp(ctx));
    if (in_space) return preset_error(ctx, " warps no volumes", "a matrix of two rows warps their slices");
  }
  GALATEA_ASSIGN(ir::Type out, warp_type(ctx, in_space ? kWarpAxes<3> : kWarpAxes<2>));
  if (!ctx.given("size")) out.extents = ctx.input(0).extents;
  return std::vector{out};
}

template <size_t N>
Affine<N> given_map(RecipeBuilder& b) {
  const std::vector<Expr> elements = given_matrix(b, N, N + 1);
  Affine<N> map;
  for (size_t i = 0; i < elements.size(); ++i) map[i / (N + 1)][i % (N + 1)] = elements[i];
  return map;
}

/// The determinant of two rows of f32 elements is exact but for one rounding, so it is 0 where it should be.
template <size_t N>
void check_inverse(RecipeBuilder& b, const Affine<N>& m, const std::string& message) {
  b.check(not_equal(determinant(m), f64(0)), message, {}, help_of_singular<N>(),
          b.given("matrix") ? "matrix" : "");
}

template <size_t N>
void define_map(RecipeBuilder& b) {
  const Affine<N> given = given_map<N>(b);
  const std::array<Expr, N> size = b.given("size") ? warp_size<N>(b) : warped_extents<N>(b);
  const bool maps_back = b.flag("inverse_map");
  if (!maps_back) check_inverse(b, given, kNoInverse);
  const Affine<N> map = maps_back ? given : inverse(given);
  if constexpr (N == 2)
    if (b.compat() != op::Compat::kDali) return output_compat_warp(b, map, size[0], size[1]);
  output_warp(b, map, size);
}

void define_warp_affine(RecipeBuilder& b) { warps_space(b) ? define_map<3>(b) : define_map<2>(b); }

void define_warp_affine_places(RecipeBuilder& b) {
  const AffineMap given = given_map<2>(b);
  const bool maps_back = b.flag("inverse_map");
  if (maps_back) check_inverse(b, given, "the matrix has no inverse: boxes and points cannot follow it");
  output_places(b, maps_back ? inverse(given) : given);
}

}  // namespace

Operator make_warp_affine() {
  Operator op;
  op.name = "warp_affine";
  op.summary = "Warps images and volumes by an affine map.";
  op.documentation =
      "Output pixel (x, y) shows the image at M (x + 1/2, y + 1/2, 1), where pixel k covers [k, k + 1); rows "
      "of M give x, then y. With inverse_map=False the matrix maps places of the image to places of the "
      "output, and its inverse (in f64) is used. A matrix of three rows, x, y and z, maps the places of a "
      "volume; one of two rows warps each of its slices. INTERP_LINEAR blends the pixels around the place, "
      "INTERP_NN takes the pixel that is hit; nothing is smoothed where the map shrinks. Places are "
      "evaluated in f32 as multiply-adds; values round half to even.";
  op.inputs = {
      warp_input(),
      {.name = "mtx",
       .documentation = "matrix, FLOAT [2, 3] or, of volumes, [3, 4]; instead of the argument `matrix`",
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
       .documentation = "Six numbers, row by row, or a tensor [2, 3]; of volumes twelve, or [3, 4]."},
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
