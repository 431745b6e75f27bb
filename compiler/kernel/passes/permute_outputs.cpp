// permute_outputs: see passes.h.
#include <optional>

#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {
namespace {

/// axis_at[d] = the axis of the map on which index d of the load runs, if these are all its axes, each once.
std::optional<std::vector<int>> permutation_of(const Stage& map, const Expr& load) {
  if (load->args.size() != map.extents.size()) return std::nullopt;
  std::vector<int> axis_at;
  std::vector<bool> seen(map.extents.size(), false);
  for (const Expr& index : load->args) {
    Affine form;
    if (!match_affine(index, &form) || form.axis < 0 || seen[static_cast<size_t>(form.axis)])
      return std::nullopt;
    seen[static_cast<size_t>(form.axis)] = true;
    axis_at.push_back(form.axis);
  }
  return axis_at;
}

std::optional<std::vector<int>> source_order(const Kernel& kernel, const Stage& map) {
  for (size_t target = kernel.stages.size(); target-- > 0;) {
    for (const Expr& load : loads_of(map, static_cast<int>(target))) {
      if (auto order = permutation_of(map, load)) return order;
    }
  }
  return std::nullopt;
}

}  // namespace

void permute_outputs(Kernel& kernel) {
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    Stage& map = kernel.stages[i];
    auto number = static_cast<int>(i);
    if (map.form != StageForm::kMap || !is_output(kernel, number) || !readers_of(kernel, number).empty())
      continue;
    auto order = source_order(kernel, map);
    if (!order) continue;
    std::vector<Expr> extents;
    std::vector<Expr> axes(map.extents.size());
    std::vector<int> new_axis(map.extents.size());
    for (size_t d = 0; d < order->size(); ++d) {
      auto old_axis = static_cast<size_t>((*order)[d]);
      extents.push_back(map.extents[old_axis]);
      axes[old_axis] = axis(static_cast<int>(d));
      new_axis[old_axis] = static_cast<int>(d);
    }
    map.extents = std::move(extents);
    map.body = substitute_axes(map.body, axes);
    for (KernelOutput& output : kernel.outputs) {
      if (output.stage != number) continue;
      for (int& a : output.axis_of) a = new_axis[static_cast<size_t>(a)];
    }
  }
}

}  // namespace galatea::kernel
