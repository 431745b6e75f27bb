// See form_kernels.h.
#include "compiler/plan/form_kernels.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/op/schema.h"

namespace galatea::plan {

using kernel::ExprKind;
using kernel::SymbolKind;
using op::LoweredOutput;

namespace {

/// Kernels larger than this compile slowly and share badly.
constexpr size_t kMaxStages = 96;

class Former {
 public:
  Former(const ValueTable& table, bool fuse)
      : table_(table), graph_(table.graph()), fuse_(fuse), uses_(graph_.count_uses()) {
    out_.of_node.assign(graph_.nodes.size(), -1);
  }

  KernelGroups run() {
    for (ir::BlockId block : graph_.topological_order())
      for (ir::NodeId node : graph_.block(block).nodes) visit(node, block);
    return std::move(out_);
  }

 private:
  bool has_stage_output(ir::NodeId node) const {
    const auto& outputs = table_.lowering(node).outputs;
    for (size_t k = 0; k < outputs.size(); ++k)
      if (outputs[k].kind == LoweredOutput::Kind::kStage && !table_.info(graph_.node(node).outputs[k]).scalar)
        return true;
    return false;
  }

  bool is_movable_view(ir::NodeId node) const {
    const auto& outputs = table_.lowering(node).outputs;
    return outputs.size() == 1 && outputs[0].kind == LoweredOutput::Kind::kView && !outputs[0].reshape &&
           !table_.info(graph_.node(node).outputs[0]).scalar;
  }

  void visit(ir::NodeId node, ir::BlockId block) {
    if (graph_.node(node).op->source) return;
    bool stages = has_stage_output(node);
    if (!stages && !is_movable_view(node)) return;
    KernelGroup group;
    group.block = block;
    group.nodes.push_back(node);
    const bool joined = absorb(group);
    // A view of something in memory costs nothing as it is.
    if (!stages && !joined) return;
    std::sort(group.nodes.begin(), group.nodes.end(),
              [this](ir::NodeId a, ir::NodeId b) { return position(a) < position(b); });
    int index = static_cast<int>(out_.groups.size());
    for (ir::NodeId n : group.nodes) out_.of_node[n] = index;
    out_.groups.push_back(std::move(group));
  }

  /// Adds whatever the group alone reads, until there is no more; whether anything was added.
  bool absorb(KernelGroup& group) {
    bool any = false;
    std::vector<std::pair<ir::ValueId, std::string>> objections;
    for (bool changed = true; changed;) {
      changed = false;
      objections.clear();
      for (size_t i = 0; i < group.nodes.size() && !changed; ++i) {
        const ir::NodeId reader = group.nodes[i];
        for (ir::ValueId input : graph_.node(reader).inputs) {
          const int producer = producing_group(input);
          if (producer < 0 || is_inside(group, input)) continue;
          std::string objection = why_not(group, input, producer);
          if (!objection.empty()) {
            objections.emplace_back(input, fmt::format("{} stays apart from {}: {}\n",
                                                       op::shown_name(*graph_.defining_node(input)),
                                                       op::shown_name(graph_.node(reader)), objection));
            continue;
          }
          KernelGroup& other = out_.groups[static_cast<size_t>(producer)];
          group.why += other.why;
          group.why +=
              fmt::format("{} joins {}: {}\n", op::shown_name(*graph_.defining_node(input)),
                          op::shown_name(graph_.node(reader)),
                          readers_inside(group, input) == 1 ? "its only reader" : "all its readers are here");
          group.nodes.insert(group.nodes.end(), other.nodes.begin(), other.nodes.end());
          other = KernelGroup{};
          changed = any = true;
          break;
        }
      }
    }
    for (size_t i = 0; i < objections.size(); ++i) {
      bool said = false;
      for (size_t k = 0; k < i; ++k) said |= objections[k].first == objections[i].first;
      if (!said) group.why += objections[i].second;
    }
    return any;
  }

  bool is_inside(const KernelGroup& group, ir::ValueId value) const {
    return std::find(group.nodes.begin(), group.nodes.end(), graph_.value(value).node) != group.nodes.end();
  }
  uint32_t readers_inside(const KernelGroup& group, ir::ValueId value) const {
    uint32_t count = 0;
    for (const ir::NodeId n : group.nodes) {
      const auto& inputs = graph_.node(n).inputs;
      count += static_cast<uint32_t>(std::count(inputs.begin(), inputs.end(), value));
    }
    return count;
  }

  size_t position(ir::NodeId node) const {
    const auto& nodes = graph_.block(graph_.node(node).block).nodes;
    return static_cast<size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  }

  int producing_group(ir::ValueId value) const {
    const ir::Node* node = graph_.defining_node(value);
    if (!node || table_.info(value).scalar) return -1;
    return out_.of_node[graph_.value(value).node];
  }

  /// Why the producer may not join, or empty.
  std::string why_not(const KernelGroup& group, ir::ValueId input, int producer) const {
    if (!fuse_) return "fusion is off";
    const KernelGroup& other = out_.groups[static_cast<size_t>(producer)];
    if (other.block != group.block) return "it runs for other samples (another arm)";
    if (graph_.node(other.nodes.back()).outputs.size() != 1) return "it has several outputs";
    if (uses_[input] != readers_inside(group, input)) return "its result is read elsewhere, too";
    size_t stages = 0;
    for (const ir::NodeId n : group.nodes) {
      if (steers(input, n))
        return "its elements decide sizes or parameters, so they must be known before the kernel";
      stages += table_.lowering(n).stages.size();
    }
    for (ir::NodeId n : other.nodes) stages += table_.lowering(n).stages.size();
    if (stages > kMaxStages) return "the kernel would become too large";
    return {};
  }

  /// Whether scalars of the node's lowering need elements of the value.
  bool steers(ir::ValueId value, ir::NodeId node) const {
    const op::Lowering& lowering = table_.lowering(node);
    bool found = false;
    auto look = [&](const Expr& e) {
      if (!e || found) return;
      kernel::rewrite(table_.resolve(e), [&](const Expr& x) -> Expr {
        if (x->kind == ExprKind::kSymbol && x->symbol != SymbolKind::kLocal &&
            x->symbol != SymbolKind::kBatchSlot &&
            (x->symbol == SymbolKind::kElement || x->symbol == SymbolKind::kExtent) &&
            static_cast<ir::ValueId>(x->a) == value)
          found = true;
        return {};
      });
    };
    for (const op::Check& check : lowering.checks) look(check.condition);
    for (const op::NativeScalars& native : lowering.native_scalars)
      for (const Expr& e : native.scalars) look(e);
    for (const LoweredOutput& output : lowering.outputs) {
      for (const auto* list : {&output.extents, &output.step, &output.start, &output.elements})
        for (const Expr& e : *list) look(e);
    }
    for (const kernel::Stage& stage : lowering.stages) {
      for (const Expr& e : stage.extents) look(e);
      for (const Expr& e : stage.reduce_extents) look(e);
      for (const Expr* e :
           {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.source, &stage.finish})
        look(*e);
    }
    return found;
  }

  const ValueTable& table_;
  const ir::Graph& graph_;
  bool fuse_;
  std::vector<uint32_t> uses_;
  KernelGroups out_;
};

}  // namespace

KernelGroups form_kernels(const ValueTable& table, bool fuse) { return Former(table, fuse).run(); }

}  // namespace galatea::plan
