// Kernels made tile by tile.
//
// Comes in: a kernel and its Tiles. Goes out: one loop over the tiles of the output. For each, the elements
// that it needs of every kept stage are found from the readers' ranges, last stage first; then the stages are
// made in the block's memory, those that do not need each other in one phase. Where a whole tile may need
// more than there is, it is cut into runs of rows.
#include <algorithm>
#include <map>

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/small_indices.h"

namespace galatea::kernel::lowering {

namespace {

/// Whether an index computed from one axis only rises or only falls with it. Rounding keeps the order of
/// numbers, and so does whatever is done to all of them alike; which way it goes need not be known.
bool is_monotone(const Expr& e, const Kernel& kernel) {
  if (!contains(e, ExprKind::kAxis)) return !contains(e, ExprKind::kLoad);
  if (e->kind == ExprKind::kAxis) return true;
  if (e->kind == ExprKind::kLoad) {
    if (e->target.kind != LoadTarget::Kind::kStage || e->args.size() != 1 ||
        (e->border != Border::kNone && e->border != Border::kClamp))
      return false;
    const Stage& stage = kernel.stages[static_cast<size_t>(e->target.index)];
    return stage.form == StageForm::kMap && is_monotone(stage.body, kernel) &&
           is_monotone(e->args[0], kernel);
  }
  if (e->kind != ExprKind::kOp) return false;
  switch (e->op) {
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kTrunc:
    case ScalarOp::kRound:
    case ScalarOp::kNeg:
      return is_monotone(e->args[0], kernel);
    case ScalarOp::kConvert:
      // Floats are clamped; integers wrap, unless there is more room.
      return (is_float(e->type) || is_float(e->args[0].type()) ||
              size_of(e->type) > size_of(e->args[0].type())) &&
             is_monotone(e->args[0], kernel);
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
      return !(contains(e->args[0], ExprKind::kAxis) && contains(e->args[1], ExprKind::kAxis)) &&
             is_monotone(e->args[0], kernel) && is_monotone(e->args[1], kernel);
    default:
      return false;
  }
}

/// Whether a call is one of nearly all: its tiles fit, and its numbers are small.
Expr is_usual(const LoopKernel& loops) {
  Expr usual = loops.block_bytes <= const_int(kSharedBytes);
  for (const int index : SmallIndices::params(loops)) {
    const Expr number = param(index, DType::kI64);
    usual = usual & (number >= const_int(-kMostOfSmall)) & (number <= const_int(kMostOfSmall));
  }
  return usual;
}

}  // namespace

class TileEmitter {
 public:
  TileEmitter(Lowering& lowering, const Tiles& tiles) : l_(lowering), tiles_(tiles) {}

  void run() {
    const size_t n = l_.kernel_.stages.size();
    l_.stored_.resize(n);
    l_.row_bands_.resize(n);
    l_.counts_.resize(n);
    l_.nest_orders_.resize(n);
    find_levels();
    for (const int s : tiles_.kept) {
      const Stage& stage = l_.kernel_.stages[at(s)];
      Place place;
      place.buffer = static_cast<int>(l_.out_.buffers.size());
      l_.out_.buffers.push_back({(stage.name.empty() ? "t" : stage.name) + "_" + std::to_string(place.buffer),
                                 BufferKind::kShared, stage.type, -1,
                                 const_int(kSharedBytes / size_of(stage.type))});
      l_.stored_[at(s)] = place;
    }
    // Which tile, and where it begins.
    const std::vector<Expr>& extents = l_.extents_[at(tiles_.lead)];
    Expr count = const_int(1);
    std::vector<Expr> counts(extents.size());
    for (size_t d = 0; d < extents.size(); ++d) {
      if (tiles_.size[d] == 0) continue;
      const int64_t size = tiles_.size[d];
      counts[d] = l_.top((max(extents[d], const_int(0)) + const_int(size - 1)) / const_int(size));
      count = count * counts[d];
    }
    count = l_.top(count);
    const int tile = l_.new_loop_var(count, 10);
    Block body;
    Expr rest = l_.v(tile);
    lead_.resize(extents.size());
    for (size_t d = extents.size(); d-- > 0;) {
      if (tiles_.size[d] == 0) {
        lead_[d] = {const_int(0), extents[d]};
        continue;
      }
      const bool more = std::any_of(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(d),
                                    [](const Expr& e) { return static_cast<bool>(e); });
      const Expr number = more ? l_.let(rest % counts[d], body) : rest;
      if (more) rest = l_.let(rest / counts[d], body);
      const Expr low = l_.let(number * const_int(tiles_.size[d]), body);
      lead_[d] = {low, l_.let(min(extents[d] - low, const_int(tiles_.size[d])), body)};
    }
    if (tiles_.chunked < 0)
      make_chunk(body);
    else
      make_chunks(body);
    Lowering::push(l_.out_.body, For{tile, const_int(0), count, LoopRole::kTile, 1, 1, std::move(body)});
  }

