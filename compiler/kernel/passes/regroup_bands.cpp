// regroup_bands: see passes.h. Which stages take an axis apart, and bands that may run on their grouping.
//
// A stage computes sixteen places of its last axis side by side, group by group, so that all that it needs for a group
// stays in the cache. A map takes the groups apart again. A band that reads the map place by place can as well run on
// the groups: then it needs no more than the group that was just made, and the map follows it, over less. So do
// maps behind it whose result several stages read: nothing but the result is kept then.
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

/// The same of a map, whose every load of the ungrouped one is at its own place.
int axis_of_groups_in_map(const Stage& reader, const Stage& map, int map_number,
                          const GroupedAxis& grouping) {
  if (reader.form != StageForm::kMap || may_raise_flag(reader)) return -1;
  const std::vector<Expr> loads = loads_of(reader, map_number);
  if (loads.size() != 1 || loads[0]->border != Border::kNone) return -1;
  const auto at = static_cast<size_t>(grouping.axis);
  const Expr& index = loads[0]->args[at];
  if (index->kind != ExprKind::kAxis ||
      !same(reader.extents[static_cast<size_t>(index->index)], map.extents[at]))
    return -1;
  for (size_t d = 0; d < loads[0]->args.size(); ++d)
    if (d != at && mentions_axis(loads[0]->args[d], index->index)) return -1;
  const Expr elsewhere = rewrite_loads(reader.body, [&](const Expr& e, const Operands&) {
    return is_stage_load(e, map_number) ? constant(e->type, {}) : Expr();
  });
  return mentions_axis(elsewhere, index->index) ? -1 : index->index;
}

/// Whether a chain of maps that begins with `number` is kept for several stages, and is the only reader of what
/// the ungrouped map takes apart: over groups nothing before the chain's end is kept.
bool is_all_that_is_kept(const Kernel& kernel, int number, int map_number) {
  const int source = kernel.stages[static_cast<size_t>(map_number)].body->target.index;
  if (only_reader(kernel, source) != map_number || only_reader(kernel, map_number) != number) return false;
  for (int next = number; next >= 0; next = only_reader(kernel, number)) {
    number = next;
    if (kernel.stages[static_cast<size_t>(number)].form != StageForm::kMap) return false;
  }
  return !is_output(kernel, number) && readers_of(kernel, number).size() > 1;
}

/// The band, or the map, over groups: their axis outermost, the places of a group innermost.
Stage grouped(const Kernel& kernel, const Stage& reader, int axis_of_reader, int map_number,
              const GroupedAxis& grouping) {
  const Stage& map = kernel.stages[static_cast<size_t>(map_number)];
  const Stage& source = kernel.stages[static_cast<size_t>(map.body->target.index)];
  Stage out = reader;
  out.extents = {source.extents[static_cast<size_t>(grouping.group)]};
  std::vector<Expr> axes(reader.extents.size());
  for (int d = 0; d < reader.rank(); ++d) {
    if (d == axis_of_reader) continue;
    axes[static_cast<size_t>(d)] = axis(static_cast<int>(out.extents.size()));
    if (d == reader.band_axis) out.band_axis = static_cast<int>(out.extents.size());
    out.extents.push_back(reader.extents[static_cast<size_t>(d)]);
  }
  out.extents.push_back(grouping.size);
  for (Expr* part : element_parts(out))
    *part = rewrite_loads(substitute_axes(*part, axes), [&](const Expr& e, const Operands& at) {
      if (!is_stage_load(e, map_number)) return Expr();
      std::vector<Expr> indices;
      for (size_t d = 0; d < map.body->args.size(); ++d) {
        if (static_cast<int>(d) == grouping.group)
          indices.push_back(axis(0));
        else if (static_cast<int>(d) == grouping.place)
          indices.push_back(axis(out.rank() - 1));
        else
          indices.push_back(at[static_cast<size_t>(map.body->args[d]->index)]);
      }
      return load(map.body->target, map.body->type, std::move(indices));
    });
  return out;
}

/// What the stage was: its places taken out of their groups, as the map takes them.
Stage ungrouped(const Stage& stage, int axis_of_stage, int number, const Stage& taken,
                const GroupedAxis& grouping) {
  std::vector<Expr> axes(taken.extents.size());
  axes[static_cast<size_t>(grouping.axis)] = axis(axis_of_stage);
  Stage map;
  map.name = stage.name;
  map.type = stage.type;
  map.extents = stage.extents;
  map.span = stage.span;
  std::vector<Expr> indices = {substitute_axes(taken.body->args[static_cast<size_t>(grouping.group)], axes)};
  for (int d = 0; d < stage.rank(); ++d)
    if (d != axis_of_stage) indices.push_back(axis(d));
  indices.push_back(axis(axis_of_stage) % grouping.size);
  map.body = load({LoadTarget::Kind::kStage, number}, stage.type, std::move(indices));
  return map;
}

/// Puts a stage behind number `number`, whose readers, and outputs, take it instead.
void put_behind(Kernel& kernel, int number, Stage stage) {
  for (size_t s = static_cast<size_t>(number) + 1; s < kernel.stages.size(); ++s)
    for (Expr* part : element_parts(kernel.stages[s]))
      *part = rewrite_loads(*part, [&](const Expr& e, const Operands& indices) {
        if (e->target.kind != LoadTarget::Kind::kStage || e->target.index < number) return Expr();
        return load({LoadTarget::Kind::kStage, e->target.index + 1}, e->type, indices, e->border, e->fill);
      });
  for (KernelOutput& output : kernel.outputs) output.stage += output.stage >= number;
  kernel.stages.insert(kernel.stages.begin() + number + 1, std::move(stage));
}

/// Readers of the ungrouped map take the places out of their groups themselves. A map on the groups that became part
/// of the ungrouped one would have all before it kept.
void read_groups(Kernel& kernel, int number) {
  const Expr taken = kernel.stages[static_cast<size_t>(number)].body;
  for (size_t s = static_cast<size_t>(number) + 1; s < kernel.stages.size(); ++s) {
    const std::vector<Expr> loads = loads_of(kernel.stages[s], number);
    const bool inside = std::ranges::all_of(loads, [](const Expr& e) { return e->border == Border::kNone; });
    if (kernel.stages[s].form == StageForm::kBand || !inside) continue;
    for (Expr* part : element_parts(kernel.stages[s]))
      *part = rewrite_loads(*part, [&](const Expr& e, const Operands& indices) {
        return is_stage_load(e, number) ? substitute_axes(taken, indices) : Expr();
      });
  }
}

}  // namespace

void regroup_bands(Kernel& kernel) {
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    const Stage map = kernel.stages[i];
    const auto grouping = match_ungrouping(kernel, map);
    if (!grouping) continue;
    for (size_t r = i + 1; r < kernel.stages.size(); ++r) {
      const auto number = static_cast<int>(r), taken = static_cast<int>(i);
      const Stage reader = kernel.stages[r];
      int along = axis_of_groups(reader, map, taken, *grouping);
      if (along < 0 && is_all_that_is_kept(kernel, number, taken))
        along = axis_of_groups_in_map(reader, map, taken, *grouping);
      if (along < 0) continue;
      kernel.stages[r] = grouped(kernel, reader, along, taken, *grouping);
      put_behind(kernel, number, ungrouped(reader, along, number, map, *grouping));
      if (reader.form == StageForm::kMap && readers_of(kernel, number + 1).size() > 1)
        read_groups(kernel, number + 1);
    }
  }
  remove_dead_stages(kernel);
}

}  // namespace galatea::kernel
