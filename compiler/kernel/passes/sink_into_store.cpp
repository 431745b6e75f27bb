// sink_into_store: see passes.h. Crop, mirror, normalisation, layout and element type end up in the last step
// of a resize this way, straight in the output's store.
#include <algorithm>
#include <optional>

#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {
namespace {

/// axis_at[d] = the map's axis at index d, if the indices are the map's axes in some order, over equal
/// extents.
std::optional<std::vector<int>> plain_order(const Stage& map, const Expr& load, const Stage& producer) {
  if (map.rank() != producer.rank()) return std::nullopt;
  std::vector<int> axis_at;
  std::vector<bool> seen(map.extents.size(), false);
  for (size_t d = 0; d < load->args.size(); ++d) {
    const Expr& index = load->args[d];
    if (index->kind != ExprKind::kAxis) return std::nullopt;
    auto a = static_cast<size_t>(index->index);
    if (seen[a] || !same(map.extents[a], producer.extents[d])) return std::nullopt;
    seen[a] = true;
    axis_at.push_back(index->index);
  }
  return axis_at;
}

/// The map's stage, computed as the producer with another last step.
Stage merged(const Stage& producer, const Stage& map, int number, const std::vector<int>& axis_at) {
  Stage out = producer;
  std::vector<Expr> axes;
  for (int a : axis_at) axes.push_back(axis(a));
  for (Expr* part : element_parts(out)) *part = substitute_axes(*part, axes);
  if (out.form == StageForm::kBand) out.band_axis = axis_at[static_cast<size_t>(producer.band_axis)];
  if (out.form == StageForm::kScan) out.scan_axis = axis_at[static_cast<size_t>(producer.scan_axis)];
  Expr value = substitute_axes(finish_of(producer), axes);
  out.finish = rewrite_loads(
      map.body, [&](const Expr& e, const Operands&) { return is_stage_load(e, number) ? value : Expr(); });
  out.extents = map.extents;
  out.type = map.type;
  out.span = map.span;
  out.name =
      producer.name.empty() || map.name.empty() ? producer.name + map.name : producer.name + "+" + map.name;
  return out;
}

bool sink(Kernel& kernel, int number) {
  Stage& map = kernel.stages[static_cast<size_t>(number)];
  for (int target = number - 1; target >= 0; --target) {
    const Stage& producer = kernel.stages[static_cast<size_t>(target)];
    if (producer.form == StageForm::kMap || only_reader(kernel, target) != number) continue;
    auto loads = loads_of(map, target);
    if (loads.size() != 1) continue;
    auto order = plain_order(map, loads[0], producer);
    if (!order) continue;
    // Prefixes are made one after the other; what follows from them is made in lanes.
    if (producer.form == StageForm::kScan && producer.scan_axis + 1 == producer.rank()) continue;
    if (producer.form == StageForm::kHistogram && order->back() != map.rank() - 1) continue;  // bins are last
    map = merged(producer, map, target, *order);
    return true;
  }
  return false;
}

}  // namespace

void sink_into_store(Kernel& kernel) {
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    if (kernel.stages[i].form != StageForm::kMap || !sink(kernel, static_cast<int>(i))) continue;
    // Numbers move: start again. Kernels have few stages.
    remove_dead_stages(kernel);
    i = static_cast<size_t>(-1);
  }
}

}  // namespace galatea::kernel
