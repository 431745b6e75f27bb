// Two rewrites that make loops fit for code generators and readers.
//
// Comes in: loops as lowering writes them, every index spelled out in every statement. Goes out: the same
// loops, where
//   hoisting  an expression that does not change in a loop has become a Let before it (offsets of rows,
//             weights of a tap, per-channel constants);
//   sharing   an expression that a block uses twice has become a Let before its first use, so that
//             expressions are small trees.
// Neither moves a load out of an If, a division that may raise a flag, or anything that loads out of
// a GPU's grid loop or a loop around phases.
#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

bool is_leaf(const Expr& e) {
  return e->kind == ExprKind::kConst || e->kind == ExprKind::kParam || e->kind == ExprKind::kVar;
}

/// The expressions of a statement that rewrites may replace (sizes of band tables stay over parameters).
SmallVector<Expr*, 4> exprs_of(Statement& statement) {
  if (auto* n = std::get_if<For>(&statement.node)) return {&n->begin, &n->end};
  if (auto* n = std::get_if<Let>(&statement.node)) return {&n->value};
  if (auto* n = std::get_if<Declare>(&statement.node)) return {&n->init};
  if (auto* n = std::get_if<Assign>(&statement.node)) return {&n->value};
  if (auto* n = std::get_if<Store>(&statement.node)) return {&n->offset, &n->value};
  if (auto* n = std::get_if<If>(&statement.node)) return {&n->condition};
  if (auto* n = std::get_if<BandRow>(&statement.node))
    return {&n->src_offset, &n->src_step, &n->dst_offset, &n->dst_plane};
  return {};
}

SmallVector<Block*, 2> blocks_of(Statement& statement) {
  if (auto* n = std::get_if<For>(&statement.node)) return {&n->body};
  if (auto* n = std::get_if<Phase>(&statement.node)) return {&n->body};
  if (auto* n = std::get_if<If>(&statement.node)) return {&n->then_body, &n->else_body};
  return {};
}

/// A set of variables, or of buffers.
class NumberSet {
 public:
  void insert(int number) {
    const auto at = static_cast<size_t>(number);
    if (at >= has_.size()) has_.resize(at + 1);
    has_[at] = true;
  }
  void erase(int number) {
    if (contains(number)) has_[static_cast<size_t>(number)] = false;
  }
  bool contains(int number) const {
    return static_cast<size_t>(number) < has_.size() && has_[static_cast<size_t>(number)];
  }

 private:
  std::vector<bool> has_;
};

/// What a block changes: variables it defines or assigns, buffers it stores to.
struct Changes {
  NumberSet vars, buffers;

  void add(const Block& block) {
    for_each_statement(block, [&](const Statement& statement) {
      if (const auto* n = std::get_if<For>(&statement.node)) vars.insert(n->var);
      if (const auto* n = std::get_if<Let>(&statement.node)) vars.insert(n->var);
      if (const auto* n = std::get_if<Declare>(&statement.node)) vars.insert(n->var);
      if (const auto* n = std::get_if<Assign>(&statement.node)) vars.insert(n->var);
      if (const auto* n = std::get_if<Store>(&statement.node)) buffers.insert(n->buffer);
      if (const auto* n = std::get_if<BandRow>(&statement.node)) buffers.insert(n->dst);
      if (const auto* n = std::get_if<BandPrepare>(&statement.node)) buffers.insert(n->tables.prepared);
    });
  }
};

bool has_phases(const For& loop) {
  bool found = false;
  for_each_statement(
      loop.body, [&](const Statement& statement) { found |= std::holds_alternative<Phase>(statement.node); });
  return found;
}

/// Hoists out of one loop.
class Hoister {
 public:
  Hoister(LoopKernel& kernel, For& loop)
      : kernel_(kernel), loads_(loop.role != LoopRole::kGrid && !has_phases(loop)) {
    changes_.vars.insert(loop.var);
    changes_.add(loop.body);
    body_ = &loop.body;
    visit(loop.body, /*conditional=*/false);
    drop_moved_lets(loop.body);
  }
  Block take() { return std::move(before_); }

