// Which kernels can be made tile by tile.
//
// Comes in: stages, and which of them are kept. Goes out: Tiles, or nothing where a stage needs all of
// another, where a flag would be missed, or where an output is read again.
#include <algorithm>

#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

/// Tiles of an image: wide enough for whole cache lines, small enough that several blocks share a processor.
constexpr int64_t kTileSide = 32, kTileRun = 1024;
constexpr int64_t kMostTileChannels = 4;

bool over_params(const Expr& e) {
  return !any_node(e, [](const ExprNode& n) {
    return n.kind != ExprKind::kConst && n.kind != ExprKind::kParam && n.kind != ExprKind::kOp;
  });
}

/// Takes a sum apart into its summands and a number.
void add_summands(const Expr& e, int sign, std::vector<std::pair<Expr, int>>* summands, int64_t* number) {
  const bool sum = e->kind == ExprKind::kOp && (e->op == ScalarOp::kAdd || e->op == ScalarOp::kSub);
  if (is_const(e)) {
    *number += sign * const_value(e);
  } else if (sum) {
    add_summands(e->args[0], sign, summands, number);
    add_summands(e->args[1], e->op == ScalarOp::kAdd ? sign : -sign, summands, number);
  } else if (e->kind == ExprKind::kOp && e->op == ScalarOp::kNeg) {
    add_summands(e->args[0], -sign, summands, number);
  } else {
    const auto other = std::find_if(summands->begin(), summands->end(), [&](const auto& summand) {
      return summand.second == -sign && same(summand.first, e);
    });
    if (other != summands->end())
      summands->erase(other);
    else
      summands->emplace_back(e, sign);
  }
}

/// a - b, where what both have is left out.
Expr difference(const Expr& a, const Expr& b) {
  std::vector<std::pair<Expr, int>> summands;
  int64_t number = 0;
  add_summands(a, 1, &summands, &number);
  add_summands(b, -1, &summands, &number);
  Expr out = const_int(number);
  for (const auto& [e, sign] : summands) out = sign > 0 ? out + e : out - e;
  return out;
}

}  // namespace

Expr tile_bytes(const Expr& elements, DType type) {
  return (elements * const_int(size_of(type)) + const_int(15)) & const_int(-16);
}

class TilePlanner {
 public:
  explicit TilePlanner(const Lowering& lowering) : l_(lowering), kernel_(lowering.kernel_) {}

  std::optional<Tiles> run() {
    if (!find_lead() || !find_kept() || !choose_size()) return {};
    tiles_.reaches.resize(kernel_.stages.size());
    whole_.resize(kernel_.stages.size());
    for (const int s : tiles_.kept) {
      tiles_.reaches[at(s)].resize(stage(s).extents.size());
      whole_[at(s)].assign(stage(s).extents.size(), false);
    }
    for (int s = 0; s < static_cast<int>(kernel_.stages.size()); ++s)
      if (l_.is_output(s) || is_kept(s)) for_each_stage_expr(stage(s), [&](const Expr& e) { look(s, e); });
    for (const int s : tiles_.kept)
      for (size_t d = 0; d < whole_[at(s)].size(); ++d)
        if (whole_[at(s)][d] || !agree(tiles_.reaches[at(s)][d])) tiles_.reaches[at(s)][d].clear();
    // Readers stand behind what they read, so theirs are done first.
    for (auto s = tiles_.kept.rbegin(); s != tiles_.kept.rend(); ++s)
      for (size_t d = 0; d < whole_[at(*s)].size(); ++d) follow(*s, d);
    if (!find_early()) return {};
    decide_memory();
    return std::move(tiles_);
  }

 private:
  static size_t at(int s) { return static_cast<size_t>(s); }
  const Stage& stage(int s) const { return kernel_.stages[at(s)]; }
  bool is_kept(int s) const {
    return std::find(tiles_.kept.begin(), tiles_.kept.end(), s) != tiles_.kept.end();
  }

