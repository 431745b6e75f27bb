// noise.salt_and_pepper: some pixels become very bright or very dark.
//
// Comes in: data of any layout. Goes out: the same data, where a uniform draw per pixel (or per element) says
// which become salt_val and which pepper_val.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// The axis whose elements share a draw: the channels, last where the data has no layout; -1 if none do.
int shared_axis(const RecipeBuilder& b) {
  const ir::Type& in = b.input_type(0);
  if (b.flag("per_channel") || in.ndim == 0) return -1;
  return in.layout.empty() ? in.ndim - 1 : in.layout.find('C');
}

Types salt_and_pepper_types(const TypeContext& ctx) {
  for (const char* name : {"prob", "salt_vs_pepper"}) {
    if (ctx.is_per_sample(name)) continue;
    const double p = ctx.number(name);
    if (!(p >= 0 && p <= 1))
      return ctx.error(fmt::format("noise.salt_and_pepper: {} must lie in [0, 1], not {}", name, p), {},
                       name);
  }
  return std::vector{ctx.input(0)};
}

/// The largest value of integers (1 for floats), or the smallest (-1 for floats).
Expr extreme(const RecipeBuilder& b, const char* name, bool largest) {
  const DType type = b.input_type(0).dtype;
  if (b.given(name)) return b.arg(name, type);
  if (is_float(type)) return kernel::convert(f32(largest ? 1 : -1), type);
  if (type == DType::kU64 && largest) return kernel::constant(type, Cell{~uint64_t{0}});
  return kernel::const_int(largest ? max_int(type) : min_int(type), type);
}

void define_salt_and_pepper(RecipeBuilder& b) {
  const DType type = b.input_type(0).dtype;
  const Expr prob = b.arg("prob", DType::kF32), share = b.arg("salt_vs_pepper", DType::kF32);
  b.check((prob >= f32(0)) & (prob <= f32(1)), "prob must lie in [0, 1], not {}", {prob}, {}, "prob");
  b.check((share >= f32(0)) & (share <= f32(1)), "salt_vs_pepper must lie in [0, 1], not {}", {share}, {},
          "salt_vs_pepper");
  const Expr salt = extreme(b, "salt_val", true), pepper = extreme(b, "pepper_val", false);
  const int shared = shared_axis(b);
  const Axes extents = b.extents(0);
  b.output_stage(0, b.map("salt_and_pepper", type, extents, [&](const Axes& at) {
    Expr pixel = i64(0);  // row-major number of the pixel
    for (size_t d = 0; d < extents.size(); ++d)
      if (static_cast<int>(d) != shared) pixel = pixel * extents[d] + at[d];
    const Expr u = b.random_unit(pixel);
    return select(u < prob * share, salt, select(u < prob, pepper, b.load(0, at)));
  }));
}

}  // namespace

Operator make_noise_salt_and_pepper() {
  Operator op;
  op.name = "noise.salt_and_pepper";
  op.summary = "Replaces random pixels by the brightest or the darkest value.";
  op.documentation =
      "With a uniform draw u in [0, 1) per pixel: out = salt_val where u < prob * salt_vs_pepper, pepper_val "
      "where u is at least that and less than prob, else the input. Pixels are counted row-major over all "
      "axes but C (over all but the last where the data has no layout); draw number n is element n of the "
      "node's stream, so a sample's noise does not depend on batches or threads.";
  op.inputs = {{.name = "input",
                .documentation = "image or other data",
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                           DType::kI32, DType::kI64, DType::kF16, DType::kF32, DType::kF64}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "prob",
       .kind = ArgKind::kFloat,
       .default_value = 0.05,
       .per_sample = true,
       .documentation = "Probability that a pixel is replaced, in [0, 1]."},
      {.name = "salt_vs_pepper",
       .kind = ArgKind::kFloat,
       .default_value = 0.5,
       .per_sample = true,
       .documentation = "Probability that a replaced pixel becomes salt, in [0, 1]."},
      {.name = "salt_val",
       .kind = ArgKind::kFloat,
       .per_sample = true,
       .documentation = "Value of salt, rounded half to even and clamped; if not given, the largest "
                        "value of an integer type, 1 for floats."},
      {.name = "pepper_val",
       .kind = ArgKind::kFloat,
       .per_sample = true,
       .documentation = "Value of pepper, rounded half to even and clamped; if not given, the smallest "
                        "value of an integer type, -1 for floats."},
      {.name = "per_channel",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Whether every element has a draw of its own; else the channels of a pixel "
                        "share one."}};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect = effect("fn.noise.salt_and_pepper(image, prob={})", {"0.02", "0.1", "0.4"});
  op.example = image_example("fn.noise.salt_and_pepper(image, prob=0.1), label");
  op.type_rule = salt_and_pepper_types;
  op.places = op::Places::kKept;
  op.define = define_salt_and_pepper;
  return op;
}

}  // namespace galatea::ops
