// sequence_rearrange: frames of a sequence in another order.
//
// Comes in: a sequence, and the number of the frame that each place gets. Goes out: a view where the numbers
// of the text are evenly spaced, else a map stage. Numbers of which only the run tells how many there are
// are an input of sequence_rearrange.given.
#include <algorithm>

#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Which frame a place gets is a comparison per frame.
constexpr int64_t kMaxFrames = 1024;

constexpr const char* kEmptyOrder = "empty result sequences are not allowed: new_order names no frame";

/// Inputs of sequence_rearrange.given.
enum Given : int { kSequence, kOrder, kLeastIndex, kMostIndex };

Status check_sequence(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  if (in.ndim == 0 || (!in.layout.empty() && in.layout[0] != 'F'))
    return ctx.error(fmt::format("sequence_rearrange: {} is no sequence", describe(in)),
                     "its first axis must be F; fn.per_frame(x) says so of data without a layout");
  return {};
}

bool has_unknown_length(const TypeContext& ctx) {
  return ctx.is_per_sample("new_order") && ctx.arg_type("new_order").static_volume() < 0;
}

Types sequence_rearrange_types(const TypeContext& ctx) {
  GALATEA_TRY(check_sequence(ctx));
  const ir::Type& in = ctx.input(0);
  if (has_unknown_length(ctx)) {
    ir::Type out = in;
    out.extents[0] = -1;
    return std::vector{out};
  }
  const int64_t count = length_of(ctx, "new_order");
  if (count == 0)
    return ctx.error(fmt::format("sequence_rearrange: {}", kEmptyOrder), "name at least one frame",
                     "new_order");
  if (count > kMaxFrames)
    return ctx.error(
        fmt::format("sequence_rearrange: {} frames are too many, up to {} are taken", count, kMaxFrames),
        "slice the sequence (x[::-1]), or rearrange parts of it", "new_order");
  if (!ctx.is_per_sample("new_order"))
    for (const int64_t frame : ctx.integers("new_order"))
      if (frame < 0 || (in.extents[0] >= 0 && frame >= in.extents[0]))
        return ctx.error(in.extents[0] < 0 ? fmt::format("sequence_rearrange: there is no frame {}", frame)
                                           : fmt::format("sequence_rearrange: there is no frame {} among {}",
                                                         frame, in.extents[0]),
                         "frames are counted from 0", "new_order");
  ir::Type out = in;
  out.extents[0] = count;
  return std::vector{out};
}

void define_sequence_rearrange(RecipeBuilder& b) {
  const auto count = static_cast<int>(b.output_type(0).extents[0]);
  const std::vector<Expr> order = b.arg_list("new_order", count, DType::kI64);
  std::vector<Expr> extents = b.extents(0);
  for (const Expr& frame : order)
    b.check((frame >= i64(0)) & (frame < extents[0]), "there is no frame {} among {}", {frame, extents[0]},
            "frames are counted from 0", "new_order");
  const size_t ndim = extents.size();
  extents[0] = i64(count);
  if (!b.is_per_sample("new_order")) {
    const std::vector<int64_t> numbers = b.integers("new_order");
    const int64_t step = count > 1 ? numbers[1] - numbers[0] : 1;
    bool even = step != 0;
    for (size_t k = 1; k < numbers.size(); ++k) even &= numbers[k] - numbers[k - 1] == step;
    if (even) {
      std::vector<int> dims;
      for (size_t d = 0; d < ndim; ++d) dims.push_back(static_cast<int>(d));
      std::vector<Expr> start(ndim, i64(0)), steps(ndim, i64(1));
      start[0] = i64(numbers[0]);
      steps[0] = i64(step);
      return b.output_view(0, 0, std::move(extents), std::move(dims), std::move(start), std::move(steps));
    }
  }
  b.output_stage(0, b.map("rearrange", b.output_type(0).dtype, extents, [&](const Axes& at) {
    Axes index = at;
    index[0] = choose(at[0], order);
    return b.load(0, std::move(index));
  }));
}

