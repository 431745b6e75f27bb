// The template of expr.h.
#pragma once

#include "compiler/kernel/node_map.h"

namespace galatea::kernel {
namespace detail {

/// Rebuilds a node with other operands.
Expr with_args(const ExprNode& node, std::vector<Expr> args);

template <typename F>
Expr rewrite_node(const Expr& e, const F& replace, NodeMap<Expr>& done, uint32_t kinds = ~uint32_t{0}) {
  if ((e->kinds & kinds) == 0) return e;
  // Most nodes are leaves, and looking them up costs more than asking again; symbols may stand for much.
  if (e->args.empty() && e->kind != ExprKind::kSymbol) {
    Expr leaf = replace(e);
    return leaf ? leaf : e;
  }
  if (auto found = done.find(e.get()); found != done.end()) return found->second;
  Expr out = replace(e);
  if (!out) {
    bool changed = false;
    std::vector<Expr> args;
    args.reserve(e->args.size());
    for (const Expr& arg : e->args) {
      args.push_back(rewrite_node(arg, replace, done, kinds));
      changed |= args.back().get() != arg.get();
    }
    out = changed ? with_args(*e, std::move(args)) : e;
  }
  done.emplace(e.get(), out);
  return out;
}

}  // namespace detail

template <typename F>
Expr rewrite(const Expr& e, const F& replace) {
  NodeMap<Expr> done;
  return detail::rewrite_node(e, replace, done);
}
template <typename F>
Expr rewrite_kinds(const Expr& e, uint32_t kinds, const F& replace) {
  NodeMap<Expr> done;
  return detail::rewrite_node(e, replace, done, kinds);
}

}  // namespace galatea::kernel
