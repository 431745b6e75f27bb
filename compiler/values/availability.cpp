#include "compiler/values/availability.h"

#include "compiler/op/operator.h"

namespace galatea::values {

using namespace ir;
using kernel::SymbolKind;

namespace {

/// Calls visit(symbol) for symbols until one says no.
template <typename F>
bool all_symbols(const kernel::Expr& e, const F& visit) {
  return !kernel::any_node(e, kernel::bit_of(kernel::ExprKind::kSymbol),
                           [&](const kernel::Expr& symbol) { return !visit(*symbol); });
}

}  // namespace

Availability::Availability(const Graph& graph)
    : graph_(graph), idom_(graph.immediate_dominators()), position_(graph.nodes.size(), 0) {
  for (BlockId b = 0; b < graph.blocks.size(); ++b) refresh(b);
}

void Availability::refresh(BlockId block) {
  const std::vector<NodeId>& nodes = graph_.block(block).nodes;
  for (size_t k = 0; k < nodes.size(); ++k) position_[nodes[k]] = k;
}

bool Availability::holds(const kernel::Expr& e, NodeId at) const {
  return all_symbols(e, [&](const kernel::ExprNode& symbol) { return holds_symbol(symbol, at); });
}

bool Availability::holds_symbol(const kernel::ExprNode& symbol, NodeId at) const {
  switch (symbol.symbol) {
    case SymbolKind::kExtent:
    case SymbolKind::kElement: {
      const Value& value = graph_.value(static_cast<ValueId>(symbol.a));
      return value.node == kNoId ? dominates(value.block, graph_.node(at).block) : is_before(value.node, at);
    }
    // RecipeBuilder numbers native scalars by node.
    case SymbolKind::kLocal: {
      auto node = static_cast<NodeId>(symbol.a >> 16);
      return node == at || is_before(node, at);
    }
    default:
      return true;
  }
}

bool Availability::dominates(BlockId a, BlockId b) const {
  while (b != a && idom_[b] != b) b = idom_[b];
  return a == b;
}

bool Availability::is_before(NodeId node, NodeId at) const {
  BlockId home = graph_.node(at).block, there = graph_.node(node).block;
  return home == there ? position_[node] < position_[at] : dominates(there, home);
}

bool is_known_early(const Graph& graph, const kernel::Expr& e) {
  return all_symbols(e, [&](const kernel::ExprNode& symbol) {
    if (symbol.symbol == SymbolKind::kLocal) return false;
    if (symbol.symbol != SymbolKind::kExtent && symbol.symbol != SymbolKind::kElement) return true;
    const Node* node = graph.defining_node(static_cast<ValueId>(symbol.a));
    return node != nullptr && node->op->source;
  });
}

}  // namespace galatea::values
