// Gathers: vector loops whose loads have computed indices, as warps have them.
//
// Comes in: a vector loop of stores as lowering writes it, where an index that may lie outside is
// max(min(i, last), 0), or i reflected at 0 and last, with an i that differs from lane to lane. Goes out: the
// same values from a loop that
//
//   computes indices and offsets in 32 bits, in a copy of the loop that runs where a buffer is small enough
//            (`guard`; else the loop runs element by element);
//   reads neighbours together: i and i + 1 become elements 0 and 1 from the place of i, and a choice between
//            the two, so that an emitter can read both at once (beyond the last element there is padding;
//            what lies before the first one wanted may not exist);
//   asks once for all lanes whether every index is inside (then no border is looked at) or no load counts
//            (then none is done): If::shortcut;
//   asks whether lane after lane takes pixel after pixel of one row, as when the source is only shifted (then
//            pixels are read in runs), and whether weights of interpolations are zero (then there are fewer
//            neighbours to read: shifts by whole rows, shears; lower_weights.cpp);
//   takes two vectors side by side (For::unroll) where interpolated bytes become floats: from a pixel's place
//            to its store is a long way then, of which a processor sees too little at once to begin with the
//            next vector. Bytes that stay bytes gain less, and as arms of a policy are compiled by the dozen.
//
// Knows indices and borders only, no operator. Loops of other forms stay as they are. Emitters find loads
// that belong together by their offsets: ((uniform + i64(i32 per lane)) + constant).
//
// Off, `rotate` of bytes takes 4.6 times as long at 224 x 224. Without the question for indices inside
// `warp_affine cubic` takes 2.2 times as long, without that for loads that count `shear` 1.1 times, without
// that for runs `shift` 2.6 times; one vector at a time, `geometry-chain composed` takes 1.15 times as long
// (`./dev bench`, 2-core AMD EPYC, Zen 5).
#include <algorithm>
#include <map>

#include "compiler/kernel/lower_gather.h"
#include "compiler/kernel/lower_weights.h"
#include "compiler/kernel/simplify_expr.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int64_t kMaxShift = 1 << 16;
constexpr int64_t kMaxOffset = int64_t{1} << 30;  ///< of narrow offsets and indices
constexpr int64_t kWordBytes = 8;                 ///< what one lane reads at once
constexpr size_t kMaxLoads = 64;                  ///< beyond, copies of the body are not worth their size
constexpr size_t kFewLoads = 4;                   ///< so few that a processor sees the next vector by itself
constexpr size_t kMaxSideBySide = 12;             ///< loads of which two vectors fit in the registers
constexpr size_t kMostWeights = 2;                ///< of interpolations: across rows and along them
constexpr int64_t kMaxChannels = 4;               ///< elements from pixel to pixel in a run

Expr add_if(const Expr& a, const Expr& b) { return !a ? b : !b ? a : a + b; }
Expr and_if(const Expr& a, const Expr& b) { return !a ? b : !b ? a : a & b; }
Expr i32(const Expr& e) { return convert(e, DType::kI32); }

/// e = base + shift.
Expr without_constant(const Expr& e, int64_t* shift) {
  *shift = 0;
  if (!is_op(e, ScalarOp::kAdd) || !is_const(e->args[1])) return e;
  *shift = const_value(e->args[1]);
  return e->args[0];
}

/// The last index of an axis whose other axes have elements: lower_access.cpp gives an axis none where one of
/// them has none.
Expr last_of_axis(const Expr& last) {
  const bool guarded = is_op(last, ScalarOp::kAdd) && is_op(last->args[0], ScalarOp::kSelect) &&
                       is_const_int(last->args[0]->args[2], 0);
  return guarded ? last->args[0]->args[1] + last->args[1] : last;
}

/// index and last, if the expression is an index reflected at 0 and last, as lower_access.cpp writes it.
bool match_reflected(const Expr& e, Expr* index, Expr* last) {
  if (!is_op(e, ScalarOp::kMax) || !is_op(e->args[0], ScalarOp::kMin)) return false;
  const Expr &wrapped = e->args[0]->args[0], &mirrored = e->args[0]->args[1];
  if (!is_op(mirrored, ScalarOp::kSub) || !same(mirrored->args[1], wrapped)) return false;
  if (!is_op(wrapped, ScalarOp::kSelect) || !is_op(wrapped->args[2], ScalarOp::kRem)) return false;
  const Expr& twice = mirrored->args[0];
  if (is_const(twice))
    *last = const_int(const_value(twice) / 2);
  else if (is_op(twice, ScalarOp::kMul) && is_const_int(twice->args[1], 2))
    *last = twice->args[0];
  else
    return false;
  *index = wrapped->args[2]->args[0];
  return true;
}

}  // namespace

