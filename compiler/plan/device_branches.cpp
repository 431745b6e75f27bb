// See device_branches.h: what can be recorded, and the graph for it.
#include "compiler/plan/device_branches.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/op/schema.h"
#include "compiler/plan/branch_regions.h"
#include "compiler/plan/form_kernels.h"
#include "compiler/values/windows.h"

namespace galatea::plan {

using namespace ir;

namespace {

/// The number of an arm is a byte.
constexpr size_t kMostArms = 256;

bool is_branch(const Block& block) {
  return block.terminator.kind == TerminatorKind::kBranch || block.terminator.kind == TerminatorKind::kSwitch;
}

/// Which branches wait for a condition of the GPU, and which need not.
class Decider {
 public:
  Decider(const Graph& graph, const ValueTable& table, const KernelGroups& groups, SelectorForm form,
          WaitingBranches waiting)
      : graph_(graph),
        table_(table),
        groups_(groups),
        residence_(table, groups),
        form_(form),
        waiting_(std::move(waiting)),
        order_(graph.topological_order()) {}

  void run() {
    // What waits makes its merges known to the host, and what is around it wait as well.
    for (size_t before = ~size_t{0}; before != waiting_.size();) {
      before = waiting_.size();
      find_branches();
      for (size_t n = branches_.size(); n-- > 0;) {
        if (waiting_.contains(branches_[n])) continue;
        if (std::string why = objection(branches_[n]); !why.empty())
          waiting_.emplace(branches_[n], std::move(why));
      }
    }
  }

  const std::vector<BlockId>& branches() const { return branches_; }
  const WaitingBranches& waiting() const { return waiting_; }

 private:
  void find_branches() {
    branches_.clear();
    merges_of_gpu_.clear();
    std::set<BlockId> joins;
    for (BlockId b : order_) {
      const Block& block = graph_.block(b);
      for (const Merge& merge : block.merges)
        if (joins.contains(b) || std::ranges::any_of(merge.operands, [&](ValueId v) { return is_of_gpu(v); }))
          merges_of_gpu_.insert(merge.result);
      if (!is_branch(block) || !is_of_gpu(block.terminator.selector)) continue;
      branches_.push_back(b);
      if (block.terminator.targets.size() > 1 && !waiting_.contains(b))
        joins.insert(region_of(graph_, b).join);
    }
  }

  /// Whether the host would have to ask the GPU for the value's first element.
  bool is_of_gpu(ValueId value) const {
    if (residence_.on_gpu(value)) return true;
    bool found = merges_of_gpu_.contains(value);
    for (const Expr& element : table_.info(value).elements)
      kernel::for_each_node(table_.resolve(element), [&](const Expr& x) {
        if (x->kind != kernel::ExprKind::kSymbol || x->symbol != kernel::SymbolKind::kElement) return;
        const auto read = static_cast<ValueId>(x->a);
        found = found || residence_.on_gpu(read) || merges_of_gpu_.contains(read);
      });
    return found;
  }

  /// Why the branch has to wait, or nothing.
  std::string objection(BlockId b) const {
    if (form_ == SelectorForm::kWait) return "conditions of the GPU are to be waited for (--selectors wait)";
    const size_t arms = graph_.block(b).terminator.targets.size();
    if (arms < 2) return "one function is no choice, and its index is looked at by the host";
    if (arms > kMostArms) return fmt::format("it is among more than {} functions", kMostArms);
    const BranchRegion region = region_of(graph_, b);
    if (!region.is_structured) return "its ways cross";
    for (const auto& arm : region.arms)
      for (BlockId block : arm)
        if (std::string why = objection_in_arm(block); !why.empty()) return why;
    return objection_to_results(b, region);
  }

  std::string objection_in_arm(BlockId block) const {
    if (is_branch(graph_.block(block)) && waiting_.contains(block))
      return "a branch within its arms is waited for";
    for (NodeId id : graph_.block(block).nodes) {
      const op::Lowering& lowering = table_.lowering(id);
      const int group = groups_.of_node[id];
      const bool is_native = !lowering.native_scalars.empty() || !lowering.natives.empty();
      if (is_native || (group >= 0 && !groups_.groups[static_cast<size_t>(group)].on_gpu))
        return fmt::format("{} in its arms runs on the CPU", op::shown_name(graph_.node(id)));
    }
    return {};
  }

  /// All arms fill one buffer.
  std::string objection_to_results(BlockId b, const BranchRegion& region) const {
    const Block& join = graph_.block(region.join);
    for (const Merge& merge : join.merges) {
      std::vector<ValueId> operands;
      for (size_t k = 0; k < merge.operands.size(); ++k)
        if (join.predecessors[k] == b || region.contains(join.predecessors[k]))
          operands.push_back(merge.operands[k]);
      const Type& type = graph_.type(merge.result);
      for (size_t d = 0; d < static_cast<size_t>(type.ndim); ++d) {
        if (type.extents[d] >= 0) continue;
        const Expr first = table_.resolve(table_.info(operands[0]).extents[d]);
        if (!std::ranges::all_of(operands, [&](ValueId v) {
              return kernel::same(table_.resolve(table_.info(v).extents[d]), first);
            }))
          return "its arms may give tensors of different sizes";
      }
    }
    return {};
  }

