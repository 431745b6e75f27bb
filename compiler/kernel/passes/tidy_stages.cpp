// remove_dead_stages and merge_equal_stages: see passes.h.
#include "compiler/kernel/expand_math.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {
namespace {

bool same_or_both_empty(const Expr& a, const Expr& b) { return (!a && !b) || (a && b && same(a, b)); }

bool computes_the_same(const Stage& a, const Stage& b) {
  if (a.form != b.form || a.type != b.type || !same_extents(a.extents, b.extents)) return false;
  if (a.form != StageForm::kMap && a.accumulator != b.accumulator) return false;
  if (a.form == StageForm::kBand && (a.band_axis != b.band_axis || !same(a.taps, b.taps))) return false;
  if ((a.form == StageForm::kReduce || a.form == StageForm::kScan) && a.combiner != b.combiner) return false;
  if ((a.form == StageForm::kReduce || a.form == StageForm::kHistogram) &&
      !same_extents(a.reduce_extents, b.reduce_extents))
    return false;
  if (a.form == StageForm::kScan && a.scan_axis != b.scan_axis) return false;
  auto parts_a = element_parts(a);
  auto parts_b = element_parts(b);
  for (size_t i = 0; i < parts_a.size(); ++i) {
    if (!same_or_both_empty(*parts_a[i], *parts_b[i])) return false;
  }
  return true;
}

/// Loads of stage i become loads of stage number[i].
void renumber_loads(Stage& stage, const std::vector<int>& number) {
  for (Expr* part : element_parts(stage)) {
    *part = rewrite_loads(*part, [&](const Expr& e, const Operands& indices) {
      if (e->target.kind != LoadTarget::Kind::kStage) return Expr();
      int target = number[static_cast<size_t>(e->target.index)];
      return target == e->target.index ? Expr()
                                       : load({e->target.kind, target}, e->type, indices, e->border, e->fill);
    });
  }
}

}  // namespace

void remove_dead_stages(Kernel& kernel) {
  std::vector<bool> needed = needed_stages(kernel);
  std::vector<int> number(kernel.stages.size(), -1);
  std::vector<Stage> kept;
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    if (!needed[i]) continue;
    number[i] = static_cast<int>(kept.size());
    renumber_loads(kernel.stages[i], number);
    kept.push_back(std::move(kernel.stages[i]));
  }
  kernel.stages = std::move(kept);
  for (KernelOutput& output : kernel.outputs) output.stage = number[static_cast<size_t>(output.stage)];
}

void merge_equal_stages(Kernel& kernel) {
  std::vector<int> number(kernel.stages.size());
  bool merged = false;
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    number[i] = static_cast<int>(i);
    renumber_loads(kernel.stages[i], number);
    // Two outputs of one stage stay two stages: each is stored once, with its own order of axes.
    if (is_output(kernel, static_cast<int>(i))) continue;
    for (size_t k = 0; k < i; ++k) {
      if (number[k] != static_cast<int>(k) || !computes_the_same(kernel.stages[k], kernel.stages[i]))
        continue;
      number[i] = static_cast<int>(k);
      merged = true;
      break;
    }
  }
  if (merged) remove_dead_stages(kernel);
}

void expand_math_functions(Kernel& kernel) {
  for (Stage& stage : kernel.stages) {
    for (Expr* part : element_parts(stage)) *part = expand_math(*part);
  }
}

}  // namespace galatea::kernel
