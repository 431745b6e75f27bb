// See place_by_cost.h. The minimum cut by augmenting along shortest paths.
#include "compiler/plan/place_by_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <set>

#include "compiler/op/schema.h"

namespace galatea::plan {

using kernel::ExprKind;
using kernel::SymbolKind;

namespace {

/// What an extent of a photograph is, where only data tell.
constexpr double kUnknownExtent = 400, kUnknownChannels = 3;

double volume_of(const ir::Type& type) {
  double out = 1;
  for (size_t d = 0; d < type.extents.size(); ++d) {
    const bool is_channel = d + 1 == type.extents.size() && type.layout.str().ends_with("C");
    out *= type.extents[d] >= 0 ? static_cast<double>(type.extents[d])
           : is_channel         ? kUnknownChannels
                                : kUnknownExtent;
  }
  return out;
}

double bytes_of(const ir::Type& type) { return volume_of(type) * static_cast<double>(size_of(type.dtype)); }

/// A node of the cut: the kernel of a group, or the host or the GPU for what cannot choose.
class Cut {
 public:
  static constexpr size_t kHost = 0, kGpu = 1;
  explicit Cut(size_t groups) : capacity_(groups + 2) {}
  static size_t of_group(size_t group) { return group + 2; }
  /// Something else that is on one of the sides.
  size_t add() {
    capacity_.emplace_back();
    return capacity_.size() - 1;
  }

  /// Cost of having `a` and `b` apart.
  void join(size_t a, size_t b, double cost) {
    if (a == b || cost <= 0) return;
    capacity_[a][b] += cost;
    capacity_[b][a] += cost;
  }
  /// Cost of having `a` on the host and `b` on the GPU.
  void join_ordered(size_t a, size_t b, double cost) {
    if (a != b && cost > 0) capacity_[a][b] += cost;
  }
  /// Cost of being on a device: of being apart from the other.
  void charge(size_t group, double on_host, double on_gpu) {
    join(group, kGpu, on_host);
    join(group, kHost, on_gpu);
  }
  static constexpr double kNever = 1e18;
  void keep_on_host(size_t group) { join(group, kHost, kNever); }

  /// Which nodes are on the GPU's side.
  std::vector<bool> solve() {
    std::vector<size_t> from;
    while (find_path(from)) {
      double most = std::numeric_limits<double>::max();
      for (size_t at = kGpu; at != kHost; at = from[at]) most = std::min(most, capacity_[from[at]][at]);
      for (size_t at = kGpu; at != kHost; at = from[at]) {
        capacity_[from[at]][at] -= most;
        capacity_[at][from[at]] += most;
      }
    }
    std::vector<bool> on_gpu(capacity_.size());
    for (size_t at = 0; at < on_gpu.size(); ++at) on_gpu[at] = from[at] == kUnreached && at != kHost;
    return on_gpu;
  }

 private:
  static constexpr size_t kUnreached = ~size_t{0};
  static constexpr double kNothing = 1e-6;

  bool find_path(std::vector<size_t>& from) const {
    from.assign(capacity_.size(), kUnreached);
    std::queue<size_t> work;
    work.push(kHost);
    from[kHost] = kHost;
    while (!work.empty() && from[kGpu] == kUnreached) {
      const size_t at = work.front();
      work.pop();
      for (const auto& [to, capacity] : capacity_[at])
        if (capacity > kNothing && from[to] == kUnreached) {
          from[to] = at;
          work.push(to);
        }
    }
    return from[kGpu] != kUnreached;
  }

  std::vector<std::map<size_t, double>> capacity_;  ///< of each node, to others
};

class Chooser {
 public:
  Chooser(const ValueTable& table, const KernelGroups& groups, const CostFigures& figures,
          const BranchCosts& branches)
      : table_(table),
        graph_(table.graph()),
        groups_(groups),
        figures_(figures),
        recordable_(recordable_branches(graph_, table, groups, branches.selectors, branches.waiting)),
        cut_(groups.groups.size()) {}

  std::vector<bool> run() {
    for (size_t g = 0; g < groups_.groups.size(); ++g)
      if (!groups_.groups[g].nodes.empty()) add_group(g);
    charge_host_uses();
    for (const RecordableBranch& branch : recordable_) charge_branch(branch);
    const std::vector<bool> side = cut_.solve();
    std::vector<bool> out(groups_.groups.size());
    for (size_t g = 0; g < out.size(); ++g) out[g] = side[Cut::of_group(g)];
    return out;
  }

