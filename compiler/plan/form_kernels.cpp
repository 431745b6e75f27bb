// See form_kernels.h.
#include "compiler/plan/form_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/kernel/division.h"
#include "compiler/kernel/stage_edit.h"
#include "compiler/op/schema.h"

namespace galatea::plan {

using kernel::ExprKind;
using kernel::SymbolKind;
using op::LoweredOutput;

namespace {

/// Kernels larger than this compile slowly and share badly.
constexpr size_t kMaxStages = 96;
/// A pixel of so many elements is too short for a copy of its own.
constexpr int64_t kMostChannels = 4;
/// Elements that are read less often are not worth being put side by side.
constexpr size_t kLeastWindow = 3;

/// Whether the view takes single elements or pixels apart (a mirror, other orders of axes): what copies runs
/// of memory is slow at that.
bool breaks_runs(const LoweredOutput& output, const ir::Type& from) {
  std::vector<size_t> dims;
  for (size_t d = 0; d < output.input_dim.size(); ++d)
    if (output.input_dim[d] >= 0) dims.push_back(d);
  const auto moves = [&](size_t last) {
    if (dims.size() <= last) return false;
    const size_t d = dims[dims.size() - 1 - last];
    return output.input_dim[d] != from.ndim - 1 - static_cast<int>(last) ||
           !kernel::is_const_int(output.step[d], 1);
  };
  if (moves(0)) return true;
  const int64_t innermost = from.extents.empty() ? 0 : from.extents.back();
  return innermost <= kMostChannels && moves(1);
}

/// Whether neighbours along a row of the view lie apart in memory, so that no vector fetches them. A mirror's
/// are neighbours still.
bool scatters_rows(const LoweredOutput& output, const ir::Type& from, const ir::Type& view) {
  if (output.input_dim.empty()) return false;  // one element
  const size_t last = output.input_dim.size() - 1;
  const Expr& step = output.step[last];
  if (output.input_dim[last] != from.ndim - 1) return output.input_dim[last] >= 0;
  if (step && kernel::is_const(step) && std::abs(kernel::const_value(step)) > 1) return true;
  return view.extents[last] >= 0 && view.extents[last] <= kMostChannels &&
         view.extents[last] != from.extents.back();
}

/// Loads of input `k` in the stage, each once.
std::vector<Expr> loads_of_input(const kernel::Stage& stage, int k) {
  std::vector<Expr> loads;
  for (const Expr* part : kernel::element_parts(stage)) {
    if (!*part) continue;
    kernel::for_each_node(*part, [&](const Expr& e) {
      if (e->kind != ExprKind::kLoad || e->target != kernel::LoadTarget{kernel::LoadTarget::Kind::kInput, k})
        return;
      if (std::ranges::none_of(loads, [&](const Expr& known) { return kernel::same(known, e); }))
        loads.push_back(e);
    });
  }
  return loads;
}

/// Whether each element of the stage is made of a window of input `k`, the same for all of them.
bool slides_over(const kernel::Stage& stage, int k) {
  const std::vector<Expr> loads = loads_of_input(stage, k);
  const auto slides = [](const Expr& index) {
    return !kernel::contains(index, ExprKind::kLoad) && kernel::contains(index, ExprKind::kAxis);
  };
  const auto is_of_window = [&](const Expr& load) {
    return std::ranges::any_of(load->args, [&](const Expr& index) {
      return slides(index) &&
             (kernel::contains(index, ExprKind::kReduceAxis) || kernel::contains(index, ExprKind::kTap));
    });
  };
  if (std::ranges::any_of(loads, is_of_window)) return true;
  return loads.size() >= kLeastWindow && std::ranges::all_of(loads, [&](const Expr& load) {
           return std::ranges::all_of(
               load->args, [&](const Expr& index) { return slides(index) || kernel::is_const(index); });
         });
}

/// The nodes that take a value as an input, or as an argument on which only elements depend; once for each
/// time.
std::vector<std::vector<ir::NodeId>> readers_of_values(const ir::Graph& graph) {
  std::vector<std::vector<ir::NodeId>> out(graph.values.size());
  for (const ir::Block& block : graph.blocks)
    for (ir::NodeId id : block.nodes) {
      const ir::Node& node = graph.node(id);
      for (ir::ValueId input : node.inputs) out[input].push_back(id);
      for (const ir::Arg& arg : node.args) {
        const op::ArgSpec* spec = arg.is_value() ? node.op->find_arg(arg.name) : nullptr;
        if (spec && spec->any_device) out[arg.as_value()].push_back(id);
      }
    }
  return out;
}

/// Which values the batch alone wants, if need be behind merges.
class OnlyInBatch {
 public:
  explicit OnlyInBatch(const ir::Graph& graph)
      : uses_(graph.values.size(), 0),
        merged_(graph.values.size(), ir::kNoId),
        is_result_(uses_.size(), false) {
    for (const ir::Block& block : graph.blocks) {
      for (const ir::Merge& merge : block.merges)
        for (const ir::ValueId operand : merge.operands) ++uses_[operand], merged_[operand] = merge.result;
      for (const ir::NodeId id : block.nodes) {
        const ir::Node& node = graph.node(id);
        for (const ir::ValueId input : node.inputs) ++uses_[input];
        for (const ir::Arg& arg : node.args)
          if (arg.is_value()) ++uses_[arg.as_value()];
      }
      for (const ir::ValueId result : block.terminator.results) ++uses_[result], is_result_[result] = true;
    }
  }