GatherLoop::GatherLoop(LoopKernel& kernel, const For& loop) : kernel_(kernel), loop_(loop) {}

bool GatherLoop::varies(const Expr& e) const {
  return any_node(e, [&](const ExprNode& n) {
    return (n.kind == ExprKind::kVar && n.index == loop_.var) || n.kind == ExprKind::kLoadFlat;
  });
}

int GatherLoop::index_of(const Expr& base, const Expr& last) {
  for (size_t i = 0; i < indices_.size(); ++i)
    if (same(indices_[i].base, base) && !indices_[i].last == !last && (!last || same(indices_[i].last, last)))
      return static_cast<int>(i);
  GatherIndex index;
  index.base = base;
  index.varies = varies(base);
  index.last = last;
  indices_.push_back(std::move(index));
  return static_cast<int>(indices_.size()) - 1;
}

/// Places, without their shifts, that are compared with a bound.
void GatherLoop::find_comparisons() {
  for (const Statement& statement : loop_.body)
    for_each_expr(statement, [&](const Expr& value) {
      for_each_node(value, [&](const Expr& e) {
        int64_t shift = 0;
        if (is_op(e, ScalarOp::kLt) || is_op(e, ScalarOp::kGe))
          compared_.push_back(without_constant(e->args[0], &shift));
      });
    });
}

bool GatherLoop::is_compared(const Expr& base) const {
  return std::any_of(compared_.begin(), compared_.end(), [&](const Expr& e) { return same(e, base); });
}

/// One summand of an offset: a clamped index or the loop's variable, times something that all lanes share.
bool GatherLoop::add_term(const Expr& e, const Expr& scale, GatherOffset* out) {
  const Expr factor = scale ? scale : const_int(1);
  if (e->kind == ExprKind::kVar && e->index == loop_.var) {
    out->terms.push_back({index_of(e, Expr()), 0, factor, Expr()});
    return true;
  }
  if (is_op(e, ScalarOp::kMul) && !scale) {
    for (size_t i : {size_t{0}, size_t{1}})
      if (!varies(e->args[1 - i])) return add_term(e->args[i], e->args[1 - i], out);
    return false;
  }
  if (!is_op(e, ScalarOp::kMax) || !is_const_int(e->args[1], 0)) return false;
  Expr index, last, reflected;
  if (match_reflected(e, &index, &last)) {
    reflected = e;
  } else if (const Expr& inner = e->args[0]; is_op(inner, ScalarOp::kMin)) {
    index = inner->args[0];
    last = inner->args[1];
  }
  if (!index || varies(last)) return false;
  int64_t shift = 0;
  const Expr base = without_constant(index, &shift);
  // What all lanes share is an index where it may lie outside: then it is asked for with the others.
  if ((!varies(base) && (reflected || !is_compared(base))) || std::abs(shift) > kMaxShift) return false;
  out->terms.push_back({index_of(base, last), shift, factor, reflected});
  return true;
}

/// An index that all lanes share, times something.
bool GatherLoop::add_shared(const Expr& e, GatherOffset* out) {
  if (!is_op(e, ScalarOp::kMul)) return is_op(e, ScalarOp::kMax) && add_term(e, const_int(1), out);
  for (size_t i : {size_t{0}, size_t{1}})
    if (is_op(e->args[i], ScalarOp::kMax) && add_term(e->args[i], e->args[1 - i], out)) return true;
  return false;
}

bool GatherLoop::add_offset(const Expr& e, GatherOffset* out) {
  if (is_const(e)) {
    out->constant += const_value(e);
    return true;
  }
  if (!varies(e) && !is_op(e, ScalarOp::kAdd)) {
    if (!add_shared(e, out)) out->uniform = add_if(out->uniform, e);
    return true;
  }
  if (is_op(e, ScalarOp::kAdd)) return add_offset(e->args[0], out) && add_offset(e->args[1], out);
  return add_term(e, Expr(), out);
}