 private:
  /// Operations of the group for a sample.
  double work_of(const KernelGroup& group) const {
    double out = 0;
    for (ir::NodeId id : group.nodes) {
      const ir::Node& node = graph_.node(id);
      double largest = 0;
      for (ir::ValueId output : node.outputs) largest = std::max(largest, volume_of(graph_.type(output)));
      for (ir::ValueId input : node.inputs) largest = std::max(largest, volume_of(graph_.type(input)));
      const size_t stages = table_.lowering(id).stages.size();
      out += largest * static_cast<double>(std::max<size_t>(stages, 1));
    }
    return out;
  }

  void add_group(size_t g) {
    const KernelGroup& group = groups_.groups[g];
    const size_t self = Cut::of_group(g);
    if (!group.on_gpu) return cut_.keep_on_host(self);
    const double work = work_of(group);
    cut_.charge(self, work * figures_.host_element, work * figures_.gpu_element + figures_.gpu_call);
    std::set<ir::ValueId> read;
    for (ir::NodeId id : group.nodes)
      for (ir::ValueId input : graph_.node(id).inputs) read.insert(input);
    for (ir::ValueId value : read)
      for (size_t maker : makers_of(value)) {
        if (maker == self) continue;
        cut_.join(maker, self, way_of(value));
        if (!table_.info(value).scalar) cut_.join_ordered(self, maker, figures_.wait);
      }
  }

  double way_of(ir::ValueId value) const {
    return table_.info(value).scalar
               ? 0
               : bytes_of(graph_.type(value)) * figures_.byte_over_bus + figures_.transfer;
  }

  /// The nodes of the cut from which the value's bytes may come; what kernels do not make, the host makes.
  std::vector<size_t> makers_of(ir::ValueId value) {
    auto [known, is_new] = makers_.try_emplace(value);
    if (!is_new) return known->second;
    std::set<size_t> found;
    if (const ir::NodeId node = graph_.value(value).node; node == ir::kNoId) {
      const ir::Block& block = graph_.block(graph_.value(value).block);
      for (ir::ValueId operand : block.merges[graph_.value(value).index].operands)
        for (size_t maker : makers_of(operand)) found.insert(maker);
    } else if (const int group = groups_.of_node[node]; group >= 0) {
      found.insert(Cut::of_group(static_cast<size_t>(group)));
    } else if (const op::LoweredOutput* view = view_of(value)) {
      for (size_t maker : makers_of(graph_.node(node).inputs[static_cast<size_t>(view->input)]))
        found.insert(maker);
    } else if (!table_.info(value).scalar && !table_.info(value).constant) {
      found.insert(Cut::kHost);
    }
    return makers_[value] = std::vector<size_t>(found.begin(), found.end());
  }

  const op::LoweredOutput* view_of(ir::ValueId value) const {
    const ir::Value& v = graph_.value(value);
    const auto& outputs = table_.lowering(v.node).outputs;
    if (v.index >= outputs.size() || table_.info(value).scalar) return nullptr;
    return outputs[v.index].kind == op::LoweredOutput::Kind::kView ? &outputs[v.index] : nullptr;
  }

  /// Elements that steer the sample's program, and outputs, are wanted on the host.
  void charge_host_uses() {
    for (ir::ValueId result : graph_.block(graph_.exit_block()).terminator.results)
      for (size_t maker : makers_of(result)) cut_.join(maker, Cut::kHost, way_of(result));
    std::set<ir::ValueId> elements;
    const auto look = [&](const Expr& e) { find_elements(e, elements); };
    for (ir::BlockId block = 0; block < graph_.blocks.size(); ++block) {
      const ir::ValueId selector = graph_.block(block).terminator.selector;
      const bool is_recordable =
          std::ranges::find(recordable_, block, &RecordableBranch::block) != recordable_.end();
      if (selector != ir::kNoId && !is_recordable) look(table_.element(selector, 0));
      for (ir::NodeId id : graph_.block(block).nodes) {
        look_at_node(id, look);
        charge_native_inputs(id);
      }
    }
    for (ir::ValueId value : elements)
      for (size_t maker : makers_of(value)) cut_.join(maker, Cut::kHost, figures_.wait);
  }