  bool takes(ir::ValueId value) const {
    while (uses_[value] == 1 && !is_result_[value] && merged_[value] != ir::kNoId) value = merged_[value];
    return uses_[value] == 1 && is_result_[value];
  }

 private:
  std::vector<uint32_t> uses_;
  std::vector<ir::ValueId> merged_;  ///< what the value is an operand of
  std::vector<bool> is_result_;
};

class Former {
 public:
  Former(const ValueTable& table, bool fuse, const Placement& placement)
      : table_(table),
        graph_(table.graph()),
        fuse_(fuse),
        placement_(placement),
        uses_(graph_.count_uses()),
        batch_(graph_),
        readers_(readers_of_values(graph_)) {
    out_.of_node.assign(graph_.nodes.size(), -1);
  }

  KernelGroups run() {
    for (ir::BlockId block : graph_.topological_order())
      for (ir::NodeId node : graph_.block(block).nodes) visit(node, block);
    for (KernelGroup& group : out_.groups)
      if (!group.nodes.empty())
        for (const ir::ValueId value : graph_.node(group.nodes.back()).outputs)
          group.ends_in_batch.push_back(batch_.takes(value));
    return std::move(out_);
  }

 private:
  bool has_stage_output(ir::NodeId node) const {
    if (is_text(node)) return true;
    const auto& outputs = table_.lowering(node).outputs;
    for (size_t k = 0; k < outputs.size(); ++k)
      if (outputs[k].kind == LoweredOutput::Kind::kStage && !table_.info(graph_.node(node).outputs[k]).scalar)
        return true;
    return false;
  }

  bool is_text(ir::NodeId node) const { return table_.lowering(node).text != nullptr; }

  bool is_movable_view(ir::NodeId node) const {
    const auto& outputs = table_.lowering(node).outputs;
    return outputs.size() == 1 && outputs[0].kind == LoweredOutput::Kind::kView && !outputs[0].reshape &&
           !table_.info(graph_.node(node).outputs[0]).scalar;
  }

  bool is_copied_by_kernel(ir::NodeId node) const {
    const ir::Node& n = graph_.node(node);
    // Of a part nobody takes more than kernels do that read it in place; a copy would be of the whole.
    if (table_.is_part(n.outputs[0])) return false;
    if (placement_.on_gpu(node)) return !only_kernels_read(n.outputs[0]);
    const LoweredOutput& output = table_.lowering(node).outputs[0];
    const ir::Type& from = graph_.type(n.inputs[static_cast<size_t>(output.input)]);
    if (batch_.takes(n.outputs[0])) return breaks_runs(output, from);
    return scatters_rows(output, from, graph_.type(n.outputs[0])) && is_slid_over(n.outputs[0], n.block);
  }

