// narrow_producers: see passes.h.
//
// A map that reads its producer at scale * axis + offset, all inside, sees only a window of it. The producer
// is then computed on the window: axis d of its domain becomes the reader's axis, and what it loads follows.
// Where it in turn is the only reader of a stage and reads it at the same axis, that stage is narrowed too.
#include <algorithm>

#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/passes/stage_edit.h"

namespace galatea::kernel {
namespace {

/// Along one axis: position x of the window is position scale * x + offset of the whole.
struct Window {
  Expr scale, offset, extent;
  Expr position(int axis_number) const { return axis(axis_number) * scale + offset; }
};

/// Bins and prefixes begin with the first: such an axis has no windows.
bool has_windows(const Stage& stage, int d) {
  if (stage.form == StageForm::kHistogram) return d != stage.rank() - 1;
  return stage.form != StageForm::kScan || d != stage.scan_axis;
}

/// The index of `target` that is exactly axis d in every load of it, or -1.
int index_on_axis(const Stage& reader, int target, const Stage& producer, int d) {
  int found = -1;
  for (const Expr& load : loads_of(reader, target)) {
    int here = -1;
    for (size_t i = 0; i < load->args.size(); ++i) {
      const Expr& index = load->args[i];
      if (index->kind != ExprKind::kAxis || index->index != d) continue;
      // Inside the producer: promised, or because the extents are equal.
      bool inside =
          load->border == Border::kNone || same(producer.extents[i], reader.extents[static_cast<size_t>(d)]);
      if (inside && here < 0) here = static_cast<int>(i);
    }
    if (here < 0 || (found >= 0 && found != here)) return -1;
    found = here;
  }
  return found;
}

/// Which index of the loads of each stage keeps following the narrowed axis.
struct Follower {
  int target, index;
};

void narrow_axis(Kernel& kernel, int number, int d, const Window& window) {
  Stage& stage = kernel.stages[static_cast<size_t>(number)];
  std::vector<Follower> followers;
  for (int target = 0; target < number; ++target) {
    if (only_reader(kernel, target) != number || may_raise_flag(kernel.stages[static_cast<size_t>(target)]))
      continue;
    int index = index_on_axis(stage, target, kernel.stages[static_cast<size_t>(target)], d);
    if (index < 0 || !has_windows(kernel.stages[static_cast<size_t>(target)], index)) continue;
    narrow_axis(kernel, target, index, window);
    followers.push_back({target, index});
  }
  std::vector<Expr> axes;
  for (int a = 0; a < stage.rank(); ++a) axes.push_back(a == d ? window.position(d) : axis(a));
  for (Expr* part : element_parts(stage)) {
    *part = rewrite_loads(substitute_axes(*part, axes), [&](const Expr& e, const std::vector<Expr>& indices) {
      for (const Follower& f : followers) {
        if (!is_stage_load(e, f.target)) continue;
        std::vector<Expr> moved = indices;
        moved[static_cast<size_t>(f.index)] = axis(d);
        return load(e->target, e->type, moved, e->border, e->fill);
      }
      return Expr();
    });
  }
  stage.extents[static_cast<size_t>(d)] = window.extent;
}

/// The windows through which `reader` sees the stage, one per axis (an empty extent: the whole axis); nothing
/// if it is no plain window.
std::vector<Window> windows_of(const Stage& reader, const Expr& load, const Stage& producer) {
  std::vector<Window> out;
  std::vector<bool> used(reader.extents.size(), false);
  for (size_t d = 0; d < load->args.size(); ++d) {
    Affine form;
    if (!match_affine(load->args[d], &form)) return {};
    if (form.axis < 0) {
      out.push_back({});
      continue;
    }
    auto axis_number = static_cast<size_t>(form.axis);
    if (used[axis_number]) return {};
    used[axis_number] = true;
    const Expr& extent = reader.extents[axis_number];
    bool whole = load->args[d]->kind == ExprKind::kAxis && same(extent, producer.extents[d]);
    out.push_back(whole ? Window{} : Window{form.scale, form.offset, extent});
  }
  return out;
}

/// Whether somebody in the chain that would be narrowed along axis d computes windows whose weights are the
/// same everywhere. Their loops read rows in order; mirrored, each tap would be a gather. (A resize is
/// mirrored by its tables.)
bool has_sliding_window(const Kernel& kernel, int number, int d) {
  const Stage& stage = kernel.stages[static_cast<size_t>(number)];
  if (stage.form == StageForm::kBand && !contains(stage.first, ExprKind::kLoad)) return true;
  for (int target = 0; target < number; ++target) {
    if (only_reader(kernel, target) != number) continue;
    const int index = index_on_axis(stage, target, kernel.stages[static_cast<size_t>(target)], d);
    if (index >= 0 && has_sliding_window(kernel, target, index)) return true;
  }
  return false;
}

/// The window in the order of the whole: `position` finds its elements as before.
Window unmirrored(const Window& window, Expr* position) {
  const Expr last = window.offset + window.scale * (window.extent - const_int(1));
  const Expr low = min(window.offset, last), high = max(window.offset, last);
  *position = *position - low;
  return {const_int(1), low, select(window.extent > const_int(0), high - low + const_int(1), const_int(0))};
}

bool narrow(Kernel& kernel, int number) {
  int reader_number = only_reader(kernel, number);
  if (reader_number < 0 || may_raise_flag(kernel.stages[static_cast<size_t>(number)])) return false;
  Stage& reader = kernel.stages[static_cast<size_t>(reader_number)];
  const Stage& producer = kernel.stages[static_cast<size_t>(number)];
  auto loads = loads_of(reader, number);
  if (reader.form != StageForm::kMap || loads.size() != 1 || loads[0]->border != Border::kNone) return false;
  // A map whose elements are wanted several times is narrowed all the same: the window is never larger than
  // the whole unless a scale is 0, which a constant would show.
  std::vector<Window> windows = windows_of(reader, loads[0], producer);
  std::vector<Expr> indices = loads[0]->args;
  bool any = false;
  for (size_t d = 0; d < windows.size(); ++d) {
    Window& window = windows[d];
    if (!window.extent) continue;
    if (is_const_int(window.scale, 0) || !has_windows(producer, static_cast<int>(d))) return false;
    if (!is_const_int(window.scale, 1) && has_sliding_window(kernel, number, static_cast<int>(d))) {
      // All of it, in some order, or a part.
      window = same(window.extent, producer.extents[d]) ? Window{} : unmirrored(window, &indices[d]);
    } else {
      Affine form;
      match_affine(indices[d], &form);
      indices[d] = axis(form.axis);
    }
    any |= static_cast<bool>(window.extent);
  }
  if (!any) return false;
  Expr narrowed = load(loads[0]->target, loads[0]->type, indices);
  reader.body = rewrite_loads(reader.body, [&](const Expr& e, const std::vector<Expr>&) {
    return is_stage_load(e, number) ? narrowed : Expr();
  });
  for (size_t d = 0; d < windows.size(); ++d) {
    if (windows[d].extent) narrow_axis(kernel, number, static_cast<int>(d), windows[d]);
  }
  return true;
}

}  // namespace

void narrow_producers(Kernel& kernel) {
  // Readers before what they read, so that a window travels up a chain.
  for (size_t i = kernel.stages.size(); i-- > 0;) narrow(kernel, static_cast<int>(i));
}

}  // namespace galatea::kernel
