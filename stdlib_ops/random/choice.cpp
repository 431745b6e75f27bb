// random.choice: picks numbers below n, or elements of a tensor along its outermost dimension.
//
// Comes in: a scalar integer n, or a tensor; optionally a tensor whose shape is taken. Goes out: as many
// picks as the shape says, each with the shape of one element. Probabilities whose number only the run tells
// are an input of random.choice.weighted.
#include <cmath>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/random/draw.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxProbabilities = 4096;
constexpr double kSumTolerance = 1e-4;

/// Inputs of random.choice.weighted.
enum Weighted : int { kChoices, kProbabilities, kSum, kLeast, kLike };

bool has_unknown_length(const TypeContext& ctx, std::string_view arg) {
  return ctx.given(arg) && ctx.is_per_sample(arg) && ctx.arg_type(arg).static_volume() < 0;
}

Status check_choices(const ir::Type& a, const TypeContext& ctx) {
  if (a.ndim == 0 && (is_float(a.dtype) || is_bool(a.dtype)))
    return ctx.error(fmt::format("random.choice: a scalar to choose below must be an integer, not {}",
                                 types_name(a.dtype)),
                     "pass an integer or a tensor of choices");
  return {};
}

Status check_probabilities(const ir::Type& a, const TypeContext& ctx) {
  if (!ctx.given("p") || has_unknown_length(ctx, "p")) return {};
  const int64_t count = length_of(ctx, "p");
  if (count < 1 || count > kMaxProbabilities)
    return ctx.error(
        fmt::format("random.choice: p must have between 1 and {} elements, not {}", kMaxProbabilities, count),
        {}, "p");
  if (a.ndim > 0 && a.extents[0] >= 0 && a.extents[0] != count)
    return ctx.error(fmt::format("random.choice: {} probabilities for {} choices", count, a.extents[0]),
                     "give one per choice", "p");
  if (ctx.is_per_sample("p")) return {};
  double sum = 0;
  for (double p : ctx.numbers("p")) {
    if (!(p >= 0 && p <= 1))
      return ctx.error(fmt::format("random.choice: probability {} is outside [0, 1]", p), {}, "p");
    sum += p;
  }
  if (std::abs(sum - 1) > kSumTolerance)
    return ctx.error(fmt::format("random.choice: the probabilities sum to {}, not 1", sum), {}, "p");
  return {};
}

/// The type of picks; `like`: the number of the input shape_like.
Types picked_type(const TypeContext& ctx, int like) {
  const ir::Type& a = ctx.input(kChoices);
  GALATEA_ASSIGN(ir::Type out, drawn_type(ctx, a.dtype, like));
  for (int d = 1; d < a.ndim; ++d) out.extents.push_back(a.extents[static_cast<size_t>(d)]);
  out.ndim = static_cast<int>(out.extents.size());
  // Picks along one axis stand where the choices stood; a single one has lost that axis.
  const int picks = out.ndim - std::max(a.ndim - 1, 0);
  out.layout = {};
  if (picks == 0 && a.layout.size() > 1) out.layout = Layout(a.layout.str().substr(1));
  if (picks == 1) out.layout = a.layout;
  return std::vector{out};
}

