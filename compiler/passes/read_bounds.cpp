#include "compiler/passes/read_bounds.h"

#include <algorithm>
#include <map>

#include "compiler/op/recipe.h"
#include "compiler/passes/demand.h"

namespace galatea::passes {

using namespace ir;
using kernel::ExprKind;
using op::LoweredOutput;
using op::Lowering;

namespace {

bool native_reads(const Lowering& lowering, int input) {
  auto reads = [&](const std::vector<int>& inputs) {
    return std::find(inputs.begin(), inputs.end(), input) != inputs.end();
  };
  for (const op::NativeScalars& call : lowering.native_scalars)
    if (reads(call.inputs)) return true;
  return std::any_of(lowering.natives.begin(), lowering.natives.end(),
                     [&](const op::NativeOutput& call) { return reads(call.inputs); });
}

bool has_reshape_of(const Lowering& lowering, int input) {
  return std::any_of(lowering.outputs.begin(), lowering.outputs.end(), [&](const LoweredOutput& output) {
    return output.kind == LoweredOutput::Kind::kView && output.reshape && output.input == input;
  });
}

/// Scalars in terms of what is known early: extents and elements of values are replaced by what their nodes'
/// definitions say, as far as they say it.
class ScalarResolver {
 public:
  explicit ScalarResolver(const Graph& graph) : graph_(graph) {}

  const Lowering* lowering(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.op->source || !node.op->define) return nullptr;
    auto [at, is_new] = lowerings_.try_emplace(id);
    if (is_new) at->second = op::lower_node(graph_, id);
    return &at->second;
  }

  Expr resolve(const Expr& e, int depth = 0) {
    // Long chains of scalar arithmetic stay as elements; whether those are known in time is for the caller to
    // see.
    if (depth > 32) return e;
    kept_.push_back(e);  // done_ knows expressions by their address
    auto replace = [&](const Expr& part) -> Expr {
      if (part->kind != ExprKind::kSymbol) return {};
      bool extent = part->symbol == kernel::SymbolKind::kExtent,
           element = part->symbol == kernel::SymbolKind::kElement;
      if (!extent && !element) return {};
      const Value& value = graph_.value(static_cast<ValueId>(part->a));
      const Lowering* definition = value.node == kNoId ? nullptr : lowering(value.node);
      if (!definition) return {};
      const LoweredOutput& output = definition->outputs[value.index];
      if (extent) return resolve_once(*part, output.extents[static_cast<size_t>(part->b)], depth);
      if (output.kind != LoweredOutput::Kind::kScalars) return {};
      return resolve_once(*part, output.elements[static_cast<size_t>(part->b)], depth);
    };
    return kernel::detail::rewrite_node(e, replace, done_);
  }

 private:
  Expr resolve_once(const kernel::ExprNode& symbol, const Expr& definition, int depth) {
    auto key = std::make_tuple(symbol.symbol, symbol.a, symbol.b);
    if (auto found = resolved_.find(key); found != resolved_.end()) return found->second;
    Expr out = resolve(definition, depth + 1);
    resolved_[key] = out;
    return out;
  }

  const Graph& graph_;
  std::map<NodeId, Lowering> lowerings_;
  std::vector<Expr> kept_;
  std::unordered_map<const kernel::ExprNode*, Expr>
      done_;  ///< shared by all calls, so that equal parts stay shared
  std::map<std::tuple<kernel::SymbolKind, int64_t, int64_t>, Expr> resolved_;
};

/// Adds up what all readers of a value read of it.
class RegionWalk {
 public:
  RegionWalk(const Graph& graph, ScalarResolver& scalars, std::vector<ValueId>* readers)
      : graph_(graph), scalars_(scalars), readers_(readers) {}

  /// False where the value leaves (is merged or returned) or a reader's window is unknown.
  bool gather(ValueId value, Reads& reads, Expr& condition) {
    if (leaves(value)) return false;
    for (const Block& block : graph_.blocks)
      for (NodeId id : block.nodes)
        if (!gather_node(id, value, reads, condition)) return false;
    return true;
  }

 private:
  bool leaves(ValueId value) const {
    auto uses = [&](const std::vector<ValueId>& list) {
      return std::find(list.begin(), list.end(), value) != list.end();
    };
    for (const Block& block : graph_.blocks) {
      if (block.terminator.selector == value || uses(block.terminator.results)) return true;
      for (const Merge& merge : block.merges)
        if (uses(merge.operands)) return true;
    }
    return false;
  }