  /// Whether a kernel of the CPU slides a window over the value, for the same samples, and nothing else reads it.
  bool is_slid_over(ir::ValueId value, ir::BlockId block) const {
    if (uses_[value] != 1 || readers_[value].size() != 1) return false;
    const ir::NodeId reader = readers_[value].front();
    const ir::Node& node = graph_.node(reader);
    const auto input = std::ranges::find(node.inputs, value);
    return node.block == block && !placement_.on_gpu(reader) && input != node.inputs.end() &&
           std::ranges::any_of(table_.lowering(reader).stages, [&](const kernel::Stage& stage) {
             return slides_over(stage, static_cast<int>(input - node.inputs.begin()));
           });
  }

  /// Kernels of a GPU follow strides; whatever else takes a tensor from its memory wants it dense.
  bool only_kernels_read(ir::ValueId value) const {
    const std::vector<ir::NodeId>& readers = readers_[value];
    return readers.size() == uses_[value] && std::all_of(readers.begin(), readers.end(), [&](ir::NodeId id) {
             if (!placement_.on_gpu(id)) return false;
             const auto& outputs = table_.lowering(id).outputs;
             return std::none_of(outputs.begin(), outputs.end(),
                                 [](const LoweredOutput& output) { return output.reshape; });
           });
  }

  void visit(ir::NodeId node, ir::BlockId block) {
    if (graph_.node(node).op->source) return;
    bool stages = has_stage_output(node);
    if (!stages && !is_movable_view(node)) return;
    KernelGroup group;
    group.block = block;
    group.on_gpu = placement_.on_gpu(node);
    group.nodes.push_back(node);
    std::vector<int> joined;
    if (!is_text(node)) join_producers(group, joined);
    // A view of something in memory costs nothing as it is, unless the batch wants a copy, or a window rows.
    if (!stages && joined.empty() && !is_copied_by_kernel(node)) return;
    for (int g : joined) out_.groups[static_cast<size_t>(g)] = KernelGroup{};
    std::sort(group.nodes.begin(), group.nodes.end(),
              [this](ir::NodeId x, ir::NodeId y) { return position(x) < position(y); });
    int index = static_cast<int>(out_.groups.size());
    for (ir::NodeId n : group.nodes) out_.of_node[n] = index;
    out_.groups.push_back(std::move(group));
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

  /// Takes in the producers of what the group reads, as long as nobody else reads it. A producer with several
  /// readers joins once all of them have.
  void join_producers(KernelGroup& group, std::vector<int>& joined) {
    const ir::NodeId root = group.nodes.front();
    std::map<int, std::string> apart;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t n = 0; n < group.nodes.size(); ++n) {
        const ir::NodeId reader = group.nodes[n];
        for (ir::ValueId input : read_by(reader)) {
          if (is_view_to_take(group, input)) {
            group.nodes.push_back(graph_.value(input).node);
            group.why += fmt::format("{} joins {}: a view of what only this kernel reads\n",
                                     op::shown_name(*graph_.defining_node(input)),
                                     op::shown_name(graph_.node(reader)));
            changed = true;
            continue;
          }
          int producer = producing_group(input);
          if (producer < 0 || std::find(joined.begin(), joined.end(), producer) != joined.end()) continue;
          const std::string objection = why_not(input, producer, group);
          const std::string names = fmt::format("{} {{}} {}", op::shown_name(*graph_.defining_node(input)),
                                                op::shown_name(graph_.node(reader)));
          if (!objection.empty()) {
            apart[producer] = fmt::format(fmt::runtime(names), "stays apart from") + ": " + objection + "\n";
            continue;
          }
          KernelGroup& other = out_.groups[static_cast<size_t>(producer)];
          group.why += other.why;
          group.why += fmt::format(fmt::runtime(names), "joins") +
                       (uses_[input] == 1 ? ": its only reader\n" : ": all its readers are in this kernel\n");
          group.nodes.insert(group.nodes.end(), other.nodes.begin(), other.nodes.end());
          joined.push_back(producer);
          apart.erase(producer);
          changed = true;
        }
      }
    }
    for (const auto& [producer, words] : apart) group.why += words;
    GALATEA_CHECK(group.nodes.front() == root);
  }