  // ---- which stages
  /// Sums over an image would be made again by each tile; sums over a table are small.
  bool may_be_made(int s) const {
    const Stage& made = stage(s);
    if (made.form == StageForm::kReduce) return !l_.is_big_reduce(s) ? !sums_inputs(made) : !reads_inputs(s);
    return made.form == StageForm::kMap || made.form == StageForm::kBand;
  }
  bool reads_inputs(int s) const {
    bool found = false;
    for_each_stage_expr(stage(s), [&](const Expr& e) {
      found |= any_node(e, [&](const ExprNode& n) {
        return n.kind == ExprKind::kLoad &&
               (n.target.kind == LoadTarget::Kind::kInput || reads_inputs(n.target.index));
      });
    });
    return found;
  }
  bool find_lead() {
    if (kernel_.outputs.empty()) return false;
    tiles_.lead = kernel_.outputs[0].stage;
    const std::vector<Expr>& extents = stage(tiles_.lead).extents;
    return std::all_of(kernel_.outputs.begin(), kernel_.outputs.end(), [&](const KernelOutput& output) {
      const std::vector<Expr>& other = stage(output.stage).extents;
      return l_.readers_[at(output.stage)] == 0 && may_be_made(output.stage) &&
             std::equal(extents.begin(), extents.end(), other.begin(), other.end(), same);
    });
  }
  bool find_kept() {
    for (int s = 0; s < static_cast<int>(kernel_.stages.size()); ++s) {
      if (l_.readers_[at(s)] == 0 || l_.is_inlined(s)) continue;
      // Elements that nobody reads may raise a flag as well, and tiles do not make them.
      if (!may_be_made(s) || may_raise_flag(stage(s))) return false;
      tiles_.kept.push_back(s);
    }
    return !tiles_.kept.empty();
  }
  static bool sums_inputs(const Stage& made) {
    return made.form == StageForm::kReduce && any_node(made.body, [](const ExprNode& n) {
             return n.kind == ExprKind::kLoad && n.target.kind == LoadTarget::Kind::kInput;
           });
  }
  bool choose_size() {
    const std::vector<Expr>& extents = stage(tiles_.lead).extents;
    tiles_.size.assign(extents.size(), 1);
    std::vector<size_t> wide;
    for (size_t d = extents.size(); d-- > 0;) {
      const bool channels = is_const(extents[d]) && const_value(extents[d]) <= kMostTileChannels;
      if (channels)
        tiles_.size[d] = 0;
      else
        wide.push_back(d);
    }
    if (wide.empty()) return false;
    tiles_.size[wide[0]] = wide.size() == 1 ? kTileRun : kTileSide;
    if (wide.size() > 1) tiles_.size[wide[1]] = kTileSide;
    tiles_.chunked = static_cast<int>(wide[wide.size() > 1 ? 1 : 0]);
    return true;
  }

  // ---- how far readers reach
  /// The loads of an expression of `reader`, also those behind stages that are computed where they are read.
  void look(int reader, const Expr& e) {
    any_node(e, [&](const ExprNode& n) {
      if (n.kind != ExprKind::kLoad || n.target.kind != LoadTarget::Kind::kStage) return false;
      const int target = n.target.index;
      if (is_kept(target)) {
        for (size_t d = 0; d < n.args.size(); ++d) need(reader, target, d, n.args[d], n.border);
      } else {
        look(reader, rewrite(stage(target).body, [&](const Expr& x) {
               if (x->kind != ExprKind::kAxis) return Expr();
               return n.border == Border::kNone ? n.args[at(x->index)] : unknown();
             }));
      }
      return false;
    });
  }
  /// An index that a border has corrected, which nothing matches: no index holds an accumulator.
  static Expr unknown() { return accumulator(DType::kI64); }

  void need(int reader, int target, size_t d, const Expr& index, Border border) {
    std::optional<Reach> reach = match(reader, index);
    if (!reach || (border == Border::kReflect101 && reach->first)) {
      whole_[at(target)][d] = true;
      return;
    }
    reach->reader = reader;
    reach->border = border == Border::kReflect101 ? border : Border::kClamp;
    reach->inside = border == Border::kNone;
    add(tiles_.reaches[at(target)][d], std::move(*reach));
  }
  static void add(Reaches& all, Reach reach) {
    const auto equal_reach = [&](const Reach& other) {
      return other.reader == reach.reader && other.axis == reach.axis &&
             same_or_none(other.first, reach.first) && same(other.scale, reach.scale) &&
             same(other.low, reach.low) && same(other.high, reach.high) && other.border == reach.border;
    };
    if (const auto found = std::ranges::find_if(all, equal_reach); found != all.end())
      found->inside &= reach.inside;
    else
      all.push_back(std::move(reach));
  }

