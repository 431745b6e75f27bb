// random.coin_flip: 1 with a given probability, else 0.
//
// Comes in: nothing, or a tensor whose shape is taken. Goes out: draws of the node's stream, one element
// each.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/random/draw.h"

namespace galatea::ops {
namespace {

Types coin_flip_types(const TypeContext& ctx) {
  if (given_static(ctx, "probability")) {
    const double p = ctx.number("probability");
    if (!(p >= 0 && p <= 1))
      return ctx.error(fmt::format("random.coin_flip: probability must lie in [0, 1], not {}", p), {},
                       "probability");
  }
  GALATEA_ASSIGN(ir::Type out, drawn_type(ctx, ctx.dtype("dtype", DType::kI32), 0));
  return std::vector{out};
}

void define_coin_flip(RecipeBuilder& b) {
  const Expr p = b.arg("probability", DType::kF32);
  b.check((p >= f32(0)) & (p <= f32(1)), "probability must lie in [0, 1], not {}", {p}, {}, "probability");
  // Nothing to draw where the outcome is certain.
  const bool certain = kernel::is_const(p) && (b.number("probability") == 0 || b.number("probability") == 1);
  output_draws(b, 0, [&](const Expr& e) {
    return certain ? truth(b.number("probability") == 1) : b.random_unit(e) < p;
  });
}

}  // namespace

Operator make_random_coin_flip() {
  Operator op;
  op.name = "random.coin_flip";
  op.summary = "1 with a given probability, else 0.";
  op.documentation =
      "1 where a uniform draw in [0, 1) is less than `probability`, else 0; probability 0 gives always 0, 1 "
      "always 1.";
  op.inputs = {{.name = "shape_like",
                .documentation = "a tensor whose shape is taken",
                .optional = true,
                .any_device = true}};
  op.max_inputs = 1;
  op.args = {{.name = "probability",
              .kind = ArgKind::kFloat,
              .default_value = 0.5,
              .per_sample = true,
              .documentation = "Probability of a 1, in [0, 1]."},
             shape_arg(),
             dtype_arg("Element type of the output; INT32 if not given.")};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.aliases = {"coin_flip"};
  op.example = "return fn.random.coin_flip(probability=0.3)\n";
  op.type_rule = coin_flip_types;
  op.define = define_coin_flip;
  return op;
}

}  // namespace galatea::ops