  /// Tensors that native functions read.
  void charge_native_inputs(ir::NodeId id) {
    const op::Lowering& lowering = table_.lowering(id);
    std::set<int> inputs;
    for (const op::NativeScalars& native : lowering.native_scalars)
      inputs.insert(native.inputs.begin(), native.inputs.end());
    for (const op::NativeOutput& native : lowering.natives)
      inputs.insert(native.inputs.begin(), native.inputs.end());
    for (int input : inputs) {
      const ir::ValueId value = graph_.node(id).inputs[static_cast<size_t>(input)];
      for (size_t maker : makers_of(value)) cut_.join(maker, Cut::kHost, way_of(value) + figures_.wait);
    }
  }

  /// The values in memory whose elements a number is made of, on whatever way through the graph.
  void find_elements(const Expr& e, std::set<ir::ValueId>& out) const {
    if (!e) return;
    kernel::for_each_node(table_.resolve(e), [&](const Expr& x) {
      if (x->kind != ExprKind::kSymbol || x->symbol != SymbolKind::kElement) return;
      const auto value = static_cast<ir::ValueId>(x->a);
      if (!out.insert(value).second || !table_.info(value).scalar) return;
      const ir::Value& merged = graph_.value(value);
      if (merged.node != ir::kNoId) return;
      for (ir::ValueId operand : graph_.block(merged.block).merges[merged.index].operands)
        find_elements(table_.element(operand, x->b), out);
    });
  }

  /// The condition is waited for if the GPU makes it, and the host anything in the arms.
  void charge_branch(const RecordableBranch& branch) {
    std::set<ir::ValueId> elements;
    find_elements(table_.element(graph_.block(branch.block).terminator.selector, 0), elements);
    const size_t arms = cut_.add();  // on the host if any of them is
    for (ir::BlockId block : branch.arms)
      for (ir::NodeId id : graph_.block(block).nodes)
        if (const int group = groups_.of_node[id]; group >= 0)
          cut_.join_ordered(Cut::of_group(static_cast<size_t>(group)), arms, Cut::kNever);
    for (ir::ValueId value : elements)
      for (size_t maker : makers_of(value)) cut_.join_ordered(arms, maker, figures_.wait);
  }

  template <typename Look>
  void look_at_node(ir::NodeId id, const Look& look) const {
    const op::Lowering& lowering = table_.lowering(id);
    for (const op::Check& check : lowering.checks) look(check.condition);
    for (const op::NativeScalars& native : lowering.native_scalars)
      for (const Expr& e : native.scalars) look(e);
    for (const op::NativeOutput& native : lowering.natives)
      for (const Expr& e : native.scalars) look(e);
    for (const op::LoweredOutput& output : lowering.outputs)
      for (const auto* list : {&output.extents, &output.step, &output.start})
        for (const Expr& e : *list) look(e);
    if (lowering.text)
      for (const Expr& e : lowering.text->grid) look(e);
    for (const kernel::Stage& stage : lowering.stages) {
      for (const auto* list : {&stage.extents, &stage.reduce_extents})
        for (const Expr& e : *list) look(e);
      for (const Expr* e : {&stage.first, &stage.taps, &stage.weight, &stage.source}) look(*e);
    }
  }

  const ValueTable& table_;
  const ir::Graph& graph_;
  const KernelGroups& groups_;
  const CostFigures& figures_;
  std::vector<RecordableBranch> recordable_;
  Cut cut_;
  std::map<ir::ValueId, std::vector<size_t>> makers_;
};

}  // namespace

Placement place_by_cost(const ValueTable& table, const op::DeviceMapping& mapping, bool fuse,
                        const CostFigures& figures, const BranchCosts& branches) {
  const ir::Graph& graph = table.graph();
  Placement out = place_all(graph, mapping);
  const KernelGroups groups = form_kernels(table, fuse, out);
  const std::vector<bool> chosen = Chooser(table, groups, figures, branches).run();
  bool any = false;
  for (size_t g = 0; g < groups.groups.size(); ++g) {
    const KernelGroup& group = groups.groups[g];
    if (group.nodes.empty()) continue;
    std::string name;
    for (ir::NodeId id : group.nodes) {
      out.nodes[id] = chosen[g];
      name += (name.empty() ? "" : "+") + op::shown_name(graph.node(id));
    }
    any = any || chosen[g];
    out.why += fmt::format("{} runs on the {}: {}\n", name, chosen[g] ? "GPU" : "CPU",
                           chosen[g]      ? "its work there and the ways of its tensors cost less"
                           : group.on_gpu ? "moving its tensors, or waiting for it, would cost more"
                                          : "the text, or its operator, keeps it there");
  }
  if (!any) out.nodes.clear();
  return out;
}

}  // namespace galatea::plan
