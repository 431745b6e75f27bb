#include "compiler/passes/push_scale_into_decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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
    const op::NativeOutput* maker = op::maker_of(table_.lowering(id));
    return maker && maker->scale && !graph_.node(id).find_arg(op::kScaledForArg);
  }

  bool push_into(NodeId id) {
    const ValueId made = graph_.node(id).outputs[0];
    const op::NativeOutput& maker = *op::maker_of(table_.lowering(id));
    std::vector<int64_t> readers;
    const std::string objection = why_not(id, made, maker.makes, readers);
    context_.remark(objection.empty()
                        ? fmt::format("{} may make the {} at {} of its size: it is made smaller anyway",
                                      graph_.node(id).op->name, maker.makes, sizes_text(*maker.scale))
                        : fmt::format("{} keeps to the full size: {}", graph_.node(id).op->name, objection),
                    graph_.node(id).span);
    if (!objection.empty()) return false;
    graph_.nodes[id].args.push_back({op::kScaledForArg, Attr(readers), {}});
    // What the text fixed was the full size.
    for (const op::ScaleOffer::Axis& axis : maker.scale->axes)
      graph_.values[made].type.extents[static_cast<size_t>(axis.dim)] = -1;
    return true;
  }

  /// "1/2, 1/4 or 1/8".
  static std::string sizes_text(const op::ScaleOffer& offer) {
    std::string out;
    for (size_t k = offer.parts.size(); k-- > 0;) {
      const int64_t shared = std::gcd(offer.parts[k], offer.whole);
      if (!out.empty()) out += k == 0 ? " or " : ", ";
      out += fmt::format("{}/{}", offer.parts[k] / shared, offer.whole / shared);
    }
    return out;
  }

  std::string why_not(NodeId id, ValueId made, const std::string& noun, std::vector<int64_t>& readers) const {
    for (const Block& block : graph_.blocks) {
      auto uses = [&](const std::vector<ValueId>& list) {
        return std::find(list.begin(), list.end(), made) != list.end();
      };
      if (uses(block.terminator.results)) return "it is an output";
      if (std::any_of(block.merges.begin(), block.merges.end(),
                      [&](const Merge& merge) { return uses(merge.operands); }))
        return fmt::format("it is merged with another {}", noun);
      for (NodeId reader : block.nodes) {
        const Node& node = graph_.node(reader);
        const bool as_arg = std::any_of(node.args.begin(), node.args.end(), [&](const Arg& arg) {
          return arg.is_value() && arg.as_value() == made;
        });
        const auto count = std::count(node.inputs.begin(), node.inputs.end(), made);
        if (count == 0 && !as_arg) continue;
        const Expr scale = table_.lowering(reader).least_scale;
        if (as_arg || count != 1 || node.inputs[0] != made || !scale)
          return fmt::format("{} needs its elements as they are", node.op->name);
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
