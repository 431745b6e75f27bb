// Reductions.
//
// Comes in: a reduce stage. Goes out: for few results over much data, lanes of partial results and their
// combination; for many results lanes over the results, or, where the elements of each lie side by side and
// those of neighbours do not, partial results for one after the other. Floats follow the tree of kernel.h:
// element n of the box belongs to lane n % 16; integers, which any order suits, are in
// lower_reduce_integers.cpp.
//
// Lanes over the results alone, `wav` takes twice as long, `normalize` 1.9 times (`./dev bench asr`, 2-core
// AMD EPYC, Zen 5).
#include <algorithm>
#include <functional>
#include <limits>

#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int kLanes = kReduceLanes;

}  // namespace

Cell neutral_value(Combiner combiner, DType type) {
  if (combiner == Combiner::kSum) return Cell{};
  const bool lowest = combiner == Combiner::kMax;
  if (is_float(type)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return cell_from_double(type, lowest ? -infinity : infinity);
  }
  if (type == DType::kU64 && !lowest) return Cell{~uint64_t{0}};
  return cell_from_int(type, lowest ? min_int(type) : max_int(type));
}

Expr Lowering::neutral(const Stage& stage) const {
  return constant(stage.accumulator, neutral_value(stage.combiner, stage.accumulator));
}

Expr Lowering::combine(const Stage& stage, const Expr& acc, const Expr& value) const {
  const Expr x = convert(value, stage.accumulator);
  switch (stage.combiner) {
    case Combiner::kSum:
      return acc + x;
    case Combiner::kMin:
      return min(acc, x);
    case Combiner::kMax:
      return max(acc, x);
  }
  return acc;
}

/// Integers combine in any order; floats have the tree of kernel.h (for minima too: signed zeros and NaN
/// depend on the order).
bool Lowering::any_order(const Stage& stage) const { return !is_float(stage.accumulator); }

Expr Lowering::combine_tree(const Stage& stage, std::vector<Expr> lanes) const {
  for (size_t half = lanes.size() / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half; ++i) lanes[i] = combine(stage, lanes[i], lanes[i + half]);
  return lanes[0];
}

bool Lowering::is_big_reduce(int s) const {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  if (stage.form != StageForm::kReduce || stage.reduce_extents.empty()) return false;
  int64_t results = 1;
  for (const Expr& extent : stage.extents) {
    if (!is_const(extent)) return false;
    results *= const_value(extent);
  }
  return results <= kFewResults;
}

/// How many innermost axes of the reduction box every access moves through as one; with a `channel_axis`,
/// that axis of the domain counts as the innermost of all.
size_t Lowering::collapse_reduce(int s, const Env& env, int channel_axis) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  Env inner = env;
  std::vector<int> vars;
  std::vector<Expr> extents;
  inner.reduce_axes.clear();
  const auto add = [&](const Expr& extent) {
    extents.push_back(top(extent));
    vars.push_back(new_loop_var(extents.back(), kInnerDepth));
    return v(vars.back());
  };
  for (const Expr& extent : stage.reduce_extents) inner.reduce_axes.push_back(add(extent));
  if (channel_axis >= 0) {
    const auto axis = static_cast<size_t>(channel_axis);
    inner.axes[axis] = add(stage.extents[axis]);
  }
  AccessLog log;
  const std::vector<Expr> values = {translate(s, stage.body, inner, nullptr, &log)};
  // Borders that vanish because a loop is inside them would come back when the loop variable is another one.
  if (!log.inside.empty()) return 1;
  return collapsible(log, values, vars, extents, false);
}

/// reduce axes of element n: all in the last axis if the box is one row to every access, else taken apart.
void Lowering::flat_reduce_axes(int s, const Expr& n, Env* env, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const size_t rank = stage.reduce_extents.size();
  const bool one_row = rank == 1 || collapse_reduce(s, *env) == rank;
  env->reduce_axes.assign(rank, const_int(0));
  Expr rest = n;
  for (size_t d = rank; d-- > 0;) {
    if (d == 0 || one_row) {
      env->reduce_axes[d] = rest;
      break;
    }
    const Expr extent = max(top(stage.reduce_extents[d]), const_int(1));
    env->reduce_axes[d] = let(rest % extent, out);
    rest = let(rest / extent, out);
  }
}

