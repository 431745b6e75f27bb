// Rows made beside their reader's: of a stage that is read by one other stage, at the row that this one is
// making, only one row is ever kept. What a blend of two filtered images reads never becomes an image in
// memory this way.
//
// Comes in: stages that the schedule keeps as rows and that are no rings (lower_ring.cpp). Goes out: their
// rows, and what these need, in front of each row of the reader.
//
// Off, `laplacian 3` of bytes takes 2.1 times as long at 224 x 224 and 1.9 times at 1080p, of floats 1.7 and
// 2.3 times (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include <algorithm>

#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

/// Whether all loads are at the reader's own row.
bool reads_own_row(const Expr& e, int stage) {
  return !any_node(e, [&](const ExprNode& n) {
    return reads_stage(n, stage) && (n.args[0]->kind != ExprKind::kAxis || n.args[0]->index != 0);
  });
}

}  // namespace

bool beside_is_legal(const Kernel& kernel, int producer, int* reader) {
  *reader = -1;
  const Stage& rows = kernel.stages[static_cast<size_t>(producer)];
  if ((rows.form != StageForm::kMap && rows.form != StageForm::kBand) || rows.rank() < 2 ||
      may_raise_flag(rows))
    return false;
  for (const KernelOutput& output : kernel.outputs)
    if (output.stage == producer) return false;
  for (size_t s = static_cast<size_t>(producer) + 1; s < kernel.stages.size(); ++s) {
    bool read = false;
    for_each_stage_expr(kernel.stages[s], [&](const Expr& e) {
      read |= any_node(e, [&](const ExprNode& n) { return reads_stage(n, producer); });
    });
    if (!read) continue;
    if (*reader >= 0) return false;
    *reader = static_cast<int>(s);
  }
  if (*reader < 0) return false;
  const Stage& to = kernel.stages[static_cast<size_t>(*reader)];
  if ((to.form != StageForm::kMap && to.form != StageForm::kBand) || to.rank() < 2 ||
      !same(to.extents[0], rows.extents[0]))
    return false;
  // Tables of a band are made before its rows.
  for (const Expr* e : {&to.first, &to.weight, &to.taps})
    if (*e && any_node(*e, [&](const ExprNode& n) { return reads_stage(n, producer); })) return false;
  for (const Expr* e : {&to.body, &to.source, &to.finish})
    if (*e && !reads_own_row(*e, producer)) return false;
  // One row of two axes may be a BandRow, which makes all there is at once.
  return to.form != StageForm::kBand || to.band_axis != 0 || to.rank() > 2;
}

/// Decides whether rows of `s` are made beside its reader's, which is placed later.
void Lowering::place_beside(int s) {
  int reader = -1, other = -1;
  if (!beside_is_legal(kernel_, s, &reader) || is_ring(reader)) return;
  const auto i = static_cast<size_t>(s), r = static_cast<size_t>(reader);
  if (ring_producer_[i] >= 0 && kernel_.stages[i].band_axis != 0) return;
  if (is_inlined(reader) || (readers_[r] == 0 && !is_output(reader))) return;
  // Rows under a window that runs along another axis are made several times.
  if (kernel_.stages[r].form == StageForm::kBand && kernel_.stages[r].band_axis != 0)
    for (int p = 0; p < reader; ++p)
      if (schedule_.stages[static_cast<size_t>(p)].placement == Placement::kRing &&
          ring_is_legal(kernel_, p, &other) && other == reader)
        return;
  beside_[i] = reader;
}

/// What has to stand in front of the loop over the reader's rows.
void Lowering::begin_beside(int reader, Block& out) {
  for (size_t p = 0; p < beside_.size(); ++p) {
    if (beside_[p] != reader) continue;
    const int producer = static_cast<int>(p);
    if (row_bands_[p]) prepare_row_band(producer, out);
    if (ring_producer_[p] >= 0) {
      if (row_bands_[static_cast<size_t>(ring_producer_[p])]) prepare_row_band(ring_producer_[p], out);
      rings_[p] = begin_ring(producer, out);
    }
    begin_beside(producer, out);
  }
}

void Lowering::rows_beside(int reader, const Expr& y, Block& out) {
  for (size_t p = 0; p < beside_.size(); ++p) {
    if (beside_[p] != reader) continue;
    const int producer = static_cast<int>(p);
    std::vector<Expr> fixed(static_cast<size_t>(kernel_.stages[p].rank()));
    fixed[0] = y;
    if (ring_producer_[p] >= 0) {
      // Nothing to make a row of.
      Block body;
      ring_step(*rings_[p], y, fixed, body);
      push(out, If{all_positive(extents_[static_cast<size_t>(ring_producer_[p])]), std::move(body), {}});
    }
    rows_beside(producer, y, out);
    emit_row(producer, fixed, out);
  }
}

/// A map, or a band that is made in place, row by row.
void Lowering::emit_row_by_row(int s, Block& out) {
  const auto i = static_cast<size_t>(s);
  std::vector<Expr> fixed(extents_[i].size());
  const int y = new_loop_var(extents_[i][0], 100);
  fixed[0] = v(y);
  begin_beside(s, out);
  Block body;
  rows_beside(s, v(y), body);
  emit_row(s, fixed, body);
  push(out, For{y, const_int(0), extents_[i][0], LoopRole::kSerial, 1, 1, std::move(body)});
}

}  // namespace galatea::kernel::lowering
