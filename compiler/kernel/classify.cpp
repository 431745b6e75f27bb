// How loads depend on the element that is computed.
//
// Comes in: an index expression. Goes out: its affine form if it has one, and its access class; for whole
// kernels, which stages are needed.
#include "base/result.h"
#include "compiler/kernel/kernel.h"

namespace galatea::kernel {
namespace {

/// The sum of an affine form and one without an axis, or of two forms over one axis.
bool add_forms(const Affine& a, const Affine& b, Affine* out) {
  if (a.axis >= 0 && b.axis >= 0 && a.axis != b.axis) return false;
  out->axis = a.axis >= 0 ? a.axis : b.axis;
  out->scale = a.scale + b.scale;
  out->offset = a.offset + b.offset;
  // i - i depends on no axis.
  if (is_const_int(out->scale, 0)) out->axis = -1;
  return true;
}

bool match_product(const Affine& a, const Affine& b, Affine* out) {
  if (a.axis >= 0 && b.axis >= 0) return false;
  const Affine& form = a.axis >= 0 ? a : b;
  const Expr& factor = a.axis >= 0 ? b.offset : a.offset;
  *out = {form.axis, form.scale * factor, form.offset * factor};
  return true;
}

}  // namespace

bool match_affine(const Expr& index, Affine* out) {
  bool varies = contains(index, ExprKind::kAxis);
  if (contains(index, ExprKind::kReduceAxis) || contains(index, ExprKind::kTap) ||
      contains(index, ExprKind::kAcc)) {
    return false;
  }
  if (!varies) {
    *out = {-1, const_int(0), index};
    return true;
  }
  if (index->kind == ExprKind::kAxis) {
    *out = {index->index, const_int(1), const_int(0)};
    return true;
  }
  if (index->kind != ExprKind::kOp || index->type != DType::kI64) return false;
  Affine a;
  Affine b;
  switch (index->op) {
    case ScalarOp::kNeg:
      if (!match_affine(index->args[0], &a)) return false;
      *out = {a.axis, -a.scale, -a.offset};
      return true;
    case ScalarOp::kAdd:
      return match_affine(index->args[0], &a) && match_affine(index->args[1], &b) && add_forms(a, b, out);
    case ScalarOp::kSub:
      if (!match_affine(index->args[0], &a) || !match_affine(index->args[1], &b)) return false;
      return add_forms(a, {b.axis, -b.scale, -b.offset}, out);
    case ScalarOp::kMul:
      return match_affine(index->args[0], &a) && match_affine(index->args[1], &b) && match_product(a, b, out);
    default:
      return false;
  }
}

Access classify(const Kernel&, const Stage& stage, const ExprNode& load, int i) {
  GALATEA_CHECK(load.kind == ExprKind::kLoad && i >= 0 && static_cast<size_t>(i) < load.args.size());
  const Expr& index = load.args[static_cast<size_t>(i)];
  if (contains(index, ExprKind::kTap)) {
    Affine first;
    return match_affine(stage.first, &first) ? Access::kWindow : Access::kBand;
  }
  if (contains(index, ExprKind::kReduceAxis))
    return index->kind == ExprKind::kReduceAxis ? Access::kWhole : Access::kGather;
  if (index->kind == ExprKind::kAxis) return Access::kPoint;
  Affine form;
  if (!match_affine(index, &form)) return Access::kGather;
  return form.axis < 0 ? Access::kConstant : Access::kAffine;
}

std::vector<bool> needed_stages(const Kernel& kernel) {
  std::vector<bool> needed(kernel.stages.size(), false);
  for (const KernelOutput& output : kernel.outputs) needed[static_cast<size_t>(output.stage)] = true;
  for (size_t i = kernel.stages.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Stage& stage = kernel.stages[i];
    for (const Expr* part : {&stage.first, &stage.weight, &stage.source, &stage.body, &stage.finish}) {
      for_each_node(*part, [&](const Expr& e) {
        bool reads = e->kind == ExprKind::kLoad && e->target.kind == LoadTarget::Kind::kStage;
        if (reads) needed[static_cast<size_t>(e->target.index)] = true;
      });
    }
  }
  return needed;
}

}  // namespace galatea::kernel