 private:
  /// Ranges of stages found so far, and where the statements that compute them go.
  struct Ranges {
    Block* out = nullptr;
    std::map<std::pair<int, int>, TileRange> found;
  };
  static size_t at(int s) { return static_cast<size_t>(s); }
  bool is_early(int s) const { return tiles_.early[at(s)]; }

  /// How many stages in memory stand before each one, one behind the other.
  void find_levels() {
    const size_t n = l_.kernel_.stages.size();
    std::vector<int> below(n, 0);  // the highest level that the stage reads
    levels_.assign(n, 0);
    for (size_t s = 0; s < n; ++s) {
      for_each_stage_expr(l_.kernel_.stages[s], [&](const Expr& e) {
        any_node(e, [&](const ExprNode& node) {
          if (node.kind == ExprKind::kLoad && node.target.kind == LoadTarget::Kind::kStage) {
            const size_t target = at(node.target.index);
            const bool kept =
                std::find(tiles_.kept.begin(), tiles_.kept.end(), node.target.index) != tiles_.kept.end();
            below[s] = std::max(below[s], kept ? levels_[target] : below[target]);
          }
          return false;
        });
      });
      levels_[s] = below[s] + 1;
    }
  }

  // ---- ranges
  TileRange range_of(int s, int axis, Ranges& ranges) {
    if (l_.is_output(s)) return lead_[at(axis)];
    if (const auto found = ranges.found.find({s, axis}); found != ranges.found.end()) return found->second;
    const Expr& extent = l_.extents_[at(s)][at(axis)];
    const Reaches& all = tiles_.reaches[at(s)][at(axis)];
    TileRange range{const_int(0), extent};
    if (!all.empty()) {
      Expr low, high;
      for (const Reach& reach : all) {
        const auto [from, to] = ends_of(reach, ranges);
        low = low ? min(low, from) : from;
        high = high ? max(high, to) : to;
      }
      low = l_.let(low, *ranges.out), high = l_.let(high, *ranges.out);
      const Expr last = l_.top(extent - const_int(1));
      const bool inside = std::all_of(all.begin(), all.end(), [&](const Reach& r) {
        return r.axis >= 0 && is_const_int(r.scale, 1) && is_const_int(r.low, 0) && is_const_int(r.high, 0) &&
               same(l_.extents_[at(r.reader)][at(r.axis)], extent);
      });
      if (all[0].border == Border::kReflect101 && !inside) fold(&low, &high, last);
      const auto clamped = [&](const Expr& e) {
        return is_const_int(e, 0) ? e : l_.let(max(min(e, last), const_int(0)), *ranges.out);
      };
      range.low = clamped(low);
      range.length = l_.let(min(clamped(high) - range.low + const_int(1), extent), *ranges.out);
    }
    ranges.found.emplace(std::pair{s, axis}, range);
    return range;
  }
  std::pair<Expr, Expr> ends_of(const Reach& reach, Ranges& ranges) {
    if (reach.axis < 0) return {reach.low, reach.high};
    const TileRange reader = range_of(reach.reader, reach.axis, ranges);
    if (reach.first) {
      const auto [least, most] = ends_of_table(reach, reader, *ranges.out);
      return {least + reach.low, most + reach.high};
    }
    const Expr a = reader.low * reach.scale, b = (reader.low + reader.length - const_int(1)) * reach.scale;
    if (!is_const(reach.scale)) return {min(a, b) + reach.low, max(a, b) + reach.high};
    const bool up = const_value(reach.scale) >= 0;
    return {(up ? a : b) + reach.low, (up ? b : a) + reach.high};
  }
  /// The least and the greatest of what a table holds for a range of its reader: of one that only rises or
  /// only falls, what stands at the ends of the range.
  std::pair<Expr, Expr> ends_of_table(const Reach& reach, const TileRange& reader, Block& out) {
    const auto first_at = [&](const Expr& place, Block& block) {
      Env env;
      env.axes.assign(l_.extents_[at(reach.reader)].size(), const_int(0));
      env.axes[at(reach.axis)] = place;
      return l_.let(l_.translate(reach.reader, reach.first, env), block);
    };
    if (is_monotone(reach.first, l_.kernel_)) {
      const Expr a = first_at(reader.low, out), b = first_at(reader.low + reader.length - const_int(1), out);
      return {min(a, b), max(a, b)};
    }
    const int least = l_.new_var(DType::kI64), most = l_.new_var(DType::kI64);
    Lowering::push(out, Declare{least, const_int(INT64_MAX)});
    Lowering::push(out, Declare{most, const_int(INT64_MIN)});
    const int i = l_.new_loop_var(l_.extents_[at(reach.reader)][at(reach.axis)], 100);
    Block body;
    const Expr first = first_at(l_.v(i), body);
    Lowering::push(body, Assign{least, min(l_.v(least), first)});
    Lowering::push(body, Assign{most, max(l_.v(most), first)});
    Lowering::push(out,
                   For{i, reader.low, reader.low + reader.length, LoopRole::kSerial, 1, 1, std::move(body)});
    return {l_.v(least), l_.v(most)};
  }
  /// A window that is reflected at the ends: where its elements lie.
  static void fold(Expr* low, Expr* high, const Expr& last) {
    const Expr a = *low, b = *high, zero = const_int(0), both = last * const_int(2);
    const Expr far = (a < -last) | (b > both);
    const Expr least = select(a < zero, select(b < zero, -b, zero),
                              select(a > last, both - b, select(b > last, min(a, both - b), a)));
    const Expr most = select(b > last, select(a > last, both - a, last),
                             select(b < zero, -a, select(a < zero, max(b, -a), b)));
    *low = select(far, zero, least);
    *high = select(far, last, most);
  }