  const Graph& graph_;
  const ValueTable& table_;
  const KernelGroups& groups_;
  Residence residence_;
  SelectorForm form_;
  WaitingBranches waiting_;
  std::vector<BlockId> order_;
  std::vector<BlockId> branches_;  ///< on conditions of the GPU, in the order of the program
  std::set<ValueId> merges_of_gpu_;
};

/// Puts the graph into the form of device_branches.h.
class Recorder {
 public:
  Recorder(Graph& graph, const ValueTable& table, const KernelGroups& groups, const op::Registry& registry,
           Placement& placement, DeviceBranches& out)
      : graph_(graph),
        table_(table),
        groups_(groups),
        store_(registry.find("stored")),
        arm_(registry.find("select")),
        placement_(placement),
        out_(out) {}

  void run(const std::vector<BlockId>& branches) {
    // Inner ones first: an outer branch finds one block where several ways of theirs came together.
    std::vector<ClosedRegion> closed(branches.size());
    for (size_t n = branches.size(); n-- > 0;) closed[n] = close_region(graph_, branches[n]);
    for (size_t n = 0; n < branches.size(); ++n) {
      RecordedBranch branch;
      branch.block = branches[n];
      branch.join = closed[n].join;
      const Terminator& terminator = graph_.block(branches[n]).terminator;
      branch.selector = terminator.selector;
      branch.is_choice = terminator.kind == TerminatorKind::kSwitch;
      branch.arms = terminator.targets.size();
      for (const Merge& merge : graph_.block(branch.join).merges) out_.stored.insert(merge.result);
      out_.recorded.push_back(branch);
    }
    uses_ = graph_.count_uses();
    for (size_t n = 0; n < branches.size(); ++n) {
      store_flag(out_.recorded[n]);
      store_results(out_.recorded[n], closed[n]);
    }
    placement_.nodes.resize(graph_.nodes.size(), true);
  }

 private:
  ValueId store(ValueId value, BlockId block, Span span) { return store(store_, value, block, span, {}); }
  ValueId store(const op::Operator* op, ValueId value, BlockId block, Span span, std::vector<Arg> args) {
    op::GraphBuilder builder(graph_);
    builder.set_insertion_block(block);
    op::GraphBuilder::NodeSpec spec;
    spec.op = op;
    spec.inputs = {value};
    spec.span = span;
    spec.args = std::move(args);
    auto node = builder.add_node(std::move(spec));
    GALATEA_CHECK(node.has_value(), "a value cannot be stored");
    const ValueId stored = graph_.node(*node).outputs[0];
    graph_.values[stored].variable = graph_.value(value).variable;
    out_.stored.insert(stored);
    return stored;
  }

  void store_flag(RecordedBranch& branch) {
    Terminator& terminator = graph_.blocks[branch.block].terminator;
    const Span span = terminator.span;
    const bool is_flag = is_bool(graph_.type(branch.selector).dtype) && out_.stored.contains(branch.selector);
    if (branch.is_choice)
      branch.flag = store(arm_, branch.selector, branch.block, span,
                          {{"count", Attr(static_cast<int64_t>(branch.arms)), span}});
    else
      branch.flag =
          is_flag ? branch.selector
                  : store(store_, branch.selector, branch.block, span, {{"dtype", Attr(DType::kBool), span}});
    graph_.blocks[branch.block].terminator.selector = branch.flag;
  }

  void store_results(const RecordedBranch& branch, const ClosedRegion& closed) {
    const BranchRegion region = region_of(graph_, branch.block);
    const std::vector<BlockId> predecessors = graph_.block(branch.join).predecessors;
    for (size_t m = 0; m < graph_.block(branch.join).merges.size(); ++m)
      for (size_t k = 0; k < predecessors.size(); ++k) {
        const Merge merge = graph_.block(branch.join).merges[m];
        const auto end = std::ranges::find(closed.ends, predecessors[k]);
        const auto& arm = region.arms[static_cast<size_t>(end - closed.ends.begin())];
        ValueId operand = merge.operands[k];
        if (!can_be_written_to(operand, arm)) {
          operand = store(operand, predecessors[k], merge.span);
          graph_.blocks[branch.join].merges[m].operands[k] = operand;
        }
        write_to(operand, merge.result);
      }
  }

  bool is_merge_of_recorded(ValueId value) const { return out_.branch_of_merge(graph_, value) >= 0; }

