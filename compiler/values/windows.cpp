#include "compiler/values/windows.h"

#include <algorithm>

#include "compiler/values/availability.h"

namespace galatea::values {

using namespace ir;
using kernel::ExprKind;
using kernel::SymbolKind;
using op::LoweredOutput;
using op::Lowering;

namespace {
bool is_view(const LoweredOutput& output) { return output.kind == LoweredOutput::Kind::kView; }
}  // namespace

bool native_reads(const Lowering& lowering, int input) {
  // What a text of the user's own reads, nobody knows.
  if (lowering.text) return true;
  auto reads = [&](const std::vector<int>& inputs) {
    return std::find(inputs.begin(), inputs.end(), input) != inputs.end();
  };
  return std::any_of(lowering.native_scalars.begin(), lowering.native_scalars.end(),
                     [&](const op::NativeScalars& call) { return reads(call.inputs); }) ||
         std::any_of(lowering.natives.begin(), lowering.natives.end(),
                     [&](const op::NativeOutput& call) { return reads(call.inputs); });
}

bool has_reshape_of(const Lowering& lowering, int input) {
  return std::any_of(lowering.outputs.begin(), lowering.outputs.end(), [&](const LoweredOutput& output) {
    return is_view(output) && output.reshape && output.input == input;
  });
}

namespace {

/// Beyond these, a window costs more than it saves.
constexpr size_t kMaxBlocks = 2000;
constexpr size_t kMaxChosenArms = 8;
constexpr int kMaxWindowNodes = 50000;

/// Whether scalars of the lowering are elements of the value: they are read from its memory.
bool has_element_of(const Lowering& lowering, ValueId value) {
  auto has = [&](const Expr& e) {
    return kernel::any_node(e, kernel::bit_of(ExprKind::kSymbol), [&](const Expr& part) {
      return part->symbol == SymbolKind::kElement && static_cast<ValueId>(part->a) == value;
    });
  };
  auto any_has = [&](const std::vector<Expr>& list) { return std::any_of(list.begin(), list.end(), has); };
  for (const op::Check& check : lowering.checks)
    if (has(check.condition) || any_has(check.values)) return true;
  for (const op::NativeScalars& native : lowering.native_scalars)
    if (any_has(native.scalars)) return true;
  for (const op::NativeOutput& native : lowering.natives)
    if (any_has(native.scalars)) return true;
  for (const LoweredOutput& output : lowering.outputs)
    for (const auto* list : {&output.extents, &output.step, &output.start, &output.elements})
      if (any_has(*list)) return true;
  if (lowering.text && std::ranges::any_of(lowering.text->grid, has)) return true;
  for (const kernel::Stage& stage : lowering.stages) {
    if (any_has(stage.extents) || any_has(stage.reduce_extents)) return true;
    for (const Expr* e :
         {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.source, &stage.finish})
      if (has(*e)) return true;
  }
  return false;
}

Expr or_true(const Expr& condition) { return condition ? condition : kernel::const_bool(true); }

bool is_too_large(const std::vector<Range>& ranges) {
  int nodes = 0;
  for (const Range& range : ranges)
    for (const Expr& end : {range.begin, range.end})
      kernel::for_each_node(end, [&](const Expr&) { ++nodes; });
  return nodes > kMaxWindowNodes;
}

/// Ranges that are the whole whatever is chosen say so: the last place minus itself is the first, though one
/// was the user's number and the other was not.
void see_whole(Range& range, const Expr& extent) {
  auto without_origins = [](const Expr& e) {
    return kernel::rewrite_kinds(e, kernel::bit_of(ExprKind::kConst), [](const Expr& part) -> Expr {
      return kernel::is_const(part) && part->origin != 0 ? kernel::constant(part.type(), part->value)
                                                         : Expr();
    });
  };
  if (kernel::is_const_int(without_origins(range.begin), 0) &&
      kernel::same(without_origins(range.end), without_origins(extent)))
    range = {kernel::const_int(0), extent};
}

}  // namespace

Windows::Windows(const ValueTable& table)
    : table_(table),
      graph_(table.graph()),
      idom_(graph_.immediate_dominators()),
      uses_(graph_.values.size()),
      leaves_block_(graph_.values.size(), false) {
  for (BlockId b = 0; b < graph_.blocks.size(); ++b) {
    const Block& block = graph_.block(b);
    for (NodeId id : block.nodes) {
      const Node& node = graph_.node(id);
      auto add = [&](ValueId value, int input) {
        uses_[value].push_back({id, input});
        if (graph_.value(value).block != b) leaves_block_[value] = true;
      };
      for (size_t k = 0; k < node.inputs.size(); ++k) add(node.inputs[k], static_cast<int>(k));
      for (const Arg& arg : node.args)
        if (arg.is_value()) add(arg.as_value(), -1);
    }
    for (const Merge& merge : block.merges)
      for (ValueId operand : merge.operands) leaves_block_[operand] = true;
    for (ValueId result : block.terminator.results) leaves_block_[result] = true;
    if (block.terminator.selector != kNoId) leaves_block_[block.terminator.selector] = true;
  }
}

bool Windows::is_view_of_kernel(NodeId id) const {
  const Node* node = &graph_.node(id);
  const Lowering* lowering = &table_.lowering(id);
  if (lowering->outputs.size() != 1 || !is_view(lowering->outputs[0]) || lowering->outputs[0].reshape)
    return false;
  while (is_view(lowering->outputs[0])) {
    ValueId input = node->inputs[static_cast<size_t>(lowering->outputs[0].input)];
    node = graph_.defining_node(input);
    if (!node) return false;
    lowering = &table_.lowering(graph_.value(input).node);
    if (lowering->outputs.empty()) return false;  // a source
    const LoweredOutput& made = lowering->outputs[graph_.value(input).index];
    if (made.kind == LoweredOutput::Kind::kStage) return true;
    if (!is_view(made) || made.reshape || lowering->outputs.size() != 1) return false;
  }
  return false;
}

const std::optional<Windows::Asked>& Windows::asked(ValueId value) {
  if (auto found = asked_.find(value); found != asked_.end()) return found->second;
  std::optional<Asked> out;
  PerBlock memo;
  Ask ask;
  if (leaves_block_[value] && graph_.blocks.size() > kMaxBlocks)
    ask.everything = true;
  else
    ask = in_block(value, graph_.value(value).block, memo);
  if (!ask.everything) {
    out.emplace();
    out->readers = std::move(ask.readers);
    out->nothing = !ask.reads;
    const std::vector<Expr>& extents = table_.info(value).extents;
    for (size_t d = 0; d < extents.size(); ++d)
      out->ranges.push_back(ask.reads
                                ? to_range((*ask.reads)[d], extents[d], ask.condition)
                                : Range{kernel::const_int(0), kernel::min(kernel::const_int(1), extents[d])});
    if (is_too_large(out->ranges)) out.reset();
    for (size_t d = 0; out && d < extents.size(); ++d) see_whole(out->ranges[d], extents[d]);
  }
  return asked_.emplace(value, std::move(out)).first->second;
}

void Windows::note(std::vector<ValueId>& readers, ValueId reader) {
  if (std::find(readers.begin(), readers.end(), reader) == readers.end()) readers.push_back(reader);
}

void Windows::unite_with(Ask& ask, const Ask& more, ValueId value) const {
  ask.everything = ask.everything || more.everything;
  if (more.reads) unite(ask.reads, *more.reads, table_.info(value).extents);
  ask.condition = both(ask.condition, more.condition);
  for (ValueId reader : more.readers) note(ask.readers, reader);
}

bool Windows::dominates(BlockId a, BlockId b) const {
  while (b != a && idom_[b] != b) b = idom_[b];
  return a == b;
}

Windows::Ask Windows::in_block(ValueId value, BlockId block, PerBlock& memo) {
  if (auto found = memo.find(block); found != memo.end()) return found->second;
  Ask ask;
  for (const Use& use : uses_[value]) {
    if (graph_.node(use.node).block != block) continue;
    unite_with(ask, by_node(use, value), value);
    if (ask.everything) break;
  }
  if (!ask.everything && leaves_block_[value]) unite_with(ask, after(value, block, memo), value);
  return memo[block] = ask;
}

Windows::Ask Windows::after(ValueId value, BlockId block, PerBlock& memo) {
  const Terminator& end = graph_.block(block).terminator;
  Ask ask;
  ask.everything =
      end.selector == value || std::find(end.results.begin(), end.results.end(), value) != end.results.end();
  if (ask.everything || end.targets.empty()) return ask;
  const Expr selector = end.selector == kNoId ? Expr() : table_.resolve(table_.element(end.selector, 0));
  const bool chooses = selector && end.targets.size() <= kMaxChosenArms && is_known_early(graph_, selector);
  std::vector<Ask> arms;
  for (BlockId target : end.targets) {
    Ask arm = over_edge(value, block, target, memo);
    if (arm.everything || end.targets.size() == 1) return arm;
    if (chooses) {
      arms.push_back(std::move(arm));
      continue;
    }
    unite_with(ask, arm, value);
    // The other arms cannot ask for more.
    if (is_whole(ask, value)) break;
  }
  return chooses ? chosen(end, selector, arms) : ask;
}

/// Everything, as a window that does not depend on anything.
bool Windows::is_whole(const Ask& ask, ValueId value) const {
  if (!ask.reads || ask.condition) return false;
  const std::vector<Expr>& extents = table_.info(value).extents;
  for (size_t d = 0; d < extents.size(); ++d) {
    const Interval all = whole(extents[d]);
    if (!kernel::is_const_int((*ask.reads)[d].low, 0) || !kernel::same((*ask.reads)[d].high, all.high))
      return false;
  }
  return true;
}

Windows::Ask Windows::over_edge(ValueId value, BlockId from, BlockId to, PerBlock& memo) {
  const Block& target = graph_.block(to);
  Ask ask;
  auto edge = static_cast<size_t>(std::find(target.predecessors.begin(), target.predecessors.end(), from) -
                                  target.predecessors.begin());
  for (const Merge& merge : target.merges) {
    // Two edges from one block: which operand is meant, nobody can tell here.
    auto count = std::count(merge.operands.begin(), merge.operands.end(), value);
    if (count == 0) continue;
    if (std::count(target.predecessors.begin(), target.predecessors.end(), from) > 1) {
      ask.everything = true;
      return ask;
    }
    if (merge.operands[edge] != value) continue;
    const std::optional<Asked>& result = asked(merge.result);
    if (!result) {
      ask.everything = true;
      return ask;
    }
    if (result->nothing) continue;
    Ask merged;
    merged.reads.emplace();
    for (const Range& range : result->ranges) merged.reads->push_back(inside(range));
    merged.readers = result->readers;
    unite_with(ask, merged, value);
  }
  if (dominates(graph_.value(value).block, to)) unite_with(ask, in_block(value, to, memo), value);
  if (ask.everything || target.merges.empty()) return ask;
  // What the block's merges stand for on this edge. The ends of a window are made of much the same.
  kernel::NodeMap<Expr> done;
  std::vector<Expr> kept;  // `done` knows expressions by their address
  auto on_edge = [&](const Expr& e) {
    kept.push_back(e);
    const auto operand_for = [&](const Expr& part) -> Expr {
      if (part->kind != ExprKind::kSymbol) return {};
      bool extent = part->symbol == SymbolKind::kExtent;
      if (!extent && part->symbol != SymbolKind::kElement) return {};
      const Value& merged = graph_.value(static_cast<ValueId>(part->a));
      if (merged.node != kNoId || merged.block != to) return {};
      ValueId operand = target.merges[merged.index].operands[edge];
      return extent ? table_.info(operand).extents[static_cast<size_t>(part->b)]
                    : table_.element(operand, part->b);
    };
    return kernel::detail::rewrite_node(e, operand_for, done, kernel::bit_of(ExprKind::kSymbol));
  };
  if (ask.reads)
    for (Interval& along : *ask.reads) along = {on_edge(along.low), on_edge(along.high)};
  if (ask.condition) ask.condition = on_edge(ask.condition);
  return ask;
}

Windows::Ask Windows::chosen(const Terminator& end, const Expr& selector,
                             const std::vector<Ask>& arms) const {
  Ask ask;
  size_t rank = 0;
  for (const Ask& arm : arms) {
    if (arm.reads) rank = arm.reads->size();
    for (ValueId reader : arm.readers) note(ask.readers, reader);
  }
  if (rank == 0) return ask;
  auto takes = [&](size_t arm) {
    if (end.kind == TerminatorKind::kBranch)
      return is_bool(selector.type())
                 ? selector
                 : kernel::not_equal(selector, kernel::constant(selector.type(), Cell{}));
    return kernel::equal(kernel::convert(selector, DType::kI64),
                         kernel::const_int(static_cast<int64_t>(arm)));
  };
  // An arm that reads nothing asks for the first element: less than any other.
  Interval none{kernel::const_int(0), kernel::const_int(0)};
  auto box_of = [&](const Ask& arm) { return arm.reads ? *arm.reads : Box(rank, none); };
  Box box = box_of(arms.back());
  Expr condition = or_true(arms.back().condition);
  for (size_t k = arms.size() - 1; k-- > 0;) {
    Expr here = takes(k);
    Box other = box_of(arms[k]);
    for (size_t d = 0; d < rank; ++d)
      box[d] = {kernel::select(here, other[d].low, box[d].low),
                kernel::select(here, other[d].high, box[d].high)};
    condition = kernel::select(here, or_true(arms[k].condition), condition);
  }
  ask.reads = std::move(box);
  if (!kernel::is_const_int(condition, 1)) ask.condition = condition;
  return ask;
}

Windows::Ask Windows::by_node(const Use& use, ValueId value) {
  const Node& node = graph_.node(use.node);
  Ask everything;
  everything.everything = true;
  if (use.input < 0 || node.op->source || !node.op->define) return everything;
  const Lowering& lowering = table_.lowering(use.node);
  if (native_reads(lowering, use.input) || has_reshape_of(lowering, use.input) ||
      has_element_of(lowering, value))
    return everything;
  Ask ask;
  std::vector<Window> windows;
  for (size_t k = 0; k < lowering.outputs.size(); ++k) {
    bool nothing = false;
    windows.push_back(of_output(use.node, k, &nothing));
    if (!nothing) continue;
    // Nobody looks at the view.
    if (lowering.outputs.size() == 1) return ask;
    windows.back().reset();
  }
  Demand demand(lowering, use.input, windows);
  if (!demand.reads()) return ask;
  ask.reads = *demand.reads();
  for (Interval& along : *ask.reads) along = {table_.resolve(along.low), table_.resolve(along.high)};
  if (demand.condition()) ask.condition = table_.resolve(demand.condition());
  if (ask.condition && kernel::is_const(ask.condition)) {
    // Never the bounds: the whole. Always: no condition.
    if (kernel::const_value(ask.condition) == 0) return everything;
    ask.condition = {};
  }
  bool passes_on = lowering.outputs.size() == 1 && is_view(lowering.outputs[0]) && windows[0];
  if (passes_on && !node.find_arg(kRegionFromArg))
    for (ValueId reader : asked(node.outputs[0])->readers) note(ask.readers, reader);
  else
    note(ask.readers, node.outputs[0]);
  return ask;
}

/// The window for which an output is computed, or what is seen of a view.
Window Windows::of_output(NodeId id, size_t k, bool* nothing) {
  const Node& node = graph_.node(id);
  const LoweredOutput& output = table_.lowering(id).outputs[k];
  bool is_marked = node.find_arg(kRegionFromArg) != nullptr;
  bool passes_on = is_view(output) && !output.reshape && !is_view_of_kernel(id);
  if (!is_marked && !passes_on) return std::nullopt;
  const std::optional<Asked>& window = asked(node.outputs[k]);
  if (!window) return std::nullopt;
  *nothing = window->nothing && is_view(output);
  return window->ranges;
}

}  // namespace galatea::values
