#include "compiler/passes/push_scale_into_decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/op/recipe.h"
#include "compiler/values/availability.h"
#include "compiler/values/shared_table.h"

namespace galatea::passes {

using namespace ir;

namespace {

class ScalePush {
 public:
  ScalePush(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), table_(context.table.get()), availability_(graph) {}

  bool run() {
    bool changed = false;
    for (BlockId b : graph_.topological_order())
      for (NodeId id : graph_.block(b).nodes) changed |= can_scale(id) && push_into(id);
    return changed;
  }

 private:
  bool can_scale(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.outputs.size() != 1 || node.find_arg(op::kScaledForArg)) return false;
    const op::Lowering& lowering = table_.lowering(id);
    if (lowering.outputs.size() != 1 || lowering.outputs[0].kind != op::LoweredOutput::Kind::kNative)
      return false;
    return !lowering.natives[static_cast<size_t>(lowering.outputs[0].native)].full_extents.empty();
  }

  bool push_into(NodeId id) {
    const ValueId image = graph_.node(id).outputs[0];
    std::vector<int64_t> readers;
    const std::string objection = why_not(id, image, readers);
    context_.remark(
        objection.empty()
            ? fmt::format("{} may make the image at 1/2, 1/4 or 1/8 of its size: it is made smaller anyway",
                          graph_.node(id).op->name)
            : fmt::format("{} keeps to the full size: {}", graph_.node(id).op->name, objection),
        graph_.node(id).span);
    if (!objection.empty()) return false;
    graph_.nodes[id].args.push_back({op::kScaledForArg, Attr(readers), {}});
    // What the text fixed was the full size.
    for (size_t d = 0; d < 2; ++d) graph_.values[image].type.extents[d] = -1;
    return true;
  }

  std::string why_not(NodeId id, ValueId image, std::vector<int64_t>& readers) const {
    for (const Block& block : graph_.blocks) {
      auto uses = [&](const std::vector<ValueId>& list) {
        return std::find(list.begin(), list.end(), image) != list.end();
      };
      if (uses(block.terminator.results)) return "it is an output";
      if (std::any_of(block.merges.begin(), block.merges.end(),
                      [&](const Merge& merge) { return uses(merge.operands); }))
        return "it is merged with another image";
      for (NodeId reader : block.nodes) {
        const Node& node = graph_.node(reader);
        const bool as_arg = std::any_of(node.args.begin(), node.args.end(), [&](const Arg& arg) {
          return arg.is_value() && arg.as_value() == image;
        });
        const auto count = std::count(node.inputs.begin(), node.inputs.end(), image);
        if (count == 0 && !as_arg) continue;
        const Expr scale = table_.lowering(reader).least_scale;
        if (as_arg || count != 1 || node.inputs[0] != image || !scale)
          return fmt::format("{} needs its pixels as they are", node.op->name);
        if (!availability_.holds(table_.resolve(scale), id))
          return fmt::format("how small {} makes it is not known before it is decoded", node.op->name);
        readers.push_back(node.outputs[0]);
      }
    }
    return readers.empty() ? "nobody resizes it" : "";
  }

  using Expr = kernel::Expr;
  Graph& graph_;
  const PassContext& context_;
  const values::ValueTable& table_;
  values::Availability availability_;
};

}  // namespace

bool push_scale_into_decode(Graph& graph, const PassContext& context) {
  return !graph.options.exact && ScalePush(graph, context).run();
}

}  // namespace galatea::passes