Types choice_types(const TypeContext& ctx) {
  GALATEA_TRY(check_choices(ctx.input(0), ctx));
  GALATEA_TRY(check_probabilities(ctx.input(0), ctx));
  return picked_type(ctx, 1);
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
  b.check(absolute(sum - f32(1)) <= f32(kSumTolerance), "the probabilities sum to {}, not 1", {sum}, {}, "p");
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

/// How many there are to choose from.
Expr count_of_choices(RecipeBuilder& b) {
  const bool is_number = b.input_type(kChoices).ndim == 0;
  const Expr count =
      is_number ? kernel::saturate(b.element(kChoices, 0), DType::kI64) : b.extent(kChoices, 0);
  b.check(count > i64(0), "there is nothing to choose from: {} choices", {count});
  return count;
}

void define_choice(RecipeBuilder& b) {
  const ir::Type& a = b.input_type(0);
  const bool weighted = b.given("p");
  const Expr count = count_of_choices(b);
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

/// A pick is the number of cumulated probabilities that its draw reaches.
void define_weighted_choice(RecipeBuilder& b) {
  const ir::Type& a = b.input_type(kChoices);
  const Expr count = count_of_choices(b), length = b.extent(kProbabilities, 0);
  const Expr sum = b.element(kSum, 0), least = b.element(kLeast, 0);
  b.check(equal(count, length), "{} probabilities for {} choices", {length, count}, "give one per choice");
  b.check(least >= f32(0), "probability {} is outside [0, 1]", {least});
  b.check(absolute(sum - f32(1)) <= f32(kSumTolerance), "the probabilities sum to {}, not 1", {sum});
  const StageRef bounds = b.scan({.name = "cumulated", .extents = {length}, .body = [&](const Axes& at) {
                                    return b.load(kProbabilities, {at[0]});
                                  }});
  auto extents = drawn_extents(b, kLike);
  const size_t picked = extents.size();
  const auto element_of = [&](const Axes& at) {
    Expr element = i64(0);
    for (size_t d = 0; d < picked; ++d) element = element * extents[d] + at[d];
    return element;
  };
  const StageRef picks =
      b.reduce({.name = "picks",
                .type = DType::kI64,
                .extents = extents,
                .reduce_extents = {length - i64(1)},
                .accumulator = DType::kI64,
                .combiner = kernel::Combiner::kSum,
                .body = [&](const Axes& at, const Axes& over) {
                  return to_i64(b.random_unit(element_of(at)) >= b.load(bounds, {over[0]}));
                }});
  for (int d = 1; d < a.ndim; ++d) extents.push_back(b.extent(kChoices, d));
  b.output_stage(0, b.map("choice", a.dtype, extents, [&](const Axes& at) {
    const Axes place(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(picked));
    const Expr pick = b.load(picks, place);
    if (a.ndim == 0) return kernel::saturate(pick, a.dtype);
    Axes index = {pick};
    for (size_t d = picked; d < at.size(); ++d) index.push_back(at[d]);
    return b.load(kChoices, index, Border::kClamp);
  }));
}

Result<std::optional<ir::NodeId>> expand_choice(const op::Expansion& expansion) {
  const TypeContext call = expansion.arguments();
  if (!has_unknown_length(call, "p")) return std::nullopt;
  std::vector<ir::Arg> args;
  ir::ValueId p = ir::kNoId;
  for (const ir::Arg& arg : expansion.call.args) {
    if (arg.name == "p")
      p = arg.as_value();
    else
      args.push_back(arg);
  }
  GALATEA_ASSIGN(const ir::ValueId weights,
                 expansion.add("cast", {p}, {{"dtype", ir::Attr(DType::kF32), {}}}));
  GALATEA_ASSIGN(const ir::ValueId sum, expansion.add("reductions.sum", {weights}, {}));
  GALATEA_ASSIGN(const ir::ValueId least, expansion.add("reductions.min", {weights}, {}));
  std::vector<ir::ValueId> inputs = {expansion.call.inputs[0], weights, sum, least};
  inputs.insert(inputs.end(), expansion.call.inputs.begin() + 1, expansion.call.inputs.end());
  GALATEA_ASSIGN(const ir::ValueId result,
                 expansion.add("random.choice.weighted", std::move(inputs), std::move(args)));
  return expansion.builder.graph().value(result).node;
}

}  // namespace

Operator make_random_choice_weighted() {
  Operator op;
  op.name = "random.choice.weighted";
  op.summary = "fn.random.choice with probabilities of any number.";
  op.documentation = "As fn.random.choice; the probabilities, their sum and the least are inputs.";
  op.inputs = {{.name = "a", .documentation = "a scalar integer, or a tensor of choices"},
               {.name = "p", .documentation = "one per choice", .dtypes = {DType::kF32}, .ndim = 1},
               {.name = "sum", .documentation = "of p", .dtypes = {DType::kF32}, .ndim = 0},
               {.name = "least", .documentation = "of p", .dtypes = {DType::kF32}, .ndim = 0},
               {.name = "shape_like",
                .documentation = "a tensor whose shape is taken",
                .optional = true,
                .any_device = true}};
  op.min_inputs = 4;
  op.max_inputs = 5;
  op.args = {shape_arg()};
  op.random = true;
  op.internal = true;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_TRY(check_choices(ctx.input(kChoices), ctx));
    return picked_type(ctx, kLike);
  };
  op.define = define_weighted_choice;
  return op;
}

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
  op.expand = expand_choice;
  op.define = define_choice;
  return op;
}

}  // namespace galatea::ops
