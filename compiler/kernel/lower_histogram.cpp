// Histograms.
//
// Comes in: a histogram stage. Goes out: counts cleared, an element after the other counted into one of a few
// copies (the next element's bin is often the same, and would wait for the store before), and a map over the
// bins that adds up the copies and finishes. What no bin takes goes to one more bin behind the others, so
// that counting needs no branch. On a GPU threads count with atomic additions, copy by copy; few bins are
// counted in the memory of blocks (lower_grid_statistics.cpp).
//
// Off, with one copy, `equalize` takes 1.1 times as long at 1080p (`./dev bench per-op`, 2-core AMD EPYC,
// Zen 5).
#include <algorithm>

#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int64_t kCopies = 4;         ///< and neighbours counted in one turn
constexpr int64_t kGridCopies = 8;     ///< threads of a GPU that count into one copy are so many apart
constexpr int64_t kMostUnrolled = 16;  ///< elements counted in one turn
constexpr int64_t kClearLanes = 16;

/// Whether the bins hold every value of the body's type before it became an i64.
bool every_value_has_a_bin(const Expr& body, const Expr& bins) {
  if (!is_const(bins) || body->kind != ExprKind::kOp || body->op != ScalarOp::kConvert) return false;
  const DType from = body->args[0].type();
  if (is_bool(from)) return const_value(bins) >= 2;
  if (from != DType::kU8 && from != DType::kU16) return false;
  return const_value(bins) > max_int(from);
}

}  // namespace

/// The leading axes of a histogram as constants, all of them, if they are few; else none.
std::vector<Env> Lowering::small_domain(int s) const {
  const std::vector<Expr>& extents = extents_[static_cast<size_t>(s)];
  std::vector<Env> out(1);
  for (size_t d = 0; d + 1 < extents.size(); ++d) {
    if (!is_const(extents[d]) || const_value(extents[d]) > kMostUnrolled) return {};
    std::vector<Env> next;
    for (const Env& env : out)
      for (int64_t i = 0; i < const_value(extents[d]); ++i) {
        next.push_back(env);
        next.back().axes.push_back(const_int(i));
      }
    if (static_cast<int64_t>(next.size()) > kMostUnrolled / kCopies) return {};
    out = std::move(next);
  }
  return out;
}

void Lowering::place_histogram(int s) {
  const auto i = static_cast<size_t>(s);
  const Stage& stage = kernel_.stages[i];
  Counts counts;
  counts.copies = !options_.gpu ? kCopies : copies_in_block(s) > 0 ? slices() : kGridCopies;
  counts.inside = every_value_has_a_bin(stage.body, stage.extents.back());
  counts.bins = top(max(stage.extents.back(), const_int(0)));
  const Expr row = max(stage.extents.back(), const_int(0)) + const_int(counts.inside ? 0 : 1);
  counts.row = top(row);

  Stage table = stage;
  table.name = stage.name + "_counts";
  table.form = StageForm::kMap;
  table.type = size_of(stage.accumulator) == 8 ? DType::kI64 : DType::kI32;
  table.extents.insert(table.extents.begin(), const_int(counts.copies));
  table.extents.back() = row;
  Expr elements = const_int(1);
  for (const Expr& extent : table.extents) elements = elements * max(extent, const_int(0));
  std::vector<Expr> extents;
  std::vector<int> order;
  for (size_t d = 0; d < table.extents.size(); ++d) {
    extents.push_back(top(max(table.extents[d], const_int(0))));
    order.push_back(static_cast<int>(d));
  }
  Place place = new_scratch(table.name, table.type, elements);
  place.strides = dense_strides(extents, order);

  counts.stage = static_cast<int>(kernel_.stages.size());
  counts.last = counts.stage + 1;
  Stage last = stage;
  last.form = StageForm::kMap;
  last.reduce_extents.clear();
  Expr sum;
  for (int64_t copy = 0; copy < counts.copies; ++copy) {
    std::vector<Expr> at = {const_int(copy)};
    for (int d = 0; d < stage.rank(); ++d) at.push_back(axis(d));
    const Expr here = load({LoadTarget::Kind::kStage, counts.stage}, table.type, at);
    sum = sum ? sum + here : here;
  }
  sum = convert(sum, stage.accumulator);
  last.body = stage.finish ? rewrite(stage.finish,
                                     [&](const Expr& e) { return e->kind == ExprKind::kAcc ? sum : Expr(); })
                           : convert(sum, stage.type);
  last.finish = Expr();
  StageSchedule vectors = schedule_.stages[i];
  add_stage(std::move(table), std::move(extents), vectors, place);
  add_stage(std::move(last), extents_[i], vectors, std::nullopt);
  places_[static_cast<size_t>(counts.last)] = places_[i];
  counts_[i] = std::move(counts);
}

