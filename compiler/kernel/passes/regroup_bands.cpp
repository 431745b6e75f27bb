// regroup_bands: see passes.h. Which stages take an axis apart, and bands that may run on their grouping.
//
// A stage computes sixteen places of its last axis side by side, group by group, so that all that it needs for a group
// stays in the cache. A map takes the groups apart again. A band that reads the map place by place can as well run on
// the groups: then it needs no more than the group that was just made, and the map follows it, over less.
#include <algorithm>
#include <optional>

#include "compiler/kernel/division.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {
namespace {

/// How a map that is one load takes an axis apart, if it has all of its other axes as they are.
std::optional<GroupedAxis> match_ungrouping(const Kernel& kernel, const Stage& map) {
  if (map.form != StageForm::kMap || map.body->kind != ExprKind::kLoad || map.body->border != Border::kNone ||
      map.body->target.kind != LoadTarget::Kind::kStage)
    return std::nullopt;
  const auto found = grouped_axis(*map.body);
  if (!found) return std::nullopt;
  const Stage& source = kernel.stages[static_cast<size_t>(map.body->target.index)];
  if (!same(source.extents[static_cast<size_t>(found->place)], found->size)) return std::nullopt;
  std::vector<int> times(map.extents.size(), 0);
  times[static_cast<size_t>(found->axis)] = 1;
  for (int d = 0; d < source.rank(); ++d) {
    const Expr& index = map.body->args[static_cast<size_t>(d)];
    if (d == found->group || d == found->place) continue;
    if (index->kind != ExprKind::kAxis) return std::nullopt;
    ++times[static_cast<size_t>(index->index)];
  }
  return std::ranges::all_of(times, [](int n) { return n == 1; }) ? found : std::nullopt;
}

bool mentions_axis(const Expr& e, int number) {
  return e && any_node(e, bit_of(ExprKind::kAxis), [&](const Expr& node) { return node->index == number; });
}

bool reads_stage(const Expr& e, int number) {
  return e && any_node(e, bit_of(ExprKind::kLoad), [&](const Expr& node) {
           return node->target == LoadTarget{LoadTarget::Kind::kStage, number};
         });
}

/// The band's own axis along which it reads the ungrouped one, place by place, and nothing else; -1: none.
int axis_of_groups(const Stage& band, const Stage& map, int map_number, const GroupedAxis& grouping) {
  if (band.form != StageForm::kBand || may_raise_flag(band) || !is_stage_load(band.source, map_number) ||
      band.source->border != Border::kNone)
    return -1;
  const auto at = static_cast<size_t>(grouping.axis);
  const Expr& index = band.source->args[at];
  if (index->kind != ExprKind::kAxis || index->index == band.band_axis ||
      !same(band.extents[static_cast<size_t>(index->index)], map.extents[at]))
    return -1;
  for (const Expr* part : {&band.first, &band.weight, &band.finish})
    if (mentions_axis(*part, index->index) || reads_stage(*part, map_number)) return -1;
  for (size_t d = 0; d < band.source->args.size(); ++d)
    if (d != at && mentions_axis(band.source->args[d], index->index)) return -1;
  return index->index;
}

/// The band over groups: their axis outermost, the places of a group innermost.
Stage grouped(const Kernel& kernel, const Stage& band, int axis_of_band, const Stage& map,
              const GroupedAxis& grouping) {
  const Stage& source = kernel.stages[static_cast<size_t>(map.body->target.index)];
  Stage out = band;
  out.extents = {source.extents[static_cast<size_t>(grouping.group)]};
  std::vector<Expr> axes(band.extents.size());
  for (int d = 0; d < band.rank(); ++d) {
    if (d == axis_of_band) continue;
    axes[static_cast<size_t>(d)] = axis(static_cast<int>(out.extents.size()));
    if (d == band.band_axis) out.band_axis = static_cast<int>(out.extents.size());
    out.extents.push_back(band.extents[static_cast<size_t>(d)]);
  }
  out.extents.push_back(grouping.size);
  const auto moved = [&](const Expr& e) { return e ? substitute_axes(e, axes) : e; };
  std::vector<Expr> indices;
  for (size_t d = 0; d < map.body->args.size(); ++d) {
    if (static_cast<int>(d) == grouping.group)
      indices.push_back(axis(0));
    else if (static_cast<int>(d) == grouping.place)
      indices.push_back(axis(out.rank() - 1));
    else
      indices.push_back(moved(band.source->args[static_cast<size_t>(map.body->args[d]->index)]));
  }
  out.first = moved(band.first), out.weight = moved(band.weight), out.finish = moved(band.finish);
  out.source = load(map.body->target, map.body->type, std::move(indices));
  return out;
}

/// What the band was: its places taken out of their groups, as the map takes them.
Stage ungrouped(const Stage& band, int axis_of_band, int number, const Stage& taken,
                const GroupedAxis& grouping) {
  std::vector<Expr> axes(taken.extents.size());
  axes[static_cast<size_t>(grouping.axis)] = axis(axis_of_band);
  Stage map;
  map.name = band.name;
  map.type = band.type;
  map.extents = band.extents;
  map.span = band.span;
  std::vector<Expr> indices = {substitute_axes(taken.body->args[static_cast<size_t>(grouping.group)], axes)};
  for (int d = 0; d < band.rank(); ++d)
    if (d != axis_of_band) indices.push_back(axis(d));
  indices.push_back(axis(axis_of_band) % grouping.size);
  map.body = load({LoadTarget::Kind::kStage, number}, band.type, std::move(indices));
  return map;
}

/// Puts a stage behind number `number`, whose readers, and outputs, take it instead.
void put_behind(Kernel& kernel, int number, Stage stage) {
  for (size_t s = static_cast<size_t>(number) + 1; s < kernel.stages.size(); ++s)
    for (Expr* part : element_parts(kernel.stages[s]))
      *part = rewrite_loads(*part, [&](const Expr& e, const std::vector<Expr>& indices) {
        if (e->target.kind != LoadTarget::Kind::kStage || e->target.index < number) return Expr();
        return load({LoadTarget::Kind::kStage, e->target.index + 1}, e->type, indices, e->border, e->fill);
      });
  for (KernelOutput& output : kernel.outputs) output.stage += output.stage >= number;
  kernel.stages.insert(kernel.stages.begin() + number + 1, std::move(stage));
}

}  // namespace

void regroup_bands(Kernel& kernel) {
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    const Stage map = kernel.stages[i];
    const auto grouping = match_ungrouping(kernel, map);
    if (!grouping) continue;
    for (size_t r = i + 1; r < kernel.stages.size(); ++r) {
      const Stage band = kernel.stages[r];
      const int along = axis_of_groups(band, map, static_cast<int>(i), *grouping);
      if (along < 0) continue;
      const auto number = static_cast<int>(r);
      kernel.stages[r] = grouped(kernel, band, along, map, *grouping);
      put_behind(kernel, number, ungrouped(band, along, number, map, *grouping));
    }
  }
  remove_dead_stages(kernel);
}

}  // namespace galatea::kernel
