// Images whose number of channels only the call knows: loops for three channels, and loops for any number.
//
// Comes in: a kernel, the extent that its images have as their last. Goes out: both kinds of loops as one
// kernel, which asks the parameter. Three channels are what nearly all images have; loops that know the
// number repeat the channels of a pixel inside, and read and write whole pixels.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "compiler/kernel/lower_channels.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel {

namespace {

constexpr int64_t kChannels = 3;

bool is_axis(const Expr& e, int index) { return e->kind == ExprKind::kAxis && e->index == index; }

/// Whether the stage's elements are functions of elements at their own place, and of nothing that depends on
/// the place: then pixels need not be told apart.
bool is_pointwise(const Stage& stage) {
  if (stage.form != StageForm::kMap) return false;
  std::unordered_set<const ExprNode*> seen;
  const std::function<bool(const Expr&)> plain = [&](const Expr& e) {
    if (e->kind == ExprKind::kAxis) return false;
    if (!seen.insert(e.get()).second) return true;
    if (e->kind == ExprKind::kLoad && e->args.size() == stage.extents.size()) {
      bool own = true;
      for (size_t d = 0; d < e->args.size(); ++d) own &= is_axis(e->args[d], static_cast<int>(d));
      if (own) return true;
    }
    return std::all_of(e->args.begin(), e->args.end(), plain);
  };
  return plain(stage.body);
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

/// Renumbers the variables and scratch buffers of loops that are to stand in another kernel.
class Mover {
 public:
  Mover(std::vector<int> vars, std::vector<int> buffers)
      : vars_(std::move(vars)), buffers_(std::move(buffers)) {}

  void move(Block& block) {
    for (Statement& statement : block) std::visit([&](auto& node) { move(node); }, statement.node);
  }

 private:
  void move(Expr& e) {
    if (!e) return;
    e = rewrite(e, [&](const Expr& x) -> Expr {
      if (x->kind == ExprKind::kVar) return var(vars_[static_cast<size_t>(x->index)], x.type());
      if (x->kind != ExprKind::kLoadFlat) return {};
      Expr offset = x->args[0];
      move(offset);
      return load_flat(buffers_[static_cast<size_t>(x->index)], x.type(), offset);
    });
  }
  void move(int& buffer) const {
    if (buffer >= 0) buffer = buffers_[static_cast<size_t>(buffer)];
  }
  void move_var(int& variable) const { variable = vars_[static_cast<size_t>(variable)]; }
  void move(For& n) {
    move_var(n.var);
    move(n.begin), move(n.end);
    move(n.body);
  }
  void move(Let& n) { move_var(n.var), move(n.value); }
  void move(Declare& n) { move_var(n.var), move(n.init); }
  void move(Assign& n) { move_var(n.var), move(n.value); }
  void move(Store& n) { move(n.buffer), move(n.offset), move(n.value); }
  void move(If& n) { move(n.condition), move(n.then_body), move(n.else_body); }
  void move(Phase& n) { move(n.body); }
  void move(BandTables& t) { move(t.first), move(t.weights), move(t.prepared); }
  void move(BandPrepare& n) { move(n.tables); }
  void move(BandRow& n) {
    move(n.tables);
    move(n.src), move(n.dst);
    move(n.src_offset), move(n.src_step), move(n.dst_offset), move(n.dst_plane);
  }

  std::vector<int> vars_, buffers_;
};

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
  const bool plain = std::all_of(kernel.stages.begin(), kernel.stages.end(), [&](const Stage& stage) {
    const bool many = !stage.extents.empty() && stage.extents.back()->kind == ExprKind::kParam &&
                      stage.extents.back()->index == found;
    return (!many && !reads_images(kernel, stage, found)) || is_pointwise(stage);
  });
  const bool in_order = std::all_of(kernel.outputs.begin(), kernel.outputs.end(), [](const KernelOutput& o) {
    return std::is_sorted(o.axis_of.begin(), o.axis_of.end());
  });
  return plain && in_order ? -1 : found;
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

LoopKernel choose_by_channels(LoopKernel three, LoopKernel any, int parameter) {
  const Expr is_three = equal(param(parameter, DType::kI64), const_int(kChannels));
  LoopKernel out = std::move(any);
  std::vector<int> vars, buffers;
  for (const DType type : three.var_types) {
    vars.push_back(static_cast<int>(out.var_types.size()));
    out.var_types.push_back(type);
  }
  // A table keeps its constant size in both: code generators look things up in registers by it.
  const auto needed = [&](const Expr& elements, bool in_three) {
    if (is_const(elements)) return elements;
    return in_three ? select(is_three, elements, const_int(0)) : select(is_three, const_int(0), elements);
  };
  for (LoopBuffer& buffer : out.buffers)
    if (buffer.kind == BufferKind::kScratch) buffer.elements = needed(buffer.elements, false);
  for (size_t b = 0; b < three.buffers.size(); ++b) {
    LoopBuffer& buffer = three.buffers[b];
    if (buffer.kind != BufferKind::kScratch) {  // tensors come first, in the same order
      buffers.push_back(static_cast<int>(b));
      continue;
    }
    buffers.push_back(static_cast<int>(out.buffers.size()));
    buffer.elements = needed(buffer.elements, true);
    out.buffers.push_back(std::move(buffer));
  }
  for (size_t t = 0; t < out.stride_vars.size(); ++t)
    for (size_t d = 0; d < out.stride_vars[t].size(); ++d)
      if (three.stride_vars[t][d] >= 0)
        vars[static_cast<size_t>(three.stride_vars[t][d])] = out.stride_vars[t][d];
  Mover(std::move(vars), std::move(buffers)).move(three.body);
  If choice{is_three, std::move(three.body), std::move(out.body)};
  out.body.clear();
  out.body.push_back({std::move(choice), {}});
  return out;
}

}  // namespace galatea::kernel