/// Finds the gathers; false if there are none that this file has a form for.
bool GatherLoop::find() {
  find_comparisons();
  NodeSet seen;
  const std::function<void(const Expr&)> visit = [&](const Expr& e) {
    if (!seen.insert(e.get())) return;
    for (const Expr& arg : e->args) visit(arg);
    if (e->kind != ExprKind::kLoadFlat || !varies(e->args[0])) return;
    GatherOffset offset;
    if (!add_offset(e->args[0], &offset)) return;
    const bool clamped = std::any_of(offset.terms.begin(), offset.terms.end(), [&](const GatherTerm& t) {
      const GatherIndex& index = indices_[static_cast<size_t>(t.index)];
      return index.last && index.varies;
    });
    if (!clamped) return;  // linear in the loop's variable: not a gather
    gathers_.emplace(e.get(), std::move(offset));
  };
  for (const Statement& statement : loop_.body) {
    const auto* store = std::get_if<Store>(&statement.node);
    if (!store) return false;
    visit(store->value);
  }
  if (gathers_.empty() || gathers_.size() > kMaxLoads) return false;
  for (const auto& [load, offset] : gathers_)
    for (const GatherTerm& term : offset.terms) {
      GatherIndex& index = indices_[static_cast<size_t>(term.index)];
      index.low = index.used ? std::min(index.low, term.shift) : term.shift;
      index.high = index.used ? std::max(index.high, term.shift) : term.shift;
      index.used = true;
    }
  return true;
}

/// Neighbours along an index lie in one word: scale · (distance + 1) elements.
bool GatherLoop::is_paired(const ExprNode& load, const GatherTerm& term) const {
  const GatherIndex& index = indices_[static_cast<size_t>(term.index)];
  if (!index.last || !index.varies || term.reflected || index.low == index.high || !is_const(term.scale))
    return false;
  const int64_t scale = const_value(term.scale);
  return scale > 0 && scale * (index.high - index.low + 1) * size_of(load.type) <= kWordBytes;
}

/// What must hold of sizes for 32 bits to be enough.
Expr GatherLoop::guard() const {
  Expr out;
  std::vector<Expr> reaches;
  for (const auto& [load, offset] : gathers_) {
    Expr reach;
    for (const GatherTerm& term : offset.terms) {
      const GatherIndex& index = indices_[static_cast<size_t>(term.index)];
      const Expr extent = max(index.last ? index.last : loop_.end, const_int(0)) + const_int(1);
      const Expr scale =
          is_const(term.scale) ? const_int(std::abs(const_value(term.scale))) : max(term.scale, -term.scale);
      reach = add_if(reach, extent * scale);
    }
    if (std::none_of(reaches.begin(), reaches.end(), [&](const Expr& r) { return same(r, reach); }))
      reaches.push_back(reach);
  }
  for (const GatherIndex& index : indices_)
    if (index.used) reaches.push_back(index.last ? index.last : loop_.end);
  for (const Expr& reach : reaches) {
    const Expr small = reach < const_int(kMaxOffset);
    if (!is_const(small) || !small->value.bits) out = and_if(out, small);
  }
  return out ? out : const_bool(true);
}

/// The index in 32 bits. What cannot be proven to fit is held close to the range first, which changes
/// nothing: it is compared with the range only.
void GatherLoop::name_indices(Block* out) {
  for (GatherIndex& index : indices_) {
    if (!index.used) continue;
    Expr value;
    if (is_op(index.base, ScalarOp::kConvert) && index.base->args[0].type() == DType::kI32)
      value = index.base->args[0];
    else if (!index.last)
      value = i32(index.base);
    else
      value = i32(max(min(index.base, index.last + const_int(2 * kMaxShift)), const_int(-2 * kMaxShift)));
    index.definition = value;
    index.value = let(value, out);
  }
}

/// index + shift, inside, in 32 bits.
Expr GatherLoop::clamped(const GatherIndex& index, int64_t shift, const Expr& last) const {
  const Expr low = const_int(-shift, DType::kI32), high = i32(last - const_int(shift));
  const Expr value = max(min(index.value, high), low);
  return shift == 0 ? value : value + const_int(shift, DType::kI32);
}

Expr GatherLoop::load_inside(const ExprNode& load, const GatherOffset& offset) const {
  Expr lanes, uniform = offset.uniform;
  int64_t constant = offset.constant;
  for (const GatherTerm& term : offset.terms) {
    const GatherIndex& index = indices_[static_cast<size_t>(term.index)];
    if (index.varies)
      lanes = add_if(lanes, index.value * i32(term.scale));
    else
      uniform = add_if(uniform, convert(index.value, DType::kI64) * term.scale);
    if (is_const(term.scale))
      constant += term.shift * const_value(term.scale);
    else if (term.shift != 0)
      uniform = add_if(uniform, const_int(term.shift) * term.scale);
  }
  const Expr narrow = convert(lanes, DType::kI64);
  return load_flat(load.index, load.type, (uniform ? uniform + narrow : narrow) + const_int(constant));
}