void define_rearrange_given(RecipeBuilder& b) {
  std::vector<Expr> extents = b.extents(kSequence);
  const Expr frames = extents[0], count = b.extent(kOrder, 0);
  const Expr least = to_i64(b.element(kLeastIndex, 0)), most = to_i64(b.element(kMostIndex, 0));
  b.check(count > i64(0), kEmptyOrder, {}, "name at least one frame");
  b.check(least >= i64(0), "there is no frame {} among {}", {least, frames}, "frames are counted from 0");
  b.check(most < frames, "there is no frame {} among {}", {most, frames}, "frames are counted from 0");
  extents[0] = count;
  b.output_stage(0, b.map("rearrange", b.output_type(0).dtype, extents, [&](const Axes& at) {
    Axes index = at;
    index[0] = to_i64(b.load(kOrder, {at[0]}));
    // The checks keep the index inside; the border costs nothing against a wrong promise.
    return b.load(kSequence, std::move(index), Border::kClamp);
  }));
}

Result<std::optional<ir::NodeId>> expand_rearrange(const op::Expansion& expansion) {
  if (!has_unknown_length(expansion.arguments())) return std::nullopt;
  std::vector<ir::Arg> args;
  ir::ValueId order = ir::kNoId;
  for (const ir::Arg& arg : expansion.call.args) {
    if (arg.name == "new_order")
      order = arg.as_value();
    else
      args.push_back(arg);
  }
  GALATEA_ASSIGN(order, expansion.add("cast", {order}, {{"dtype", ir::Attr(DType::kI32), {}}}));
  GALATEA_ASSIGN(const ir::ValueId least, expansion.add("reductions.min", {order}, {}));
  GALATEA_ASSIGN(const ir::ValueId most, expansion.add("reductions.max", {order}, {}));
  GALATEA_ASSIGN(const ir::ValueId result,
                 expansion.add("sequence_rearrange.given", {expansion.call.inputs[0], order, least, most},
                               std::move(args)));
  return expansion.builder.graph().value(result).node;
}

}  // namespace

Operator make_sequence_rearrange_given() {
  Operator op;
  op.name = "sequence_rearrange.given";
  op.summary = "fn.sequence_rearrange in an order of any length.";
  op.documentation = "As fn.sequence_rearrange; the order, its least and its largest number are inputs.";
  const auto number = [](const char* name) {
    return Port{.name = name,
                .documentation = "of the order",
                .dtypes = {DType::kI32},
                .ndim = 0,
                .any_device = true};
  };
  op.inputs = {{.name = "data", .documentation = "a sequence: its first axis counts frames"},
               {.name = "order",
                .documentation = "for each frame of the output that of the input",
                .dtypes = {DType::kI32},
                .ndim = 1,
                .any_device = true},
               number("least"),
               number("most")};
  op.min_inputs = op.max_inputs = 4;
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_TRY(check_sequence(ctx));
    ir::Type out = ctx.input(kSequence);
    out.extents[0] = ctx.input(kOrder).extents[0];
    return std::vector{out};
  };
  op.define = define_rearrange_given;
  return op;
}

Operator make_sequence_rearrange() {
  Operator op;
  op.name = "sequence_rearrange";
  op.summary = "Puts the frames of a sequence in another order.";
  op.documentation =
      "Frame i of the output is frame new_order[i] of the input; frames may be left out, or come several "
      "times. Where the numbers of the text are evenly spaced, as in [2, 1, 0], nothing is copied: the "
      "result is a view.";
  op.inputs = {{.name = "data", .documentation = "a sequence: its first axis counts frames"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "new_order",
              .kind = ArgKind::kIntList,
              .required = true,
              .per_sample = true,
              .documentation = "For each frame of the output that of the input, counted from 0."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example(
      "fn.sequence_rearrange(fn.stack(image, fn.flip(image), axis_name=\"F\"), new_order=[1, 0, 0]), label");
  op.type_rule = sequence_rearrange_types;
  op.expand = expand_rearrange;
  op.define = define_sequence_rearrange;
  return op;
}

}  // namespace galatea::ops