  /// Through readers that are themselves kept to what they are read by, as far as indices are affine: then
  /// several readers turn out to need the same.
  void follow(int s, size_t d) {
    Reaches out;
    for (const Reach& reach : tiles_.reaches[at(s)][d]) {
      if (reach.axis < 0 || l_.is_output(reach.reader)) {
        add(out, reach);
        continue;
      }
      const Reaches& next = tiles_.reaches[at(reach.reader)][at(reach.axis)];
      if (next.empty() && !reach.first) {
        const Expr end = reach.scale * (stage(reach.reader).extents[at(reach.axis)] - const_int(1));
        Reach all = point(lower(reach.scale, const_int(0), end), higher(reach.scale, const_int(0), end));
        all.low = all.low + reach.low, all.high = all.high + reach.high;
        all.border = reach.border;
        all.inside = reach.inside;
        add(out, std::move(all));
        continue;
      }
      const bool folded = std::any_of(next.begin(), next.end(), [&](const Reach& r) {
        return r.first || r.border == Border::kReflect101 || is_corrected(r, reach, stage(s).extents[d]);
      });
      const bool plain = next.size() == 1 && next[0].axis >= 0 && is_const_int(next[0].scale, 1) &&
                         is_const_int(next[0].low, 0) && is_const_int(next[0].high, 0);
      if (folded || next.empty() || (reach.first && !plain)) {
        add(out, reach);
        continue;
      }
      for (const Reach& by : next) add(out, behind(reach, by));
    }
    const Expr& extent = stage(s).extents[d];
    const bool whole = out.size() == 1 && out[0].axis < 0 && is_const_int(out[0].low, 0) &&
                       same(out[0].high, extent - const_int(1));
    if (whole) out.clear();
    tiles_.reaches[at(s)][d] = std::move(out);
  }
  /// Whether all that `by` asks of a stage may lie outside of it: then the stage's own range, which is
  /// corrected, says what that reads in turn, and `by` does not. `extent`: of what is read through `reach`.
  bool is_corrected(const Reach& by, const Reach& reach, const Expr& extent) const {
    const Expr& own = stage(reach.reader).extents[at(reach.axis)];
    const bool around_zero =
        is_const(by.low) && const_value(by.low) <= 0 && is_const(by.high) && const_value(by.high) >= 0;
    const bool meets =
        around_zero &&
        (by.axis < 0 || (is_const_int(by.scale, 1) && same(stage(by.reader).extents[at(by.axis)], own)));
    const bool corrected_alike = !reach.first && is_const_int(reach.scale, 1) && is_const_int(reach.low, 0) &&
                                 is_const_int(reach.high, 0) && same(own, extent);
    return !by.inside && !meets && !corrected_alike;
  }
  static Reach behind(const Reach& reach, const Reach& by) {
    Reach out = by;
    out.border = reach.border;
    out.inside = by.inside && reach.inside;
    if (reach.first) {
      out.first = rewrite(reach.first,
                          [&](const Expr& x) { return x->kind == ExprKind::kAxis ? axis(by.axis) : Expr(); });
      out.low = reach.low, out.high = reach.high;
      return out;
    }
    out.scale = by.scale * reach.scale;
    out.low = reach.low + lower(reach.scale, by.low * reach.scale, by.high * reach.scale);
    out.high = reach.high + higher(reach.scale, by.low * reach.scale, by.high * reach.scale);
    return out;
  }
  /// Of two values of scale * x, those of the smaller and of the greater x.
  static Expr lower(const Expr& scale, const Expr& first, const Expr& last) {
    if (same(first, last)) return first;
    return !is_const(scale) ? min(first, last) : const_value(scale) >= 0 ? first : last;
  }
  static Expr higher(const Expr& scale, const Expr& first, const Expr& last) {
    if (same(first, last)) return first;
    return !is_const(scale) ? max(first, last) : const_value(scale) >= 0 ? last : first;
  }
  static bool same_or_none(const Expr& a, const Expr& b) { return a && b ? same(a, b) : !a && !b; }
  static bool agree(const Reaches& all) {
    return std::all_of(all.begin(), all.end(), [&](const Reach& r) { return r.border == all[0].border; });
  }

