// Statistics in the producer's loop over rows: a histogram, a sum, a smallest or largest value of a stage is
// gathered from each row as soon as the row is made, while it is still in the first cache.
//
// Comes in: reductions of integers and histograms that the schedule wants gathered. Goes out: the producer's
// loop over its first axis with the statistics of a row behind the row; the statistic's own phase only adds
// up partial results and finishes. Integers only: any grouping gives the same bits. (Floats have a fixed tree
// over all elements, which rows cut elsewhere.)
#include <algorithm>

#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

bool has_few_results(const Stage& stage) {
  int64_t results = 1;
  for (const Expr& extent : stage.extents) {
    if (!is_const(extent) || const_value(extent) < 0) return false;
    results *= const_value(extent);
  }
  return results <= kFewResults;
}

}  // namespace

bool gather_is_legal(const Kernel& kernel, int statistic, int* producer) {
  const Stage& stage = kernel.stages[static_cast<size_t>(statistic)];
  const bool reduction = stage.form == StageForm::kReduce && !is_float(stage.accumulator) &&
                         stage.reduce_extents.size() >= 2 && has_few_results(stage);
  const bool histogram = stage.form == StageForm::kHistogram && stage.reduce_extents.size() >= 2;
  if (!reduction && !histogram) return false;
  *producer = -1;
  bool legal = true;
  any_node(stage.body, [&](const ExprNode& node) {
    if (node.kind != ExprKind::kLoad || node.target.kind != LoadTarget::Kind::kStage) return false;
    const Stage& from = kernel.stages[static_cast<size_t>(node.target.index)];
    legal &= *producer < 0 || *producer == node.target.index;
    *producer = node.target.index;
    legal &= from.rank() >= 2 && (from.form == StageForm::kMap || from.form == StageForm::kBand) &&
             node.args[0]->kind == ExprKind::kReduceAxis && node.args[0]->index == 0 &&
             same(from.extents[0], stage.reduce_extents[0]);
    return false;
  });
  if (!legal || *producer < 0) return false;
  // The first axis must be the outermost loop, which follows the order of the output.
  return std::all_of(kernel.outputs.begin(), kernel.outputs.end(), [&](const KernelOutput& output) {
    return output.stage != *producer || output.axis_of.front() == 0;
  });
}

/// What the schedule wants and where stages lie allows.
void Lowering::find_statistics() {
  const size_t n = readers_.size();
  statistics_.assign(n, {});
  gathered_by_.assign(n, -1);
  partial_.assign(n, {});
  lane_boxes_.assign(n, {});
  for (size_t s = 0; s < n; ++s) {
    int producer = -1;
    if (options_.gpu || !schedule_.stages[s].gathered || places_[s].empty() ||
        !gather_is_legal(kernel_, static_cast<int>(s), &producer))
      continue;
    const auto p = static_cast<size_t>(producer);
    const Stage& rows = kernel_.stages[p];
    // A row of the producer must be made at once: its first axis is the outermost loop.
    if (!stored_[p] || ring_consumer_[p] >= 0 || beside_[p] >= 0 || order_for(producer).front() != 0)
      continue;
    if ((ring_producer_[p] >= 0 && rows.band_axis != 0) || (row_bands_[p] && rows.band_axis == 0)) continue;
    gathered_by_[s] = producer;
    statistics_[p].push_back(static_cast<int>(s));
    if (kernel_.stages[s].form == StageForm::kHistogram) continue;
    lane_boxes_[s] = deal_lanes(static_cast<int>(s), kernel_.stages[s].reduce_extents.size() - 1);
    partial_[s] = new_partial(static_cast<int>(s), lane_boxes_[s]);
  }
}

void Lowering::begin_statistics(int producer, Block& out) {
  for (const int s : statistics_[static_cast<size_t>(producer)]) {
    if (counts_[static_cast<size_t>(s)]) {
      clear_counts(s, out);
      continue;
    }
    clear_partial(s, partial_[static_cast<size_t>(s)], out);
  }
}

void Lowering::add_row(int producer, const Expr& row, Block& out) {
  for (const int s : statistics_[static_cast<size_t>(producer)]) {
    if (counts_[static_cast<size_t>(s)])
      count_rows(s, {row}, out);
    else
      add_row_of(s, row, out);
  }
}

void Lowering::add_row_of(int s, const Expr& row, Block& out) {
  const LaneBox& box = lane_boxes_[static_cast<size_t>(s)];
  for_results(
      s, box,
      [&](const Env& env, const Expr& base, Block& body) {
        Env inner = env;
        inner.reduce_axes = {row};
        add_runs(s, box, inner, 1, partial_[static_cast<size_t>(s)].buffer, base, body);
      },
      out);
}

/// The statistic's own phase: partial results become results.
void Lowering::end_statistics(int s, Block& out) {
  const auto i = static_cast<size_t>(s);
  if (counts_[i]) return emit_row(counts_[i]->last, std::vector<Expr>(extents_[i].size()), out);
  for_results(
      s, lane_boxes_[i],
      [&](const Env& env, const Expr& base, Block& body) {
        finish_partial(s, lane_boxes_[i], env, partial_[i].buffer, base, body);
      },
      out);
}

}  // namespace galatea::kernel::lowering
