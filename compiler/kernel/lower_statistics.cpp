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

constexpr int64_t kLanes = 16;
constexpr int64_t kPartial = kLanes + 1;  ///< a result for each lane, and one for what is left of a row
constexpr int64_t kFewResults = 16;

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
    int64_t results = 1;
    for (const Expr& extent : kernel_.stages[s].extents) results *= const_value(extent);
    partial_[s] = new_scratch(kernel_.stages[s].name + "_rows", kernel_.stages[s].accumulator,
                              const_int(results * kPartial));
  }
}

/// Loops over the results of a reduction; `base` is where the partial ones of a result begin.
void Lowering::for_results(int s,
                           const std::function<void(const Env& env, const Expr& base, Block& body)>& make,
                           Block& out) {
  const std::vector<Expr>& extents = extents_[static_cast<size_t>(s)];
  Env env;
  std::vector<int> vars;
  Expr number = const_int(0);
  for (const Expr& extent : extents) {
    vars.push_back(new_loop_var(extent, 300 + static_cast<int>(vars.size())));
    env.axes.push_back(v(vars.back()));
    number = number * extent + v(vars.back());
  }
  Block body;
  make(env, number * const_int(kPartial), body);
  for (size_t d = vars.size(); d-- > 0;) {
    Block loop;
    push(loop, For{vars[d], const_int(0), extents[d], LoopRole::kSerial, 1, 1, std::move(body)});
    body = std::move(loop);
  }
  for (Statement& statement : body) out.push_back(std::move(statement));
}

void Lowering::begin_statistics(int producer, Block& out) {
  for (const int s : statistics_[static_cast<size_t>(producer)]) {
    if (counts_[static_cast<size_t>(s)]) {
      clear_counts(s, out);
      continue;
    }
    const Place& part = partial_[static_cast<size_t>(s)];
    const int n = new_loop_var(Expr(), kInnerDepth);
    Block clear;
    push(clear, Store{part.buffer, v(n), neutral(kernel_.stages[static_cast<size_t>(s)])});
    push(out, For{n, const_int(0), out_.buffers[static_cast<size_t>(part.buffer)].elements, LoopRole::kSerial,
                  1, 1, std::move(clear)});
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
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const int part = partial_[static_cast<size_t>(s)].buffer;
  const size_t rank = stage.reduce_extents.size();
  for_results(
      s,
      [&](const Env& env, const Expr& base, Block& body) {
        const size_t outer = rank - std::min(collapse_reduce(s, env), rank - 1);
        Env inner = env;
        inner.reduce_axes.assign(rank, const_int(0));
        inner.reduce_axes[0] = row;
        Expr length = const_int(1);
        std::vector<int> vars;
        for (size_t d = 1; d < rank; ++d) {
          const Expr extent = top(stage.reduce_extents[d]);
          if (d >= outer) {
            length = length * extent;
            continue;
          }
          vars.push_back(new_loop_var(extent, kInnerDepth));
          inner.reduce_axes[d] = v(vars.back());
        }
        length = top(length);
        const Expr blocks = top(length / const_int(kLanes));
        const auto over_lines = [&](Block line, Block& to) {
          for (size_t d = vars.size(); d-- > 0;) {
            Block loop;
            push(loop, For{vars[d], const_int(0), top(stage.reduce_extents[d + 1]), LoopRole::kSerial, 1, 1,
                           std::move(line)});
            line = std::move(loop);
          }
          for (Statement& statement : line) to.push_back(std::move(statement));
        };
        const int lane = new_loop_var(Expr(), kVectorDepth), acc = new_var(stage.accumulator);
        Block lanes;
        push(lanes, Declare{acc, load_flat(part, stage.accumulator, base + v(lane))});
        over_lines(add_blocks(s, inner, lane, acc, blocks), lanes);
        push(lanes, Store{part, base + v(lane), v(acc)});
        push(body,
             For{lane, const_int(0), const_int(kLanes), LoopRole::kVector, kLanes, 1, std::move(lanes)});

        const int rest = new_var(stage.accumulator), t = new_loop_var(Expr(), kInnerDepth);
        const Expr left = base + const_int(kLanes);
        inner.reduce_axes.back() = v(t);
        Block tail, tail_loop;
        push(tail, Assign{rest, combine(stage, v(rest), translate(s, stage.body, inner))});
        push(tail_loop, For{t, blocks * const_int(kLanes), length, LoopRole::kSerial, 1, 1, std::move(tail)});
        push(body, Declare{rest, load_flat(part, stage.accumulator, left)});
        over_lines(std::move(tail_loop), body);
        push(body, Store{part, left, v(rest)});
      },
      out);
}

/// The statistic's own phase: partial results become results.
void Lowering::end_statistics(int s, Block& out) {
  const auto i = static_cast<size_t>(s);
  if (counts_[i]) return emit_row(counts_[i]->last, std::vector<Expr>(extents_[i].size()), out);
  const Stage& stage = kernel_.stages[i];
  const int part = partial_[i].buffer;
  for_results(
      s,
      [&](const Env& env, const Expr& base, Block& body) {
        const int total = new_var(stage.accumulator), n = new_loop_var(Expr(), kInnerDepth);
        push(body, Declare{total, neutral(stage)});
        Block sum;
        push(sum, Assign{total, combine(stage, v(total), load_flat(part, stage.accumulator, base + v(n)))});
        push(body, For{n, const_int(0), const_int(kPartial), LoopRole::kSerial, 1, 1, std::move(sum)});
        store(places_[i], env.axes, finish(s, env, v(total), nullptr), body);
      },
      out);
}

}  // namespace galatea::kernel::lowering
