#include "compiler/passes/fold_constants.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/ir/attr.h"
#include "compiler/op/recipe.h"
#include "compiler/passes/graph_edits.h"
#include "compiler/values/shared_table.h"

namespace galatea::passes {

using namespace ir;
using kernel::Expr;

namespace {

/// Larger values are tensors, whose place is a kernel.
constexpr int64_t kMaxElements = 64;

using Cells = std::vector<Cell>;

class Folder {
 public:
  Folder(Graph& graph, const op::Operator* constant, const op::KnownLowerings& lowerings)
      : graph_(graph),
        constant_(constant),
        lowerings_(lowerings),
        known_(graph.values.size()),
        replacements_(graph) {}

  bool run() {
    for (BlockId b : graph_.topological_order()) {
      learn_merges(b);
      for (NodeId id : std::vector<NodeId>(graph_.block(b).nodes)) {
        replacements_.apply(graph_.nodes[id]);
        fold_node(id);
      }
      fold_end(b);
    }
    if (changed_) replacements_.apply(graph_);
    if (edges_changed_) {
      remove_unreachable_blocks(graph_);
      append_lone_successors(graph_);
    }
    return changed_;
  }

 private:
  const std::optional<Cells>& known(ValueId value) const {
    static const std::optional<Cells> kUnknown;
    return value < known_.size() ? known_[value] : kUnknown;
  }

  void learn_merges(BlockId b) {
    for (const Merge& merge : graph_.block(b).merges) {
      const auto& first = known(merge.operands[0]);
      bool equal = first && std::all_of(merge.operands.begin(), merge.operands.end(),
                                        [&](ValueId v) { return known(v) == first; });
      if (equal) known_[merge.result] = first;
    }
  }

  bool is_small(ValueId value) const {
    int64_t volume = graph_.type(value).static_volume();
    return volume > 0 && volume <= kMaxElements;
  }

  /// The expression with known elements put in.
  Expr with_known(const Expr& e) const {
    return kernel::rewrite(e, [&](const Expr& part) -> Expr {
      if (part->kind != kernel::ExprKind::kSymbol || part->symbol != kernel::SymbolKind::kElement) return {};
      const auto& cells = known(static_cast<ValueId>(part->a));
      return cells ? kernel::constant(part->type, cells->at(static_cast<size_t>(part->b))) : Expr();
    });
  }

  /// The elements of every output, if the definition yields constants.
  std::optional<std::vector<Cells>> evaluate(NodeId id) const {
    const Node& node = graph_.node(id);
    if (!is_pure(node) || !node.op->define || node.outputs.empty()) return std::nullopt;
    if (node.op->kind != op::OperatorKind::kKernel) return std::nullopt;
    if (!std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return is_small(v); }))
      return std::nullopt;
    // What a draw counts with is no number that is known here, whichever it is.
    const op::Lowering* found = lowerings_.find(graph_, id, nullptr);
    op::Lowering made;
    if (found == nullptr) made = op::lower_node(graph_, id);
    const op::Lowering& lowering = found != nullptr ? *found : made;
    for (const op::Check& check : lowering.checks) {
      Expr condition = with_known(check.condition);
      if (!kernel::is_const(condition) || kernel::const_value(condition) == 0) return std::nullopt;
    }
    std::vector<Cells> outputs;
    for (const op::LoweredOutput& output : lowering.outputs) {
      if (output.kind != op::LoweredOutput::Kind::kScalars) return std::nullopt;
      Cells cells;
      for (const Expr& element : output.elements) {
        Expr folded = with_known(element);
        if (!kernel::is_const(folded)) return std::nullopt;
        if (is_float(folded.type()) && std::isnan(cell_to_double(folded.type(), folded->value)))
          return std::nullopt;
        cells.push_back(folded->value);
      }
      outputs.push_back(std::move(cells));
    }
    return outputs;
  }

  void fold_node(NodeId id) {
    auto cells = evaluate(id);
    if (!cells) return;
    for (size_t k = 0; k < cells->size(); ++k) {
      known_[graph_.node(id).outputs[k]] = (*cells)[k];
    }
    if (graph_.node(id).op == constant_ || !constant_) return;
    bool all = true;
    for (size_t k = 0; k < cells->size(); ++k) all &= replace_by_constant(id, k, (*cells)[k]);
    if (all) graph_.remove_node(id);
  }

  op::GraphBuilder::NodeSpec constant_spec(const Type& type, const Cells& cells, Span span) const {
    op::GraphBuilder::NodeSpec spec;
    spec.op = constant_;
    spec.span = span;
    if (is_float(type.dtype)) {
      std::vector<double> values;
      for (Cell cell : cells) values.push_back(cell_to_double(type.dtype, cell));
      spec.args.push_back({"value", Attr(values), span});
    } else {
      std::vector<int64_t> values;
      for (Cell cell : cells) values.push_back(cell_to_int(type.dtype, cell));
      spec.args.push_back({"value", Attr(values), span});
    }
    spec.args.push_back({"dtype", Attr(type.dtype), span});
    spec.args.push_back({"shape", Attr(type.extents), span});
    if (!type.layout.empty()) spec.args.push_back({"layout", Attr(type.layout.str()), span});
    return spec;
  }

  bool replace_by_constant(NodeId id, size_t k, const Cells& cells) {
    const Node& node = graph_.node(id);
    ValueId old = node.outputs[k];
    Type type = graph_.type(old);
    op::GraphBuilder builder(graph_);
    builder.set_insertion_block(node.block);
    auto spec = constant_spec(type, cells, node.span);
    spec.calls = node.calls;
    auto made = builder.add_node(std::move(spec));
    if (!made) return false;
    NodeId constant = *made;
    ValueId fresh = graph_.node(constant).outputs[0];
    known_.resize(graph_.values.size());
    // The constant must be the value in every respect, its type included.
    auto again = graph_.type(fresh) == type ? evaluate(constant) : std::nullopt;
    if (!again || again->front() != cells) {
      graph_.remove_node(constant);
      return false;
    }
    move_before(graph_, constant, id);
    graph_.values[fresh].variable = graph_.value(old).variable;
    known_[fresh] = cells;
    replacements_.add(old, fresh);
    changed_ = true;
    return true;
  }

  void fold_end(BlockId b) {
    const Terminator& end = graph_.block(b).terminator;
    if (end.kind != TerminatorKind::kBranch && end.kind != TerminatorKind::kSwitch) return;
    const auto& cells = known(end.selector);
    if (!cells) return;
    DType dtype = graph_.type(end.selector).dtype;
    size_t way = 0;
    if (end.kind == TerminatorKind::kBranch) {
      way = cell_to_double(dtype, cells->front()) != 0 ? 0 : 1;
    } else {
      int64_t chosen = cell_to_int(dtype, cells->front());
      if (chosen < 0 || chosen >= static_cast<int64_t>(end.targets.size()))
        return;  // an error of every sample: left to be reported
      way = static_cast<size_t>(chosen);
    }
    jump_instead(graph_, b, end.targets[way]);
    changed_ = edges_changed_ = true;
  }

  Graph& graph_;
  const op::Operator* constant_;
  const op::KnownLowerings& lowerings_;
  std::vector<std::optional<Cells>> known_;
  Replacements replacements_;  ///< of results by constants; later nodes get theirs when they are looked at
  bool changed_ = false, edges_changed_ = false;
};

}  // namespace

bool fold_constants(Graph& graph, const PassContext& context) {
  return Folder(graph, context.registry.find("constant"), context.table.known()).run();
}

}  // namespace galatea::passes