  /// A view in the GPU's memory, an element of a mean say, costs nothing, so it has no kernel. Where only
  /// this kernel reads what it is a view of, it is no reason to make that apart.
  bool is_view_to_take(const KernelGroup& group, ir::ValueId value) {
    if (!fuse_ || !group.on_gpu || !is_free_view(group, value)) return false;
    const ir::ValueId source = graph_.defining_node(value)->inputs.front();
    const int producer = producing_group(source);
    if (producer < 0 || out_.groups[static_cast<size_t>(producer)].block != group.block) return false;
    if (!out_.groups[static_cast<size_t>(producer)].on_gpu) return false;
    if (std::any_of(group.nodes.begin(), group.nodes.end(),
                    [&](ir::NodeId reader) { return steers(value, reader); }))
      return false;
    const std::vector<ir::NodeId>& readers = readers_[source];
    return readers.size() == uses_[source] && std::all_of(readers.begin(), readers.end(), [&](ir::NodeId id) {
             return std::find(group.nodes.begin(), group.nodes.end(), id) != group.nodes.end() ||
                    is_free_view(group, graph_.node(id).outputs.front());
           });
  }
  bool is_free_view(const KernelGroup& group, ir::ValueId value) const {
    const ir::Node* node = graph_.defining_node(value);
    if (!node || node->block != group.block) return false;
    const ir::NodeId id = graph_.value(value).node;
    return out_.of_node[id] < 0 &&
           std::find(group.nodes.begin(), group.nodes.end(), id) == group.nodes.end() &&
           placement_.on_gpu(id) && is_movable_view(id) && table_.lowering(id).native_scalars.empty() &&
           node->inputs.size() == 1 && only_group_reads(group, value);
  }

  uint32_t uses_in(const KernelGroup& group, ir::ValueId value) const {
    uint32_t count = 0;
    for (ir::NodeId id : group.nodes) {
      const ir::Node& node = graph_.node(id);
      count += static_cast<uint32_t>(std::count(node.inputs.begin(), node.inputs.end(), value));
      for (const ir::Arg& arg : node.args) count += arg.is_value() && arg.as_value() == value ? 1 : 0;
    }
    return count;
  }

  /// What a node reads: its inputs, and on a GPU what scalars in between were computed from.
  std::vector<ir::ValueId> read_by(ir::NodeId reader) {
    std::vector<ir::ValueId> out = graph_.node(reader).inputs;
    if (!placement_.on_gpu(reader)) return out;
    const auto look = [&](const Expr& e) {
      if (!e) return;
      kernel::for_each_node(table_.resolve(e), [&](const Expr& x) {
        if (x->kind != ExprKind::kSymbol || x->symbol != SymbolKind::kElement) return;
        const auto value = static_cast<ir::ValueId>(x->a);
        if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
      });
    };
    for (const kernel::Stage& stage : table_.lowering(reader).stages) look(stage.body), look(stage.finish);
    // One number is read where it is computed; more of them come as a tensor.
    for (ir::ValueId input : graph_.node(reader).inputs)
      if (graph_.type(input).is_scalar())
        for (const Expr& element : table_.info(input).elements) look(element);
    return out;
  }

  /// Whether the value goes nowhere else, scalars that are computed from it included.
  bool only_group_reads(const KernelGroup& group, ir::ValueId value) const {
    size_t found = 0;
    for (ir::NodeId id : readers_[value]) {
      ++found;
      if (std::find(group.nodes.begin(), group.nodes.end(), id) != group.nodes.end()) continue;
      const op::Lowering& lowering = table_.lowering(id);
      if (!lowering.checks.empty() || !lowering.native_scalars.empty()) return false;
      for (ir::ValueId output : graph_.node(id).outputs)
        if (!table_.info(output).scalar || !only_group_reads(group, output)) return false;
    }
    // Uses beside inputs are arguments, selectors, merges, outputs.
    return found == uses_[value];
  }