/// Finds the index that may go from pixel to pixel of a run: the one with the least scale.
void GatherLoop::find_run() {
  for (const auto& [load, offset] : gathers_)
    for (const GatherTerm& term : offset.terms) {
      const bool small = indices_[static_cast<size_t>(term.index)].varies && is_const(term.scale) &&
                         const_value(term.scale) >= 1 && const_value(term.scale) <= kMaxChannels;
      if (small && running_ >= 0 && running_ != term.index) return void(running_ = -2);
      if (small && running_ == -1) running_ = term.index;
    }
  for (const auto& [load, offset] : gathers_)
    if (std::none_of(offset.terms.begin(), offset.terms.end(), [&](const GatherTerm& t) {
          return t.index == running_ && is_const(t.scale) && const_value(t.scale) <= kMaxChannels;
        }))
      running_ = -2;
  for (const GatherIndex& index : indices_)
    if (index.used &&
        any_node(index.definition, [](const ExprNode& n) { return n.kind == ExprKind::kLoadFlat; }))
      running_ = -2;
}

/// What the indices of a run would be: those in the middle of the row tell for all, less the place there if
/// they move along.
void GatherLoop::name_run(Block* out) {
  const Expr middle = binary(ScalarOp::kShr, loop_.begin + loop_.end, const_int(1));
  for (size_t i = 0; i < indices_.size(); ++i) {
    GatherIndex& index = indices_[i];
    if (!index.used) continue;
    const Expr there = rewrite(index.definition, [&](const Expr& e) {
      return e->kind == ExprKind::kVar && e->index == loop_.var ? middle : Expr();
    });
    index.run = let(static_cast<int>(i) == running_ ? there - i32(middle) : there, out);
  }
}

Block GatherLoop::inside_body() const {
  if (running_ < 0) return body(Place::kInside);
  Block out;
  out.push_back(
      {If{is_run(), ask_for_zeros(Place::kRun, 0, {}), ask_for_zeros(Place::kInside, 0, {}), true}, {}});
  return out;
}

/// Whether it interpolates along the index that goes from pixel to pixel.
bool GatherLoop::goes_along(const Expr& weight) const {
  bool out = false;
  for_each_node(indices_[static_cast<size_t>(running_)].definition, [&](const Expr& e) {
    out |= is_op(e, ScalarOp::kFloor) && is_op(weight, ScalarOp::kSub) && same(e, weight->args[1]);
  });
  return out;
}

/// The body where lanes are at such a place and these weights are zero; the weights from `next` on are asked
/// for. Lanes that go from row to row with none between two rows are of a picture turned by a right angle:
/// too seldom for a copy of the body.
Block GatherLoop::ask_for_zeros(Place place, size_t next, const std::vector<Expr>& zeros) const {
  while (next < weights_.size() && place == Place::kInside && !goes_along(weights_[next])) ++next;
  if (next == weights_.size()) return body(place, zeros);
  const Expr& weight = weights_[next];
  std::vector<Expr> more = zeros;
  more.push_back(weight);
  Block out;
  out.push_back({If{equal(rewritten(weight, place), const_float(0, weight.type())),
                    ask_for_zeros(place, next + 1, more), ask_for_zeros(place, next + 1, zeros), true},
                 {}});
  return out;
}

Expr GatherLoop::let(const Expr& value, Block* out) {
  kernel_.var_types.push_back(value.type());
  const int variable = static_cast<int>(kernel_.var_types.size()) - 1;
  out->push_back({Let{variable, value}, {}});
  return var(variable, value.type());
}

Expr GatherLoop::is_run() const {
  Expr out;
  const Expr x = i32(var(loop_.var, DType::kI64));
  for (size_t i = 0; i < indices_.size(); ++i) {
    const GatherIndex& index = indices_[i];
    if (index.used && index.varies)
      out = and_if(out, equal(index.value, static_cast<int>(i) == running_ ? x + index.run : index.run));
  }
  return out;
}

