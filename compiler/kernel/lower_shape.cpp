// How a nest loops: which axes are taken together, which is repeated, where borders need not be looked at.
//
// Comes in: the log of a trial translation. Goes out: the nest's shape and its interior.
//
// Off, at 224 x 224 (`./dev bench per-op`, bytes, 2-core AMD EPYC, Zen 5): `brightness` takes 13 times as
// long without axes taken together, `flip horizontal` 6 times without loops for both directions, `pad` 1.4
// times where edges are not known to be fills; with planes one after the other, `color-chain` to floats and
// `geometry-chain` 1.6 times, `train-color-rotate` 1.1 times, `transpose CHW` 1.6 times at 1080p.
#include <algorithm>

#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int64_t kMaxUnrolledChannels = 4;

bool small_constant(const Expr& extent) {
  return is_const(extent) && const_value(extent) >= 1 && const_value(extent) <= kMaxUnrolledChannels;
}

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

size_t Lowering::collapsible(const AccessLog& log, const std::vector<Expr>& values,
                             const std::vector<int>& vars, const std::vector<Expr>& extents,
                             bool border_on_outermost) const {
  const auto plain = [&](int variable) {
    for (const Expr& value : values)
      if (any_value_node(value,
                         [&](const ExprNode& n) { return n.kind == ExprKind::kVar && n.index == variable; }))
        return false;
    for (const Linear& offset : log.offsets) {
      // The offset of a load inside an offset is in the log as well.
      for (const Expr& e : offset.rest)
        if (any_value_node(
                e, [&](const ExprNode& n) { return n.kind == ExprKind::kVar && n.index == variable; }))
          return false;
      for (const auto& [other, coefficient] : offset.terms)
        if (mentions(coefficient, variable)) return false;
    }
    return true;
  };
  const auto bordered = [&](int variable) {
    if (std::find(log.split.begin(), log.split.end(), variable) != log.split.end()) return true;
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
      fits &= low && high && !has_loop_var(low) && !has_loop_var(high);
      if (!fits) break;
      Lowering& self = const_cast<Lowering&>(*this);  // top() only remembers values
      const Expr run = low * extents[at + 1];
      fits = box_ ? same(high, run) : same(self.top(high), self.top(run));
    }
    if (!fits) break;
    ++count;
    if (has_border) break;
  }
  return count;
}

Shape Lowering::choose_shape(const Nest& nest, const AccessLog& log, const std::vector<Expr>& values,
                             const std::vector<int>& vars, bool flatten) {
  Shape shape;
  shape.lanes = schedule_.stages.size() > static_cast<size_t>(nest.stage) &&
                        schedule_.stages[static_cast<size_t>(nest.stage)].lanes == LaneMapping::kScalar
                    ? 1
                    : lanes_for(values);
  if (nest.order.empty()) return shape;
  std::vector<Expr> extents;
  for (int d = 0; d < kernel_.stages[static_cast<size_t>(nest.stage)].rank(); ++d)
    extents.push_back(looped_extent(nest.stage, d));
  const auto extent = [&](int axis) { return extents[static_cast<size_t>(axis)]; };
  std::vector<int> ordered_vars;
  std::vector<Expr> ordered_extents;
  for (const int axis : nest.order) {
    ordered_vars.push_back(vars[static_cast<size_t>(axis)]);
    ordered_extents.push_back(extent(axis));
  }
  shape.outer = nest.order;
  const auto take = [&](int axis) {
    shape.outer.erase(std::find(shape.outer.begin(), shape.outer.end(), axis));
  };
  const size_t flat = !flatten ? 1 : collapsible(log, values, ordered_vars, ordered_extents, !options_.gpu);
  const int last = nest.order.back();
  if (flat > 1) {
    shape.flat.assign(nest.order.end() - static_cast<std::ptrdiff_t>(flat), nest.order.end());
    for (const int axis : shape.flat) take(axis);
    shape.inside = log.inside;
    unroll_planes(log, vars, last, &shape, extents);
    return shape;
  }
  take(last);
  if (nest.order.size() > 1 && small_constant(extent(last))) {
    // Interleaved pixels: channels repeated inside, pixels taken together as far as rows lie densely.
    shape.unrolled = last;
    ordered_vars.pop_back();
    ordered_extents.pop_back();
    const size_t pixels =
        !flatten ? 1 : collapsible(log, values, ordered_vars, ordered_extents, !options_.gpu);
    shape.flat.assign(shape.outer.end() - static_cast<std::ptrdiff_t>(std::max<size_t>(pixels, 1)),
                      shape.outer.end());
    for (const int axis : shape.flat) take(axis);
    if (shape.flat.size() > 1) shape.inside = log.inside;
    return shape;
  }
  shape.flat = {last};
  unroll_planes(log, vars, last, &shape, extents);
  return shape;
}