  static Reach point(const Expr& low, const Expr& high) {
    return {-1, -1, const_int(0), low, high, Expr(), {}};
  }
  std::optional<Reach> match(int reader, const Expr& e) const {
    if (over_params(e)) return point(e, e);
    if (e->kind == ExprKind::kAxis)
      return Reach{-1, e->index, const_int(1), const_int(0), const_int(0), Expr(), {}};
    if (e->kind == ExprKind::kTap) return point(const_int(0), stage(reader).taps - const_int(1));
    if (e->kind == ExprKind::kReduceAxis)
      return point(const_int(0), stage(reader).reduce_extents[at(e->index)] - const_int(1));
    if (e->kind == ExprKind::kOp && e->type == DType::kI64)
      if (auto reach = match_operation(reader, *e)) return reach;
    return match_table(e);
  }
  std::optional<Reach> match_operation(int reader, const ExprNode& e) const {
    if (e.op == ScalarOp::kNeg) {
      auto reach = match(reader, e.args[0]);
      return reach ? scaled(std::move(*reach), const_int(-1)) : std::nullopt;
    }
    if (e.op != ScalarOp::kAdd && e.op != ScalarOp::kSub && e.op != ScalarOp::kMul) return {};
    if (e.op == ScalarOp::kMul) {
      for (const size_t i : {size_t{0}, size_t{1}})
        if (over_params(e.args[1 - i]))
          if (auto reach = match(reader, e.args[i])) return scaled(std::move(*reach), e.args[1 - i]);
      return {};
    }
    auto a = match(reader, e.args[0]), b = match(reader, e.args[1]);
    if (b && e.op == ScalarOp::kSub) b = scaled(std::move(*b), const_int(-1));
    if (!a || !b || (a->axis >= 0 && b->axis >= 0)) return {};
    Reach out = a->axis >= 0 ? *a : *b;
    out.low = a->low + b->low;
    out.high = a->high + b->high;
    return out;
  }
  static std::optional<Reach> scaled(Reach reach, const Expr& by) {
    if (reach.first) return {};
    const Expr low = reach.low * by, high = reach.high * by;
    reach.scale = reach.scale * by;
    reach.low = lower(by, low, high), reach.high = higher(by, low, high);
    return reach;
  }
  /// Anything computed from one axis and loads: it is asked for each element of the range.
  static std::optional<Reach> match_table(const Expr& e) {
    int found = -1;
    const bool other = any_node(e, [&](const ExprNode& n) {
      if (n.kind == ExprKind::kAxis) {
        if (found >= 0 && found != n.index) return true;
        found = n.index;
      }
      return n.kind == ExprKind::kTap || n.kind == ExprKind::kReduceAxis || n.kind == ExprKind::kAcc;
    });
    if (other || found < 0) return {};
    return Reach{-1, found, const_int(1), const_int(0), const_int(0), e, {}};
  }

  // ---- what is made first
  bool find_early() {
    tiles_.early.assign(kernel_.stages.size(), false);
    for (const int s : tiles_.kept)
      for (const Reaches& all : tiles_.reaches[at(s)])
        for (const Reach& reach : all)
          if (reach.first) mark_early(reach.first);
    for (const int s : tiles_.kept)
      for (size_t d = 0; tiles_.early[at(s)] && d < tiles_.reaches[at(s)].size(); ++d)
        if (depends_on_table(s, static_cast<int>(d))) return false;
    return true;
  }
  void mark_early(const Expr& e) {
    any_node(e, [&](const ExprNode& n) {
      if (n.kind != ExprKind::kLoad || n.target.kind != LoadTarget::Kind::kStage) return false;
      const int s = n.target.index;
      if (is_kept(s)) {
        if (tiles_.early[at(s)]) return false;
        tiles_.early[at(s)] = true;
      }
      for_each_stage_expr(stage(s), [&](const Expr& inner) { mark_early(inner); });
      return false;
    });
  }
  bool depends_on_table(int s, int axis) const {
    if (l_.is_output(s)) return false;
    for (const Reach& reach : tiles_.reaches[at(s)][at(axis)])
      if (reach.first || (reach.axis >= 0 && depends_on_table(reach.reader, reach.axis))) return true;
    return false;
  }