 private:
  bool invariant(const Expr& e, bool conditional) {
    if (e->kind == ExprKind::kVar) return !changes_.vars.contains(e->index);
    if (e->args.empty()) return true;
    auto& memo = memo_[conditional ? 1 : 0];
    if (auto found = memo.find(e.get()); found != memo.end()) return found->second;
    bool fixed = true;
    if (e->kind == ExprKind::kLoadFlat)
      fixed = loads_ && !conditional && !changes_.buffers.contains(e->index);
    if (doubtful_divisor(*e) != nullptr) fixed = false;
    for (const Expr& arg : e->args) fixed = invariant(arg, conditional) && fixed;
    memo.emplace(e.get(), fixed);
    return fixed;
  }
  Expr name_of_value(const Expr& e) {
    const uint64_t hash = hash_of(e);
    for (auto [at, end] = named_.equal_range(hash); at != end; ++at)
      if (same(at->second.first, e)) return at->second.second;
    kernel_.var_types.push_back(e.type());
    const int variable = static_cast<int>(kernel_.var_types.size()) - 1;
    before_.push_back({Let{variable, e}, {}});
    const Expr name = var(variable, e.type());
    named_.emplace(hash, std::make_pair(e, name));
    return name;
  }
  Expr hoist(const Expr& e, bool conditional, NodeMap<Expr>& done) {
    if (is_leaf(e)) return e;
    if (auto found = done.find(e.get()); found != done.end()) return found->second;
    Expr out = e;
    if (invariant(e, conditional)) {
      out = name_of_value(e);
    } else {
      Operands args =
          detail::changed_args(*e, [&](const Expr& arg) { return hoist(arg, conditional, done); });
      if (!args.empty()) out = detail::with_args(*e, std::move(args));
    }
    done.emplace(e.get(), out);
    keep_.push_back(e);
    return out;
  }
  void visit(Block& block, bool conditional) {
    for (Statement& statement : block) {
      if (auto* let = std::get_if<Let>(&statement.node);
          let && !conditional && &block == body_ && invariant(let->value, false)) {
        moved_.insert(let->var);
        changes_.vars.erase(let->var);
        memo_[0].clear();
        memo_[1].clear();
        before_.push_back(statement);
        continue;
      }
      for (Expr* e : exprs_of(statement))
        *e = hoist(*e, conditional, conditional ? done_conditional_ : done_);
      const bool branch = std::holds_alternative<If>(statement.node);
      for (Block* inner : blocks_of(statement)) visit(*inner, conditional || branch);
    }
  }
  void drop_moved_lets(Block& body) {
    body.erase(std::remove_if(body.begin(), body.end(),
                              [&](const Statement& s) {
                                const auto* let = std::get_if<Let>(&s.node);
                                return let && moved_.contains(let->var);
                              }),
               body.end());
  }

  LoopKernel& kernel_;
  const bool loads_;
  Changes changes_;
  Block before_;
  const Block* body_ = nullptr;
  NumberSet moved_;
  NodeMap<bool> memo_[2];
  NodeMap<Expr> done_, done_conditional_;
  std::unordered_multimap<uint64_t, std::pair<Expr, Expr>> named_;
  std::vector<Expr> keep_;  ///< nodes whose addresses are keys above
};

void hoist_block(LoopKernel& kernel, Block& block) {
  Block out;
  for (Statement& statement : block) {
    for (Block* inner : blocks_of(statement)) hoist_block(kernel, *inner);
    if (auto* loop = std::get_if<For>(&statement.node)) {
      Block before = Hoister(kernel, *loop).take();
      out.insert(out.end(), std::make_move_iterator(before.begin()), std::make_move_iterator(before.end()));
    }
    out.push_back(std::move(statement));
  }
  block = std::move(out);
}

/// Nodes of loops: one for each operation on the same operands.
class NodeTable {
 public:
  /// The node like `head` with the operands `args`; empty, and to be filled, where there is none yet. Good until
  /// the next call.
  Expr& of(const ExprNode& head, const Operands& args) {
    if (2 * (size_ + 1) > places_.size()) grow();
    Expr& place = find(head, args);
    size_ += place ? 0 : 1;
    return place;
  }

