// Choices that are the same for every element of a loop, as branches.
//
// Comes in: tidy loops that compute both arms of `select(c, a, b)` for each element, although c is known before
// the loop: whether a step of a random chain applies to the sample, say. Goes out: the same loops with an If
// around what one arm alone needs. Selects of one condition share an If, unless one needs another's value.
//
// A processor foretells such a branch, so that it costs next to nothing; but code generators have forms for
// straight loops (codegen/llvm/pack_bytes.cpp), so a body must be longer than what they take.
//
// Row: `color_jitter` of bytes (`./dev bench per-op --only color_jitter`). Off, seven of them take 2.1 times as
// long (processor time of `galatea run` over pictures of 224 x 224, one thread, five rounds, 2-core AMD EPYC).
#include <algorithm>
#include <set>

#include "compiler/kernel/cost.h"
#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr double kLeastArm = 16;   ///< operations of an arm that is worth a branch
constexpr double kLeastBody = 65;  ///< operations of a loop's body

using Vars = std::set<int>;

bool have_common(const Vars& a, const Vars& b) {
  return std::any_of(a.begin(), a.end(), [&](int var) { return b.contains(var); });
}

/// What a statement computes for each element, offsets left out; null: nothing.
Expr* value_of(Statement& statement) {
  if (auto* let = std::get_if<Let>(&statement.node)) return &let->value;
  if (auto* assign = std::get_if<Assign>(&statement.node)) return &assign->value;
  if (auto* store = std::get_if<Store>(&statement.node)) return &store->value;
  return nullptr;
}

void add_vars(const Expr& e, Vars* out) {
  for_each_node(e, [&](const Expr& node) {
    if (node->kind == ExprKind::kVar) out->insert(node->index);
  });
}

void add_vars(const Statement& statement, Vars* out) {
  for_each_statement({statement}, [&](const Statement& inner) {
    for_each_expr(inner, [&](const Expr& e) { add_vars(e, out); });
  });
}

/// One block inside a loop: Lets, Stores, Assigns that nothing in it reads, and the Ifs that were made.
class Brancher {
 public:
  /// `varying`: what may differ between the elements of the loop.
  Brancher(LoopKernel& kernel, Block& block, Vars& varying)
      : kernel_(kernel), block_(block), varying_(varying) {}

  void run() {
    while (branch_once()) {
    }
  }

 private:
  /// The arms of one side of all choices, and the Lets of this block that they need.
  struct Side {
    std::vector<Expr> arms;
    Vars needs, alone;  ///< alone: nothing else needs them
  };

  bool branch_once() {
    for (size_t i = 0; i < block_.size(); ++i) {
      const Expr* value = value_of(block_[i]);
      if (!value) continue;
      for (const Expr& condition : conditions_of(*value)) {
        if (branch(condition, i)) return true;
        refused_.push_back(condition);
      }
    }
    return false;
  }

  bool is_refused(const Expr& condition) const {
    return std::any_of(refused_.begin(), refused_.end(),
                       [&](const Expr& other) { return same(other, condition); });
  }
  bool is_uniform(const Expr& e) const {
    Vars vars;
    add_vars(e, &vars);
    return !contains(e, ExprKind::kLoadFlat) && !contains(e, ExprKind::kPhilox) &&
           !have_common(vars, varying_);
  }

  /// Calls `visit` with the outermost selects for which it is true.
  static void visit_selects(const Expr& e, const std::function<bool(const Expr&)>& visit) {
    if (e->kind != ExprKind::kOp) return;
    if (e->op == ScalarOp::kSelect && visit(e)) return;
    for (const Expr& arg : e->args) visit_selects(arg, visit);
  }
  std::vector<Expr> conditions_of(const Expr& value) const {
    std::vector<Expr> out;
    visit_selects(value, [&](const Expr& choice) {
      const Expr& condition = choice->args[0];
      if (is_uniform(condition) && !is_refused(condition)) out.push_back(condition);
      return false;
    });
    return out;
  }