  /// Whether what makes the value, in the arm, can make it right in the memory of a merge behind the arm.
  bool can_be_written_to(ValueId value, const std::set<BlockId>& arm) const {
    const Value& v = graph_.value(value);
    if (!arm.contains(v.block) || uses_[value] != 1) return false;
    if (v.node != kNoId) {
      const int group = groups_.of_node[v.node];
      return group >= 0 && groups_.groups[static_cast<size_t>(group)].nodes.back() == v.node &&
             !table_.info(value).scalar;
    }
    if (is_merge_of_recorded(value)) return true;
    const int64_t volume = v.type.static_volume();
    const auto& operands = graph_.block(v.block).merges[v.index].operands;
    return (volume < 0 || volume > values::kMaxScalarElements) &&
           std::ranges::all_of(operands, [&](ValueId each) { return can_be_written_to(each, arm); });
  }

  void write_to(ValueId value, ValueId merge) {
    out_.written_to[value] = merge;
    const Value& v = graph_.value(value);
    // The memory is that of all of it.
    if (v.node != kNoId)
      std::erase_if(graph_.nodes[v.node].args,
                    [](const Arg& arg) { return arg.name == values::kRegionFromArg; });
    else if (!is_merge_of_recorded(value))
      for (ValueId operand : graph_.block(v.block).merges[v.index].operands) write_to(operand, merge);
  }

  Graph& graph_;
  const ValueTable& table_;     ///< of the graph before
  const KernelGroups& groups_;  ///< likewise
  const op::Operator *store_, *arm_;
  Placement& placement_;
  DeviceBranches& out_;
  std::vector<uint32_t> uses_;
};

bool is_made_whole(const ValueInfo& info) {
  for (size_t d = 0; d < info.window.size(); ++d)
    if (!kernel::is_const_int(info.window[d].begin, 0) || !kernel::same(info.window[d].end, info.extents[d]))
      return false;
  return true;
}

}  // namespace

int DeviceBranches::branch_of_merge(const Graph& graph, ValueId value) const {
  if (graph.value(value).node != kNoId) return -1;
  for (size_t n = 0; n < recorded.size(); ++n)
    if (recorded[n].join == graph.value(value).block) return static_cast<int>(n);
  return -1;
}

std::vector<RecordableBranch> recordable_branches(const Graph& graph, const ValueTable& table,
                                                  const KernelGroups& groups, SelectorForm form,
                                                  const WaitingBranches& waiting) {
  Decider decider(graph, table, groups, form, waiting);
  decider.run();
  std::vector<RecordableBranch> out;
  for (BlockId block : decider.branches()) {
    if (decider.waiting().contains(block)) continue;
    RecordableBranch& branch = out.emplace_back();
    branch.block = block;
    for (const auto& arm : region_of(graph, block).arms)
      branch.arms.insert(branch.arms.end(), arm.begin(), arm.end());
  }
  return out;
}

DeviceBranches record_branches(Graph& graph, const ValueTable& table, const KernelGroups& groups,
                               const op::Registry* registry, SelectorForm form,
                               const WaitingBranches& waiting, Placement& placement) {
  DeviceBranches out;
  Decider decider(graph, table, groups, form, waiting);
  decider.run();
  std::vector<BlockId> recorded;
  for (BlockId block : decider.branches()) {
    const auto found = decider.waiting().find(block);
    BranchReport& report = out.reports.emplace_back();
    report.block = block;
    report.span = graph.block(block).terminator.span;
    report.arms = graph.block(block).terminator.targets.size();
    report.waits = found != decider.waiting().end();
    if (report.waits)
      report.why = found->second;
    else
      recorded.push_back(block);
  }
  if (!recorded.empty()) Recorder(graph, table, groups, *registry, placement, out).run(recorded);
  return out;
}

std::vector<WholeTensor> tensors_made_whole(const ValueTable& waiting, const ValueTable& recorded) {
  std::vector<WholeTensor> out;
  const Graph& graph = waiting.graph();
  for (BlockId block : graph.topological_order())
    for (const NodeId id : graph.block(block).nodes)
      for (const ValueId value : graph.node(id).outputs)
        if (!is_made_whole(waiting.info(value)) && is_made_whole(recorded.info(value)))
          out.push_back({op::shown_name(graph.node(id)), graph.node(id).span});
  return out;
}

std::vector<std::vector<ArmOf>> arms_of_blocks(const Graph& graph, const DeviceBranches& branches) {
  std::vector<std::vector<ArmOf>> out(graph.blocks.size());
  for (size_t n = 0; n < branches.recorded.size(); ++n) {
    const BranchRegion region = region_of(graph, branches.recorded[n].block);
    for (size_t arm = 0; arm < region.arms.size(); ++arm)
      for (BlockId block : region.arms[arm]) out[block].push_back({static_cast<int>(n), arm});
  }
  return out;
}

}  // namespace galatea::plan
