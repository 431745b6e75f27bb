// See choose_loops.h.
#include "compiler/kernel/choose_loops.h"

namespace galatea::kernel {

namespace {

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

LoopKernel choose_loops(const Expr& condition, LoopKernel special, LoopKernel any) {
  LoopKernel out = std::move(any);
  std::vector<int> vars, buffers;
  for (const DType type : special.var_types) {
    vars.push_back(static_cast<int>(out.var_types.size()));
    out.var_types.push_back(type);
  }
  // A table keeps its constant size in both: code generators look things up in registers by it.
  const auto needed = [&](const Expr& elements, bool in_special) {
    if (is_const(elements)) return elements;
    return in_special ? select(condition, elements, const_int(0)) : select(condition, const_int(0), elements);
  };
  for (LoopBuffer& buffer : out.buffers)
    if (buffer.kind == BufferKind::kScratch) buffer.elements = needed(buffer.elements, false);
  for (size_t b = 0; b < special.buffers.size(); ++b) {
    LoopBuffer& buffer = special.buffers[b];
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
      if (special.stride_vars[t][d] >= 0)
        vars[static_cast<size_t>(special.stride_vars[t][d])] = out.stride_vars[t][d];
  Mover(std::move(vars), std::move(buffers)).move(special.body);
  If choice{condition, std::move(special.body), std::move(out.body)};
  out.body.clear();
  out.body.push_back({std::move(choice), {}});
  return out;
}

}  // namespace galatea::kernel