  /// Why the producer may not join, or empty.
  std::string why_not(ir::ValueId input, int producer, const KernelGroup& group) {
    if (!fuse_) return "fusion is off";
    const KernelGroup& other = out_.groups[static_cast<size_t>(producer)];
    if (other.on_gpu != group.on_gpu) return other.on_gpu ? "it runs on the GPU" : "it runs on the CPU";
    if (other.block != group.block) return "it runs for other samples (another arm)";
    if (is_text(other.nodes.back())) return "it is a kernel of the user's own";
    if (graph_.node(other.nodes.back()).outputs.size() != 1) return "it has several outputs";
    if (group.on_gpu ? !only_group_reads(group, input) : uses_in(group, input) != uses_[input])
      return "its result is also read elsewhere";
    size_t stages = 0;
    for (const auto* list : {&other.nodes, &group.nodes})
      for (ir::NodeId n : *list) stages += table_.lowering(n).stages.size();
    if (stages > kMaxStages) return "the kernel would become too large";
    if (chooses(group) && may_raise_flag(other)) return "a flag of its own says what failed";
    for (ir::NodeId reader : group.nodes)
      if (steers(input, reader))
        return "its elements decide sizes or parameters, so they must be known before the kernel";
    return {};
  }

  bool chooses(const KernelGroup& group) const {
    return std::ranges::any_of(group.nodes, [&](ir::NodeId n) { return table_.lowering(n).arms > 0; });
  }
  bool may_raise_flag(const KernelGroup& group) const {
    return std::ranges::any_of(group.nodes, [&](ir::NodeId n) {
      return std::ranges::any_of(table_.lowering(n).stages, kernel::may_raise_flag);
    });
  }

  /// Whether scalars of the node's lowering need elements or extents of the value that only its memory tells.
  bool steers(ir::ValueId value, ir::NodeId node) {
    auto [known, is_new] = steered_by_.try_emplace(node);
    if (is_new) known->second = steering_values(node);
    return known->second.contains(value);
  }

  std::set<ir::ValueId> steering_values(ir::NodeId node) const {
    const op::Lowering& lowering = table_.lowering(node);
    std::set<ir::ValueId> found;
    auto look = [&](const Expr& e) {
      if (!e) return;
      kernel::for_each_node(table_.resolve(e), [&](const Expr& x) {
        if (x->kind == ExprKind::kSymbol &&
            (x->symbol == SymbolKind::kElement || x->symbol == SymbolKind::kExtent))
          found.insert(static_cast<ir::ValueId>(x->a));
      });
    };
    for (const op::Check& check : lowering.checks) look(check.condition);
    for (const op::NativeScalars& native : lowering.native_scalars)
      for (const Expr& e : native.scalars) look(e);
    for (const LoweredOutput& output : lowering.outputs) {
      for (const auto* list : {&output.extents, &output.step, &output.start, &output.elements})
        for (const Expr& e : *list) look(e);
    }
    if (lowering.text)
      for (const Expr& e : lowering.text->grid) look(e);
    for (const kernel::Stage& stage : lowering.stages) {
      for (const Expr& e : stage.extents) look(e);
      for (const Expr& e : stage.reduce_extents) look(e);
      for (const Expr* e : {&stage.first, &stage.taps, &stage.weight, &stage.source}) look(*e);
      // A kernel of a GPU reads elements by itself (build_kernel).
      if (placement_.on_gpu(node)) continue;
      look(stage.body), look(stage.finish);
    }
    return found;
  }

  const ValueTable& table_;
  const ir::Graph& graph_;
  bool fuse_;
  const Placement& placement_;
  std::vector<uint32_t> uses_;
  OnlyInBatch batch_;
  std::vector<std::vector<ir::NodeId>> readers_;  ///< of each value, once a use
  std::map<ir::NodeId, std::set<ir::ValueId>> steered_by_;
  KernelGroups out_;
};

}  // namespace

KernelGroups form_kernels(const ValueTable& table, bool fuse, const Placement& placement) {
  return Former(table, fuse, placement).run();
}

}  // namespace galatea::plan
