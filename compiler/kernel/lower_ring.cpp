// Rings: the rows of one stage that the window of the next is over.
//
// Comes in: a band and the stage whose rows it reads. Goes out: one loop over the band's rows, which makes
// the source rows that are missing and then one row of the band. Source rows come in ascending order, so each
// is made once; where they do not, the ring starts anew.
//
// Off, `gaussian_blur 5` of bytes takes 1.9 times as long at 224 x 224 and 2.4 times at 1080p, `resize half`
// 1.6 and 3.4 times (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

/// The window moves on by one row for each row of the band.
bool moves_with_axis(const Expr& first, int axis) {
  Affine affine;
  return !contains(first, ExprKind::kLoad) && match_affine(first, &affine) && affine.axis == axis &&
         is_const_int(affine.scale, 1);
}

/// Whether the window runs along pixels of a row, or along what is no larger. Where an axis lies around rows and
/// pixels, as frames do, a window over rows does not.
bool stays_within_row(const Stage& band) { return band.band_axis != 0 && band.band_axis + 2 >= band.rank(); }

/// Why the only reader of the rows may not take them from a ring, or empty.
std::string objection_of(const Stage& reader, const Stage& rows, int producer) {
  const auto reads = [&](const ExprNode& n) {
    return n.kind == ExprKind::kLoad && n.target.kind == LoadTarget::Kind::kStage &&
           n.target.index == producer;
  };
  bool elsewhere =
      any_node(reader.first, reads) || any_node(reader.weight, reads) || any_node(reader.taps, reads);
  if (reader.finish) elsewhere |= any_node(reader.finish, reads);
  if (elsewhere || !reads(*reader.source) || contains(reader.taps, ExprKind::kLoad))
    return "it also decides where its reader's window lies";
  const auto b = static_cast<size_t>(reader.band_axis);
  if (b + 1 >= rows.extents.size() || reader.source->args.size() != rows.extents.size())
    return "its reader's window runs along the rows";  // a row has at least one axis of its own
  for (size_t d = 0; d < reader.source->args.size(); ++d) {
    const Expr& index = reader.source->args[d];
    if (any_node(index, reads)) return "it also decides where its reader's window lies";
    if (d == b) {
      if (!same(index, reader.first + tap()) && !same(index, tap() + reader.first))
        return "its reader's window does not begin where it says";
    } else if (d < b) {
      if (index->kind != ExprKind::kAxis || index->index != static_cast<int>(d) ||
          !same(rows.extents[d], reader.extents[d]))
        return "its reader's window runs along the rows";
    } else if (contains(index, ExprKind::kTap) || any_node(index, [&](const ExprNode& n) {
                 return n.kind == ExprKind::kAxis && n.index == reader.band_axis;
               })) {
      return "its reader takes the elements of a row in another order for each row";
    }
  }
  if (any_node(reader.first,
               [&](const ExprNode& n) { return n.kind == ExprKind::kAxis && n.index != reader.band_axis; }))
    return "its reader's window lies elsewhere for each element";
  // Rows near an edge come from both sides of it: their number is bounded only where the window moves with
  // the axis.
  if (reader.source->border == Border::kReflect101 && !moves_with_axis(reader.first, reader.band_axis))
    return "its reader's window is mirrored at the edge and does not move with the row";
  return {};
}

}  // namespace

std::string ring_objection(const Kernel& kernel, int producer, int* consumer) {
  *consumer = -1;
  const auto p = static_cast<size_t>(producer);
  const Stage& rows = kernel.stages[p];
  for (const KernelOutput& output : kernel.outputs)
    if (output.stage == producer) return "it is an output";
  if (rows.form != StageForm::kMap && rows.form != StageForm::kBand)
    return "its elements are not computed row by row";
  if (may_raise_flag(rows)) return "it may divide by zero, which is said once for all of it";
  const auto reads = [&](const ExprNode& n) {
    return n.kind == ExprKind::kLoad && n.target.kind == LoadTarget::Kind::kStage &&
           n.target.index == producer;
  };
  for (size_t s = p + 1; s < kernel.stages.size(); ++s) {
    const Stage& stage = kernel.stages[s];
    bool read = false;
    for_each_stage_expr(stage, [&](const Expr& e) { read |= any_node(e, reads); });
    if (!read) continue;
    if (*consumer >= 0) return "several stages read it";
    if (stage.form != StageForm::kBand) return "no window reads it";
    *consumer = static_cast<int>(s);
  }
  if (*consumer < 0) return "nobody reads it";
  const Stage& band = kernel.stages[static_cast<size_t>(*consumer)];
  int reader = -1;
  if (stays_within_row(band) && beside_is_legal(kernel, producer, &reader))
    return "its reader's window stays within a row";
  return objection_of(band, rows, producer);
}

bool ring_is_legal(const Kernel& kernel, int producer, int* consumer) {
  return ring_objection(kernel, producer, consumer).empty();
}

