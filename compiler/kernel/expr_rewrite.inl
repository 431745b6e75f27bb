// The templates of expr.h.
#pragma once

#include "compiler/kernel/node_map.h"

namespace galatea::kernel {
namespace detail {

/// Rebuilds a node with other operands.
Expr with_args(const ExprNode& node, Operands args);

/// What `change` makes of a node's operands; none where it answers each with itself, as it mostly does.
template <typename F>
Operands changed_args(const ExprNode& node, const F& change) {
  Operands args;
  for (size_t k = 0; k < node.args.size(); ++k) {
    Expr arg = change(node.args[k]);
    if (args.empty() && arg.get() == node.args[k].get()) continue;
    if (args.empty()) args.assign(node.args.begin(), node.args.begin() + k);
    args.push_back(std::move(arg));
  }
  return args;
}

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
    Operands args =
        changed_args(*e, [&](const Expr& arg) { return rewrite_node(arg, replace, done, kinds); });
    out = args.empty() ? e : with_args(*e, std::move(args));
  }
  done.emplace(e.get(), out);
  return out;
}

template <typename F>
bool any_node(const Expr& e, uint32_t kinds, const F& holds, NodeSet& seen) {
  if ((e->kinds & kinds) == 0) return false;
  // Most nodes are leaves; to remember them costs more than to ask again.
  if (!e->args.empty() && !seen.insert(e.get())) return false;
  if ((bit_of(e->kind) & kinds) != 0 && holds(e)) return true;
  for (const Expr& arg : e->args)
    if (any_node(arg, kinds, holds, seen)) return true;
  return false;
}

}  // namespace detail

template <typename F>
bool any_node(const Expr& e, uint32_t kinds, const F& holds) {
  NodeSet seen;
  return e && detail::any_node(e, kinds, holds, seen);
}
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