/// The reduction of one element; in a lane of its own, so nothing is shared with neighbours.
Expr Lowering::emit_reduce_element(int s, const Env& env, const DroppedBorders* dropped, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  Env inner = env;
  if (any_order(stage)) {
    const int acc = new_var(stage.accumulator);
    push(out, Declare{acc, neutral(stage)});
    std::vector<int> vars;
    inner.reduce_axes.clear();
    for (const Expr& extent : stage.reduce_extents) {
      vars.push_back(new_loop_var(top(extent), kInnerDepth));
      inner.reduce_axes.push_back(v(vars.back()));
    }
    Block body;
    push(body, Assign{acc, combine(stage, v(acc), translate(s, stage.body, inner, dropped))});
    for (size_t d = vars.size(); d-- > 0;) {
      Block outer;
      push(outer, For{vars[d], const_int(0), top(stage.reduce_extents[d]), LoopRole::kSerial, 1, 1,
                      std::move(body)});
      body = std::move(outer);
    }
    for (Statement& statement : body) out.push_back(std::move(statement));
    return v(acc);
  }
  // 16 partial results; a block of 16 elements a turn.
  Expr count = const_int(1);
  for (const Expr& extent : stage.reduce_extents) count = count * top(extent);
  count = top(count);
  std::vector<int> sums;
  std::vector<Expr> lanes;
  for (int i = 0; i < kLanes; ++i) {
    sums.push_back(new_var(stage.accumulator));
    lanes.push_back(v(sums.back()));
    push(out, Declare{sums.back(), neutral(stage)});
  }
  // Adds the elements of the blocks from `begin` on to what `into` holds, a variable for each lane.
  const auto add_blocks = [&](const std::vector<int>& into, const Expr& begin, const Expr& end,
                              Block& block) {
    const int b = new_loop_var(Expr(), kInnerDepth);
    Block body;
    for (int i = 0; i < kLanes; ++i) {
      const Expr n = v(b) * const_int(kLanes) + const_int(i);
      flat_reduce_axes(s, max(min(n, top(count - const_int(1))), const_int(0)), &inner, body);
      const Expr lane = v(into[static_cast<size_t>(i)]), x = translate(s, stage.body, inner, dropped);
      push(body, Assign{into[static_cast<size_t>(i)],
                        select(n < count, has_leaves(stage) ? lane + x : combine(stage, lane, x), lane)});
    }
    push(block, For{b, begin, end, LoopRole::kSerial, 1, 1, std::move(body)});
  };
  const Expr blocks = top((count + const_int(kLanes - 1)) / const_int(kLanes));
  if (has_leaves(stage)) {
    emit_leaves(blocks, out, [&](const Expr& begin, const Expr& end, Block& block) {
      std::vector<int> leaves;
      for (int i = 0; i < kLanes; ++i) {
        leaves.push_back(new_var(DType::kF32));
        push(block, Declare{leaves.back(), const_float(0)});
      }
      add_blocks(leaves, begin, end, block);
      for (size_t i = 0; i < leaves.size(); ++i)
        push(block, Assign{sums[i], combine(stage, lanes[i], v(leaves[i]))});
    });
  } else {
    add_blocks(sums, const_int(0), blocks, out);
  }
  return combine_tree(stage, lanes);
}

/// A loop over leaves of so many elements a lane: `leaf` emits that of the elements from `begin` on.
void Lowering::emit_leaves(
    const Expr& elements, Block& out,
    const std::function<void(const Expr& begin, const Expr& end, Block& block)>& leaf) {
  const int g = new_loop_var(Expr(), kInnerDepth);
  const Expr size = const_int(kLeafElements), begin = v(g) * size;
  Block block;
  leaf(begin, min(begin + size, elements), block);
  push(out, For{g, const_int(0), (elements + size - const_int(1)) / size, LoopRole::kSerial, 1, 1,
                std::move(block)});
}

