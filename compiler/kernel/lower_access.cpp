// From indices to offsets: expressions of stages become expressions over loop variables.
//
// Comes in: a stage's expression and what stands for its axes. Goes out: the same value in terms of kVar,
// kParam and kLoadFlat; borders are spelled out unless the nest knows that they do not matter; offsets are in
// the form that loops.h promises.
#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/simplify_expr.h"
#include "runtime/kernel_abi.h"

namespace galatea::kernel::lowering {

namespace {

bool search(const Expr& e, const std::function<bool(const ExprNode&)>& pred, bool into_offsets,
            NodeSet& seen) {
  if (!seen.insert(e.get())) return false;
  if (pred(*e)) return true;
  if (e->kind == ExprKind::kLoadFlat && !into_offsets) return false;
  for (const Expr& arg : e->args)
    if (search(arg, pred, into_offsets, seen)) return true;
  return false;
}

void add_scaled(Linear* sum, const Linear& other, const Expr& scale) {
  for (const auto& [variable, coefficient] : other.terms) {
    const Expr scaled = coefficient * scale;
    auto found = std::find_if(sum->terms.begin(), sum->terms.end(),
                              [&](const auto& t) { return t.first == variable; });
    if (found != sum->terms.end())
      found->second = found->second + scaled;
    else
      sum->terms.emplace_back(variable, scaled);
  }
  for (const Expr& e : other.rest) sum->rest.push_back(e * scale);
  if (other.constant == 0) return;
  if (is_const(scale))
    sum->constant += other.constant * const_value(scale);
  else
    sum->rest.push_back(const_int(other.constant) * scale);
}

/// The same where the index is at most kNear elements outside: no division. Reflecting at the first element
/// and then at the last gives the right place from -last to 2 * last; whatever is left lies again outside, by
/// 2 * last less. Twice is enough for three elements and a last element of 1; of one element alone, all
/// indices are 0.
constexpr int64_t kNear = 3;
Expr reflect_101_near(const Expr& index, const Expr& extent) {
  const Expr last = extent - const_int(1);
  const auto reflected = [&](const Expr& i) {
    return last - unary(ScalarOp::kAbs, last - unary(ScalarOp::kAbs, i));
  };
  return max(min(reflected(reflected(index)), last), const_int(0));
}

/// 0 1 2 3 2 1 0 1 …: index reflected into [0, extent) without repeating the edge; any distance.
Expr reflect_101(const Expr& index, const Expr& extent) {
  const Expr last = extent - const_int(1);
  const Expr period = max(last * const_int(2), const_int(1));
  const Expr remainder = index % period;
  const Expr wrapped = select(remainder < const_int(0), remainder + period, remainder);
  return max(min(wrapped, last * const_int(2) - wrapped), const_int(0));
}

/// The same for indices that lie at most `last` outside, and some index inside for any other.
Expr reflect_once(const Expr& index, const Expr& extent) {
  const Expr last = extent - const_int(1), distance = max(index, -index);
  return max(min(distance, last * const_int(2) - distance), const_int(0));
}

}  // namespace

bool any_node(const Expr& e, const std::function<bool(const ExprNode&)>& pred) {
  NodeSet seen;
  return search(e, pred, true, seen);
}

bool any_value_node(const Expr& e, const std::function<bool(const ExprNode&)>& pred) {
  NodeSet seen;
  return search(e, pred, false, seen);
}

Expr Linear::coefficient(int variable) const {
  for (const auto& [number, coefficient] : terms)
    if (number == variable) return coefficient;
  return {};
}

bool Lowering::has_loop_var(const Expr& e) const {
  return contains(e, ExprKind::kVar) && any_node(e, [&](const ExprNode& n) {
           return n.kind == ExprKind::kVar && depth_[static_cast<size_t>(n.index)] >= 0;
         });
}

bool Lowering::mentions(const Expr& e, int variable) const {
  return contains(e, ExprKind::kVar) &&
         any_node(e, [&](const ExprNode& n) { return n.kind == ExprKind::kVar && n.index == variable; });
}

int Lowering::depth_of(const Expr& e) const {
  int depth = -1;
  any_node(e, [&](const ExprNode& n) {
    if (n.kind == ExprKind::kVar) depth = std::max(depth, depth_[static_cast<size_t>(n.index)]);
    return false;
  });
  return depth;
}

Linear Lowering::linearize(const Expr& e) const {
  Linear out;
  if (is_const(e)) {
    out.constant = const_value(e);
    return out;
  }
  if (e->kind == ExprKind::kVar && depth_[static_cast<size_t>(e->index)] >= 0) {
    out.terms.emplace_back(e->index, const_int(1));
    return out;
  }
  if (e->kind == ExprKind::kOp && e->type == DType::kI64) {
    const bool sum = e->op == ScalarOp::kAdd || e->op == ScalarOp::kSub;
    if (sum) {
      out = linearize(e->args[0]);
      add_scaled(&out, linearize(e->args[1]), const_int(e->op == ScalarOp::kAdd ? 1 : -1));
      return out;
    }
    if (e->op == ScalarOp::kNeg) {
      add_scaled(&out, linearize(e->args[0]), const_int(-1));
      return out;
    }
    if (e->op == ScalarOp::kMul) {
      for (size_t i : {size_t{0}, size_t{1}}) {
        if (has_loop_var(e->args[1 - i])) continue;
        add_scaled(&out, linearize(e->args[i]), e->args[1 - i]);
        return out;
      }
    }
  }
  out.rest.push_back(e);
  return out;
}

Expr Lowering::build(const Linear& linear) const {
  std::vector<std::pair<int, Expr>> parts;  // depth, summand
  for (const Expr& e : linear.rest) parts.emplace_back(depth_of(e), e);
  for (const auto& [variable, coefficient] : linear.terms) {
    if (is_const_int(coefficient, 0)) continue;
    parts.emplace_back(std::max(depth_[static_cast<size_t>(variable)], depth_of(coefficient)),
                       v(variable) * coefficient);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Expr sum;
  for (const auto& part : parts) sum = sum ? sum + part.second : part.second;
  if (!sum) return const_int(linear.constant);
  return linear.constant == 0 ? sum : sum + const_int(linear.constant);
}

/// Whether the index is that of a loop over `extent` elements, shifted by few: by a constant, or by each of
/// few taps.
bool Lowering::is_near(const Linear& index, const Expr& extent) const {
  int64_t low = index.constant, high = index.constant;
  bool found = false;
  for (const auto& [variable, coefficient] : index.terms) {
    const Expr& loop = loop_extent_[static_cast<size_t>(variable)];
    if (!loop || !is_const_int(coefficient, 1)) return false;
    if (depth_[static_cast<size_t>(variable)] == kInnerDepth && is_const(loop)) {
      high += std::max<int64_t>(const_value(loop) - 1, 0);
    } else {
      if (found || !same(loop, extent)) return false;
      found = true;
    }
  }
  return found && index.rest.empty() && low >= -kNear && high <= kNear;
}

/// In dense rows of e elements x / e is a row and x % e the place in it: the offset is x.
void Lowering::rejoin_rows(Linear* sum) const {
  std::vector<Expr>& rest = sum->rest;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (!is_op(rest[i], ScalarOp::kRem)) continue;
    const Expr x = rest[i]->args[0], divisor = rest[i]->args[1];
    const auto rows = std::ranges::find_if(rest, [&](const Expr& e) {
      if (!is_op(e, ScalarOp::kMul) || !is_op(e->args[0], ScalarOp::kDiv)) return false;
      const Expr &quotient = e->args[0], &step = e->args[1];
      // A tensor with rows of no elements has none that could be elsewhere.
      const bool steps = same(step, divisor) || same(max(step, const_int(1)), divisor);
      return steps && same(quotient->args[1], divisor) && same(quotient->args[0], x);
    });
    if (rows == rest.end()) continue;
    const auto row = static_cast<size_t>(rows - rest.begin());
    for (const size_t place : {std::max(i, row), std::min(i, row)})
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(place));
    add_scaled(sum, linearize(x), const_int(1));
    return;
  }
}

