// inline_maps: see passes.h. Bands keep reading stored stages (their source is a load), and what a reader
// would compute again for every element (a table, a statistic) stays a stage.
#include <algorithm>

#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/passes/stage_edit.h"

namespace galatea::kernel {
namespace {

constexpr int kCheapOperations = 3;

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

/// Whether a leaf occurs outside of loads: an index that was looked up may be the same for any two elements.
bool occurs_in(const Expr& index, ExprKind kind, int number) {
  if (index->kind == kind && index->index == number) return true;
  if (index->kind == ExprKind::kLoad) return false;
  return std::any_of(index->args.begin(), index->args.end(),
                     [&](const Expr& arg) { return occurs_in(arg, kind, number); });
}

/// Every axis along which the reader works occurs in the indices, so that no element of the map is computed
/// for two of the reader's.
bool covers_reader(const Stage& reader, const Expr& load) {
  auto occurs = [&](ExprKind kind, int number) {
    return std::any_of(load->args.begin(), load->args.end(),
                       [&](const Expr& index) { return occurs_in(index, kind, number); });
  };
  // What a histogram counts is computed once for all bins.
  const int rank = reader.form == StageForm::kHistogram ? reader.rank() - 1 : reader.rank();
  for (int d = 0; d < rank; ++d) {
    if (!is_const_int(reader.extents[static_cast<size_t>(d)], 1) && !occurs(ExprKind::kAxis, d)) return false;
  }
  for (size_t d = 0; d < reader.reduce_extents.size(); ++d) {
    if (!occurs(ExprKind::kReduceAxis, static_cast<int>(d))) return false;
  }
  return true;
}

bool can_inline(const Kernel& kernel, int number, int reader_number, const std::vector<Expr>& loads,
                bool only_one_reader) {
  const Stage& map = kernel.stages[static_cast<size_t>(number)];
  const Stage& reader = kernel.stages[static_cast<size_t>(reader_number)];
  // A band has loads where they are made once per tap or position; its finish is sink_into_store's business.
  if (reader.form == StageForm::kBand) return false;
  if (reader.finish &&
      std::any_of(loads.begin(), loads.end(), [](const Expr& l) { return contains(l, ExprKind::kAcc); }))
    return false;
  bool cheap = num_operations(map.body) <= kCheapOperations;
  bool once = only_one_reader && loads.size() == 1;
  if (!cheap && !once) return false;
  // A cheap map of the reader's size costs less computed again than stored and loaded; a small one (a table)
  // is better kept.
  bool may_repeat = cheap && map.rank() >= reader.rank() + static_cast<int>(reader.reduce_extents.size()) -
                                              (reader.form == StageForm::kHistogram ? 1 : 0);
  return std::all_of(loads.begin(), loads.end(), [&](const Expr& load) {
    return is_inside(reader, load, map) && (may_repeat || covers_reader(reader, load));
  });
}

void inline_into(Stage& reader, const Stage& map, int number) {
  for (Expr* part : element_parts(reader)) {
    *part = rewrite_loads(*part, [&](const Expr& e, const std::vector<Expr>& indices) {
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
    std::vector<int> readers = readers_of(kernel, number);
    for (int reader : readers) {
      auto loads = loads_of(kernel.stages[static_cast<size_t>(reader)], number);
      if (can_inline(kernel, number, reader, loads, readers.size() == 1)) {
        inline_into(kernel.stages[static_cast<size_t>(reader)], kernel.stages[i], number);
      }
    }
  }
  remove_dead_stages(kernel);
}

}  // namespace galatea::kernel
