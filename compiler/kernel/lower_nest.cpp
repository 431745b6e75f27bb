// Nests: loops over a stage's domain that store each element.
//
// Comes in: a stage, its destinations, which axes are fixed. Goes out: serial loops around one vector loop (or one grid loop on a GPU). Shapes:
//   flat     innermost axes taken together, because every access moves through them alike: lane = x*C + c
//   pixel    lane = x, a small channel axis repeated inside: neighbouring loads and stores differ by a constant
//   planar   lane = the innermost axis
// and, where borders matter, `edge | interior without border arithmetic | edge`.
#include <algorithm>

#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int64_t kMaxUnrolledChannels = 4;
constexpr int64_t kMaxUnrolledTaps = 8;   ///< windows of known size
/// Tap counts with loops of their own, of bands whose count only the sample knows: resizing by 0.5 to 2 and small windows. Each costs
/// compile time (about 8 ms), the loop over any number costs run time (half as much again).
constexpr int64_t kFewestTapVariant = 2, kMostTapVariant = 5;

bool small_constant(const Expr& extent) { return is_const(extent) && const_value(extent) >= 1 && const_value(extent) <= kMaxUnrolledChannels; }

}  // namespace

int Lowering::lanes_for(const std::vector<Expr>& values) const {
  int widest = 1;
  for (const Expr& value : values)
    any_value_node(value, [&](const ExprNode& n) {
      if (n.type != DType::kI64) widest = std::max(widest, size_of(n.type));
      return false;
    });
  return std::max(options_.vector_bits / 8 / widest, 2);
}

size_t Lowering::collapsible(const AccessLog& log, const std::vector<Expr>& values, const std::vector<int>& vars,
                             const std::vector<Expr>& extents, bool border_on_outermost) const {
  const auto plain = [&](int variable) {
    for (const Expr& value : values)
      if (any_value_node(value, [&](const ExprNode& n) { return n.kind == ExprKind::kVar && n.index == variable; })) return false;
    for (const Linear& offset : log.offsets) {
      for (const Expr& e : offset.rest)
        if (mentions(e, variable)) return false;
      for (const auto& [other, coefficient] : offset.terms)
        if (mentions(coefficient, variable)) return false;
    }
    return true;
  };
  const auto bordered = [&](int variable) {
    for (const Bordered& b : log.bordered) {
      if (b.index.coefficient(variable)) return true;
      for (const Expr& e : b.index.rest)
        if (mentions(e, variable)) return true;
    }
    return false;
  };
  if (vars.empty() || !plain(vars.back()) || bordered(vars.back())) return vars.empty() ? 0 : 1;
  size_t count = 1;
  Expr inner = extents.back();
  while (count < vars.size()) {
    const size_t at = vars.size() - 1 - count;
    if (!plain(vars[at])) break;
    const bool has_border = bordered(vars[at]);
    if (has_border && !border_on_outermost) break;
    bool fits = true;
    for (const Linear& offset : log.offsets) {
      const Expr low = offset.coefficient(vars[at + 1]), high = offset.coefficient(vars[at]);
      if (!low && !high) continue;
      Lowering& self = const_cast<Lowering&>(*this);  // top() only remembers values
      fits &= low && high && !has_loop_var(low) && !has_loop_var(high) && same(self.top(high), self.top(low * extents[at + 1]));
    }
    if (!fits) break;
    ++count;
    if (has_border) break;
  }
  return count;
}

