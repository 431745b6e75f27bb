// to_gpu, to_cpu: what `.gpu()` and `.cpu()` become.
//
// Comes in: any tensor. Goes out: the same tensor, which lies on the other device. Where a pipeline runs on
// one device alone these nodes are gone before anything is planned (passes/map_devices.h).
#include "compiler/op/devices.h"
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Operator make_transfer(std::string_view name, std::string device, std::string summary) {
  Operator op;
  op.name = name;
  op.summary = std::move(summary);
  op.documentation = "The same elements and extents.";
  op.inputs = {{.name = "data", .documentation = "any tensor", .any_device = true}};
  op.min_inputs = op.max_inputs = 1;
  op.cpu_outputs = device == "cpu";
  op.devices = {std::move(device)};
  op.internal = true;
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = [](const TypeContext& ctx) -> Types { return std::vector{ctx.input(0)}; };
  op.places = op::Places::kKept;
  op.define = [](RecipeBuilder& b) { copy_view(b, 0, 0); };
  return op;
}

}  // namespace

Operator make_to_gpu() { return make_transfer(op::kToGpu, "gpu", "Moves a tensor to the GPU."); }
Operator make_to_cpu() { return make_transfer(op::kToCpu, "cpu", "Moves a tensor to the CPU."); }

}  // namespace galatea::ops