/// The reduction of one element in lanes of its own, whose partial results stand in `part` in between.
Expr Lowering::emit_lanes_float(int s, const Env& env, const Place& part, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const size_t rank = stage.reduce_extents.size();
  Env inner = env;
  if (rank == 1 || collapse_reduce(s, env) == rank) {
    Expr count = const_int(1);
    for (const Expr& extent : stage.reduce_extents) count = count * top(extent);
    count = top(count);
    const bool whole_blocks = is_const(count) && const_value(count) % kLanes == 0;
    const Expr blocks = top(count / const_int(kLanes));
    const int lane = new_loop_var(const_int(kLanes), kVectorDepth), acc = new_var(stage.accumulator),
              b = new_loop_var(blocks, kInnerDepth);
    Block lanes, body;
    push(lanes, Declare{acc, neutral(stage)});
    flat_reduce_axes(s, v(b) * const_int(kLanes) + v(lane), &inner, body);
    const Expr x = translate(s, stage.body, inner);
    const Expr n = blocks * const_int(kLanes) + v(lane);
    // What is left behind the last whole block.
    const auto with_rest = [&](const Expr& sum, const std::function<Expr(const Expr& x)>& add) {
      flat_reduce_axes(s, max(min(n, count - const_int(1)), const_int(0)), &inner, lanes);
      return select(n < count, add(translate(s, stage.body, inner)), sum);
    };
    if (has_leaves(stage)) {
      // Whole leaves, and one that has what is left, the last element too.
      const int leaf = new_var(DType::kF32), last = new_var(DType::kF32),
                g = new_loop_var(Expr(), kInnerDepth), rest = new_loop_var(blocks, kInnerDepth);
      const Expr size = const_int(kLeafElements), whole = top(blocks / size);
      Block group, end;
      push(group, Declare{leaf, const_float(0)});
      push(body, Assign{leaf, v(leaf) + x});
      push(group, For{b, v(g) * size, v(g) * size + size, LoopRole::kSerial, 1, 1, std::move(body)});
      push(group, Assign{acc, combine(stage, v(acc), v(leaf))});
      if (!is_const_int(whole, 0))
        push(lanes, For{g, const_int(0), whole, LoopRole::kSerial, 1, 1, std::move(group)});
      push(lanes, Declare{last, const_float(0)});
      flat_reduce_axes(s, v(rest) * const_int(kLanes) + v(lane), &inner, end);
      push(end, Assign{last, v(last) + translate(s, stage.body, inner)});
      push(lanes, For{rest, top(whole * size), blocks, LoopRole::kSerial, 1, 1, std::move(end)});
      if (!whole_blocks)
        push(lanes, Assign{last, with_rest(v(last), [&](const Expr& e) { return v(last) + e; })});
      push(lanes, Store{part.buffer, v(lane), combine(stage, v(acc), v(last))});
    } else {
      push(body, Assign{acc, combine(stage, v(acc), x)});
      push(lanes, For{b, const_int(0), blocks, LoopRole::kSerial, 1, 1, std::move(body)});
      const auto add = [&](const Expr& e) { return combine(stage, v(acc), e); };
      push(lanes, Store{part.buffer, v(lane), whole_blocks ? v(acc) : with_rest(v(acc), add)});
    }
    push(out, For{lane, const_int(0), const_int(kLanes), LoopRole::kVector, kLanes, 1, std::move(lanes)});
  } else {  // rows apart from each other: lanes shift from row to row, so one element after the other
    const bool has_leaf = has_leaves(stage);
    const int leaves =
        has_leaf ? new_scratch(stage.name + "_leaves", DType::kF32, const_int(kLanes)).buffer : -1;
    const int i = new_loop_var(Expr(), kInnerDepth), n = new_var(DType::kI64);
    Block clear;
    push(clear, Store{part.buffer, v(i), neutral(stage)});
    if (has_leaf) push(clear, Store{leaves, v(i), const_float(0)});
    push(out, For{i, const_int(0), const_int(kLanes), LoopRole::kSerial, 1, 1, std::move(clear)});
    push(out, Declare{n, const_int(0)});
    const auto end_leaves = [&](Block& block) {
      const int l = new_loop_var(Expr(), kInnerDepth);
      Block leaf;
      push(leaf, Store{part.buffer, v(l),
                       combine(stage, load_flat(part.buffer, stage.accumulator, v(l)),
                               load_flat(leaves, DType::kF32, v(l)))});
      push(leaf, Store{leaves, v(l), const_float(0)});
      push(block, For{l, const_int(0), const_int(kLanes), LoopRole::kSerial, 1, 1, std::move(leaf)});
    };
    std::vector<int> vars;
    inner.reduce_axes.clear();
    for (const Expr& extent : stage.reduce_extents) {
      vars.push_back(new_loop_var(top(extent), kInnerDepth));
      inner.reduce_axes.push_back(v(vars.back()));
    }
    const Expr at = v(n) & const_int(kLanes - 1);
    Block body;
    const Expr x = translate(s, stage.body, inner);
    if (has_leaf) {
      push(body, Store{leaves, at, load_flat(leaves, DType::kF32, at) + x});
    } else {
      push(body, Store{part.buffer, at, combine(stage, load_flat(part.buffer, stage.accumulator, at), x)});
    }
    push(body, Assign{n, v(n) + const_int(1)});
    if (has_leaf) {
      Block end;
      end_leaves(end);
      push(body, If{equal(v(n) & const_int(kLanes * kLeafElements - 1), const_int(0)), std::move(end), {}});
    }
    for (size_t d = vars.size(); d-- > 0;) {
      Block loop;
      push(loop, For{vars[d], const_int(0), top(stage.reduce_extents[d]), LoopRole::kSerial, 1, 1,
                     std::move(body)});
      body = std::move(loop);
    }
    for (Statement& statement : body) out.push_back(std::move(statement));
    if (has_leaf) end_leaves(out);
  }
  std::vector<Expr> lanes;
  for (int i = 0; i < kLanes; ++i)
    lanes.push_back(let(load_flat(part.buffer, stage.accumulator, const_int(i)), out));
  return combine_tree(stage, lanes);
}

