// random.uniform: uniform numbers of a range, or of a list of values.
//
// Comes in: nothing, or a tensor whose shape is taken. Goes out: draws of the node's stream, one element
// each.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/random/draw.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxListed = 4096;

Types uniform_types(const TypeContext& ctx) {
  if (ctx.given("range") && ctx.given("values"))
    return ctx.error("random.uniform: range and values exclude each other", {}, "values");
  if (ctx.given("range") && length_of(ctx, "range") != 2 && length_of(ctx, "range") >= 0)
    return ctx.error("random.uniform: range needs two numbers, (a, b)", {}, "range");
  if (given_static(ctx, "range") && !(ctx.numbers("range")[0] < ctx.numbers("range")[1]))
    return ctx.error(fmt::format("random.uniform: the range [{}, {}) is empty", ctx.numbers("range")[0],
                                 ctx.numbers("range")[1]),
                     "a must be less than b; for one value use values=[a]", "range");
  if (ctx.given("values")) {
    const int64_t count = length_of(ctx, "values");
    if (count == 0 || count > kMaxListed)
      return ctx.error(
          fmt::format("random.uniform: values has {} elements, 1 to {} are taken", count, kMaxListed),
          "for more, pick from a tensor with fn.random.choice", "values");
  }
  GALATEA_ASSIGN(ir::Type out, drawn_type(ctx, ctx.dtype("dtype", DType::kF32), 0));
  return std::vector{out};
}

void define_uniform(RecipeBuilder& b) {
  if (b.given("values")) {
    const int count = b.arg_length("values");
    const auto values = list_arg(b, "values", count, DType::kF32);
    return output_draws(b, 0, [&](const Expr& e) { return choose(b.random_below(e, i64(count)), values); });
  }
  const auto range = exact_list_arg(b, "range", 2, DType::kF32);
  b.check(range[0] < range[1], "the range [{}, {}) is empty", {range[0], range[1]}, "a must be less than b",
          "range");
  const Expr last = next_below(range[1]), width = range[1] - range[0];
  output_draws(
      b, 0, [&](const Expr& e) { return kernel::min(kernel::fma(b.random_unit(e), width, range[0]), last); });
}

/// Values of which only the run tells how many there are: they are picked from a tensor, with the same draws.
Result<std::optional<ir::NodeId>> expand_uniform(const op::Expansion& expansion) {
  const TypeContext call = expansion.arguments();
  if (!call.given("values") || length_of(call, "values") >= 0) return std::nullopt;
  std::vector<ir::Arg> args;
  std::vector<ir::ValueId> inputs(1);
  for (const ir::Arg& arg : expansion.call.args) {
    if (arg.name == "values") {
      GALATEA_ASSIGN(inputs[0],
                     expansion.add("cast", {arg.as_value()}, {{"dtype", ir::Attr(DType::kF32), {}}}));
    } else if (arg.name != "dtype") {
      args.push_back(arg);
    }
  }
  inputs.insert(inputs.end(), expansion.call.inputs.begin(), expansion.call.inputs.end());
  GALATEA_ASSIGN(ir::ValueId picked, expansion.add("random.choice", std::move(inputs), std::move(args)));
  if (const DType dtype = call.dtype("dtype", DType::kF32); dtype != DType::kF32) {
    GALATEA_ASSIGN(picked, expansion.add("cast", {picked}, {{"dtype", ir::Attr(dtype), {}}}));
  }
  return expansion.builder.graph().value(picked).node;
}

}  // namespace

Operator make_random_uniform() {
  Operator op;
  op.name = "random.uniform";
  op.summary = "Uniform random numbers.";
  op.documentation =
      "a + u (b - a) with u of 24 random bits in [0, 1), never b; or one of `values`, each equally likely. "
      "With an integer dtype the number is rounded half to even, so that the ends are drawn half as often: "
      "use values, or random.choice, for uniform integers. The draws of a sample depend on the seed, the "
      "place of the call and the sample's number only.";
  op.inputs = {{.name = "shape_like",
                .documentation = "a tensor whose shape is taken",
                .optional = true,
                .any_device = true}};
  op.max_inputs = 1;
  op.args = {{.name = "range",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{-1.0, 1.0},
              .per_sample = true,
              .documentation = "The half-open range [a, b)."},
             {.name = "values",
              .kind = ArgKind::kFloatList,
              .per_sample = true,
              .documentation = "The values to pick from; excludes range."},
             shape_arg(),
             dtype_arg("Element type of the output; FLOAT if not given.")};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.aliases = {"uniform"};
  op.example = "return fn.random.uniform(range=[0.0, 1.0], shape=[3])\n";
  op.type_rule = uniform_types;
  op.expand = expand_uniform;
  op.define = define_uniform;
  return op;
}

}  // namespace galatea::ops