/// A planar destination whose channels read the same elements, or neighbouring ones, or such at computed
/// places: channels together, so that pixels are read (and what they share is computed) once.
void Lowering::unroll_planes(const AccessLog& log, const std::vector<int>& vars, int last, Shape* shape,
                             const std::vector<Expr>& extents) const {
  for (const int axis : shape->outer) {
    const auto shared = [&](const Linear& offset) {
      const Expr c = offset.coefficient(vars[static_cast<size_t>(axis)]),
                 x = offset.coefficient(vars[static_cast<size_t>(last)]);
      const bool computed = std::any_of(offset.rest.begin(), offset.rest.end(), [&](const Expr& e) {
        return mentions(e, vars[static_cast<size_t>(last)]);
      });
      return computed || (x && (!c || (is_const_int(c, 1) && !is_const_int(x, 1))));
    };
    const Expr& channels = extents[static_cast<size_t>(axis)];
    if (!small_constant(channels) || const_value(channels) == 1) continue;
    if (std::none_of(log.offsets.begin(), log.offsets.end(), shared)) continue;
    shape->unrolled = axis;
    shape->outer.erase(std::find(shape->outer.begin(), shape->outer.end(), axis));
    return;
  }
}

Interior Lowering::find_interior(const Nest& nest, const Shape& shape, const AccessLog& log,
                                 const std::vector<int>& vars) {
  Interior out;
  if (shape.flat.empty()) return out;
  const auto stage = static_cast<size_t>(nest.stage);
  const int along = shape.flat.front();
  const int x = vars[static_cast<size_t>(along)];
  const Expr n = extents_[stage][static_cast<size_t>(along)];
  std::set<std::pair<const ExprNode*, int>> kept;
  struct Use {
    std::pair<const ExprNode*, int> key;
    Expr low, high, extent, scale;
  };
  std::vector<Use> uses;
  for (const Bordered& b : log.bordered) {
    const std::pair<const ExprNode*, int> key{b.load, b.dim};
    const Expr scale = b.index.coefficient(x);
    bool fits = scale && !mentions(scale, x) &&
                std::none_of(b.index.rest.begin(), b.index.rest.end(), [&](const Expr& e) {
                  return any_node(e, [&](const ExprNode& node) {
                    return node.kind == ExprKind::kVar &&
                           (node.index == x || depth_[static_cast<size_t>(node.index)] >= kInnerDepth);
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
      const Expr inside = (use.low + min(reach, const_int(0)) >= const_int(0)) &
                          (use.high + max(reach, const_int(0)) < use.extent);
      out.guard = out.guard ? (out.guard & inside) : inside;
    }
  }
  if (!out.split()) return out;
  out.low = min(out.low, n);
  out.high = max(out.high, out.low);
  // Where all that is read has the same place and a fill around it, an edge is that fill. (What divides on
  // the way to that place raises its flag whether the element is there or not.)
  const Use& first = uses.front();
  const auto is_its_fill = [](const Bordered& b) {
    return b.load->border == Border::kConstant &&
           std::none_of(b.load->args.begin(), b.load->args.end(), may_divide_by_zero);
  };
  const bool fills =
      !out.guard && std::all_of(log.bordered.begin(), log.bordered.end(), is_its_fill) &&
      std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
        return same(use.low, first.low) && same(use.high, first.low) && same(use.extent, first.extent);
      });
  for (const Use& use : uses)
    if (fills) out.fills.insert(use.key.first);
  for (const Bordered& b : log.bordered)
    if (!out.fills.contains(b.load)) out.fills.clear();
  return out;
}

bool Lowering::is_extent(const Expr& e) const {
  const auto has = [&](const std::vector<Expr>& extents) {
    return std::any_of(extents.begin(), extents.end(), [&](const Expr& extent) { return same(extent, e); });
  };
  return std::any_of(extents_.begin(), extents_.end(), has) ||
         std::any_of(input_extents_.begin(), input_extents_.end(), has);
}

/// What keeps the vector loop's loads from being contiguous though a value of 1 or -1 would make them so.
std::optional<Unknown> Lowering::find_unknown(const AccessLog& log, const Shape& shape,
                                              const std::vector<int>& vars) const {
  if (shape.flat.size() != 1) return {};
  for (const Linear& offset : log.offsets) {
    Expr factor = offset.coefficient(vars[static_cast<size_t>(shape.flat.front())]);
    if (!factor || is_const(factor)) continue;
    if (factor->kind == ExprKind::kOp && factor->op == ScalarOp::kMul)
      factor = is_const(factor->args[0]) ? factor->args[1] : factor->args[0];
    Unknown unknown;
    if (factor->kind == ExprKind::kParam) {
      if (is_extent(factor)) continue;  // of a table's rows: nothing that may be 1 or -1
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

}  // namespace galatea::kernel::lowering