  // ---- memory
  /// The most elements of an axis that a tile needs; `rows`: of the lead's axis that may be cut.
  Expr most(int s, size_t axis, int64_t rows) const {
    const Expr& extent = stage(s).extents[axis];
    if (l_.is_output(s)) {
      const int64_t size = static_cast<int>(axis) == tiles_.chunked ? rows : tiles_.size[axis];
      return size == 0 ? extent : const_int(size);
    }
    const Reaches& all = tiles_.reaches[at(s)][axis];
    if (all.empty()) return extent;
    Expr low = all[0].low, high = all[0].high;
    for (const Reach& reach : all) {
      if (reach.axis != all[0].axis || (reach.axis >= 0 && reach.reader != all[0].reader) ||
          !same(reach.scale, all[0].scale) || !same_or_none(reach.first, all[0].first))
        return extent;
      low = min(low, reach.low), high = max(high, reach.high);
    }
    Expr length = difference(high, low) + const_int(1);
    if (all[0].axis >= 0) {
      const Expr range = most(all[0].reader, at(all[0].axis), rows);
      if (all[0].first && !is_const_int(range, 1)) return extent;
      if (!all[0].first) length = length + (range - const_int(1)) * unary(ScalarOp::kAbs, all[0].scale);
    }
    if (all[0].border == Border::kReflect101 && !is_centred(all, extent))
      length = select(far_outside(all, extent), extent, length);
    // A number says more than a comparison with what only the call knows.
    return is_const(length) ? length : min(length, extent);
  }
  /// Windows around the element itself: an axis so short that they are reflected more than once has no more
  /// elements than they.
  bool is_centred(const Reaches& all, const Expr& extent) const {
    return std::all_of(all.begin(), all.end(), [&](const Reach& r) {
      return r.axis >= 0 && is_const_int(r.scale, 1) && is_const(r.low) && const_value(r.low) <= 0 &&
             is_const(r.high) && const_value(r.high) >= 0 &&
             same(stage(r.reader).extents[at(r.axis)], extent);
    });
  }
  /// Whether some window over the whole domain is reflected more than once: then it may need any element.
  Expr far_outside(const Reaches& all, const Expr& extent) const {
    const Expr last = extent - const_int(1);
    Expr outside = const_bool(false);
    for (const Reach& reach : all) {
      Expr low = reach.low, high = reach.high;
      if (reach.axis >= 0) {
        const Expr end = reach.scale * (stage(reach.reader).extents[at(reach.axis)] - const_int(1));
        low = low + min(end, const_int(0)), high = high + max(end, const_int(0));
      }
      outside = outside | (low < -last) | (high > last * const_int(2));
    }
    return outside;
  }
  Expr bytes(int64_t early_rows, int64_t rows) const {
    Expr sum = const_int(0);
    for (const int s : tiles_.kept) {
      Expr elements = const_int(1);
      for (size_t d = 0; d < stage(s).extents.size(); ++d)
        elements = elements * max(most(s, d, tiles_.early[at(s)] ? early_rows : rows), const_int(0));
      sum = sum + tile_bytes(elements, stage(s).type);
    }
    return sum;
  }
  void decide_memory() {
    const int64_t rows = tiles_.size[at(tiles_.chunked)];
    const Expr whole = bytes(rows, rows);
    const bool fits = is_const(whole) && const_value(whole) <= kSharedBytes;
    if (fits) tiles_.chunked = -1;
    tiles_.bytes = fits ? whole : bytes(rows, 1);
    // As many rows at once as there is room for: all of it is used, however little one row needs.
    if (!fits && is_const(tiles_.bytes)) tiles_.bytes = max(tiles_.bytes, const_int(kSharedBytes));
  }

  const Lowering& l_;
  const Kernel& kernel_;
  Tiles tiles_;
  std::vector<std::vector<bool>> whole_;
};

std::optional<Tiles> Lowering::plan_tiles() const { return TilePlanner(*this).run(); }

}  // namespace galatea::kernel::lowering