Linear Lowering::offset_of(const Place& place, const std::vector<Expr>& indices) const {
  Linear sum;
  for (size_t d = 0; d < indices.size(); ++d) {
    const bool ring = static_cast<int>(d) == place.ring_axis;
    add_scaled(&sum, linearize(ring ? (indices[d] & place.ring_mask) : indices[d]), place.strides[d]);
  }
  if (place.base) add_scaled(&sum, linearize(place.base), const_int(1));
  rejoin_rows(&sum);
  return sum;
}

void Lowering::store(const std::vector<Place>& places, const std::vector<Expr>& indices, const Expr& value,
                     Block& out) {
  for (const Place& place : places)
    push(out, Store{place.buffer, build(offset_of(place, indices)), value, place.streaming});
}

Expr Lowering::top(const Expr& e) {
  if (e->kind == ExprKind::kConst || e->kind == ExprKind::kParam || e->kind == ExprKind::kVar) return e;
  const uint64_t hash = hash_of(e);
  for (auto [at, end] = top_values_.equal_range(hash); at != end; ++at)
    if (same(at->second.first, e)) return at->second.second;
  const Expr name = let(e, top_);
  top_values_.emplace(hash, std::make_pair(e, name));
  return name;
}

/// Translates one stage's expressions in one environment.
class Translator {
 public:
  /// `present`: the tensor that is asked for has elements; empty: it has.
  Translator(Lowering& lowering, int stage, const Env& env, const DroppedBorders* dropped, AccessLog* log,
             Expr present = {})
      : lowering_(lowering),
        stage_(stage),
        env_(env),
        dropped_(dropped),
        log_(log),
        present_(std::move(present)) {}

