// Images whose number of channels only the call knows: loops for three channels, and loops for any number.
//
// Comes in: a kernel, the extent that its images have as their last. Goes out: both kinds of loops as one
// kernel, which asks the parameter. Three channels are what nearly all images have; loops that know the
// number repeat the channels of a pixel inside, and read and write whole pixels.
//
// Off, `rotate` of bytes takes 12 times as long at 224 x 224, `resize half` 11 times (`./dev bench per-op`,
// 2-core AMD EPYC, Zen 5).
#include <algorithm>
#include <functional>

#include "compiler/kernel/lower_channels.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel {

namespace {

constexpr int64_t kChannels = 3;

bool is_axis(const Expr& e, int index) { return e->kind == ExprKind::kAxis && e->index == index; }

/// Whether the stage's elements are functions of elements at their own place, and of nothing that depends on
/// the place, and all of them lie densely: then pixels need not be told apart.
bool is_pointwise(const Kernel& kernel, const Stage& stage) {
  if (stage.form != StageForm::kMap) return false;
  const auto is_dense = [&](const ExprNode& load) {
    if (load.target.kind == LoadTarget::Kind::kStage) return true;
    const KernelInput& input = kernel.inputs[static_cast<size_t>(load.target.index)];
    return input.dense_axes == static_cast<int>(input.extents.size());
  };
  NodeSet seen;
  // A box about pixels is asked for by the loops (lower_box.cpp).
  const std::optional<lowering::Box> box =
      kernel.stages.size() == 1 ? lowering::match_box(stage) : std::nullopt;
  const bool whole_pixels = box && !box->bounds(stage.rank() - 1);
  const std::function<bool(const Expr&)> plain = [&](const Expr& e) {
    if (e->kind == ExprKind::kAxis) return false;
    if (!seen.insert(e.get())) return true;
    if (whole_pixels && e.get() == box->select) return plain(e->args[1]) && plain(e->args[2]);
    if (e->kind == ExprKind::kLoad && e->args.size() == stage.extents.size() && is_dense(*e)) {
      bool own = true;
      for (size_t d = 0; d < e->args.size(); ++d) own &= is_axis(e->args[d], static_cast<int>(d));
      if (own) return true;
    }
    return std::all_of(e->args.begin(), e->args.end(), plain);
  };
  return plain(stage.body);
}

/// Whether the output's elements lie as its stage's do, densely.
bool is_plain(const KernelOutput& output) {
  for (size_t d = 0; d < output.axis_of.size(); ++d)
    if (output.axis_of[d] != static_cast<int>(d)) return false;
  return output.dense_axes == static_cast<int>(output.axis_of.size());
}

/// Whether the stage reads an input whose last extent is the parameter.
bool reads_images(const Kernel& kernel, const Stage& stage, int parameter) {
  bool found = false;
  lowering::for_each_stage_expr(stage, [&](const Expr& e) {
    found |= lowering::any_node(e, [&](const ExprNode& n) {
      if (n.kind != ExprKind::kLoad || n.target.kind != LoadTarget::Kind::kInput) return false;
      const std::vector<Expr>& extents = kernel.inputs[static_cast<size_t>(n.target.index)].extents;
      return extents.size() >= 3 && extents.back()->kind == ExprKind::kParam &&
             extents.back()->index == parameter;
    });
  });
  return found;
}

}  // namespace

int unknown_channels(const Kernel& kernel) {
  int found = -1;
  for (const KernelInput& input : kernel.inputs) {
    if (input.extents.size() < 3 || input.dense_axes < 1 || input.extents.back()->kind != ExprKind::kParam)
      continue;
    if (found >= 0 && found != input.extents.back()->index) return -1;
    found = input.extents.back()->index;
  }
  if (found < 0) return -1;
  // Element by element in order, the number of channels does not matter.
  const bool plain = std::all_of(kernel.outputs.begin(), kernel.outputs.end(), is_plain) &&
                     std::all_of(kernel.stages.begin(), kernel.stages.end(), [&](const Stage& stage) {
                       const bool many = !stage.extents.empty() &&
                                         stage.extents.back()->kind == ExprKind::kParam &&
                                         stage.extents.back()->index == found;
                       return (!many && !reads_images(kernel, stage, found)) || is_pointwise(kernel, stage);
                     });
  return plain ? -1 : found;
}

Kernel with_three_channels(const Kernel& kernel, int parameter) {
  Kernel out = kernel;
  const auto known = [&](Expr& e) {
    if (!e) return;
    e = rewrite(e, [&](const Expr& x) {
      return x->kind == ExprKind::kParam && x->index == parameter ? const_int(kChannels) : Expr();
    });
  };
  for (KernelInput& input : out.inputs)
    for (Expr& e : input.extents) known(e);
  for (Stage& stage : out.stages) {
    for (Expr* e : {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.source, &stage.finish})
      known(*e);
    for (Expr& e : stage.extents) known(e);
    for (Expr& e : stage.reduce_extents) known(e);
  }
  return out;
}

Expr has_three_channels(int parameter) { return equal(param(parameter, DType::kI64), const_int(kChannels)); }

}  // namespace galatea::kernel