/// Adds one to the bin of the element that `env` names.
void Lowering::count_elements(int s, Env env, int64_t copy, Block& out) {
  const Counts& counts = *counts_[static_cast<size_t>(s)];
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const Place& place = *stored_[static_cast<size_t>(counts.stage)];
  Expr bin = translate(s, stage.body, env);
  if (!counts.inside) {
    bin = let(bin, out);
    bin = select((bin >= const_int(0)) & (bin < counts.bins), bin, counts.bins);
  }
  std::vector<Expr> at = {const_int(copy)};
  at.insert(at.end(), env.axes.begin(), env.axes.end());
  at.push_back(bin);
  const DType type = out_.buffers[static_cast<size_t>(place.buffer)].type;
  push(out, Store{place.buffer, build(offset_of(place, at)), const_int(1, type), false, true});
}

/// Counts all elements of the box.
void Lowering::count_box(int s, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const Counts& counts = *counts_[static_cast<size_t>(s)];
  std::vector<Env> domain = small_domain(s);
  std::vector<std::pair<int, Expr>> loops;  // outermost first
  if (domain.empty()) {
    domain.emplace_back();
    for (size_t d = 0; d + 1 < stage.extents.size(); ++d) {
      loops.emplace_back(new_loop_var(extents_[static_cast<size_t>(s)][d], 100 + static_cast<int>(d)),
                         extents_[static_cast<size_t>(s)][d]);
      domain[0].axes.push_back(v(loops.back().first));
    }
  }
  std::vector<Expr> reduce_axes;
  for (size_t d = 0; d + 1 < stage.reduce_extents.size(); ++d) {
    const Expr extent = top(stage.reduce_extents[d]);
    loops.emplace_back(new_loop_var(extent, 200 + static_cast<int>(d)), extent);
    reduce_axes.push_back(v(loops.back().first));
  }
  const auto turn = [&](const std::vector<Expr>& neighbours, Block& body) {
    for (size_t n = 0; n < neighbours.size(); ++n)
      for (Env env : domain) {
        env.reduce_axes = reduce_axes;
        if (neighbours[n]) env.reduce_axes.push_back(neighbours[n]);
        count_elements(s, std::move(env), static_cast<int64_t>(n) % counts.copies, body);
      }
  };
  Block body;
  if (reduce_axes.size() == stage.reduce_extents.size()) {  // a box of one element
    turn({Expr()}, body);
  } else {
    const Expr extent = top(stage.reduce_extents.back());
    const Expr whole = top(extent / const_int(kCopies));
    const int x = new_loop_var(Expr(), kInnerDepth), rest = new_loop_var(extent, kInnerDepth);
    std::vector<Expr> neighbours;
    for (int64_t n = 0; n < kCopies; ++n) neighbours.push_back(v(x) * const_int(kCopies) + const_int(n));
    Block several, single;
    turn(neighbours, several);
    turn({v(rest)}, single);
    push(body, For{x, const_int(0), whole, LoopRole::kSerial, 1, 1, std::move(several)});
    push(body, For{rest, whole * const_int(kCopies), extent, LoopRole::kSerial, 1, 1, std::move(single)});
  }
  for (size_t d = loops.size(); d-- > 0;) {
    Block outer;
    push(outer, For{loops[d].first, const_int(0), loops[d].second, LoopRole::kSerial, 1, 1, std::move(body)});
    body = std::move(outer);
  }
  for (Statement& statement : body) out.push_back(std::move(statement));
}

