#include "compiler/passes/demand.h"

namespace galatea::passes {

using kernel::ExprKind;
using kernel::Stage;
using op::LoweredOutput;

namespace {

Box whole_box(const std::vector<Expr>& extents) {
  Box box;
  for (const Expr& extent : extents) box.push_back(whole(extent));
  return box;
}

}  // namespace

void unite(Reads& reads, const Box& more) {
  if (!reads) {
    reads = more;
    return;
  }
  for (size_t d = 0; d < more.size(); ++d) (*reads)[d] = hull((*reads)[d], more[d]);
}

Demand::Demand(const op::Lowering& lowering, int input)
    : lowering_(lowering), input_(input), intervals_(lowering), demands_(lowering.stages.size()) {
  for (const Stage& stage : lowering.stages) {
    std::vector<bool>& whole_axes = must_be_whole_.emplace_back(stage.extents.size(), false);
    // Bins count from the first, and a prefix begins with the first element.
    if (stage.form == kernel::StageForm::kHistogram) whole_axes.back() = true;
    if (stage.form == kernel::StageForm::kScan) whole_axes[static_cast<size_t>(stage.scan_axis)] = true;
  }
  for (const LoweredOutput& output : lowering.outputs) {
    if (output.kind == LoweredOutput::Kind::kView && output.input == input) unite(reads_, window(output));
    if (output.kind != LoweredOutput::Kind::kStage) continue;
    auto stage = static_cast<size_t>(output.stage);
    demands_[stage] = whole_box(lowering.stages[stage].extents);
    must_be_whole_[stage].assign(lowering.stages[stage].extents.size(), true);
  }
  for (size_t s = lowering.stages.size(); s-- > 0;) {
    if (!demands_[s]) continue;
    const Stage& stage = lowering.stages[s];
    for (size_t d = 0; d < stage.extents.size(); ++d)
      if (must_be_whole_[s][d]) (*demands_[s])[d] = whole(stage.extents[d]);
    visit(stage, *demands_[s]);
  }
}

Box Demand::behind(const LoweredOutput& view, const Box& shown, Intervals& intervals) {
  Box box;
  for (const Expr& start : view.start) box.push_back({start, start});
  for (size_t j = 0; j < view.input_dim.size(); ++j) {
    if (view.input_dim[j] < 0) continue;
    Interval& along = box[static_cast<size_t>(view.input_dim[j])];
    Intervals::Domain domain{{shown[j]}, {}, {}};
    auto index = intervals.bound(along.low + view.step[j] * kernel::axis(0), domain);
    GALATEA_CHECK(index.has_value(), "views are affine");
    along = *index;
  }
  return box;
}

Box Demand::window(const LoweredOutput& view) {
  if (view.reshape) return whole_box(lowering_.inputs[static_cast<size_t>(view.input)].extents);
  Box box = behind(view, whole_box(view.extents), intervals_);
  for (size_t d = 0; d < box.size(); ++d)
    box[d] = Intervals::reached(box[d], lowering_.inputs[static_cast<size_t>(view.input)].extents[d],
                                kernel::Border::kNone);
  return box;
}

void Demand::visit(const Stage& stage, const Box& demanded) {
  Intervals::Domain domain{demanded, {}, {}};
  for (const Expr& extent : stage.reduce_extents) domain.reduce_axes.push_back(whole(extent));
  if (stage.form == kernel::StageForm::kBand) domain.tap = whole(stage.taps);
  for (const Expr* part : {&stage.body, &stage.first, &stage.weight, &stage.source, &stage.finish}) {
    if (!*part) continue;
    kernel::for_each_node(*part, [&](const Expr& e) {
      if (e->kind == ExprKind::kLoad) visit_load(*e, domain);
    });
  }
}

void Demand::visit_load(const kernel::ExprNode& load, const Intervals::Domain& domain) {
  bool from_stage = load.target.kind == kernel::LoadTarget::Kind::kStage;
  if (!from_stage && load.target.index != input_) return;
  auto target = static_cast<size_t>(load.target.index);
  const std::vector<Expr>& extents =
      from_stage ? lowering_.stages[target].extents : lowering_.inputs[target].extents;
  Box box;
  for (size_t d = 0; d < load.args.size(); ++d) {
    auto index = intervals_.bound(load.args[d], domain);
    box.push_back(index ? Intervals::reached(*index, extents[d], load.border) : whole(extents[d]));
    if (from_stage && load.border != kernel::Border::kClamp && load.border != kernel::Border::kNone)
      must_be_whole_[target][d] = true;
  }
  unite(from_stage ? demands_[target] : reads_, box);
}

Range to_range(const Interval& interval, const Expr& extent, const Expr& condition) {
  Expr zero = kernel::const_int(0), one = kernel::const_int(1);
  bool from_start = kernel::is_const_int(interval.low, 0);
  bool to_end = kernel::same(interval.high, extent - one);
  Range range{zero, extent};
  auto guarded = [&](const Expr& bound, const Expr& otherwise) {
    return condition ? kernel::select(condition, bound, otherwise) : bound;
  };
  if (!from_start) range.begin = guarded(kernel::max(zero, kernel::min(interval.low, extent - one)), zero);
  if (!to_end) {
    Expr end = kernel::min(interval.high + one, extent);
    range.end = guarded(kernel::max(end, kernel::min(range.begin + one, extent)), extent);
  }
  return range;
}

}  // namespace galatea::passes
