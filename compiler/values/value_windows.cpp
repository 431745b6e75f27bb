// Windows of values, and what their memory looks like: the last part of filling a value table.
#include <algorithm>

#include "compiler/values/narrow_stages.h"
#include "compiler/values/value_table.h"
#include "compiler/values/windows.h"

namespace galatea::values {

namespace {

/// Where early checks show that it is all of an axis, it is that.
void settle(const ValueTable& table, ir::NodeId node, std::vector<Range>& ranges) {
  const std::vector<Expr> conditions = table.early_checks().conditions_in(table.graph().node(node).block);
  const std::vector<Expr>& extents = table.info(table.graph().node(node).outputs[0]).extents;
  for (size_t d = 0; d < ranges.size() && !conditions.empty(); ++d)
    if (kernel::is_const_int(settled(table.resolve(ranges[d].begin), conditions), 0) &&
        kernel::same(settled(table.resolve(ranges[d].end), conditions), settled(extents[d], conditions)))
      ranges[d] = {kernel::const_int(0), extents[d]};
}

std::vector<std::vector<Window>> wanted_windows(const ValueTable& table) {
  const ir::Graph& graph = table.graph();
  std::vector<std::vector<Window>> wanted(graph.nodes.size());
  std::vector<ir::NodeId> marked;
  for (ir::BlockId block : graph.topological_order()) {
    for (ir::NodeId id : graph.block(block).nodes) {
      wanted[id].resize(graph.node(id).outputs.size());
      if (graph.node(id).find_arg(kRegionFromArg)) marked.push_back(id);
    }
  }
  if (marked.empty()) return {};
  Windows windows(table);
  for (size_t n = marked.size(); n-- > 0;)
    if (const auto& asked = windows.asked(graph.node(marked[n]).outputs[0])) {
      wanted[marked[n]][0] = asked->ranges;
      settle(table, marked[n], *wanted[marked[n]][0]);
    }
  return wanted;
}

/// The least of the parts, and of the whole, that is no smaller than the scale.
Expr to_parts(const Expr& scale, const op::ScaleOffer& offer) {
  Expr out = kernel::const_int(offer.whole);
  for (size_t k = offer.parts.size(); k-- > 0;) {
    const double part = static_cast<double>(offer.parts[k]) / static_cast<double>(offer.whole);
    out = kernel::select(scale <= kernel::const_float(part, DType::kF64), kernel::const_int(offer.parts[k]),
                         out);
  }
  return out;
}

}  // namespace

Expr ValueTable::scale(ir::NodeId node) const {
  const ir::Arg* readers = graph_.node(node).find_arg(op::kScaledForArg);
  if (!readers) return {};
  const op::NativeOutput* maker = op::maker_of(lowerings_[node]);
  GALATEA_CHECK(maker && maker->scale, "a node is to be scaled that does not offer it");
  const op::ScaleOffer& offer = *maker->scale;
  Expr most = kernel::const_int(offer.parts.front());
  for (int64_t reader : std::get<std::vector<int64_t>>(readers->as_attr())) {
    const op::Lowering& lowering = lowerings_[graph_.value(static_cast<ir::ValueId>(reader)).node];
    GALATEA_CHECK(static_cast<bool>(lowering.least_scale), "a reader of what is scaled does not resample");
    most = kernel::max(most, to_parts(resolve(lowering.least_scale), offer));
  }
  return offer.least ? kernel::max(most, offer.least) : most;
}

/// Marked nodes are cut down to the windows that are asked of them; and no stage that reads one (through
/// views and merges) may read outside of that.
void ValueTable::narrow_to_windows() {
  std::vector<std::vector<Window>> wanted = wanted_windows(*this);
  if (wanted.empty()) return;
  is_part_.assign(values_.size(), false);
  auto any_part = [&](const std::vector<ir::ValueId>& list) {
    return std::any_of(list.begin(), list.end(), [&](ir::ValueId v) { return is_part_[v]; });
  };
  for (ir::BlockId block : graph_.topological_order()) {
    for (const ir::Merge& merge : graph_.block(block).merges)
      is_part_[merge.result] = any_part(merge.operands);
    for (ir::NodeId id : graph_.block(block).nodes) {
      const ir::Node& node = graph_.node(id);
      if (lowerings_[id].outputs.empty()) continue;
      op::Lowering& lowering = lowerings_[id];
      for (size_t k = 0; k < node.outputs.size(); ++k) {
        const op::LoweredOutput& output = lowering.outputs[k];
        if (output.kind == op::LoweredOutput::Kind::kView)
          is_part_[node.outputs[k]] = is_part_[node.inputs[static_cast<size_t>(output.input)]];
      }
      const bool is_marked = !wanted[id].empty() && wanted[id][0];
      if (is_marked || any_part(node.inputs)) lowering = narrow_stages(std::move(lowering), wanted[id]);
      if (is_marked) keep_window(id, *wanted[id][0]);
      if (is_marked) is_part_[node.outputs[0]] = true;
    }
  }
}

void ValueTable::keep_window(ir::NodeId node, const std::vector<Range>& ranges) {
  ValueInfo& info = values_[graph_.node(node).outputs[0]];
  for (const Range& range : ranges) info.window.push_back({resolve(range.begin), resolve(range.end)});
  const op::NativeOutput* maker = op::maker_of(lowerings_[node]);
  for (size_t d = 0; maker && d < info.window.size(); ++d)
    if (!maker->has_window_along(static_cast<int>(d)))
      info.window[d] = {kernel::const_int(0), info.extents[d]};
}

void ValueTable::offer(std::vector<bool> nodes) {
  offered_ = std::move(nodes);
  if (!offered_.empty()) fill_density();
}

void ValueTable::fill_density() {
  for (ir::BlockId block : graph_.topological_order()) {
    for (const ir::Merge& merge : graph_.block(block).merges) {
      ValueInfo& info = values_[merge.result];
      info.dense_axes = graph_.type(merge.result).ndim;
      if (info.scalar) continue;
      for (ir::ValueId operand : merge.operands)
        info.dense_axes = std::min(info.dense_axes, values_[operand].dense_axes);
    }
    for (ir::NodeId id : graph_.block(block).nodes) {
      for (size_t k = 0; k < graph_.node(id).outputs.size(); ++k) {
        ir::ValueId value = graph_.node(id).outputs[k];
        ValueInfo& info = values_[value];
        info.dense_axes = graph_.type(value).ndim;
        if (info.scalar || lowerings_[id].outputs.empty()) continue;
        const op::LoweredOutput& output = lowerings_[id].outputs[k];
        if (output.kind == op::LoweredOutput::Kind::kView && !output.reshape)
          info.dense_axes = dense_axes_of_view(id, output);
        // A tensor of another sample lies as that one's does, whose rows may be part of longer ones.
        if (output.kind == op::LoweredOutput::Kind::kNative) {
          const op::NativeOutput& native = lowerings_[id].natives[static_cast<size_t>(output.native)];
          if (native.of_place)
            info.dense_axes =
                values_[graph_.node(id).inputs[static_cast<size_t>(native.inputs[0])]].dense_axes;
        }
        if (const op::NativeOutput* maker = op::maker_of(lowerings_[id]); maker && is_offered(id))
          info.dense_axes = std::min(info.dense_axes, maker->device->dense_axes);
        // The rows of a window are shorter than those of the whole that it stands for.
        for (size_t d = 0; d < info.window.size(); ++d)
          if (!kernel::is_const_int(info.window[d].begin, 0) ||
              !kernel::same(info.window[d].end, info.extents[d]))
            info.dense_axes = std::min(info.dense_axes, static_cast<int>(info.window.size() - d));
      }
    }
  }
}

/// Innermost axes stay dense as long as they pass through untouched; one windowed axis ends the run (its rows
/// still lie densely).
int ValueTable::dense_axes_of_view(ir::NodeId node, const op::LoweredOutput& output) const {
  const ir::Node& view = graph_.node(node);
  const ir::ValueId source = view.inputs[static_cast<size_t>(output.input)];
  const std::vector<Expr>& extents = values_[view.outputs[0]].extents;
  const int rank = static_cast<int>(output.input_dim.size()), input_rank = graph_.type(source).ndim;
  int dense = 0;
  for (int d = rank - 1; d >= 0; --d) {
    auto i = static_cast<size_t>(d);
    int in = output.input_dim[i];
    bool straight =
        in >= 0 && in == input_rank - (rank - d) && kernel::is_const_int(resolve(output.step[i]), 1);
    if (!straight) break;
    ++dense;
    auto j = static_cast<size_t>(in);
    bool whole = kernel::is_const_int(resolve(output.start[j]), 0) &&
                 kernel::same(extents[i], values_[source].extents[j]);
    if (!whole) break;
  }
  return std::min(dense, values_[source].dense_axes);
}

}  // namespace galatea::values