/// Whether the elements of each reduction lie side by side where those of neighbouring results do not: then
/// lanes go along the reduction, one result after the other. `results` is the variable that lanes would go
/// along else.
bool Lowering::runs_along_reduction(int s, const Env& env, int results) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const size_t rank = stage.reduce_extents.size();
  if (stage.form != StageForm::kReduce || options_.gpu || any_order(stage) || rank == 0) return false;
  Expr count = const_int(1);
  for (const Expr& extent : stage.reduce_extents) count = count * extent;
  if (is_const(count) && const_value(count) < kLanes) return false;
  if (rank > 1 && collapse_reduce(s, env) != rank) return false;
  Env inner = env;
  inner.reduce_axes.assign(rank, const_int(0));
  const int lane = new_loop_var(const_int(kLanes), kVectorDepth),
            block = new_loop_var(const_int(std::numeric_limits<int64_t>::max()), kInnerDepth);
  inner.reduce_axes.back() = v(block) * const_int(kLanes) + v(lane);
  AccessLog log;
  translate(s, stage.body, inner, nullptr, &log);
  const auto is_run = [&](const Linear& offset, int variable) {
    const Expr step = offset.coefficient(variable);
    return (!step || is_const_int(step, 1)) &&
           std::none_of(offset.rest.begin(), offset.rest.end(),
                        [&](const Expr& e) { return mentions(e, variable); });
  };
  return std::all_of(log.offsets.begin(), log.offsets.end(),
                     [&](const Linear& offset) { return is_run(offset, lane); }) &&
         !std::all_of(log.offsets.begin(), log.offsets.end(),
                      [&](const Linear& offset) { return is_run(offset, results); });
}

void Lowering::emit_big_reduce(int s, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  if (any_order(stage)) return emit_integer_reduce(s, out);
  const Place part = new_scratch(stage.name + "_lanes", stage.accumulator, const_int(kLanes));
  Env env;
  std::vector<int> vars;
  for (const Expr& extent : extents_[static_cast<size_t>(s)]) {
    vars.push_back(new_loop_var(extent, 100 + static_cast<int>(vars.size())));
    env.axes.push_back(v(vars.back()));
  }
  Block body;
  const Expr sum = emit_lanes_float(s, env, part, body);
  store(places_[static_cast<size_t>(s)], env.axes, finish(s, env, sum, nullptr), body);
  for (size_t d = vars.size(); d-- > 0;) {
    Block loop;
    push(loop, For{vars[d], const_int(0), extents_[static_cast<size_t>(s)][d], LoopRole::kSerial, 1, 1,
                   std::move(body)});
    body = std::move(loop);
  }
  for (Statement& statement : body) out.push_back(std::move(statement));
}