 private:
  static uint64_t value_of(const ExprNode& head) {
    return head.kind == ExprKind::kConst ? head.value.bits : 0;
  }
  static uint64_t hash_of(const ExprNode& head, const Operands& args) {
    uint64_t hash = static_cast<uint64_t>(head.kind) | static_cast<uint64_t>(head.type) << 8 |
                    static_cast<uint64_t>(head.op) << 16 | static_cast<uint64_t>(head.index) << 32;
    const auto add = [&](uint64_t word) { hash = (std::rotl(hash, 23) ^ word) * 0x9E3779B97F4A7C15U; };
    add(value_of(head));
    for (const Expr& arg : args) add(reinterpret_cast<uintptr_t>(arg.get()));
    return hash >> 20;
  }
  static bool is_same(const ExprNode& a, const ExprNode& b, const Operands& args) {
    return a.kind == b.kind && a.type == b.type && a.op == b.op && a.index == b.index &&
           value_of(a) == value_of(b) &&
           std::equal(a.args.begin(), a.args.end(), args.begin(), args.end(),
                      [](const Expr& x, const Expr& y) { return x.get() == y.get(); });
  }
  Expr& find(const ExprNode& head, const Operands& args) {
    const size_t mask = places_.size() - 1;
    size_t at = hash_of(head, args) & mask;
    while (places_[at] && !is_same(*places_[at], head, args)) at = (at + 1) & mask;
    return places_[at];
  }
  void grow() {
    std::vector<Expr> old(places_.empty() ? 64 : 4 * places_.size());
    old.swap(places_);
    for (Expr& e : old) {
      if (!e) continue;
      Expr& place = find(*e, e->args);
      place = std::move(e);
    }
  }

  std::vector<Expr> places_;
  size_t size_ = 0;
};

/// Names what the statements of one block use more than once.
class Sharer {
 public:
  Sharer(LoopKernel& kernel, Block& block) : kernel_(kernel) {
    // A variable is mutable here if anything in the block assigns it.
    for_each_statement(block, [&](const Statement& s) {
      if (const auto* n = std::get_if<Assign>(&s.node)) mutable_.insert(n->var);
    });
    written_.add(block);
    for (Statement& statement : block)
      for (Expr* e : exprs_of(statement)) *e = intern(*e);
    for (Statement& statement : block) {
      const auto* stores = std::get_if<Store>(&statement.node);
      for (Expr* e : exprs_of(statement)) count(*e, stores && e->get() == stores->offset.get());
    }
    Block out;
    for (Statement& statement : block) {
      for (const ExprNode* node : volatile_names_) names_[node] = {};
      volatile_names_.clear();
      for (Expr* e : exprs_of(statement)) *e = name(*e, out);
      out.push_back(std::move(statement));
    }
    block = std::move(out);
  }

 private:
  Expr intern(const Expr& e) {
    const bool leaf = e->args.empty();
    if (auto found = leaf ? nullptr : interned_.find(e.get())) return found->second;
    Operands args = detail::changed_args(*e, [&](const Expr& arg) { return intern(arg); });
    const bool changed = !args.empty();
    Expr& known = table_.of(*e, changed ? args : e->args);
    if (!known) known = changed ? with_same_op(*e, std::move(args)) : e;
    if (!leaf) {
      interned_.emplace(e.get(), known);
      keep_.push_back(e);
    }
    return known;
  }
  /// A copy with other operands that are equal in value; no folding, so that keys stay true.
  static Expr with_same_op(const ExprNode& e, Operands args) {
    ExprNode node = e;
    node.args = std::move(args);
    return Expr::of(std::move(node));
  }