  // ---- memory
  Expr volume(int s, Ranges& ranges) {
    Expr elements = const_int(1);
    for (int d = 0; d < l_.kernel_.stages[at(s)].rank(); ++d)
      elements = elements * max(range_of(s, d, ranges).length, const_int(0));
    return elements;
  }
  Expr bytes_of(int s, Ranges& ranges) {
    return tile_bytes(volume(s, ranges), l_.kernel_.stages[at(s)].type);
  }

  /// Gives the kept stages (early ones, or the others) their memory, one behind the other from byte `begin`.
  Expr place(bool early, Expr begin, Ranges& ranges) {
    for (const int s : tiles_.kept) {
      if (is_early(s) != early) continue;
      const Stage& stage = l_.kernel_.stages[at(s)];
      Place& place = *l_.stored_[at(s)];
      place.strides.assign(stage.extents.size(), const_int(1));
      Expr stride = const_int(1), base = begin / const_int(size_of(stage.type));
      for (size_t d = stage.extents.size(); d-- > 0;) {
        const TileRange range = range_of(s, static_cast<int>(d), ranges);
        place.strides[d] = stride;
        base = base - range.low * stride;
        stride = l_.let(stride * max(range.length, const_int(0)), *ranges.out);
      }
      place.base = l_.let(base, *ranges.out);
      l_.places_[at(s)] = {place};
      begin = l_.let(begin + tile_bytes(stride, stage.type), *ranges.out);
    }
    return begin;
  }

  // ---- phases
  void make_stages(bool early, Ranges& ranges) {
    std::map<int, std::vector<int>> by_level;
    for (int s = 0; s < static_cast<int>(l_.kernel_.stages.size()); ++s) {
      const bool kept = std::find(tiles_.kept.begin(), tiles_.kept.end(), s) != tiles_.kept.end();
      if ((kept && is_early(s) == early) || (l_.is_output(s) && !early))
        by_level[levels_[at(s)]].push_back(s);
    }
    for (const auto& [level, stages] : by_level) {
      Phase phase;
      for (const int s : stages) {
        const Stage& stage = l_.kernel_.stages[at(s)];
        phase.name += (phase.name.empty() ? "" : ", ") +
                      (stage.name.empty() ? "stage" + std::to_string(s) : stage.name);
        TileBox box;
        for (int d = 0; d < stage.rank(); ++d) box.push_back(range_of(s, d, ranges));
        l_.box_ = &box;
        l_.emit_row(s, std::vector<Expr>(stage.extents.size()), phase.body);
        l_.box_ = nullptr;
      }
      Lowering::push(*ranges.out, std::move(phase));
    }
  }

  void make_chunk(Block& out) {
    Ranges ranges{&out, {}};
    Expr end = place(true, const_int(0), ranges);
    make_stages(true, ranges);
    place(false, end, ranges);
    make_stages(false, ranges);
  }

