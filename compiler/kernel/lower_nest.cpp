// Nests: loops over a stage's domain that store each element.
//
// Comes in: a stage, its destinations, which axes are fixed. Goes out: serial loops around one vector loop
// (or one grid loop on a GPU). Shapes:
//   flat     innermost axes taken together, because every access moves through them alike: lane = x*C + c
//   pixel    lane = x, a small channel axis repeated inside: neighbouring loads and stores differ by a
//            constant
//   planar   lane = the innermost axis
// and, where borders matter, `edge | interior without border arithmetic | edge`.
//
// Off, at 224 x 224 (`./dev bench per-op`, bytes, 2-core AMD EPYC, Zen 5): `pad` takes 19 times as long
// without interiors, `laplacian 3` 4 times; `gaussian_blur 15` 1.5 times where each reflected index is
// divided, 1.65 times with one register of taps at a time, 1.4 times where edges go channel by channel.
// Without loops for known numbers of taps `imagenet-train` takes 1.05 times as long.
#include <algorithm>
#include <utility>

#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

/// Tap counts with loops of their own, of bands whose count only the sample knows: resizing by 0.5 to 2 and
/// small windows. Each costs compile time (about 8 ms), the loop over any number costs run time (half as much
/// again).
constexpr int64_t kFewestTapVariant = 2, kMostTapVariant = 5;
/// Registers that one step of a loop over taps works on: sums that do not wait for each other.
constexpr int kRegistersOfTaps = 4;

}  // namespace

std::vector<Expr> Lowering::trial(const Nest& nest, const Env& env, const DroppedBorders* dropped,
                                  AccessLog* log) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  std::vector<Expr> values;
  Env inner = env;
  if (stage.form == StageForm::kBand) {
    inner.tap = v(new_loop_var(top(stage.taps), kInnerDepth));
    values.push_back(translate(nest.stage, stage.weight, inner, dropped, log));
    values.push_back(translate(nest.stage, stage.source, inner, dropped, log));
  } else {
    for (const Expr& extent : stage.reduce_extents)
      inner.reduce_axes.push_back(v(new_loop_var(top(extent), kInnerDepth)));
    const int arms = box_choice_ ? 2 : 0;
    for (box_arm_ = std::min(arms, 1); box_arm_ <= arms; ++box_arm_)
      values.push_back(translate(nest.stage, stage.body, inner, dropped, log));
    box_arm_ = 0;
  }
  if (stage.form != StageForm::kMap)
    values.push_back(finish(nest.stage, inner, v(new_var(stage.accumulator)), dropped, log));
  return values;
}