  Expr run(const Expr& e) {
    if (auto found = done_.find(e.get()); found != done_.end()) return found->second;
    Expr out = leaf_or_op(e);
    done_.emplace(e.get(), out);
    return out;
  }
  bool has_inlined() const { return !inlined_.empty(); }

 private:
  Expr leaf_or_op(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kAxis:
        return env_.axes[static_cast<size_t>(e->index)];
      case ExprKind::kReduceAxis:
        return env_.reduce_axes[static_cast<size_t>(e->index)];
      case ExprKind::kTap:
        return env_.tap;
      case ExprKind::kAcc:
        return env_.acc;
      case ExprKind::kLoad:
        return load(*e);
      case ExprKind::kParam: {
        const auto known = lowering_.param_values_.find(e->index);
        return known == lowering_.param_values_.end() ? e : const_int(known->second, e->type);
      }
      default:
        break;
    }
    if (e->args.empty()) return e;
    if (lowering_.box_arm_ > 0 && e.get() == lowering_.box_choice_->select)
      return run(e->args[static_cast<size_t>(lowering_.box_arm_)]);
    Operands args = detail::changed_args(*e, [&](const Expr& arg) { return run(arg); });
    if (const Expr part = part_of_block(*e, args.empty() ? e->args : args)) return part;
    return args.empty() ? e : detail::with_args(*e, std::move(args));
  }

  /// What is left of a division by the constant length of blocks, where loops go block by block: the number of
  /// the block, or the place within it. Empty: it is no such division.
  Expr part_of_block(const ExprNode& e, const Operands& args) const {
    if (e.kind != ExprKind::kOp || (e.op != ScalarOp::kDiv && e.op != ScalarOp::kRem)) return {};
    if (e.type != DType::kI64 || !is_const(args[1]) || const_value(args[1]) <= 1) return {};
    const int64_t length = const_value(args[1]);
    const Linear index = lowering_.linearize(args[0]);
    if (!index.rest.empty() || index.constant < 0) return {};
    Linear block, place;
    block.constant = index.constant / length, place.constant = index.constant % length;
    int64_t last = place.constant;
    for (const auto& [variable, coefficient] : index.terms) {
      const Expr& loop = lowering_.loop_extent_[static_cast<size_t>(variable)];
      if (!loop || !is_const(coefficient) || const_value(coefficient) < 0) return {};
      if (const_value(coefficient) % length == 0) {
        block.terms.emplace_back(variable, const_int(const_value(coefficient) / length));
        continue;
      }
      if (!is_const(loop) || const_value(loop) > length || const_value(coefficient) > length) return {};
      last += const_value(coefficient) * std::max<int64_t>(const_value(loop) - 1, 0);
      place.terms.emplace_back(variable, coefficient);
    }
    if (block.terms.empty() || last >= length) return {};
    return lowering_.build(e.op == ScalarOp::kDiv ? block : place);
  }

  bool inside_anyway(const Expr& index, const Expr& extent) const {
    if (is_const(index) && is_const(extent))
      return const_value(index) >= 0 && const_value(index) < const_value(extent);
    if (index->kind != ExprKind::kVar) return false;
    const Expr& loop = lowering_.loop_extent_[static_cast<size_t>(index->index)];
    if (!loop) return false;
    return same(loop, extent) ||
           (is_const(loop) && is_const(extent) && const_value(loop) <= const_value(extent));
  }

  /// Whether a border of the reader's holds the axis within so many elements already.
  bool held_by_reader(const Expr& index, const Expr& extent) const {
    if (index->kind != ExprKind::kAxis || env_.within.empty()) return false;
    const Expr& held = env_.within[static_cast<size_t>(index->index)];
    return held && same(held, extent);
  }

  /// Whether a loop that is being run goes over so many elements.
  bool is_looped(const Expr& extent) const {
    const auto loops = [&](const Expr& index) {
      if (!index || index->kind != ExprKind::kVar) return false;
      const Expr& loop = lowering_.loop_extent_[static_cast<size_t>(index->index)];
      return loop && same(loop, extent);
    };
    return std::any_of(env_.axes.begin(), env_.axes.end(), loops) ||
           std::any_of(env_.reduce_axes.begin(), env_.reduce_axes.end(), loops);
  }

  /// The extent that a border holds an index within: none at all where another extent is 0. Of a tensor
  /// without elements nothing but its beginning can be read; the nearest element of a row that is not there
  /// would lie as far behind it as the row is long.
  Expr edge_extent(const std::vector<Expr>& extents, size_t d) const {
    Expr others;
    for (size_t k = 0; k < extents.size(); ++k) {
      const bool known = is_const(extents[k]) ? const_value(extents[k]) > 0 : is_looped(extents[k]);
      if (k == d || known) continue;
      const Expr some = extents[k] > const_int(0);
      others = others ? others & some : some;
    }
    return others ? select(others, extents[d], const_int(0)) : extents[d];
  }

  Expr load(const ExprNode& e) {
    if (lowering_.fills_ && lowering_.fills_->contains(&e)) return constant(e.type, e.fill);
    const bool from_input = e.target.kind == LoadTarget::Kind::kInput;
    const auto target = static_cast<size_t>(e.target.index);
    const std::vector<Expr>& extents =
        from_input ? lowering_.input_extents_[target] : lowering_.extents_[target];
    std::vector<Expr> indices;
    Expr inside;
    std::vector<bool> free(e.args.size(), false);  // that no border holds
    for (size_t d = 0; d < e.args.size(); ++d) {
      Expr index = run(e.args[d]);
      const bool inside_here = e.border != Border::kNone &&
                               (inside_anyway(index, extents[d]) || held_by_reader(e.args[d], extents[d]));
      if (log_ && inside_here && !is_const(index)) log_->inside.insert({&e, static_cast<int>(d)});
      free[d] = inside_here;
      if (e.border != Border::kNone && !inside_here) {
        const Expr extent = edge_extent(extents, d);
        if (log_) log_->bordered.push_back({&e, static_cast<int>(d), lowering_.linearize(index), extent});
        free[d] = dropped_ && dropped_->contains({&e, static_cast<int>(d)});
        if (!free[d])
          index = lowering_.near_.contains({&e, static_cast<int>(d)}) ? reflect_once(index, extent)
                                                                      : bordered(e, index, extent, &inside);
      }
      indices.push_back(std::move(index));
    }
    const Expr present = present_for(e, extents, free);
    Expr value = from_input ? flat_load(lowering_.inputs_[target], e.type, indices, present)
                            : stage_load(target, e, indices, present);
    return inside ? select(inside, value, constant(e.type, e.fill)) : value;
  }

  /// What must hold for a load with a fill to reach for its element; empty: it may always. Of an empty tensor
  /// borders read the beginning, but an axis that needs none, since the loop around is inside of it, goes as
  /// far as that loop: along rows that are not there. (Operators refuse to repeat the edge of such a tensor,
  /// so it is about fills only.)
  Expr present_for(const ExprNode& e, const std::vector<Expr>& extents, const std::vector<bool>& free) const {
    if (e.border != Border::kConstant || lowering_.present_stage_ == stage_) return present_;
    Expr own;
    for (const Expr& extent : extents) {
      if (is_known(extent)) continue;
      const Expr some = extent > const_int(0);
      own = own ? own & some : some;
    }
    if (!own || !reaches_far(e, extents, free)) return present_;
    own = lowering_.top(own);
    if (log_) log_->present.push_back(own);
    return present_ ? present_ & own : own;
  }
  static bool is_known(const Expr& extent) { return is_const(extent) && const_value(extent) > 0; }

  /// Whether the free axes go further than an empty tensor may be read, which is as far as its padding. What
  /// is not stored lies like what it is made of, most likely.
  bool reaches_far(const ExprNode& e, const std::vector<Expr>& extents, const std::vector<bool>& free) const {
    const auto target = static_cast<size_t>(e.target.index);
    const bool from_input = e.target.kind == LoadTarget::Kind::kInput;
    const Place* place = from_input                  ? &lowering_.inputs_[target]
                         : lowering_.stored_[target] ? &*lowering_.stored_[target]
                                                     : nullptr;
    size_t first_dense = place ? extents.size() : 0;
    if (from_input) first_dense -= static_cast<size_t>(lowering_.kernel_.inputs[target].dense_axes);
    const auto first_unknown =
        static_cast<size_t>(std::find_if_not(extents.begin(), extents.end(), is_known) - extents.begin());
    int64_t reach = 1, inner = 1;
    for (size_t d = extents.size(); d-- > 0;) {
      const bool dense = d >= first_dense;
      // Elements of a dense axis are as far apart as what is inside of it is long.
      if (free[d] && !(dense && d < first_unknown)) {
        const bool known_step = dense ? inner > 0 : is_const(place->strides[d]);
        if (!is_known(extents[d]) || !known_step) return true;
        reach += (const_value(extents[d]) - 1) * (dense ? inner : std::abs(const_value(place->strides[d])));
      }
      inner = is_known(extents[d]) ? inner * const_value(extents[d]) : 0;
    }
    return reach * size_of(e.type) > runtime::kBufferPadding;
  }

  Expr bordered(const ExprNode& e, const Expr& index, const Expr& extent, Expr* inside) const {
    if (e.border == Border::kReflect101)
      return lowering_.is_near(lowering_.linearize(index), extent) ? reflect_101_near(index, extent)
                                                                   : reflect_101(index, extent);
    if (e.border == Border::kConstant) {
      const Expr here = (index >= const_int(0)) & (index < extent);
      *inside = *inside ? (*inside & here) : here;
    }
    return max(min(index, extent - const_int(1)), const_int(0));
  }

  Expr flat_load(const Place& place, DType type, const std::vector<Expr>& indices, const Expr& present) {
    Linear offset = lowering_.offset_of(place, indices);
    const Expr at = lowering_.build(offset);
    Expr out = load_flat(place.buffer, type, present ? select(present, at, const_int(0)) : at);
    if (log_) log_->offsets.push_back(std::move(offset));
    return out;
  }

  Expr stage_load(size_t target, const ExprNode& e, const std::vector<Expr>& indices, const Expr& present) {
    if (lowering_.stored_[target]) return flat_load(*lowering_.stored_[target], e.type, indices, present);
    for (const auto& [stage, at, condition, value] : inlined_)
      if (stage == target && static_cast<bool>(condition) == static_cast<bool>(present) &&
          (!present || same(condition, present)) &&
          std::equal(at.begin(), at.end(), indices.begin(), indices.end(),
                     [](const Expr& a, const Expr& b) { return a.get() == b.get() || same(a, b); }))
        return value;
    Env env;
    env.axes = indices;
    if (e.border != Border::kNone) env.within = lowering_.extents_[target];
    Translator inner(lowering_, stage_, env, dropped_, log_, present);
    Expr value = inner.run(lowering_.kernel_.stages[target].body);
    inlined_.push_back({target, indices, present, value});
    return value;
  }

  struct Inlined {
    size_t stage;
    std::vector<Expr> at;
    Expr present, value;
  };
  Lowering& lowering_;
  const int stage_;  ///< whose expressions they are, also where others are inlined
  const Env& env_;
  const DroppedBorders* dropped_;
  AccessLog* log_;
  const Expr present_;
  NodeMap<Expr> done_;
  std::vector<Inlined> inlined_;
};

Expr Lowering::translate(int s, const Expr& e, const Env& env, const DroppedBorders* dropped,
                         AccessLog* log) {
  Translator translator(*this, s, env, dropped, log);
  Expr value = translator.run(e);
  // Where stages meet, conversions do: the end of one and the beginning of the other.
  return translator.has_inlined() ? simplified(value) : value;
}

}  // namespace galatea::kernel::lowering