Expr GatherLoop::load_run(const ExprNode& load, const GatherOffset& offset) const {
  Expr uniform = offset.uniform, lanes;
  int64_t constant = offset.constant;
  for (const GatherTerm& term : offset.terms) {
    const Expr start =
        convert(indices_[static_cast<size_t>(term.index)].run, DType::kI64) + const_int(term.shift);
    uniform = add_if(uniform, start * term.scale);
    if (term.index != running_) continue;
    lanes = var(loop_.var, DType::kI64) * term.scale;
    // What remains constant is the channel.
    const int64_t step = const_value(term.scale), channel = ((constant % step) + step) % step;
    uniform = uniform + const_int(constant - channel);
    constant = channel;
  }
  return load_flat(load.index, load.type, uniform + lanes + const_int(constant));
}

Expr GatherLoop::load_anywhere(const ExprNode& load, const GatherOffset& offset) const {
  Expr lanes, uniform = offset.uniform,
              choice;  // choice: how many elements after the first of the pair, in units of `step`
  int64_t step = 0, reach = 0;
  for (const GatherTerm& term : offset.terms) {
    const GatherIndex& index = indices_[static_cast<size_t>(term.index)];
    Expr at;
    if (!index.varies) {
      uniform = add_if(uniform, convert(clamped(index, term.shift, index.last), DType::kI64) * term.scale);
      continue;
    }
    if (!index.last) {
      at = index.value;
    } else if (term.reflected) {
      at = i32(term.reflected);
    } else if (is_paired(load, term) && !choice) {
      reach = index.high - index.low;
      step = const_value(term.scale);
      at = clamped(index, index.low, index.last);
      choice = clamped(index, term.shift, index.last) - at;
    } else {
      at = clamped(index, term.shift, index.last);
    }
    lanes = add_if(lanes, at * i32(term.scale));
  }
  const Expr narrow = convert(lanes, DType::kI64);
  const Expr base = uniform ? uniform + narrow : narrow;
  const auto element = [&](int64_t k) {
    return load_flat(load.index, load.type, base + const_int(offset.constant + k * step));
  };
  Expr value = element(reach);
  for (int64_t k = reach; k-- > 0;) value = select(choice <= const_int(k, DType::kI32), element(k), value);
  return value;
}

/// A comparison of an index with its range: i >= 0, i < last + 1.
bool GatherLoop::match_range_test(const Expr& e, RangeTest* out) const {
  const bool lower = is_op(e, ScalarOp::kGe), upper = is_op(e, ScalarOp::kLt);
  if ((!lower && !upper) || e->args[0].type() != DType::kI64) return false;
  const Expr base = without_constant(e->args[0], &out->shift);
  if (std::abs(out->shift) > kMaxShift || (lower && !is_const_int(e->args[1], 0))) return false;
  for (const GatherIndex& index : indices_) {
    if (!index.used || !index.last || !same(index.base, base)) continue;
    const Expr last = e->args[1] - const_int(1);
    if (upper && !same(index.last, last) && !same(last_of_axis(index.last), last)) continue;
    out->index = &index;
    out->upper = upper;
    return true;
  }
  return false;
}

Expr GatherLoop::rewritten(const Expr& value, Place place) const {
  return rewrite(value, [&](const Expr& e) -> Expr {
    if (const auto found = gathers_.find(e.get()); found != gathers_.end())
      return place == Place::kRun      ? load_run(*e, found->second)
             : place == Place::kInside ? load_inside(*e, found->second)
                                       : load_anywhere(*e, found->second);
    if (place == Place::kOutside && e->kind == ExprKind::kOp && e->op == ScalarOp::kSelect)
      for (const Expr& condition : conditions_)
        if (same(condition, e->args[0])) return rewritten(e->args[2], place);
    RangeTest test;
    if (!match_range_test(e, &test)) return {};
    const GatherIndex& index = *test.index;
    if ((place == Place::kInside || place == Place::kRun) &&
        (test.upper ? test.shift <= index.high : test.shift >= index.low))
      return const_bool(true);
    return test.upper ? index.value <= i32(last_of_axis(index.last) - const_int(test.shift))
                      : index.value >= const_int(-test.shift, DType::kI32);
  });
}

/// Finds the conditions under which what was gathered counts, and whether all gathers stand under one.
void GatherLoop::find_conditions() {
  NodeSet seen;
  const std::function<void(const Expr&)> visit = [&](const Expr& e) {
    if (!seen.insert(e.get())) return;
    if (is_op(e, ScalarOp::kSelect) && gathers_.contains(e->args[1].get())) {
      visit(e->args[0]);
      visit(e->args[2]);
      if (std::none_of(conditions_.begin(), conditions_.end(),
                       [&](const Expr& c) { return same(c, e->args[0]); }))
        conditions_.push_back(e->args[0]);
      return;
    }
    all_conditional_ &= !gathers_.contains(e.get());
    for (const Expr& arg : e->args) visit(arg);
  };
  for (const Statement& statement : loop_.body) visit(std::get<Store>(statement.node).value);
}

