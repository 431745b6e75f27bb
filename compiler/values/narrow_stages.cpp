#include "compiler/values/narrow_stages.h"

#include <algorithm>

#include "compiler/values/demand.h"

namespace galatea::values {

using kernel::Expr;
using kernel::ExprKind;
using kernel::Stage;

namespace {

template <typename F>
void for_each_part(Stage& stage, const F& change) {
  for (Expr* part : {&stage.body, &stage.first, &stage.weight, &stage.source, &stage.finish})
    if (*part) *part = change(*part);
}

/// Stages that load an input, themselves or through others.
std::vector<bool> reading_stages(const op::Lowering& lowering) {
  std::vector<bool> reads(lowering.stages.size(), false);
  for (size_t s = 0; s < lowering.stages.size(); ++s) {
    Stage stage = lowering.stages[s];
    for_each_part(stage, [&](const Expr& part) {
      kernel::for_each_node(part, [&](const Expr& e) {
        if (e->kind != ExprKind::kLoad) return;
        bool input = e->target.kind == kernel::LoadTarget::Kind::kInput;
        if (input || reads[static_cast<size_t>(e->target.index)]) reads[s] = true;
      });
      return part;
    });
  }
  return reads;
}

bool is_exactly(const Interval& interval, const Range& range) {
  const Interval wanted = inside(range);
  return kernel::same(interval.low, wanted.low) && kernel::same(interval.high, wanted.high);
}

/// Where each axis of each stage now begins; empty: where it did.
using Origins = std::vector<std::vector<Expr>>;

/// The stage over a box that begins at `origin`: its axes count from there, and loads of narrowed stages from
/// theirs.
void shift(Stage& stage, const std::vector<Expr>& origin, const Origins& origins) {
  auto moved = [&](const Expr& part) {
    return kernel::rewrite(part, [&](const Expr& e) -> Expr {
      if (e->kind != ExprKind::kAxis || !origin[static_cast<size_t>(e->index)]) return {};
      return e + origin[static_cast<size_t>(e->index)];
    });
  };
  for_each_part(stage, moved);
  auto from_origins = [&](auto& self, const Expr& part) -> Expr {
    return kernel::rewrite(part, [&](const Expr& e) -> Expr {
      if (e->kind != ExprKind::kLoad || e->target.kind != kernel::LoadTarget::Kind::kStage) return {};
      std::vector<Expr> indices;
      for (size_t d = 0; d < e->args.size(); ++d) {
        Expr index = self(self, e->args[d]);
        const Expr& begin = origins[static_cast<size_t>(e->target.index)][d];
        indices.push_back(begin ? index - begin : index);
      }
      return kernel::load(e->target, e->type, std::move(indices), e->border, e->fill);
    });
  };
  if (stage.form != kernel::StageForm::kBand) {
    for_each_part(stage, [&](const Expr& part) { return from_origins(from_origins, part); });
    return;
  }
  // The source's band index must remain `first + tap`: the shift goes into `first`.
  const kernel::ExprNode& source = *stage.source;
  bool from_stage = source.target.kind == kernel::LoadTarget::Kind::kStage;
  Expr band_index = stage.first + kernel::tap();
  Expr first = from_origins(from_origins, stage.first);
  std::vector<Expr> indices;
  for (size_t d = 0; d < source.args.size(); ++d) {
    Expr begin = from_stage ? origins[static_cast<size_t>(source.target.index)][d] : Expr();
    if (kernel::same(source.args[d], band_index)) {
      if (begin) first = first - begin;
      indices.push_back(first + kernel::tap());
      continue;
    }
    Expr index = from_origins(from_origins, source.args[d]);
    indices.push_back(begin ? index - begin : index);
  }
  stage.source = kernel::load(source.target, source.type, std::move(indices), source.border, source.fill);
  stage.first = first;
  stage.weight = from_origins(from_origins, stage.weight);
  if (stage.finish) stage.finish = from_origins(from_origins, stage.finish);
}

}  // namespace

op::Lowering narrow_stages(op::Lowering lowering) {
  std::vector<Window> everything(lowering.outputs.size());
  return narrow_stages(std::move(lowering), everything);
}

op::Lowering narrow_stages(op::Lowering lowering, std::vector<Window>& windows) {
  Demand demand(lowering, -1, windows);
  std::vector<bool> reading = reading_stages(lowering);
  std::vector<std::vector<Range>> held(lowering.stages.size()), wanted(lowering.stages.size());
  std::vector<std::vector<Expr>> whole_extents;
  for (const Stage& stage : lowering.stages) whole_extents.push_back(stage.extents);
  for (size_t k = 0; k < windows.size(); ++k) {
    if (!windows[k] || lowering.outputs[k].stage < 0) continue;
    auto s = static_cast<size_t>(lowering.outputs[k].stage);
    reading[s] = true;
    wanted[s].resize(windows[k]->size());
    for (size_t d = 0; d < windows[k]->size(); ++d)
      wanted[s][static_cast<size_t>(lowering.outputs[k].axis_of[d])] = (*windows[k])[d];
  }
  // A wanted window lies inside already, also of what is read element by element for it.
  const auto as_wanted = [&](const Interval& along, const Expr& extent) -> const Range* {
    for (size_t s = 0; s < wanted.size(); ++s)
      for (size_t d = 0; d < wanted[s].size(); ++d)
        if (is_exactly(along, wanted[s][d]) && kernel::same(extent, whole_extents[s][d]))
          return &wanted[s][d];
    return nullptr;
  };
  Origins origins;
  bool any = false;
  for (size_t s = 0; s < lowering.stages.size(); ++s) {
    Stage& stage = lowering.stages[s];
    origins.emplace_back(stage.extents.size());
    for (const Expr& extent : stage.extents) held[s].push_back({kernel::const_int(0), extent});
    if (!demand.of_stage(s) || !reading[s]) continue;
    for (size_t d = 0; d < stage.extents.size(); ++d) {
      const Interval& along = (*demand.of_stage(s))[d];
      const Range* known = as_wanted(along, stage.extents[d]);
      Range range = known ? *known : to_range(along, stage.extents[d], demand.condition());
      if (kernel::same(range.end, stage.extents[d]) && kernel::is_const_int(range.begin, 0)) continue;
      any = true;
      held[s][d] = range;
      if (!kernel::is_const_int(range.begin, 0)) origins[s][d] = range.begin;
      stage.extents[d] = range.end - range.begin;
    }
  }
  for (size_t k = 0; k < windows.size(); ++k) {
    const op::LoweredOutput& output = lowering.outputs[k];
    if (!windows[k] || output.stage < 0) continue;
    for (size_t d = 0; d < output.axis_of.size(); ++d)
      (*windows[k])[d] = held[static_cast<size_t>(output.stage)][static_cast<size_t>(output.axis_of[d])];
  }
  if (!any) return lowering;
  for (size_t s = 0; s < lowering.stages.size(); ++s) shift(lowering.stages[s], origins[s], origins);
  return lowering;
}

}  // namespace galatea::values
