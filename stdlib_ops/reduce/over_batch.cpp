// See over_batch.h.
#include "stdlib_ops/reduce/over_batch.h"

#include "compiler/op/schema.h"

namespace galatea::ops {

ArgSpec batch_arg(std::string documentation) {
  return {.name = "batch",
          .kind = ArgKind::kBool,
          .default_value = false,
          .documentation = std::move(documentation)};
}

std::vector<ir::Arg> Parts::args(std::initializer_list<std::string_view> names) const {
  std::vector<ir::Arg> out;
  for (const ir::Arg& arg : expansion_.call.args)
    if (std::find(names.begin(), names.end(), arg.name) != names.end()) out.push_back(arg);
  return out;
}

Result<ir::ValueId> Parts::total(std::string_view reduction, std::vector<ir::ValueId> inputs,
                                 std::vector<ir::Arg> args, const char* op) const {
  GALATEA_ASSIGN(const ir::ValueId own, expansion_.add(reduction, std::move(inputs), std::move(args)));
  return expansion_.add("batch.total", {own}, {{"op", ir::Attr(std::string(op)), {}}});
}

Result<ir::ValueId> Parts::count() const {
  return expansion_.add("batch.count", {input()}, args({"axes", "axis_names"}));
}

Result<ir::ValueId> Parts::mean(ir::ValueId count, bool keep_dims, DType dtype) const {
  std::vector<ir::Arg> own = args({"axes", "axis_names", op::kDeviceArg});
  own.push_back({"keep_dims", ir::Attr(keep_dims), {}});
  GALATEA_ASSIGN(const ir::ValueId sums, total("reductions.sum", {input()}, std::move(own), "sum"));
  return expansion_.add("batch.mean", {sums, count}, {{"dtype", ir::Attr(dtype), {}}});
}

Result<std::optional<ir::NodeId>> expand_reduction(const op::Expansion& expansion, const char* op,
                                                   bool is_mean) {
  const TypeContext call = expansion.arguments();
  if (!call.flag("batch")) return std::nullopt;
  const Parts parts(expansion);
  const ir::Graph& graph = expansion.builder.graph();
  ir::ValueId result = ir::kNoId;
  if (is_mean) {
    GALATEA_ASSIGN(const ir::ValueId count, parts.count());
    GALATEA_ASSIGN(result, parts.mean(count, call.flag("keep_dims"), call.dtype("dtype", DType::kF32)));
  } else {
    GALATEA_ASSIGN(result, parts.total(call.op().name, {parts.input()},
                                       parts.args({"axes", "axis_names", "keep_dims", op::kDeviceArg}), op));
    // A sample's sum would be clamped before it meets the others'.
    const DType own = graph.type(result).dtype;
    const DType wanted = call.op().find_arg("dtype") ? call.dtype("dtype", own) : own;
    if (wanted != own) {
      GALATEA_ASSIGN(result, expansion.add("cast", {result}, {{"dtype", ir::Attr(wanted), {}}}));
    }
  }
  return graph.value(result).node;
}

}  // namespace galatea::ops