/// The rows [low, high] that the window beginning at `first` reads.
void Lowering::ring_rows_needed(const Stage& consumer, const Expr& first, const Expr& extent, Expr* low,
                                Expr* high) {
  const Expr end = extent - const_int(1), zero = const_int(0);
  const Expr last = first + top(consumer.taps) - const_int(1);
  *low = max(min(first, end), zero);
  *high = max(min(last, end), zero);
  if (consumer.source->border != Border::kReflect101) return;
  // Beyond an edge the window folds back: the far end of the fold counts as well.
  const Expr both = end * const_int(2);
  const Expr folded_low =
      select(first < zero, select(last < zero, -last, zero),
             select(first > end, both - last, select(last > end, min(first, both - last), first)));
  const Expr folded_high = select(last > end, select(first > end, both - first, end),
                                  select(last < zero, -first, select(first < zero, max(last, -first), last)));
  // More than one fold: every row (the ring is as large as the image then).
  const Expr far = (first < -end) | (last > both);
  *low = max(min(select(far, zero, folded_low), end), zero);
  *high = max(min(select(far, end, folded_high), end), zero);
}

Ring Lowering::begin_ring(int consumer, Block& out) {
  Ring ring{consumer, ring_producer_[static_cast<size_t>(consumer)], new_var(DType::kI64),
            new_var(DType::kI64)};
  push(out, Declare{ring.have_low, const_int(0)});
  push(out, Declare{ring.have_end, const_int(0)});
  return ring;
}

/// Makes the rows that are missing for row `y` of the consumer. `fixed`: the axes around the rows.
void Lowering::ring_step(const Ring& ring, const Expr& y, const std::vector<Expr>& fixed, Block& out) {
  const auto c = static_cast<size_t>(ring.consumer), p = static_cast<size_t>(ring.producer);
  const Stage& stage = kernel_.stages[c];
  const auto b = static_cast<size_t>(stage.band_axis);
  Env env;
  env.axes = fixed;
  env.axes[b] = y;
  for (Expr& e : env.axes)
    if (!e) e = const_int(0);
  const Expr first = let(translate(ring.consumer, stage.first, env), out), one = const_int(1);
  Expr low, high;
  ring_rows_needed(stage, first, extents_[p][b], &low, &high);
  low = let(low, out);
  high = let(high, out);
  Block restart;
  push(restart, Assign{ring.have_low, low});
  push(restart, Assign{ring.have_end, low});
  push(out, If{(low < v(ring.have_low)) | (low > v(ring.have_end)), std::move(restart), {}});
  const int r = new_loop_var(extents_[p][b], 152);
  std::vector<Expr> row(kernel_.stages[p].extents.size());
  for (size_t d = 0; d < b; ++d) row[d] = fixed[d];
  row[b] = v(r);
  Block produce;
  emit_row(ring.producer, row, produce);
  push(out, For{r, v(ring.have_end), high + one, LoopRole::kSerial, 1, 1, std::move(produce)});
  push(out, Assign{ring.have_end, max(v(ring.have_end), high + one)});
  push(out, Assign{ring.have_low, max(v(ring.have_low), v(ring.have_end) - (stored_[p]->ring_mask + one))});
}

void Lowering::emit_ring(int consumer, int producer, Block& out) {
  const auto c = static_cast<size_t>(consumer), p = static_cast<size_t>(producer);
  const Stage& stage = kernel_.stages[c];
  const auto b = static_cast<size_t>(stage.band_axis);
  std::vector<Expr> fixed(static_cast<size_t>(stage.rank()));
  std::vector<int> vars;
  for (size_t d = 0; d < b; ++d) {
    vars.push_back(new_loop_var(extents_[c][d], 100 + static_cast<int>(d)));
    fixed[d] = v(vars.back());
  }
  const auto first_at = [&](const Expr& y) {
    Env env;
    env.axes = fixed;
    env.axes[b] = y;
    for (Expr& e : env.axes)
      if (!e) e = const_int(0);
    return translate(consumer, stage.first, env);
  };
  const Expr n = extents_[c][b], one = const_int(1), zero = const_int(0);
  Block all, plane;
  if (row_bands_[p]) prepare_row_band(producer, all);
  begin_beside(consumer, all);
  // Mirrored bands run from the last row to the first, so that their source rows come in ascending order too.
  const Expr backwards = let(first_at(zero) > first_at(n - one), plane);
  const Expr start = let(select(backwards, n - one, zero), plane),
             step = let(select(backwards, const_int(-1), one), plane);
  const Ring ring = begin_ring(consumer, plane);

  const int t = new_loop_var(n, 150);
  Block body;
  const Expr y = let_index(start + v(t) * step, 151, body);
  loop_extent_[static_cast<size_t>(y->index)] = n;
  fixed[b] = y;
  ring_step(ring, y, fixed, body);
  rows_beside(consumer, y, body);
  emit_row(consumer, fixed, body);
  push(plane, For{t, zero, n, LoopRole::kSerial, 1, 1, std::move(body)});
  for (size_t d = vars.size(); d-- > 0;) {
    Block loop;
    push(loop, For{vars[d], zero, extents_[c][d], LoopRole::kSerial, 1, 1, std::move(plane)});
    plane = std::move(loop);
  }
  for (Statement& statement : plane) all.push_back(std::move(statement));
  std::vector<Expr> extents = extents_[c];
  extents.push_back(extents_[p][b]);
  push(out, If{all_positive(extents), std::move(all), {}});
}

}  // namespace galatea::kernel::lowering