void Lowering::emit_nest(const Nest& nest, Block& out) {
  const auto s = static_cast<size_t>(nest.stage);
  const Stage& stage = kernel_.stages[s];
  std::vector<int> vars(static_cast<size_t>(stage.rank()), -1);
  for (size_t i = 0; i < nest.order.size(); ++i) {
    const auto axis = static_cast<size_t>(nest.order[i]);
    vars[axis] = new_loop_var(extents_[s][axis], 100 + static_cast<int>(i));
  }
  Env env;
  for (size_t d = 0; d < vars.size(); ++d) env.axes.push_back(nest.fixed[d] ? nest.fixed[d] : v(vars[d]));
  if (reversed_axis_ >= 0) {
    const auto axis = static_cast<size_t>(reversed_axis_);
    env.axes[axis] = top(extents_[s][axis] - const_int(1)) - v(vars[axis]);
  }

  // A trial translation shows which indices borders apply to; a second one, without those that are linear,
  // how memory is walked.
  AccessLog log, walked;
  box_choice_ = may_split_ && !options_.gpu && reversed_axis_ < 0 ? match_box(stage) : std::nullopt;
  trial(nest, env, nullptr, &log);
  if (emit_where_present(nest, log, out)) return;
  if (box_choice_ && !log.bordered.empty()) return emit_undivided(nest, out);
  if (emit_reflected(nest, log, vars, out)) return;
  DroppedBorders linear;
  for (const Bordered& b : log.bordered) linear.insert({b.load, b.dim});
  for (const Bordered& b : log.bordered)
    if (std::any_of(b.index.rest.begin(), b.index.rest.end(), [&](const Expr& e) { return has_loop_var(e); }))
      linear.erase({b.load, b.dim});
  const std::vector<Expr> values = trial(nest, env, &linear, &walked);
  for (const Place& place : nest.places) walked.offsets.push_back(offset_of(place, env.axes));
  for (size_t d = 0; d < vars.size(); ++d)
    if (box_choice_ && box_choice_->bounds(static_cast<int>(d))) walked.split.push_back(vars[d]);
  bool flatten = true;
  for (const Bordered& b : log.bordered) flatten &= !log.inside.contains({b.load, b.dim});
  Shape shape = choose_shape(nest, walked, values, vars, flatten);
  if (shape.lanes > 1 && !scalar_only_ && !shape.flat.empty() &&
      runs_along_reduction(nest.stage, env, vars[static_cast<size_t>(shape.flat.back())])) {
    shape = Shape{.outer = nest.order, .flat = {}, .along_reduction = true, .inside = {}};
  }
  if (box_choice_ && !can_split(nest, shape)) return emit_undivided(nest, out);
  Interior interior = far_ ? Interior() : find_interior(nest, shape, log, vars);
  if (shape.flat.size() > 1) {
    for (const Bordered& b : log.bordered)
      for (const int axis : shape.flat)
        flatten &= !b.index.coefficient(vars[static_cast<size_t>(axis)]) ||
                   interior.dropped.contains({b.load, b.dim});
    if (!flatten) {
      shape = choose_shape(nest, walked, values, vars, false);
      interior = far_ ? Interior() : find_interior(nest, shape, log, vars);
    }
  }
  // A small table is not worth loops for each of its orders.
  const bool table = schedule_.stages[s].placement == Placement::kTable;
  if (!options_.gpu && !specialised_ && !table && shape.lanes > 1)
    if (const auto unknown = find_unknown(walked, shape, vars))
      return emit_specialised(nest, *unknown, shape.flat.front(), out);
  if (scalar_only_) shape.lanes = 1;
  if (options_.gpu) return emit_grid(nest, shape, vars, out);

  std::vector<Expr> looped;
  for (const int axis : nest.order) looped.push_back(extents_[s][static_cast<size_t>(axis)]);
  const auto loops = [&](int64_t taps, bool variants) {
    Block body;
    emit_vector_level(nest, shape, interior, vars, env, taps, variants, body);
    for (size_t i = shape.outer.size(); i-- > 0;) {
      const auto axis = static_cast<size_t>(shape.outer[i]);
      Block outer;
      push(outer, For{vars[axis], const_int(0), extents_[s][axis], LoopRole::kSerial, 1, 1, std::move(body)});
      body = std::move(outer);
    }
    return body;
  };
  // Tap counts that only the sample knows get loops of their own where the weights are the same in all lanes:
  // around everything, or, where edges are loops apart, around the interior only.
  const bool variants = has_tap_variants(nest, shape);
  Block body = loops(0, variants && interior.split());
  for (int64_t taps = variants && !interior.split() ? kMostTapVariant : 0; taps >= kFewestTapVariant;
       --taps) {
    Block outer;
    push(outer, If{equal(top(stage.taps), const_int(taps)), loops(taps, false), std::move(body)});
    body = std::move(outer);
  }
  const Expr nonempty = all_positive(looped);
  if (is_const(nonempty)) {
    if (nonempty->value.bits)
      for (Statement& statement : body) out.push_back(std::move(statement));
    return;
  }
  push(out, If{nonempty, std::move(body), {}});
}

/// As if its elements were not selected by a box.
void Lowering::emit_undivided(const Nest& nest, Block& out) {
  may_split_ = false;
  emit_nest(nest, out);
  may_split_ = true;
}

/// Loops for tensors with elements, and plain ones that take care where something is empty; false: the trial
/// met nothing to take care of. (Threads of a GPU read one by one, where it costs a selection.)
bool Lowering::emit_where_present(const Nest& nest, const AccessLog& log, Block& out) {
  if (options_.gpu || log.present.empty() || present_stage_ == nest.stage || careful_stage_ == nest.stage)
    return false;
  Expr all;
  for (const Expr& some : log.present) all = all ? all & some : some;
  Block present, careful;
  const int outer_present = std::exchange(present_stage_, nest.stage);
  emit_nest(nest, present);
  present_stage_ = outer_present;
  const int outer_careful = std::exchange(careful_stage_, nest.stage);
  const bool specialised = std::exchange(specialised_, true), scalar = std::exchange(scalar_only_, true),
             far = std::exchange(far_, true);
  emit_nest(nest, careful);
  far_ = far, specialised_ = specialised, scalar_only_ = scalar;
  careful_stage_ = outer_careful;
  push(out, If{top(all), std::move(present), std::move(careful)});
  return true;
}