  /// Rows of the tile, as many at once as fit: all of them, or a half, a quarter, …, or one.
  void make_chunks(Block& out) {
    TileRange& rows = lead_[at(tiles_.chunked)];
    const TileRange tile = rows;
    const Expr tile_end = l_.let(tile.low + tile.length, out);
    const int begin = l_.new_var(DType::kI64), count = l_.new_var(DType::kI64);
    const int64_t size = tiles_.size[at(tiles_.chunked)];
    Lowering::push(out, Declare{begin, tile.low});
    Block chunk;
    // What decides how far others reach is made for all rows that are left. Numbers that change are said to
    // lie where they do: whoever asks for their range (small_indices.h) sees no further.
    const Expr extent = l_.extents_[at(tiles_.lead)][at(tiles_.chunked)];
    rows = {within(l_.v(begin), const_int(0), extent, chunk), Expr()};
    rows.length = within(tile_end - rows.low, const_int(1), const_int(size), chunk);
    Ranges early{&chunk, {}};
    const Expr fixed = place(true, const_int(0), early);
    make_stages(true, early);
    const std::map<std::pair<int, int>, TileRange> known = std::move(early.found);

    Lowering::push(chunk, Declare{count, rows.length});
    Block halve;
    const Expr first_row = rows.low;
    rows.length = within(l_.v(count), const_int(1), const_int(size), halve);
    Ranges tried{&halve, of_early(known)};
    Expr bytes = fixed;
    for (const int s : tiles_.kept)
      if (!is_early(s)) bytes = bytes + bytes_of(s, tried);
    Block smaller;
    Lowering::push(smaller, Assign{count, max(rows.length / const_int(2), const_int(1))});
    const Expr room = l_.top(max(tiles_.bytes, const_int(kSharedBytes)));
    const int too_many = l_.new_var(DType::kBool);
    Lowering::push(chunk, Declare{too_many, const_bool(true)});
    Lowering::push(halve, If{bytes > room, std::move(smaller), {{Assign{too_many, const_bool(false)}, {}}}});
    Block halve_again;
    Lowering::push(halve_again, If{var(too_many, DType::kBool), std::move(halve), {}});
    int64_t turns = 0;
    while ((int64_t{1} << turns) < size) ++turns;
    Lowering::push(chunk, For{l_.new_loop_var(const_int(turns), 20), const_int(0), const_int(turns),
                              LoopRole::kSerial, 1, 1, std::move(halve_again)});

    rows = {first_row, within(l_.v(count), const_int(1), const_int(size), chunk)};
    Ranges ranges{&chunk, of_early(known)};
    place(false, fixed, ranges);
    make_stages(false, ranges);
    Lowering::push(chunk, Assign{begin, rows.low + rows.length});

    Block turn;
    Lowering::push(turn, If{l_.v(begin) < tile_end, std::move(chunk), {}});
    Lowering::push(out, For{l_.new_loop_var(const_int(size), 15), const_int(0), const_int(size),
                            LoopRole::kSerial, 1, 1, std::move(turn)});
  }
  /// What is computed from a mutable variable, as it is now.
  Expr within(const Expr& e, const Expr& low, const Expr& high, Block& out) {
    const int variable = l_.new_var(DType::kI64);
    Lowering::push(out, Let{variable, max(min(e, high), low)});
    return l_.v(variable);
  }
  std::map<std::pair<int, int>, TileRange> of_early(
      const std::map<std::pair<int, int>, TileRange>& known) const {
    std::map<std::pair<int, int>, TileRange> out;
    for (const auto& [key, range] : known)
      if (is_early(key.first)) out.emplace(key, range);
    return out;
  }

  Lowering& l_;
  const Tiles& tiles_;
  TileBox lead_;  ///< of the output: the tile, or the rows of it that are made
  std::vector<int> levels_;
};

std::optional<LoopKernel> Lowering::run_tiles() {
  out_.name = kernel_.name;
  out_.params = kernel_.params;
  add_tensors();
  count_readers();
  const std::optional<Tiles> tiles = plan_tiles();
  if (!tiles) return {};
  out_.block_bytes = tiles->bytes;
  TileEmitter(*this, *tiles).run();
  top_.insert(top_.end(), std::make_move_iterator(out_.body.begin()),
              std::make_move_iterator(out_.body.end()));
  out_.body = std::move(top_);
  tidy(out_);
  if (const Expr usual = is_usual(out_); !is_const(usual) || usual->value.bits == 0)
    new_scratch("tiles", DType::kU8,
                select(usual, const_int(0), max(tiles->bytes, const_int(1)) * const_int(kSpilledTiles)));
  return std::move(out_);
}

std::vector<int> Lowering::stages_of_tiles() {
  add_tensors();
  count_readers();
  const std::optional<Tiles> tiles = plan_tiles();
  return tiles ? tiles->kept : std::vector<int>();
}

}  // namespace galatea::kernel::lowering