  bool gather_node(NodeId id, ValueId value, Reads& reads, Expr& condition) {
    const Node& node = graph_.node(id);
    for (const Arg& arg : node.args)
      if (arg.is_value() && arg.as_value() == value) return false;
    for (size_t k = 0; k < node.inputs.size(); ++k)
      if (node.inputs[k] == value && !gather_input(id, static_cast<int>(k), reads, condition)) return false;
    return true;
  }

  bool gather_input(NodeId id, int input, Reads& reads, Expr& condition) {
    if (graph_.node(id).op->batch_level) return false;
    const Lowering* lowering = scalars_.lowering(id);
    if (!lowering || native_reads(*lowering, input) || has_reshape_of(*lowering, input)) return false;
    if (gather_view(id, input, *lowering, reads, condition)) return true;
    Demand walk(*lowering, input);
    if (!walk.reads()) return true;
    unite(reads, *walk.reads());
    condition = both(condition, walk.condition());
    note(graph_.node(id).outputs[0]);
    return true;
  }

  /// A view counts through its own readers, if they are known.
  bool gather_view(NodeId id, int input, const Lowering& lowering, Reads& reads, Expr& condition) {
    if (lowering.outputs.size() != 1 || lowering.outputs[0].kind != LoweredOutput::Kind::kView) return false;
    size_t noted = readers_ ? readers_->size() : 0;
    Reads shown;
    Expr inner;
    if (!gather(graph_.node(id).outputs[0], shown, inner)) {
      if (readers_) readers_->resize(noted);
      return false;
    }
    condition = both(condition, inner);
    if (!shown) return true;
    Intervals intervals(lowering);
    Box box = Demand::behind(lowering.outputs[0], *shown, intervals);
    for (size_t d = 0; d < box.size(); ++d)
      box[d] = Intervals::reached(box[d], lowering.inputs[static_cast<size_t>(input)].extents[d],
                                  kernel::Border::kNone);
    unite(reads, box);
    condition = both(condition, intervals.condition());
    return true;
  }

  void note(ValueId reader) {
    if (readers_ && std::find(readers_->begin(), readers_->end(), reader) == readers_->end())
      readers_->push_back(reader);
  }

  const Graph& graph_;
  ScalarResolver& scalars_;
  std::vector<ValueId>* readers_;
};

}  // namespace

std::optional<ReadBounds> read_bounds(const Graph& graph, NodeId consumer, int input) {
  const Node& node = graph.node(consumer);
  if (node.op->batch_level || node.op->source || !node.op->define) return std::nullopt;
  Lowering lowering = op::lower_node(graph, consumer);
  if (native_reads(lowering, input) || has_reshape_of(lowering, input)) return std::nullopt;
  Demand walk(lowering, input);
  const std::vector<Expr>& extents = lowering.inputs.at(static_cast<size_t>(input)).extents;
  ReadBounds bounds;
  for (size_t d = 0; d < extents.size(); ++d) {
    Expr zero = kernel::const_int(0);
    bounds.ranges.push_back(walk.reads() ? to_range((*walk.reads())[d], extents[d], walk.condition())
                                         : Range{zero, zero});
  }
  return bounds;
}

std::optional<ReadBounds> region_of(const Graph& graph, ValueId value, std::vector<ValueId>* readers) {
  const Type& type = graph.type(value);
  ScalarResolver scalars(graph);
  Reads reads;
  Expr condition;
  if (!RegionWalk(graph, scalars, readers).gather(value, reads, condition)) return std::nullopt;
  if (condition) condition = scalars.resolve(condition);
  ReadBounds bounds;
  for (int d = 0; d < type.ndim; ++d) {
    int64_t known = type.extents[static_cast<size_t>(d)];
    Expr extent = known >= 0 ? kernel::const_int(known)
                             : kernel::symbol(kernel::SymbolKind::kExtent, DType::kI64, value, d);
    extent = scalars.resolve(extent);
    if (!reads) {
      bounds.ranges.push_back({kernel::const_int(0), kernel::min(kernel::const_int(1), extent)});
      continue;
    }
    Interval interval = (*reads)[static_cast<size_t>(d)];
    bounds.ranges.push_back(
        to_range({scalars.resolve(interval.low), scalars.resolve(interval.high)}, extent, condition));
  }
  return bounds;
}

}  // namespace galatea::passes