/// Reflecting at any distance takes a division for each index. Loops where every index is reflected once at
/// most, and plain ones for images smaller than the window. False: nothing is reflected.
bool Lowering::emit_reflected(const Nest& nest, const AccessLog& log, const std::vector<int>& vars,
                              Block& out) {
  if (options_.gpu || far_ || !near_.empty()) return false;
  DroppedBorders reflected;
  Expr once;
  for (const Bordered& b : log.bordered) {
    // An index that is near needs no division anyway, and no second nest.
    if (b.load->border != Border::kReflect101 || is_near(b.index, b.extent)) continue;
    Linear fixed = b.index;
    Expr least = const_int(0), most = const_int(0);
    const auto spread = [&](const std::pair<int, Expr>& term) {
      const auto variable = static_cast<size_t>(term.first);
      const bool looped =
          std::find(vars.begin(), vars.end(), term.first) != vars.end() || depth_[variable] >= kInnerDepth;
      if (!looped || !loop_extent_[variable]) return false;
      const Expr reach = term.second * (loop_extent_[variable] - const_int(1));
      least = least + min(reach, const_int(0)), most = most + max(reach, const_int(0));
      return true;
    };
    std::erase_if(fixed.terms, spread);
    const Expr base = build(fixed), last = b.extent - const_int(1);
    if (std::any_of(vars.begin(), vars.end(),
                    [&](int variable) { return variable >= 0 && mentions(base, variable); }) ||
        any_node(base, [&](const ExprNode& n) {
          return n.kind == ExprKind::kVar && depth_[static_cast<size_t>(n.index)] >= kInnerDepth;
        }))
      continue;
    reflected.insert({b.load, b.dim});
    const Expr here = ((base + least >= -last) & (base + most <= last * const_int(2)));
    once = once ? once & here : here;
  }
  if (reflected.empty()) return false;
  near_ = std::move(reflected);
  Block once_at_most, any_distance;
  emit_nest(nest, once_at_most);
  near_.clear();
  const bool specialised = std::exchange(specialised_, true), scalar = std::exchange(scalar_only_, true);
  far_ = true;
  emit_nest(nest, any_distance);
  far_ = false, specialised_ = specialised, scalar_only_ = scalar;
  push(out, If{once, std::move(once_at_most), std::move(any_distance)});
  return true;
}

/// Loops for +step, loops for -step, and plain ones for whatever else a call may bring.
void Lowering::emit_specialised(const Nest& nest, const Unknown& unknown, int along, Block& out) {
  const bool is_param = unknown.param >= 0;
  Expr* stride = is_param
                     ? nullptr
                     : &inputs_[static_cast<size_t>(unknown.input)].strides[static_cast<size_t>(unknown.dim)];
  const Expr value = is_param ? param(unknown.param, DType::kI64) : *stride;
  const auto loops = [&](int64_t known) {
    Block body;
    if (is_param && known != 0) param_values_[unknown.param] = known;
    if (!is_param && known != 0) *stride = const_int(known);
    emit_nest(nest, body);
    param_values_.erase(unknown.param);
    if (!is_param) *stride = value;
    return body;
  };
  specialised_ = true;
  Block forward = loops(unknown.step);
  // Backwards into planes: the destination is walked backwards instead, so that interleaved pixels are read
  // forwards.
  bool planar = true;
  for (const Place& place : nest.places) planar &= is_const_int(place.strides[static_cast<size_t>(along)], 1);
  if (planar) reversed_axis_ = along;
  Block backward = loops(-unknown.step);
  reversed_axis_ = -1;
  scalar_only_ = true;
  Block plain = loops(0);
  specialised_ = scalar_only_ = false;
  Block otherwise;
  push(otherwise, If{equal(value, const_int(-unknown.step)), std::move(backward), std::move(plain)});
  push(out, If{equal(value, const_int(unknown.step)), std::move(forward), std::move(otherwise)});
}