Shape Lowering::choose_shape(const Nest& nest, const AccessLog& log, const std::vector<Expr>& values, const std::vector<int>& vars, bool flatten) {
  Shape shape;
  shape.lanes = schedule_.stages.size() > static_cast<size_t>(nest.stage) && schedule_.stages[static_cast<size_t>(nest.stage)].lanes == LaneMapping::kScalar
                    ? 1 : lanes_for(values);
  if (nest.order.empty()) return shape;
  const std::vector<Expr>& extents = extents_[static_cast<size_t>(nest.stage)];
  const auto extent = [&](int axis) { return extents[static_cast<size_t>(axis)]; };
  std::vector<int> ordered_vars;
  std::vector<Expr> ordered_extents;
  for (const int axis : nest.order) {
    ordered_vars.push_back(vars[static_cast<size_t>(axis)]);
    ordered_extents.push_back(extent(axis));
  }
  shape.outer = nest.order;
  const auto take = [&](int axis) { shape.outer.erase(std::find(shape.outer.begin(), shape.outer.end(), axis)); };
  const size_t flat = !flatten ? 1 : collapsible(log, values, ordered_vars, ordered_extents, !options_.gpu);
  const int last = nest.order.back();
  if (flat > 1) {
    shape.flat.assign(nest.order.end() - static_cast<std::ptrdiff_t>(flat), nest.order.end());
    for (const int axis : shape.flat) take(axis);
    shape.inside = log.inside;
    return shape;
  }
  take(last);
  if (nest.order.size() > 1 && small_constant(extent(last))) {
    shape.unrolled = last;
    shape.flat = {nest.order[nest.order.size() - 2]};
    take(shape.flat[0]);
    return shape;
  }
  shape.flat = {last};
  for (const int axis : nest.order) {  // a planar destination of interleaved pixels: channels together, so that pixels are read once
    const auto interleaved = [&](const Linear& offset) {
      const Expr c = offset.coefficient(vars[static_cast<size_t>(axis)]), x = offset.coefficient(vars[static_cast<size_t>(last)]);
      return c && x && is_const_int(c, 1) && !is_const_int(x, 1);
    };
    if (axis == last || !small_constant(extent(axis)) || const_value(extent(axis)) == 1) continue;
    if (std::none_of(log.offsets.begin(), log.offsets.end(), interleaved)) continue;
    shape.unrolled = axis;
    take(axis);
    break;
  }
  return shape;
}

Interior Lowering::find_interior(const Nest& nest, const Shape& shape, const AccessLog& log, const std::vector<int>& vars) {
  Interior out;
  if (shape.flat.empty()) return out;
  const auto stage = static_cast<size_t>(nest.stage);
  const int along = shape.flat.front();
  const int x = vars[static_cast<size_t>(along)];
  const Expr n = extents_[stage][static_cast<size_t>(along)];
  std::set<std::pair<const ExprNode*, int>> kept;
  struct Use { std::pair<const ExprNode*, int> key; Expr low, high, extent, scale; };
  std::vector<Use> uses;
  for (const Bordered& b : log.bordered) {
    const std::pair<const ExprNode*, int> key{b.load, b.dim};
    const Expr scale = b.index.coefficient(x);
    bool fits = scale && !mentions(scale, x) && std::none_of(b.index.rest.begin(), b.index.rest.end(), [&](const Expr& e) {
      return any_node(e, [&](const ExprNode& node) {
        return node.kind == ExprKind::kVar && (node.index == x || depth_[static_cast<size_t>(node.index)] >= kInnerDepth);
      });
    });
    Linear uniform = b.index;
    Expr spread = const_int(0);
    for (auto it = uniform.terms.begin(); fits && it != uniform.terms.end();) {
      const int d = depth_[static_cast<size_t>(it->first)];
      const bool unrolled = shape.unrolled >= 0 && it->first == vars[static_cast<size_t>(shape.unrolled)];
      if (it->first == x) {
        it = uniform.terms.erase(it);
      } else if (d >= kInnerDepth || unrolled) {
        const Expr& loop = loop_extent_[static_cast<size_t>(it->first)];
        fits &= loop && is_const(it->second) && const_value(it->second) >= 0;
        if (fits) spread = spread + (loop - const_int(1)) * it->second;
        it = uniform.terms.erase(it);
      } else {
        ++it;
      }
    }
    if (!fits) {
      kept.insert(key);
      continue;
    }
    const Expr low = build(uniform);
    uses.push_back({key, low, low + spread, b.extent, scale});
  }
  for (const Use& use : uses) {
    if (kept.contains(use.key)) continue;
    out.dropped.insert(use.key);
    if (is_const_int(use.scale, 1)) {
      const Expr low = max(-use.low, const_int(0)), high = min(use.extent - use.high, n);
      out.low = out.low ? max(out.low, low) : low;
      out.high = out.high ? min(out.high, high) : high;
    } else {
      const Expr reach = use.scale * (n - const_int(1));
      const Expr inside = (use.low + min(reach, const_int(0)) >= const_int(0)) & (use.high + max(reach, const_int(0)) < use.extent);
      out.guard = out.guard ? (out.guard & inside) : inside;
    }
  }
  if (out.split()) {
    out.low = min(out.low, n);
    out.high = max(out.high, out.low);
  }
  return out;
}