/// One thread an element of the box (and of the leading axes, where they are not few). With a `slice`: of
/// those elements, into copies of the counts in `where`.
void Lowering::count_on_grid(int s, Block& out, const Expr& slice, const SharedCounts& where) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const auto i = static_cast<size_t>(s);
  std::vector<Env> domain = small_domain(s);
  const bool lead = domain.empty();
  std::vector<Expr> extents;
  if (lead) extents.assign(extents_[i].begin(), extents_[i].end() - 1);
  for (const Expr& extent : stage.reduce_extents) extents.push_back(top(extent));
  Expr total = const_int(1);
  for (const Expr& extent : extents) total = total * max(extent, const_int(0));
  const int g = new_loop_var(top(total), 50);
  Block body;
  std::vector<Expr> at(extents.size());
  Expr rest = v(g);
  for (size_t d = extents.size(); d-- > 0;) {
    at[d] = d == 0 ? rest : let_index(rest % extents[d], 100, body);
    if (d > 0) rest = let_index(rest / extents[d], 100, body);
    if (at[d]->kind == ExprKind::kVar && at[d]->index != g)
      loop_extent_[static_cast<size_t>(at[d]->index)] = extents[d];
  }
  const auto split = at.begin() + static_cast<std::ptrdiff_t>(lead ? stage.extents.size() - 1 : 0);
  if (lead) {
    domain.emplace_back();
    domain[0].axes.assign(at.begin(), split);
  }
  // The copy is not a constant here: the counts of copy n begin n * (elements of a copy) further on.
  const Counts& counts = *counts_[i];
  const Place& place = *stored_[static_cast<size_t>(counts.stage)];
  const Expr copy = let_index(v(g) % const_int(slice ? where.copies : counts.copies), 100, body);
  for (Env env : domain) {
    env.reduce_axes.assign(split, at.end());
    Block one;
    count_elements(s, std::move(env), 0, one);
    auto& store = std::get<Store>(one.back().node);
    store.offset = store.offset + copy * place.strides[0];
    if (slice) store.buffer = where.buffer;
    for (Statement& statement : one) body.push_back(std::move(statement));
  }
  Expr begin = const_int(0), end = top(total);
  if (slice) {
    const Expr size = top((total + const_int(slices() - 1)) / const_int(slices()));
    begin = let(min(slice * size, end), out);
    end = let(min(begin + size, end), out);
  }
  push(out, For{g, begin, end, LoopRole::kGrid, 1, 1, std::move(body)});
}

void Lowering::clear_counts(int s, Block& out) {
  const Counts& counts = *counts_[static_cast<size_t>(s)];
  const Place& place = *stored_[static_cast<size_t>(counts.stage)];
  const DType type = out_.buffers[static_cast<size_t>(place.buffer)].type;
  const Expr all = top(place.strides[0] * const_int(counts.copies));
  const int n = new_loop_var(all, kVectorDepth);
  Block zero;
  push(zero, Store{place.buffer, v(n), const_int(0, type)});
  push(out, For{n, const_int(0), all, options_.gpu ? LoopRole::kGrid : LoopRole::kVector,
                options_.gpu ? 1 : static_cast<int>(kClearLanes), 1, std::move(zero)});
}

void Lowering::emit_histogram(int s, std::vector<Statement>& phases) {
  const auto i = static_cast<size_t>(s);
  const std::string name = kernel_.stages[i].name;
  Phase clear{name + " clear", {}, false}, count{name + " count", {}, false}, last{name, {}, false};
  if (options_.gpu && copies_in_block(s) > 0) {
    emit_sliced_histogram(s, phases);
  } else {
    clear_counts(s, clear.body);
    if (options_.gpu)
      count_on_grid(s, count.body, {}, {});
    else
      count_box(s, count.body);
    push(phases, std::move(clear));
    push(phases, std::move(count));
  }
  emit_row(counts_[i]->last, std::vector<Expr>(extents_[i].size()), last.body);
  push(phases, std::move(last));
}

}  // namespace galatea::kernel::lowering
