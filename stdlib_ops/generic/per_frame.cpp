// per_frame: says that the first axis of the data counts frames.
//
// Comes in: any tensor. Goes out: the same one, its layout beginning with F; as an argument it then gives
// each frame a value of its own (compiler/op/lifting.h).
#include "compiler/op/lifting.h"
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types per_frame_types(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  if (out.ndim == 0)
    return ctx.error("per_frame: a number has no axis of frames",
                     "give one number per frame: fn.stack(a, b)");
  std::string letters = out.layout.str();
  if (letters.empty()) letters = "F" + std::string(static_cast<size_t>(out.ndim - 1), '*');
  if (letters[0] != op::kFrameAxis && !ctx.flag("replace"))
    return ctx.error(fmt::format("per_frame: the layout {} has another first axis than F", letters),
                     "replace=True renames it");
  letters[0] = op::kFrameAxis;
  if (letters.find(op::kFrameAxis, 1) != std::string::npos)
    return ctx.error(fmt::format("per_frame: the layout {} would have two axes F", letters),
                     "name the other one with fn.reshape(x, layout=…)");
  out.layout = Layout(letters);
  return std::vector{out};
}

}  // namespace

Operator make_per_frame() {
  Operator op;
  op.name = "per_frame";
  op.summary = "Says that the first axis counts frames.";
  op.documentation =
      "The same elements and extents; the layout begins with F (without a layout, the other axes are "
      "unnamed: F**). As an argument of an operator that works on each frame of a sequence, the first frame "
      "gets the first value, and so on: as many as there are frames. What decides the extents of the output "
      "must be the same for all frames. Nothing is copied.";
  op.inputs = {{.name = "data", .documentation = "any tensor of at least one axis"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "replace",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether the first letter of a layout that has another one becomes F."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example(
      "fn.brightness(fn.stack(image, image, axis_name=\"F\"), "
      "brightness=fn.per_frame(fn.random.uniform(range=[0.5, 1.5], shape=[2]))), label");
  op.type_rule = per_frame_types;
  op.define = [](RecipeBuilder& b) { copy_view(b, 0, 0); };
  return op;
}

}  // namespace galatea::ops
