#include "compiler/values/demand.h"

namespace galatea::values {

using kernel::ExprKind;
using kernel::Stage;
using op::LoweredOutput;

namespace {

Box whole_box(const std::vector<Expr>& extents) {
  Box box;
  for (const Expr& extent : extents) box.push_back(whole(extent));
  return box;
}

/// The hull of what lies inside of an extent: an end of it is reached by both where one reaches it.
Interval hull_inside(const Interval& a, const Interval& b, const Expr& extent) {
  const Expr last = extent - kernel::const_int(1);
  auto is_first = [](const Expr& e) { return kernel::is_const_int(e, 0); };
  Interval out = hull(a, b);
  if (is_first(a.low) || is_first(b.low)) out.low = kernel::const_int(0);
  if (kernel::same(a.high, last) || kernel::same(b.high, last)) out.high = last;
  return out;
}

}  // namespace

void unite(Reads& reads, const Box& more, const std::vector<Expr>& extents) {
  if (!reads) {
    reads = more;
    return;
  }
  for (size_t d = 0; d < more.size(); ++d) (*reads)[d] = hull_inside((*reads)[d], more[d], extents[d]);
}

Demand::Demand(const op::Lowering& lowering, int input, const std::vector<Window>& windows)
    : lowering_(lowering), input_(input), intervals_(lowering), demands_(lowering.stages.size()) {
  for (const Stage& stage : lowering.stages) {
    std::vector<bool>& axes = whole_axes_.emplace_back(stage.extents.size(), false);
    // Bins count from the first, and a prefix begins with the first element.
    if (stage.form == kernel::StageForm::kHistogram) axes.back() = true;
    if (stage.form == kernel::StageForm::kScan) axes[static_cast<size_t>(stage.scan_axis)] = true;
  }
  for (size_t k = 0; k < lowering.outputs.size(); ++k)
    ask_output(lowering.outputs[k], k < windows.size() ? windows[k] : std::nullopt);
  for (size_t s = lowering.stages.size(); s-- > 0;) {
    if (!demands_[s]) continue;
    for (size_t d = 0; d < whole_axes_[s].size(); ++d)
      if (whole_axes_[s][d]) (*demands_[s])[d] = whole(lowering.stages[s].extents[d]);
    visit(lowering.stages[s], *demands_[s]);
  }
}

void Demand::ask_output(const LoweredOutput& output, const Window& window) {
  if (output.kind == LoweredOutput::Kind::kView && output.input == input_)
    unite(reads_, behind(output, window), lowering_.inputs[static_cast<size_t>(output.input)].extents);
  if (output.kind != LoweredOutput::Kind::kStage) return;
  auto stage = static_cast<size_t>(output.stage);
  Box box = whole_box(lowering_.stages[stage].extents);
  if (window) {
    for (size_t d = 0; d < window->size(); ++d)
      box[static_cast<size_t>(output.axis_of[d])] = inside((*window)[d]);
  } else {
    whole_axes_[stage].assign(box.size(), true);
  }
  unite(demands_[stage], box, lowering_.stages[stage].extents);
}

/// The part of the input behind what is wanted of a view.
Box Demand::behind(const LoweredOutput& view, const Window& window) {
  const std::vector<Expr>& extents = lowering_.inputs[static_cast<size_t>(view.input)].extents;
  if (view.reshape) return whole_box(extents);
  Box shown;
  for (size_t d = 0; d < view.extents.size(); ++d)
    shown.push_back(window ? inside((*window)[d]) : whole(view.extents[d]));
  Box box;
  for (const Expr& start : view.start) box.push_back({start, start});
  for (size_t j = 0; j < view.input_dim.size(); ++j) {
    if (view.input_dim[j] < 0) continue;
    Interval& along = box[static_cast<size_t>(view.input_dim[j])];
    Intervals::Domain domain{{shown[j]}, {}, {}, {}};
    auto index = intervals_.bound(along.low + view.step[j] * kernel::axis(0), domain);
    GALATEA_CHECK(index.has_value(), "views are affine");
    along = *index;
  }
  for (size_t d = 0; d < box.size(); ++d)
    box[d] = Intervals::reached(box[d], extents[d], kernel::Border::kNone);
  return box;
}

void Demand::visit(const Stage& stage, const Box& demanded) {
  Intervals::Domain domain{demanded, {}, {}, {}};
  for (const Expr& extent : stage.reduce_extents) domain.reduce_axes.push_back(whole(extent));
  if (stage.form == kernel::StageForm::kBand) domain.tap = whole(stage.taps);
  for (const Expr* part : {&stage.body, &stage.first, &stage.weight, &stage.source, &stage.finish}) {
    if (!*part) continue;
    kernel::for_each_node(*part, [&](const Expr& e) {
      if (e->kind == ExprKind::kLoad) visit_load(stage, *e, domain);
    });
  }
}

void Demand::visit_load(const Stage& stage, const kernel::ExprNode& load, const Intervals::Domain& domain) {
  bool from_stage = load.target.kind == kernel::LoadTarget::Kind::kStage;
  if (!from_stage && load.target.index != input_) return;
  auto target = static_cast<size_t>(load.target.index);
  const std::vector<Expr>& extents =
      from_stage ? lowering_.stages[target].extents : lowering_.inputs[target].extents;
  Box box;
  for (size_t d = 0; d < load.args.size(); ++d) {
    // What is asked of a stage lies inside of it, and so inside of what it reads element by element.
    const auto axis = static_cast<size_t>(load.args[d]->index);
    if (load.args[d]->kind == ExprKind::kAxis && kernel::same(stage.extents[axis], extents[d])) {
      box.push_back(domain.axes[axis]);
      continue;
    }
    auto index = intervals_.bound(load.args[d], domain);
    box.push_back(index ? Intervals::reached(*index, extents[d], load.border) : whole(extents[d]));
  }
  unite(from_stage ? demands_[target] : reads_, box, extents);
}

Interval inside(const Range& range) { return {range.begin, range.end - kernel::const_int(1)}; }

Range to_range(const Interval& interval, const Expr& extent, const Expr& condition) {
  Expr zero = kernel::const_int(0), one = kernel::const_int(1), last = extent - one;
  bool from_start = kernel::is_const_int(interval.low, 0);
  bool to_end = kernel::same(interval.high, last);
  Range range{zero, extent};
  auto guarded = [&](const Expr& bound, const Expr& otherwise) {
    return condition ? kernel::select(condition, bound, otherwise) : bound;
  };
  if (!from_start) {
    bool clamped = is_clamped_low(interval.low, last);
    range.begin = guarded(clamped ? interval.low : kernel::max(zero, kernel::min(interval.low, last)), zero);
  }
  if (!to_end) {
    // Whatever was clamped keeps its form, so that clamping it again is seen to be needless.
    bool clamped = is_clamped(interval, last) && kernel::same(range.begin, interval.low);
    range.end =
        guarded(clamped ? interval.high : kernel::min(kernel::max(interval.high, range.begin), last), last) +
        one;
  }
  return range;
}

}  // namespace galatea::values