  /// The selects of `condition` in statements from `first` on that need none of the others.
  std::vector<Expr> choices_of(const Expr& condition, size_t first) {
    std::vector<Expr> out;
    Vars later;  // what has no value yet at `first`, where it depends on a choice
    for (size_t i = first; i < block_.size(); ++i) {
      if (const auto* made = std::get_if<Declare>(&block_[i].node)) later.insert(made->var);
      const Expr* value = value_of(block_[i]);
      if (!value) continue;
      bool chooses = false;
      visit_selects(*value, [&](const Expr& choice) {
        if (!same(choice->args[0], condition)) return false;
        if (have_common(needs_of({choice->args[1], choice->args[2]}), later)) return true;
        chooses = true;
        if (std::none_of(out.begin(), out.end(), [&](const Expr& other) { return same(other, choice); }))
          out.push_back(choice);
        return true;
      });
      if (const auto* let = std::get_if<Let>(&block_[i].node); let && chooses) later.insert(let->var);
    }
    return out;
  }

  /// The variables that `values` are made of, by way of this block's Lets.
  Vars needs_of(const std::vector<Expr>& values) const {
    Vars out;
    for (const Expr& value : values) add_vars(value, &out);
    add_makers(&out);
    return out;
  }
  void add_makers(Vars* vars) const {
    for (size_t i = block_.size(); i-- > 0;)
      if (const auto* let = std::get_if<Let>(&block_[i].node); let && vars->contains(let->var))
        add_vars(let->value, vars);
  }

  Side side_of(const std::vector<Expr>& choices, size_t arm) const {
    Side out;
    for (const Expr& choice : choices) out.arms.push_back(choice->args[arm]);
    out.needs = needs_of(out.arms);
    return out;
  }
  double operations_of(const Side& side) const {
    double out = 0;
    for (const Expr& arm : side.arms) out += operations(arm);
    for (const Statement& statement : block_)
      if (const auto* let = std::get_if<Let>(&statement.node); let && side.alone.contains(let->var))
        out += operations(let->value);
    return out;
  }
  /// Whether a side's values are the same, flags included, wherever in the block they are computed.
  bool may_move(const Side& side) const {
    std::vector<Expr> values = side.arms;
    std::set<int> stored;
    for (const Statement& statement : block_) {
      if (const auto* let = std::get_if<Let>(&statement.node); let && side.needs.contains(let->var))
        values.push_back(let->value);
      if (const auto* store = std::get_if<Store>(&statement.node)) stored.insert(store->buffer);
    }
    return std::none_of(values.begin(), values.end(), [&](const Expr& value) {
      return may_divide_by_zero(value) || any_node(value, [&](const ExprNode& node) {
               return node.kind == ExprKind::kLoadFlat && stored.contains(node.index);
             });
    });
  }

  /// Puts a branch before statement `first`; whether that pays.
  bool branch(const Expr& condition, size_t first) {
    const std::vector<Expr> choices = choices_of(condition, first);
    Side when = side_of(choices, 1), otherwise = side_of(choices, 2);
    if (choices.empty() || !may_move(when) || !may_move(otherwise)) return false;
    const Block before = block_;
    const std::vector<int> results = name_results(choices);
    find_alone(&when, &otherwise);
    if (std::max(operations_of(when), operations_of(otherwise)) < kLeastArm) {
      block_ = before;
      return false;
    }
    block_ = with_branch(condition, first, when, otherwise, results);
    return true;
  }

  /// Replaces the choices by new variables.
  std::vector<int> name_results(const std::vector<Expr>& choices) {
    std::vector<int> results;
    for (const Expr& choice : choices) {
      results.push_back(static_cast<int>(kernel_.var_types.size()));
      kernel_.var_types.push_back(choice.type());
      varying_.insert(results.back());
    }
    for (Statement& statement : block_)
      if (Expr* value = value_of(statement))
        *value = rewrite(*value, [&](const Expr& e) -> Expr {
          const auto found = std::find_if(choices.begin(), choices.end(),
                                          [&](const Expr& choice) { return same(choice, e); });
          return found == choices.end()
                     ? Expr()
                     : var(results[static_cast<size_t>(found - choices.begin())], e.type());
        });
    return results;
  }

