// See offer_work.h. Uses are followed from the outputs upwards.
#include "compiler/plan/offer_work.h"

#include "compiler/op/devices.h"
#include "compiler/op/schema.h"

namespace galatea::plan {
namespace {

class Uses {
 public:
  Uses(const ir::Graph& graph, const ValueTable& table, const Placement& placement)
      : graph_(graph), table_(table), placement_(placement), uses_(graph.values.size()) {
    const std::vector<ir::BlockId> order = graph.topological_order();
    for (ir::BlockId b : order) {
      const ir::Terminator& terminator = graph.block(b).terminator;
      if (terminator.selector != ir::kNoId) uses_[terminator.selector].host = true;
      for (size_t k = 0; k < terminator.results.size(); ++k) {
        Use& use = uses_[terminator.results[k]];
        use.output = true;
        use.host = use.host || b != graph.exit_block() || !placement.output_on_gpu(k);
      }
    }
    for (size_t b = order.size(); b-- > 0;) {
      const ir::Block& block = graph.block(order[b]);
      for (size_t n = block.nodes.size(); n-- > 0;) look_at(block.nodes[n]);
      for (const ir::Merge& merge : block.merges)
        for (ir::ValueId operand : merge.operands) uses_[operand].add(uses_[merge.result]);
    }
  }

  /// Whether nothing but kernels of the GPU, and outputs there, read the value. `dense`: it can be an output
  /// as it lies.
  bool are_of_gpu(ir::ValueId value, bool dense) const {
    return !uses_[value].host && (dense || !uses_[value].output);
  }

 private:
  struct Use {
    bool host = false;    ///< its bytes are read there
    bool output = false;  ///< as it lies
    void add(const Use& other) {
      host = host || other.host;
      output = output || other.output;
    }
  };

  void look_at(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const auto& outputs = table_.lowering(id).outputs;
    bool on_host = !placement_.on_gpu(id);
    for (size_t k = 0; k < outputs.size() && k < node.outputs.size(); ++k) {
      const bool is_view = outputs[k].kind == op::LoweredOutput::Kind::kView;
      const Use& use = uses_[node.outputs[k]];
      // Views that are not read in place are made dense, which takes a kernel, or the host.
      on_host = on_host || table_.info(node.outputs[k]).scalar ||
                (is_view && (outputs[k].reshape || use.host || use.output));
    }
    for (ir::ValueId input : node.inputs) uses_[input].host = uses_[input].host || on_host;
    for (const ir::Arg& arg : node.args)
      if (arg.is_value()) uses_[arg.as_value()].host = true;
  }

  const ir::Graph& graph_;
  const ValueTable& table_;
  const Placement& placement_;
  std::vector<Use> uses_;
};

}  // namespace

std::vector<bool> offer_work(const ir::Graph& graph, const ValueTable& table, const Placement& placement,
                             bool offers_decodes) {
  std::vector<bool> out;
  if (!placement.uses_gpu()) return out;
  const Uses uses(graph, table, placement);
  for (const ir::Block& block : graph.blocks)
    for (ir::NodeId id : block.nodes) {
      const ir::Node& node = graph.node(id);
      const op::NativeOutput* maker = op::maker_of(table.lowering(id));
      const std::string place = op::hidden_text(node.args, op::kPlacedArg);
      if (!maker || !maker->device || (place == "mixed" ? !offers_decodes : place != "gpu")) continue;
      const bool dense = maker->device->dense_axes >= graph.type(node.outputs[0]).ndim;
      if (!uses.are_of_gpu(node.outputs[0], dense)) continue;
      out.resize(graph.nodes.size());
      out[id] = true;
    }
  return out;
}

}  // namespace galatea::plan