std::vector<Expr> Lowering::trial(const Nest& nest, const Env& env, const DroppedBorders* dropped, AccessLog* log) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  std::vector<Expr> values;
  Env inner = env;
  if (stage.form == StageForm::kBand) {
    inner.tap = v(new_loop_var(top(stage.taps), kInnerDepth));
    values.push_back(translate(nest.stage, stage.weight, inner, dropped, log));
    values.push_back(translate(nest.stage, stage.source, inner, dropped, log));
  } else {
    for (const Expr& extent : stage.reduce_extents) inner.reduce_axes.push_back(v(new_loop_var(top(extent), kInnerDepth)));
    values.push_back(translate(nest.stage, stage.body, inner, dropped, log));
  }
  if (stage.form != StageForm::kMap) values.push_back(finish(nest.stage, inner, v(new_var(stage.accumulator)), dropped, log));
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

  // A trial translation shows which indices borders apply to; a second one, without those that are linear, how memory is walked.
  AccessLog log, walked;
  trial(nest, env, nullptr, &log);
  DroppedBorders linear;
  for (const Bordered& b : log.bordered) linear.insert({b.load, b.dim});
  for (const Bordered& b : log.bordered)
    if (std::any_of(b.index.rest.begin(), b.index.rest.end(), [&](const Expr& e) { return has_loop_var(e); })) linear.erase({b.load, b.dim});
  const std::vector<Expr> values = trial(nest, env, &linear, &walked);
  for (const Place& place : nest.places) walked.offsets.push_back(offset_of(place, env.axes));
  bool flatten = true;
  for (const Bordered& b : log.bordered) flatten &= !log.inside.contains({b.load, b.dim});
  Shape shape = choose_shape(nest, walked, values, vars, flatten);
  Interior interior = find_interior(nest, shape, log, vars);
  if (shape.flat.size() > 1) {
    for (const Bordered& b : log.bordered)
      for (const int axis : shape.flat) flatten &= !b.index.coefficient(vars[static_cast<size_t>(axis)]) || interior.dropped.contains({b.load, b.dim});
    if (!flatten) {
      shape = choose_shape(nest, walked, values, vars, false);
      interior = find_interior(nest, shape, log, vars);
    }
  }
  if (!options_.gpu && !specialised_ && shape.lanes > 1)
    if (const auto unknown = find_unknown(walked, shape, vars)) return emit_specialised(nest, *unknown, shape.flat.front(), out);
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
  // Tap counts that only the sample knows get loops of their own where the weights are the same in all lanes: around everything, or, where
  // edges are loops apart, around the interior only.
  const bool variants = has_tap_variants(nest, shape);
  Block body = loops(0, variants && interior.split());
  for (int64_t taps = variants && !interior.split() ? kMostTapVariant : 0; taps >= kFewestTapVariant; --taps) {
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

/// What keeps the vector loop's loads from being contiguous though a value of 1 or -1 would make them so.
std::optional<Unknown> Lowering::find_unknown(const AccessLog& log, const Shape& shape, const std::vector<int>& vars) const {
  if (shape.flat.size() != 1) return {};
  for (const Linear& offset : log.offsets) {
    Expr factor = offset.coefficient(vars[static_cast<size_t>(shape.flat.front())]);
    if (!factor || is_const(factor)) continue;
    if (factor->kind == ExprKind::kOp && factor->op == ScalarOp::kMul) factor = is_const(factor->args[0]) ? factor->args[1] : factor->args[0];
    Unknown unknown;
    if (factor->kind == ExprKind::kParam) {
      unknown.param = factor->index;
      return unknown;
    }
    for (size_t k = 0; k < inputs_.size(); ++k)
      for (size_t d = 0; d < inputs_[k].strides.size(); ++d) {
        if (inputs_[k].strides[d].get() != factor.get() && !same(inputs_[k].strides[d], factor)) continue;
        // The stride that a dense pixel has: only then is there something to gain.
        bool dense = d + 1 == inputs_[k].strides.size() || is_const_int(inputs_[k].strides.back(), 1);
        for (size_t inner = d + 1; inner < inputs_[k].strides.size(); ++inner) {
          const Expr& extent = input_extents_[k][inner];
          dense &= is_const(extent);
          if (dense) unknown.step *= const_value(extent);
        }
        if (!dense || unknown.step < 1 || unknown.step > kMaxUnrolledChannels) continue;
        unknown.input = static_cast<int>(k);
        unknown.dim = static_cast<int>(d);
        return unknown;
      }
  }
  return {};
}

/// Loops for +step, loops for -step, and plain ones for whatever else a call may bring.
void Lowering::emit_specialised(const Nest& nest, const Unknown& unknown, int along, Block& out) {
  const bool is_param = unknown.param >= 0;
  Expr* stride = is_param ? nullptr : &inputs_[static_cast<size_t>(unknown.input)].strides[static_cast<size_t>(unknown.dim)];
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
  // Backwards into planes: the destination is walked backwards instead, so that interleaved pixels are read forwards.
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

void Lowering::emit_grid(const Nest& nest, const Shape& shape, const std::vector<int>& vars, Block& out) {
  const auto s = static_cast<size_t>(nest.stage);
  Expr total = const_int(1), flat_extent = const_int(1);
  for (const int axis : shape.flat) flat_extent = flat_extent * extents_[s][static_cast<size_t>(axis)];
  for (const int axis : shape.outer) total = total * extents_[s][static_cast<size_t>(axis)];
  std::vector<Expr> looped;
  for (const int axis : nest.order) looped.push_back(extents_[s][static_cast<size_t>(axis)]);
  total = top(select(all_positive(looped), total * flat_extent, const_int(0)));
  const int g = new_loop_var(total, 50);
  Block body;
  Env env;
  for (size_t d = 0; d < vars.size(); ++d) env.axes.push_back(nest.fixed[d]);
  const auto set_extent = [&](const Expr& position, const Expr& extent) {
    if (position->kind == ExprKind::kVar) loop_extent_[static_cast<size_t>(position->index)] = extent;
  };
  Expr rest = v(g);
  if (!shape.flat.empty()) {
    Expr position = rest;
    if (!shape.outer.empty()) {
      position = let_index(rest % top(flat_extent), kVectorDepth, body);
      rest = let(rest / top(flat_extent), body);
    }
    for (const int axis : shape.flat) env.axes[static_cast<size_t>(axis)] = const_int(0);
    env.axes[static_cast<size_t>(shape.flat.back())] = position;
    if (shape.flat.size() == 1) set_extent(position, extents_[s][static_cast<size_t>(shape.flat[0])]);
  }
  for (size_t i = shape.outer.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(shape.outer[i]);
    Expr here = rest;
    if (i > 0) {
      here = let_index(rest % extents_[s][axis], 100, body);
      rest = let(rest / extents_[s][axis], body);
    } else if (rest->kind == ExprKind::kVar && rest->index != g) {
      depth_[static_cast<size_t>(rest->index)] = 100;
    }
    set_extent(here, extents_[s][axis]);
    env.axes[axis] = here;
  }
  emit_element(nest, shape, env, shape.flat.size() > 1 ? &shape.inside : nullptr, 0, body);
  push(out, For{g, const_int(0), total, LoopRole::kGrid, 1, 1, std::move(body)});
}

bool Lowering::has_tap_variants(const Nest& nest, const Shape& shape) const {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  if (stage.form != StageForm::kBand || is_const(stage.taps) || shape.lanes == 1 || shape.flat.empty()) return false;
  return !any_node(stage.weight, [&](const ExprNode& e) { return e.kind == ExprKind::kAxis && e.index == shape.flat.front(); });
}

/// `taps`: how many there are in this copy of the loops, 0: unknown (then copies for small numbers are made here).
void Lowering::emit_vector_level(const Nest& nest, const Shape& shape, const Interior& interior, const std::vector<int>& vars, Env env, int64_t known_taps, bool variants, Block& out) {
  const auto s = static_cast<size_t>(nest.stage);
  const Stage& stage = kernel_.stages[s];
  if (shape.flat.empty()) return emit_element(nest, shape, env, nullptr, known_taps, out);
  const auto along = static_cast<size_t>(shape.flat.front());
  const Expr n = extents_[s][along];

  // One loop over [low, high) of the split axis; `together`: over all flat axes at once.
  const auto range = [&](const Expr& low, const Expr& high, bool vector, const DroppedBorders* dropped, int64_t taps, Block& block) {
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
      for (size_t i = 1; i < shape.flat.size(); ++i) size = size * extents_[s][static_cast<size_t>(shape.flat[i])];
      begin = low * size;
      end = is_const_int(low, 0) && high.get() == n.get() ? top(n * size) : high * size;
      loop = new_loop_var(Expr(), kVectorDepth);
      for (const int axis : shape.flat) inner.axes[static_cast<size_t>(axis)] = const_int(0);
      inner.axes[static_cast<size_t>(shape.flat.back())] = v(loop);
    }
    const int saved = depth_[static_cast<size_t>(loop)];
    if (vector) depth_[static_cast<size_t>(loop)] = kVectorDepth;
    const bool scalar = !vector || shape.lanes == 1;
    if (!together && shape.flat.size() > 1) {  // an edge: the flat axes one by one
      emit_element(nest, shape, inner, dropped, taps, body);
      for (size_t i = shape.flat.size(); i-- > 1;) {
        const auto axis = static_cast<size_t>(shape.flat[i]);
        Block outer;
        push(outer, For{vars[axis], const_int(0), extents_[s][axis], LoopRole::kSerial, 1, 1, std::move(body)});
        body = std::move(outer);
      }
    } else {
      emit_element(nest, shape, inner, dropped, taps, body);
    }
    push(block, For{loop, begin, end, scalar ? LoopRole::kSerial : LoopRole::kVector, scalar ? 1 : shape.lanes, 1, std::move(body)});
    depth_[static_cast<size_t>(loop)] = saved;
  };

  const auto with_variants = [&](const Expr& low, const Expr& high, const DroppedBorders* dropped, Block& block) {
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

  if (interior.dropped.empty()) return with_variants(const_int(0), n, nullptr, out);
  Block fast;
  if (interior.split()) {
    const Expr low = let(interior.low, fast), high = let(interior.high, fast);
    range(const_int(0), low, false, nullptr, 0, fast);
    with_variants(low, high, &interior.dropped, fast);
    range(high, n, false, nullptr, 0, fast);
  } else {
    with_variants(const_int(0), n, &interior.dropped, fast);
  }
  if (!interior.guard || is_const(interior.guard)) {
    if (!interior.guard || interior.guard->value.bits)
      for (Statement& statement : fast) out.push_back(std::move(statement));
    else range(const_int(0), n, shape.flat.size() == 1, nullptr, 0, out);
    return;
  }
  Block slow;
  range(const_int(0), n, shape.flat.size() == 1, nullptr, 0, slow);
  push(out, If{interior.guard, std::move(fast), std::move(slow)});
}

void Lowering::emit_element(const Nest& nest, const Shape& shape, Env env, const DroppedBorders* dropped, int64_t taps, Block& out) {
  if (shape.unrolled < 0) return emit_one(nest, env, dropped, taps, out);
  const auto axis = static_cast<size_t>(shape.unrolled);
  const int64_t n = const_value(extents_[static_cast<size_t>(nest.stage)][axis]);
  if (has_tap_loop(nest, taps)) {
    std::vector<Env> channels;
    for (int64_t c = 0; c < n; ++c) {
      env.axes[axis] = const_int(c);
      channels.push_back(env);
    }
    return emit_tap_loop(nest, channels, dropped, out);
  }
  for (int64_t c = 0; c < n; ++c) {
    env.axes[axis] = const_int(c);
    emit_one(nest, env, dropped, taps, out);
  }
}

Expr Lowering::band_step(const Stage& stage, const Expr& acc, const Expr& weight, const Expr& source) const {
  const Expr w = convert(weight, stage.accumulator), x = convert(source, stage.accumulator);
  return is_float(stage.accumulator) ? fma(w, x, acc) : acc + w * x;
}

Expr Lowering::finish(int s, const Env& env, const Expr& acc, const DroppedBorders* dropped, AccessLog* log) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  if (!stage.finish) return convert(acc, stage.type);
  Env with_acc = env;
  with_acc.acc = acc;
  return translate(s, stage.finish, with_acc, dropped, log);
}

bool Lowering::has_tap_loop(const Nest& nest, int64_t known_taps) const {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  return stage.form == StageForm::kBand && known_taps == 0 && (!is_const(stage.taps) || const_value(stage.taps) > kMaxUnrolledTaps);
}

/// One loop over the taps for all channels of a pixel.
void Lowering::emit_tap_loop(const Nest& nest, const std::vector<Env>& channels, const DroppedBorders* dropped, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  const int k = new_loop_var(top(stage.taps), kInnerDepth);
  std::vector<Expr> sums;
  Block body;
  for (const Env& env : channels) {
    const int sum = new_var(stage.accumulator);
    sums.push_back(v(sum));
    push(out, Declare{sum, constant(stage.accumulator, Cell{})});
    Env at_tap = env;
    at_tap.tap = v(k);
    push(body, Assign{sum, band_step(stage, v(sum), translate(nest.stage, stage.weight, at_tap, dropped), translate(nest.stage, stage.source, at_tap, dropped))});
  }
  push(out, For{k, const_int(0), top(stage.taps), LoopRole::kSerial, 1, 1, std::move(body)});
  for (size_t c = 0; c < channels.size(); ++c) store(nest.places, channels[c].axes, finish(nest.stage, channels[c], sums[c], dropped), out);
}

void Lowering::emit_one(const Nest& nest, const Env& env, const DroppedBorders* dropped, int64_t taps, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  if (stage.form == StageForm::kMap) return store(nest.places, env.axes, translate(nest.stage, stage.body, env, dropped), out);
  if (stage.form == StageForm::kReduce) {
    const Expr acc = emit_reduce_element(nest.stage, env, dropped, out);
    return store(nest.places, env.axes, finish(nest.stage, env, acc, dropped), out);
  }
  if (has_tap_loop(nest, taps)) return emit_tap_loop(nest, {env}, dropped, out);
  if (taps == 0) taps = const_value(stage.taps);
  Expr acc = constant(stage.accumulator, Cell{});
  Env at_tap = env;
  for (int64_t k = 0; k < taps; ++k) {
    at_tap.tap = const_int(k);
    acc = band_step(stage, acc, translate(nest.stage, stage.weight, at_tap, dropped), translate(nest.stage, stage.source, at_tap, dropped));
  }
  store(nest.places, env.axes, finish(nest.stage, env, acc, dropped), out);
}

}  // namespace galatea::kernel::lowering
