// inline_maps: see passes.h. Bands keep reading stored stages (their source is a load), and what a reader
// would compute again for every element (a table, a statistic) stays a stage.
#include <algorithm>

#include "compiler/kernel/cost.h"
#include "compiler/kernel/division.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {
namespace {

/// All indices are certainly inside the map: promised, or an axis of equal extent.
bool is_inside(const Stage& reader, const Expr& load, const Stage& map) {
  if (load->border == Border::kNone) return true;
  for (size_t d = 0; d < load->args.size(); ++d) {
    const Expr& index = load->args[d];
    const std::vector<Expr>* box = index->kind == ExprKind::kAxis         ? &reader.extents
                                   : index->kind == ExprKind::kReduceAxis ? &reader.reduce_extents
                                                                          : nullptr;
    if (box == nullptr || !same((*box)[static_cast<size_t>(index->index)], map.extents[d])) return false;
  }
  return true;
}

bool can_inline(const Stage& map, const Stage& reader, const std::vector<Expr>& loads) {
  // A band has loads where they are made once per tap or position; its finish is sink_into_store's business.
  if (reader.form == StageForm::kBand) return false;
  if (reader.finish &&
      std::any_of(loads.begin(), loads.end(), [](const Expr& l) { return contains(l, ExprKind::kAcc); }))
    return false;
  return std::all_of(loads.begin(), loads.end(),
                     [&](const Expr& load) { return is_inside(reader, load, map); });
}

void inline_into(Stage& reader, const Stage& map, int number) {
  for (Expr* part : element_parts(reader)) {
    *part = rewrite_loads(*part, [&](const Expr& e, const Operands& indices) {
      return is_stage_load(e, number) ? substitute_axes(map.body, indices) : Expr();
    });
  }
  reader.name =
      reader.name.empty() || map.name.empty() ? reader.name + map.name : map.name + "+" + reader.name;
}

}  // namespace

void inline_maps(Kernel& kernel) {
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    auto number = static_cast<int>(i);
    // An output is computed anyway; reading it is cheaper. A map that may raise a flag is computed on its
    // whole domain.
    if (kernel.stages[i].form != StageForm::kMap || is_output(kernel, number) ||
        may_raise_flag(kernel.stages[i]))
      continue;
    // A reader that needs it stored lets the others read what is stored.
    const std::vector<int> readers = readers_of(kernel, number);
    const bool all = std::all_of(readers.begin(), readers.end(), [&](int reader) {
      const Stage& stage = kernel.stages[static_cast<size_t>(reader)];
      return can_inline(kernel.stages[i], stage, loads_of(stage, number));
    });
    if (!all || !recomputation(kernel, number).pays()) continue;
    for (int reader : readers)
      inline_into(kernel.stages[static_cast<size_t>(reader)], kernel.stages[i], number);
  }
  remove_dead_stages(kernel);
}

}  // namespace galatea::kernel