/// One loop over all elements, for threads to share; what a thread's number means is computed from it.
void Lowering::emit_grid(const Nest& nest, const Shape& shape, const std::vector<int>& vars, Block& out) {
  const auto extent = [&](int axis) { return looped_extent(nest.stage, axis); };
  // Sizes of tiles are values of the tile's loop, all others are known on entry.
  const auto named = [&](const Expr& e) { return box_ ? let(e, out) : top(e); };
  Expr total = const_int(1), flat_extent = const_int(1);
  for (const int axis : shape.flat) flat_extent = flat_extent * extent(axis);
  for (const int axis : shape.outer) total = total * extent(axis);
  std::vector<Expr> looped;
  for (const int axis : nest.order) looped.push_back(extent(axis));
  total = named(select(all_positive(looped), total * flat_extent, const_int(0)));
  const int g = new_loop_var(total, 50);
  Block body;
  Env env;
  for (size_t d = 0; d < vars.size(); ++d) env.axes.push_back(nest.fixed[d]);
  /// The element of the axis at a position of the loop; it is inside of the axis.
  const auto element = [&](int axis, const Expr& position, int depth) {
    const Expr low = box_ ? (*box_)[static_cast<size_t>(axis)].low : const_int(0);
    const Expr here = is_const_int(low, 0) ? position : let_index(low + position, depth, body);
    if (here->kind == ExprKind::kVar)
      loop_extent_[static_cast<size_t>(here->index)] =
          extents_[static_cast<size_t>(nest.stage)][static_cast<size_t>(axis)];
    return here;
  };
  Expr rest = v(g);
  if (!shape.flat.empty()) {
    Expr position = rest;
    if (!shape.outer.empty()) {
      const Expr run = named(flat_extent);
      position = let_index(rest % run, kVectorDepth, body);
      rest = let(rest / run, body);
    }
    for (const int axis : shape.flat)
      env.axes[static_cast<size_t>(axis)] = box_ ? (*box_)[static_cast<size_t>(axis)].low : const_int(0);
    const int last = shape.flat.back();
    Expr& along = env.axes[static_cast<size_t>(last)];
    if (shape.flat.size() == 1)
      along = element(last, position, kVectorDepth);
    else
      along = is_const_int(along, 0) ? position : along + position;
  }
  for (size_t i = shape.outer.size(); i-- > 0;) {
    const int axis = shape.outer[i];
    Expr here = rest;
    if (i > 0) {
      here = let_index(rest % extent(axis), 100, body);
      rest = let(rest / extent(axis), body);
    } else if (rest->kind == ExprKind::kVar && rest->index != g) {
      depth_[static_cast<size_t>(rest->index)] = 100;
    }
    env.axes[static_cast<size_t>(axis)] = element(axis, here, 100);
  }
  emit_element(nest, shape, env, shape.flat.size() > 1 ? &shape.inside : nullptr, 0, body);
  push(out, For{g, const_int(0), total, LoopRole::kGrid, 1, 1, std::move(body)});
}

bool Lowering::has_tap_variants(const Nest& nest, const Shape& shape) const {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  if (stage.form != StageForm::kBand || is_const(stage.taps) || shape.lanes == 1 || shape.flat.empty())
    return false;
  return !any_node(stage.weight, [&](const ExprNode& e) {
    return e.kind == ExprKind::kAxis && e.index == shape.flat.front();
  });
}

/// One loop over [low, high) of the axis that vectors run along; over all flat axes at once unless it is an
/// edge.
void Lowering::emit_range(const Nest& nest, const Shape& shape, const Range& range,
                          const std::vector<int>& vars, const Env& env, Block& block) {
  const auto s = static_cast<size_t>(nest.stage);
  const auto along = static_cast<size_t>(shape.flat.front());
  const Expr &low = range.low, &high = range.high, n = extents_[s][along];
  const bool vector = range.vector;
  const DroppedBorders* dropped = range.dropped;
  const int64_t taps = range.taps;
  Block body;
  Env inner = env;
  const bool together = shape.flat.size() > 1 && vector;
  DroppedBorders all = shape.inside;
  if (together && dropped) all.insert(dropped->begin(), dropped->end());
  if (together) dropped = &all;
  const int x = vars[along];
  int loop = x;
  Expr begin = low, end = high;
  if (together) {
    Expr size = const_int(1);
    for (size_t i = 1; i < shape.flat.size(); ++i)
      size = size * extents_[s][static_cast<size_t>(shape.flat[i])];
    begin = low * size;
    end = is_const_int(low, 0) && high.get() == n.get() ? top(n * size) : high * size;
    loop = new_loop_var(Expr(), kVectorDepth);
    for (const int axis : shape.flat) inner.axes[static_cast<size_t>(axis)] = const_int(0);
    inner.axes[static_cast<size_t>(shape.flat.back())] = v(loop);
  }
  const int saved = depth_[static_cast<size_t>(loop)];
  if (vector) depth_[static_cast<size_t>(loop)] = kVectorDepth;
  const bool scalar = !vector || shape.lanes == 1;
  if (!together && shape.flat.size() > 1) {  // an edge: the flat axes one by one, but for a pixel's channels
    Shape edge = shape;
    const auto last = static_cast<size_t>(shape.flat.back());
    if (edge.unrolled < 0 && has_tap_loop(nest, taps) && is_const(extents_[s][last]) &&
        const_value(extents_[s][last]) <= kMaxStructuralExtent) {
      edge.unrolled = edge.flat.back();
      edge.flat.pop_back();
    }
    emit_element(nest, edge, inner, dropped, taps, body);
    for (size_t i = edge.flat.size(); i-- > 1;) {
      const auto axis = static_cast<size_t>(shape.flat[i]);
      Block outer;
      push(outer, For{vars[axis], const_int(0), extents_[s][axis], LoopRole::kSerial, 1, 1, std::move(body)});
      body = std::move(outer);
    }
  } else {
    emit_element(nest, shape, inner, dropped, taps, body);
  }
  // Taps that are written out are enough work for one register, and few elements fill no more.
  const int64_t wide = int64_t{shape.lanes} * kRegistersOfTaps;
  const bool few = is_const(begin) && is_const(end) && const_value(end) - const_value(begin) < wide;
  const int lanes = has_tap_loop(nest, taps) && !few ? static_cast<int>(wide) : shape.lanes;
  push(block, For{loop, begin, end, scalar ? LoopRole::kSerial : LoopRole::kVector, scalar ? 1 : lanes, 1,
                  std::move(body)});
  depth_[static_cast<size_t>(loop)] = saved;
}

