// narrow_producers: see passes.h.
//
// A map that reads its producer at scale * axis + offset, all inside, sees only a window of it. The producer
// is then computed on the window: axis d of its domain becomes the reader's axis, and what it loads follows.
// Where it in turn is the only reader of a stage and reads it along that axis, that stage is narrowed too.
#include <algorithm>
#include <optional>

#include "compiler/kernel/division.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/stage_edit.h"

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

/// How a stage reads another along one axis of its own: at index number `index`, in scale * axis + offset.
struct Follower {
  int target = -1, index = -1;
  Expr scale, offset;
};

/// How all loads of `target` follow axis d; nothing if they do in several ways, or may read outside.
std::optional<Follower> follower_on_axis(const Stage& reader, int target, const Stage& producer, int d) {
  std::optional<Follower> found;
  for (const Expr& load : loads_of(reader, target)) {
    std::optional<Follower> here;
    for (size_t i = 0; i < load->args.size() && !here; ++i) {
      Affine form;
      if (!match_affine(load->args[i], &form) || form.axis != d) continue;
      const bool plain = load->args[i]->kind == ExprKind::kAxis;
      // Inside the producer: promised, or because the extents are equal.
      if (load->border == Border::kNone ||
          (plain && same(producer.extents[i], reader.extents[static_cast<size_t>(d)])))
        here = Follower{target, static_cast<int>(i), form.scale, form.offset};
    }
    if (!here || (found && (found->index != here->index || !same(found->scale, here->scale) ||
                            !same(found->offset, here->offset))))
      return std::nullopt;
    found = here;
  }
  return found;
}

void narrow_axis(Kernel& kernel, int number, int d, const Window& window) {
  Stage& stage = kernel.stages[static_cast<size_t>(number)];
  std::vector<Follower> followers;
  for (int target = 0; target < number; ++target) {
    if (only_reader(kernel, target) != number || may_raise_flag(kernel.stages[static_cast<size_t>(target)]))
      continue;
    const Stage& producer = kernel.stages[static_cast<size_t>(target)];
    const auto follower = follower_on_axis(stage, target, producer, d);
    if (!follower || !has_windows(producer, follower->index)) continue;
    narrow_axis(
        kernel, target, follower->index,
        {follower->scale * window.scale, follower->scale * window.offset + follower->offset, window.extent});
    followers.push_back(*follower);
  }
  std::vector<Expr> axes;
  for (int a = 0; a < stage.rank(); ++a) axes.push_back(a == d ? window.position(d) : axis(a));
  for (Expr* part : element_parts(stage)) {
    *part = rewrite_loads(substitute_axes(*part, axes), [&](const Expr& e, const Operands& indices) {
      for (const Follower& f : followers) {
        if (!is_stage_load(e, f.target)) continue;
        Operands moved = indices;
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
    const auto follower = follower_on_axis(stage, target, kernel.stages[static_cast<size_t>(target)], d);
    if (follower && has_sliding_window(kernel, target, follower->index)) return true;
  }
  return false;
}

/// The window in the order of the whole: `position` finds its elements as before.
Window unmirrored(const Window& window, Expr* position) {
  const Expr last = window.offset + window.scale * (window.extent - const_int(1));
  if (is_const_int(window.scale, -1)) {
    *position = *position - last;
    return {const_int(1), last, window.extent};
  }
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
  Operands indices = loads[0]->args;
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
  reader.body = rewrite_loads(reader.body, [&](const Expr& e, const Operands&) {
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