Block GatherLoop::body(Place place, const std::vector<Expr>& zeros) const {
  Block out;
  for (const Statement& statement : loop_.body) {
    Store store = std::get<Store>(statement.node);
    if (zeros.empty())
      store.value = rewritten(store.value, place);
    else
      store.value = simplified(rewritten(without_weights(store.value, zeros), place));
    out.push_back({std::move(store), statement.span});
  }
  return out;
}

Expr GatherLoop::all_inside() const {
  Expr out;
  for (const GatherIndex& index : indices_) {
    if (!index.used || !index.last) continue;
    out = and_if(out, index.value >= const_int(-index.low, DType::kI32));
    out = and_if(out, index.value <= i32(index.last - const_int(index.high)));
  }
  return out;
}

/// The loop's statements; `before` gets what stands before the loop.
Block GatherLoop::shaped_body(Block* before) {
  Block out;
  name_indices(&out);
  find_run();
  if (running_ >= 0) name_run(before);
  find_conditions();
  weights_ = interpolation_weights(loop_.body);
  if (weights_.size() > kMostWeights) weights_.clear();
  Block general = body(Place::kAnywhere);
  bool pairs = false;
  for (const auto& [load, offset] : gathers_)
    for (const GatherTerm& term : offset.terms) pairs |= is_paired(*load, term);
  if (all_conditional_) {
    Expr any;
    for (const Expr& condition : conditions_) {
      const Expr here = rewritten(condition, Place::kAnywhere);
      any = any ? (any | here) : here;
    }
    Block outside;
    outside.push_back({If{logical_not(any), body(Place::kOutside), std::move(general), true}, {}});
    general = std::move(outside);
  }
  if (pairs || !conditions_.empty() || running_ >= 0) {
    out.push_back({If{all_inside(), inside_body(), std::move(general), true}, {}});
    return out;
  }
  for (Statement& statement : general) out.push_back(std::move(statement));
  return out;
}

bool GatherLoop::goes_side_by_side() const {
  return gathers_.size() > kFewLoads && gathers_.size() <= kMaxSideBySide &&
         std::all_of(gathers_.begin(), gathers_.end(),
                     [](const auto& gather) { return gather.first->type == DType::kU8; }) &&
         std::all_of(loop_.body.begin(), loop_.body.end(), [&](const Statement& statement) {
           const auto& store = std::get<Store>(statement.node);
           return kernel_.buffers[static_cast<size_t>(store.buffer)].type == DType::kF32;
         });
}

/// Lanes whose offsets fill a register, where elements are narrower than offsets. Of a row's last step, whose
/// lanes are masked, less is left over then.
int GatherLoop::lanes() const {
  int widest = 1;
  for (const Statement& statement : loop_.body)
    for_each_expr(statement, [&](const Expr& value) {
      for_each_node(value, [&](const Expr& e) {
        if (e->type != DType::kI64) widest = std::max(widest, size_of(e->type));
      });
    });
  const int offset = size_of(DType::kI32);
  return widest < offset ? std::max(loop_.lanes * widest / offset, 2) : loop_.lanes;
}

Block GatherLoop::run() {
  Block out;
  const Expr fits = guard();
  For wide = loop_, narrow = loop_;
  narrow.lanes = lanes();
  Block shaped;
  if (goes_side_by_side()) narrow.unroll = 2;
  narrow.body = shaped_body(&shaped);
  shaped.push_back({std::move(narrow), {}});
  if (is_const(fits) && fits->value.bits) return shaped;
  kernel_.var_types.push_back(DType::kI64);
  wide.var = static_cast<int>(kernel_.var_types.size()) - 1;
  wide.role = LoopRole::kSerial;
  wide.lanes = 1;
  const auto rename = [&](const Expr& e) {
    return e->kind == ExprKind::kVar && e->index == loop_.var ? var(wide.var, DType::kI64) : Expr();
  };
  for (Statement& statement : wide.body) {
    auto& store = std::get<Store>(statement.node);
    store.offset = rewrite(store.offset, rename);
    store.value = rewrite(store.value, rename);
  }
  If choice{fits, {}, {}};
  choice.then_body = std::move(shaped);
  choice.else_body.push_back({std::move(wide), {}});
  out.push_back({std::move(choice), {}});
  return out;
}

}  // namespace galatea::kernel::lowering
