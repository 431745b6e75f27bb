// random.choice: picks numbers below n, or elements of a tensor along its outermost dimension.
//
// Comes in: a scalar integer n, or a tensor; optionally a tensor whose shape is taken. Goes out: as many
// picks as the shape says, each with the shape of one element.
#include <cmath>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/random/draw.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxProbabilities = 4096;

Types choice_types(const TypeContext& ctx) {
  const ir::Type& a = ctx.input(0);
  if (a.ndim == 0 && (is_float(a.dtype) || is_bool(a.dtype)))
    return ctx.error(fmt::format("random.choice: a scalar to choose below must be an integer, not {}",
                                 types_name(a.dtype)),
                     "pass an integer or a tensor of choices");
  if (ctx.given("p")) {
    const int64_t count = length_of(ctx, "p");
    if (count < 1 || count > kMaxProbabilities)
      return ctx.error(
          fmt::format("random.choice: p must have between 1 and {} elements, known while compiling",
                      kMaxProbabilities),
          "build it with fn.stack or a constant", "p");
    if (a.ndim > 0 && a.extents[0] >= 0 && a.extents[0] != count)
      return ctx.error(fmt::format("random.choice: {} probabilities for {} choices", count, a.extents[0]),
                       "give one per choice", "p");
    if (!ctx.is_per_sample("p")) {
      double sum = 0;
      for (double p : ctx.numbers("p")) {
        if (!(p >= 0 && p <= 1))
          return ctx.error(fmt::format("random.choice: probability {} is outside [0, 1]", p), {}, "p");
        sum += p;
      }
      if (std::abs(sum - 1) > 1e-4)
        return ctx.error(fmt::format("random.choice: the probabilities sum to {}, not 1", sum), {}, "p");
    }
  }
  GALATEA_ASSIGN(ir::Type out, drawn_type(ctx, a.dtype, 1));
  for (int d = 1; d < a.ndim; ++d) out.extents.push_back(a.extents[static_cast<size_t>(d)]);
  out.ndim = static_cast<int>(out.extents.size());
  // Picks along one axis stand where the choices stood; a single one has lost that axis.
  const int picks = out.ndim - std::max(a.ndim - 1, 0);
  out.layout = {};
  if (picks == 0 && a.layout.size() > 1) out.layout = Layout(a.layout.str().substr(1));
  if (picks == 1) out.layout = a.layout;
  return std::vector{out};
}

/// Cumulative probabilities but the last, and their check.
std::vector<Expr> thresholds(RecipeBuilder& b, const Expr& count) {
  std::vector<Expr> result;
  if (!b.given("p")) return result;
  const int n = b.arg_length("p");
  const auto p = b.arg_list("p", n, DType::kF32);
  Expr sum = f32(0);
  for (const Expr& probability : p) {
    b.check((probability >= f32(0)) & (probability <= f32(1)), "probability {} is outside [0, 1]",
            {probability}, {}, "p");
    result.push_back(sum = sum + probability);
  }
  b.check(absolute(sum - f32(1)) <= f32(1e-4), "the probabilities sum to {}, not 1", {sum}, {}, "p");
  b.check(equal(count, i64(n)), "{} probabilities for {} choices", {i64(n), count}, "give one per choice",
          "p");
  result.pop_back();
  return result;
}

Expr pick(const RecipeBuilder& b, const Expr& element, const Expr& count, const std::vector<Expr>& bounds,
          bool weighted) {
  if (!weighted) return b.random_below(element, count);
  const Expr u = b.random_unit(element);
  Expr index = i64(0);
  for (const Expr& bound : bounds) index = index + to_i64(u >= bound);
  return index;
}

void define_choice(RecipeBuilder& b) {
  const ir::Type& a = b.input_type(0);
  const bool weighted = b.given("p");
  const Expr count = a.ndim == 0 ? kernel::saturate(b.element(0, 0), DType::kI64) : b.extent(0, 0);
  b.check(count > i64(0), "there is nothing to choose from: {} choices", {count});
  const auto bounds = thresholds(b, count);
  if (a.ndim == 0)
    return output_draws(b, 1, [&](const Expr& e) { return pick(b, e, count, bounds, weighted); });

  const int64_t volume = a.static_volume();
  if (a.ndim == 1 && volume >= 1 && volume <= kMaxScalarElements) {
    std::vector<Expr> values;
    for (int64_t n = 0; n < volume; ++n) values.push_back(b.element(0, n));
    return output_draws(b, 1,
                        [&](const Expr& e) { return choose(pick(b, e, count, bounds, weighted), values); });
  }
  auto extents = drawn_extents(b, 1);
  const size_t picked = extents.size();
  for (int d = 1; d < a.ndim; ++d) extents.push_back(b.extent(0, d));
  // Without a shape there is one pick for the whole output: it is drawn once, as a scalar.
  const Expr single = picked == 0 ? pick(b, i64(0), count, bounds, weighted) : Expr();
  b.output_stage(0, b.map("choice", a.dtype, extents, [&](const Axes& at) {
    Expr element = i64(0);
    for (size_t d = 0; d < picked; ++d) element = element * extents[d] + at[d];
    Axes index = {single ? single : pick(b, element, count, bounds, weighted)};
    for (size_t d = picked; d < at.size(); ++d) index.push_back(at[d]);
    // The index is below the extent by construction; the border costs nothing against a wrong promise.
    return b.load(0, index, Border::kClamp);
  }));
}

}  // namespace

Operator make_random_choice() {
  Operator op;
  op.name = "random.choice";
  op.summary = "Random picks from a range or a tensor.";
  op.documentation =
      "With a scalar integer n: numbers 0 .. n - 1. With a tensor: its elements along the outermost "
      "dimension. Each is equally likely, or has probability p.";
  op.inputs = {{.name = "a", .documentation = "a scalar integer, or a tensor of choices"},
               {.name = "shape_like",
                .documentation = "a tensor whose shape is taken",
                .optional = true,
                .any_device = true}};
  op.min_inputs = 1;
  op.max_inputs = 2;
  op.args = {{.name = "p",
              .kind = ArgKind::kFloatList,
              .per_sample = true,
              .documentation = "Probabilities, one per choice; they sum to 1."},
             shape_arg()};
  op.random = true;
  op.example = "return fn.random.choice([10, 20, 30], p=[0.2, 0.3, 0.5])\n";
  op.type_rule = choice_types;
  op.define = define_choice;
  return op;
}

}  // namespace galatea::ops