  /// The linear part of an offset stays in place: emitters look for its form.
  static bool linear(const ExprNode& e) {
    return e.kind == ExprKind::kOp && e.type == DType::kI64 &&
           (e.op == ScalarOp::kAdd || e.op == ScalarOp::kSub || e.op == ScalarOp::kMul ||
            e.op == ScalarOp::kNeg);
  }
  void count(const Expr& e, bool offset) {
    if (is_leaf(e)) return;
    Use& use = uses_[e.get()];
    const bool in_offset = offset && linear(*e);
    use.in_offset |= in_offset;
    if (use.count++ > 0) return;
    for (const Expr& arg : e->args) count(arg, in_offset || e->kind == ExprKind::kLoadFlat);
  }
  bool is_volatile(const Expr& e) {
    if (e->kind == ExprKind::kVar) return mutable_.contains(e->index);
    if (e->args.empty()) return false;
    if (auto found = volatile_.find(e.get()); found != volatile_.end()) return found->second;
    bool changes = e->kind == ExprKind::kLoadFlat && written_.buffers.contains(e->index);
    for (const Expr& arg : e->args) changes = is_volatile(arg) || changes;
    volatile_.emplace(e.get(), changes);
    return changes;
  }
  Expr name(const Expr& e, Block& out) {
    if (is_leaf(e)) return e;
    if (auto found = names_.find(e.get()); found != names_.end() && found->second) return found->second;
    Operands args = detail::changed_args(*e, [&](const Expr& arg) { return name(arg, out); });
    Expr value = args.empty() ? e : with_same_op(*e, std::move(args));
    if (const Use use = uses_[e.get()]; use.count >= 2 && !use.in_offset) {
      kernel_.var_types.push_back(e.type());
      const int variable = static_cast<int>(kernel_.var_types.size()) - 1;
      out.push_back({Let{variable, value}, {}});
      value = var(variable, e.type());
    }
    names_[e.get()] = value;
    if (is_volatile(e)) volatile_names_.push_back(e.get());
    return value;
  }

  struct Use {
    int count = 0;
    bool in_offset = false;
  };

  LoopKernel& kernel_;
  Changes written_;
  NumberSet mutable_;
  NodeMap<Expr> interned_;
  NodeTable table_;
  NodeMap<Use> uses_;
  NodeMap<Expr> names_;  ///< empty: its value has changed since
  NodeMap<bool> volatile_;
  std::vector<const ExprNode*> volatile_names_;
  std::vector<Expr> keep_;
};

void share_block(LoopKernel& kernel, Block& block) {
  for (Statement& statement : block)
    for (Block* inner : blocks_of(statement)) share_block(kernel, *inner);
  Sharer(kernel, block);
}

/// Removes definitions that nothing uses any more.
void drop_unused(Block& block, const NumberSet& used) {
  block.erase(std::remove_if(block.begin(), block.end(),
                             [&](const Statement& s) {
                               const auto* let = std::get_if<Let>(&s.node);
                               return let && !used.contains(let->var);
                             }),
              block.end());
  for (Statement& statement : block)
    for (Block* inner : blocks_of(statement)) drop_unused(*inner, used);
}

/// Variables that are other names of leaves are replaced by them.
void propagate_copies(Block& block, std::vector<Expr>& copies, const NumberSet& assigned) {
  const auto replace = [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::kVar ? copies[static_cast<size_t>(e->index)] : Expr();
  };
  for (Statement& statement : block) {
    for (Expr* e : exprs_of(statement)) *e = rewrite_kinds(*e, bit_of(ExprKind::kVar), replace);
    if (const auto* let = std::get_if<Let>(&statement.node); let && is_leaf(let->value))
      if (let->value->kind != ExprKind::kVar || !assigned.contains(let->value->index))
        copies[static_cast<size_t>(let->var)] = let->value;
    for (Block* inner : blocks_of(statement)) propagate_copies(*inner, copies, assigned);
  }
}

}  // namespace

void tidy(LoopKernel& kernel) {
  hoist_block(kernel, kernel.body);
  NumberSet assigned;
  for_each_statement(kernel.body, [&](const Statement& s) {
    if (const auto* n = std::get_if<Assign>(&s.node)) assigned.insert(n->var);
  });
  std::vector<Expr> copies(kernel.var_types.size());
  propagate_copies(kernel.body, copies, assigned);
  share_block(kernel, kernel.body);
  copies.resize(kernel.var_types.size());
  propagate_copies(kernel.body, copies, assigned);
  for (size_t before = 0, after = 1; before != after;) {
    NumberSet used;
    NodeSet seen;
    const std::function<void(const Expr&)> mark = [&](const Expr& e) {
      if (!contains(e, ExprKind::kVar) || !seen.insert(e.get())) return;
      if (e->kind == ExprKind::kVar) used.insert(e->index);
      for (const Expr& arg : e->args) mark(arg);
    };
    size_t count = 0;
    for_each_statement(kernel.body, [&](const Statement& s) { for_each_expr(s, mark); });
    drop_unused(kernel.body, used);
    for_each_statement(kernel.body, [&](const Statement&) { ++count; });
    before = after;
    after = count;
  }
}

}  // namespace galatea::kernel::lowering