  void find_alone(Side* when, Side* otherwise) const {
    Vars used;
    for (const Statement& statement : block_) {
      const auto* let = std::get_if<Let>(&statement.node);
      if (!let || !(when->needs.contains(let->var) || otherwise->needs.contains(let->var)))
        add_vars(statement, &used);
    }
    add_makers(&used);
    const auto difference = [&](const Side& side, const Side& other) {
      Vars out;
      for (const int var : side.needs)
        if (!used.contains(var) && !other.needs.contains(var)) out.insert(var);
      return out;
    };
    when->alone = difference(*when, *otherwise);
    otherwise->alone = difference(*otherwise, *when);
  }

  Block with_branch(const Expr& condition, size_t first, const Side& when, const Side& otherwise,
                    const std::vector<int>& results) {
    If choice{condition, {}, {}};
    Block front, back;
    for (size_t i = 0; i < block_.size(); ++i) {
      const auto* let = std::get_if<Let>(&block_[i].node);
      const auto is_in = [&](const Vars& vars) { return let && vars.contains(let->var); };
      Block& to = is_in(when.alone)                                          ? choice.then_body
                  : is_in(otherwise.alone)                                   ? choice.else_body
                  : i < first || is_in(when.needs) || is_in(otherwise.needs) ? front
                                                                             : back;
      to.push_back(std::move(block_[i]));
    }
    for (size_t r = 0; r < results.size(); ++r) {
      const DType type = when.arms[r].type();
      front.push_back({Declare{results[r], constant(type, cell_from_int(type, 0))}, {}});
      choice.then_body.push_back({Assign{results[r], when.arms[r]}, {}});
      choice.else_body.push_back({Assign{results[r], otherwise.arms[r]}, {}});
    }
    for (Block* body : {&choice.then_body, &choice.else_body}) Brancher(kernel_, *body, varying_).run();
    front.push_back({std::move(choice), {}});
    std::move(back.begin(), back.end(), std::back_inserter(front));
    return front;
  }

  LoopKernel& kernel_;
  Block& block_;
  Vars& varying_;
  std::vector<Expr> refused_;
};

bool is_straight(const Block& block) {
  return std::all_of(block.begin(), block.end(), [](const Statement& statement) {
    const auto* store = std::get_if<Store>(&statement.node);
    return std::holds_alternative<Let>(statement.node) || (store && !store->add);
  });
}

void branch_in_loop(LoopKernel& kernel, For& loop) {
  double work = 0;
  Vars varying = {loop.var};
  for (Statement& statement : loop.body) {
    work += operations(*value_of(statement));
    if (const auto* let = std::get_if<Let>(&statement.node)) varying.insert(let->var);
  }
  if (work >= kLeastBody) Brancher(kernel, loop.body, varying).run();
}

void branch_in_block(LoopKernel& kernel, Block& block) {
  for (Statement& statement : block) {
    if (auto* phase = std::get_if<Phase>(&statement.node)) branch_in_block(kernel, phase->body);
    if (auto* branch = std::get_if<If>(&statement.node)) {
      branch_in_block(kernel, branch->then_body);
      branch_in_block(kernel, branch->else_body);
    }
    auto* loop = std::get_if<For>(&statement.node);
    if (loop && loop->role == LoopRole::kVector && is_straight(loop->body))
      branch_in_loop(kernel, *loop);
    else if (loop)
      branch_in_block(kernel, loop->body);
  }
}

}  // namespace

void branch_on_choices(LoopKernel& kernel) { branch_in_block(kernel, kernel.body); }

}  // namespace galatea::kernel::lowering