/// `taps`: how many there are in this copy of the loops, 0: unknown (then copies for small numbers are made
/// here).
void Lowering::emit_vector_level(const Nest& nest, const Shape& shape, const Interior& interior,
                                 const std::vector<int>& vars, Env env, int64_t known_taps, bool variants,
                                 Block& out) {
  const auto s = static_cast<size_t>(nest.stage);
  const Stage& stage = kernel_.stages[s];
  if (shape.flat.empty()) return emit_element(nest, shape, env, nullptr, known_taps, out);
  const auto along = static_cast<size_t>(shape.flat.front());
  const Expr n = extents_[s][along];

  const auto range = [&](const Expr& low, const Expr& high, bool vector, const DroppedBorders* dropped,
                         int64_t taps, Block& block) {
    emit_range(nest, shape, {low, high, vector, dropped, taps}, vars, env, block);
  };
  const auto with_variants = [&](const Expr& low, const Expr& high, const DroppedBorders* dropped,
                                 Block& block) {
    Block chain;
    range(low, high, true, dropped, known_taps, chain);
    for (int64_t taps = variants ? kMostTapVariant : 0; taps >= kFewestTapVariant; --taps) {
      Block then_body;
      range(low, high, true, dropped, taps, then_body);
      Block outer;
      push(outer, If{equal(top(stage.taps), const_int(taps)), std::move(then_body), std::move(chain)});
      chain = std::move(outer);
    }
    for (Statement& statement : chain) block.push_back(std::move(statement));
  };

  if (box_choice_)
    return emit_split(
        nest, shape, env,
        [&](const Expr& low, const Expr& high) { range(low, high, true, nullptr, known_taps, out); }, out);
  if (interior.dropped.empty()) return with_variants(const_int(0), n, nullptr, out);
  Block fast;
  if (interior.split()) {
    const Expr low = let(interior.low, fast), high = let(interior.high, fast);
    const auto edge = [&](const Expr& from, const Expr& to) {
      if (!interior.fills.empty()) fills_ = &interior.fills;
      range(from, to, fills_ != nullptr, nullptr, 0, fast);
      fills_ = nullptr;
    };
    edge(const_int(0), low);
    with_variants(low, high, &interior.dropped, fast);
    edge(high, n);
  } else {
    with_variants(const_int(0), n, &interior.dropped, fast);
  }
  if (!interior.guard || is_const(interior.guard)) {
    if (!interior.guard || interior.guard->value.bits)
      for (Statement& statement : fast) out.push_back(std::move(statement));
    else
      range(const_int(0), n, shape.flat.size() == 1, nullptr, 0, out);
    return;
  }
  Block slow;
  range(const_int(0), n, shape.flat.size() == 1, nullptr, 0, slow);
  push(out, If{interior.guard, std::move(fast), std::move(slow)});
}

}  // namespace galatea::kernel::lowering