/// The axes of result number `index`.
Env Lowering::result_axes(int s, Expr index, Block& body) {
  const std::vector<Expr>& extents = extents_[static_cast<size_t>(s)];
  Env env;
  env.axes.assign(extents.size(), const_int(0));
  for (size_t d = extents.size(); d-- > 0;) {
    env.axes[d] = d == 0 ? index : let_index(index % extents[d], 100, body);
    if (d > 0) index = let_index(index / extents[d], 100, body);
    if (env.axes[d]->kind == ExprKind::kVar)
      loop_extent_[static_cast<size_t>(env.axes[d]->index)] = extents[d];
  }
  return env;
}

/// Every thread makes a partial result of a lane of the tree; one thread for each result combines them.
void Lowering::emit_grid_reduce(int s, std::vector<Statement>& phases) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  if (any_order(stage) && !is_bool(stage.accumulator)) return emit_sliced_reduce(s, phases);
  const int64_t lanes = kLanes;
  int64_t results = 1;
  for (const Expr& extent : stage.extents) results *= const_value(extent);
  const Place part = new_scratch(stage.name + "_lanes", stage.accumulator, const_int(results * lanes));
  Expr count = const_int(1);
  for (const Expr& extent : stage.reduce_extents) count = count * top(extent);
  count = top(count);

  Phase partial{stage.name + " lanes", {}}, total{stage.name, {}};
  const int g = new_loop_var(Expr(), 50), acc = new_var(stage.accumulator),
            b = new_loop_var(Expr(), kInnerDepth);
  Block body, step;
  const Expr lane = let_index(v(g) % const_int(lanes), 60, body);
  Env env = result_axes(s, let_index(v(g) / const_int(lanes), 60, body), body);
  push(body, Declare{acc, neutral(stage)});
  // Elements lane, lane + lanes, …: (count - lane + lanes - 1) / lanes of them.
  const Expr turns = let((max(count - lane, const_int(0)) + const_int(lanes - 1)) / const_int(lanes), body);
  flat_reduce_axes(s, v(b) * const_int(lanes) + lane, &env, step);
  const Expr x = translate(s, stage.body, env);
  if (has_leaves(stage)) {
    emit_leaves(turns, body, [&](const Expr& begin, const Expr& end, Block& block) {
      const int leaf = new_var(DType::kF32);
      push(block, Declare{leaf, const_float(0)});
      push(step, Assign{leaf, v(leaf) + x});
      push(block, For{b, begin, end, LoopRole::kSerial, 1, 1, std::move(step)});
      push(block, Assign{acc, combine(stage, v(acc), v(leaf))});
    });
  } else {
    push(step, Assign{acc, combine(stage, v(acc), x)});
    push(body, For{b, const_int(0), turns, LoopRole::kSerial, 1, 1, std::move(step)});
  }
  push(body, Store{part.buffer, v(g), v(acc)});
  push(partial.body,
       For{g, const_int(0), const_int(results * lanes), LoopRole::kGrid, 1, 1, std::move(body)});

  const int r = new_loop_var(const_int(results), 50);
  Block combined;
  const Env at = result_axes(s, v(r), combined);
  std::vector<Expr> parts;
  for (int64_t i = 0; i < lanes; ++i)
    parts.push_back(load_flat(part.buffer, stage.accumulator, v(r) * const_int(lanes) + const_int(i)));
  const Expr sum = combine_tree(stage, parts);
  store(places_[static_cast<size_t>(s)], at.axes, finish(s, at, sum, nullptr), combined);
  push(total.body, For{r, const_int(0), const_int(results), LoopRole::kGrid, 1, 1, std::move(combined)});
  push(phases, std::move(partial));
  push(phases, std::move(total));
}

}  // namespace galatea::kernel::lowering
