// What loops are legal.
//
// Comes in: a LoopKernel. Goes out: nothing, or an internal error that names the statement: lowering made a
// mistake.
#include <fmt/format.h>

#include <type_traits>

#include "compiler/kernel/loops.h"

namespace galatea::kernel {

namespace {

class LoopsVerifier {
 public:
  explicit LoopsVerifier(const LoopKernel& kernel)
      : kernel_(kernel),
        defined_(kernel.var_types.size(), false),
        mutable_(kernel.var_types.size(), false),
        varying_(kernel.var_types.size(), false) {}

  Status run() {
    for (const auto& strides : kernel_.stride_vars)
      for (const int v : strides)
        if (v >= 0 && define(v, false)) check_type(v, DType::kI64, "stride");
    for (const LoopBuffer& buffer : kernel_.buffers)
      if (buffer.kind == BufferKind::kScratch)
        expr(buffer.elements, DType::kI64, "size of " + buffer.name, /*params_only=*/true);
    if (kernel_.block_bytes) expr(kernel_.block_bytes, DType::kI64, "memory of a tile", true);
    block(kernel_.body);
    if (problem_.empty()) return {};
    return make_error(ErrorKind::kInternal, "", fmt::format("loops \"{}\": {}", kernel_.name, problem_));
  }

 private:
  void complain(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }
  bool define(int v, bool is_mutable) {
    const auto i = static_cast<size_t>(v);
    if (v < 0 || i >= defined_.size()) return complain(fmt::format("variable {} does not exist", v)), false;
    if (defined_[i]) return complain(fmt::format("variable v{} is defined twice", v)), false;
    defined_[i] = true;
    mutable_[i] = is_mutable;
    scope_.push_back(v);
    return true;
  }
  void check_type(int v, DType type, const std::string& what) {
    if (kernel_.var_types[static_cast<size_t>(v)] != type)
      complain(fmt::format("{}: v{} is {}, the value {}", what, v,
                           short_name(kernel_.var_types[static_cast<size_t>(v)]), short_name(type)));
  }
  bool buffer_ok(int index) const {
    return index >= 0 && static_cast<size_t>(index) < kernel_.buffers.size();
  }

  void node_ok(const ExprNode& e, const std::string& what, bool params_only) {
    switch (e.kind) {
      case ExprKind::kConst:
        break;
      case ExprKind::kParam:
        if (e.index < 0 || static_cast<size_t>(e.index) >= kernel_.params.size())
          complain(what + ": no such parameter");
        else if (kernel_.params[static_cast<size_t>(e.index)].type != e.type)
          complain(what + ": a parameter of another type");
        break;
      case ExprKind::kOp:
        if (static_cast<int>(e.args.size()) != num_operands(e.op))
          complain(fmt::format("{}: {} has {} operands", what, name_of(e.op), e.args.size()));
        break;
      case ExprKind::kPhilox:
        break;
      case ExprKind::kVar:
        if (params_only)
          complain(what + ": a variable where only parameters may be");
        else if (e.index < 0 || static_cast<size_t>(e.index) >= defined_.size() ||
                 !defined_[static_cast<size_t>(e.index)])
          complain(fmt::format("{}: v{} is not defined here", what, e.index));
        else
          check_type(e.index, e.type, what);
        break;
      case ExprKind::kLoadFlat:
        if (params_only || !buffer_ok(e.index))
          complain(what + ": a load of no buffer");
        else if (kernel_.buffers[static_cast<size_t>(e.index)].type != e.type)
          complain(what + ": a load of another type than its buffer's");
        else if (e.args[0].type() != DType::kI64)
          complain(what + ": an offset that is not i64");
        break;
      default:
        complain(what + ": " + "a node that belongs to an earlier level");
        break;
    }
    for (const Expr& arg : e.args) node_ok(*arg, what, params_only);
  }
  void expr(const Expr& e, DType type, const std::string& what, bool params_only = false) {
    if (!e) return complain(what + " is missing");
    if (e.type() != type)
      complain(fmt::format("{} is {}, not {}", what, short_name(e.type()), short_name(type)));
    node_ok(*e, what, params_only);
  }
  bool varies(const Expr& e) const {
    if (e->kind == ExprKind::kVar) return varying_[static_cast<size_t>(e->index)];
    for (const Expr& arg : e->args)
      if (varies(arg)) return true;
    return false;
  }

  void block(const Block& statements) {
    const size_t outer = scope_.size();
    for (const Statement& statement : statements) {
      if (!problem_.empty()) return;
      std::visit([&](const auto& node) { check(node); }, statement.node);
    }
    while (scope_.size() > outer) {
      defined_[static_cast<size_t>(scope_.back())] = false;
      scope_.pop_back();
    }
  }

  DType type_of(int v) const {
    return v >= 0 && static_cast<size_t>(v) < kernel_.var_types.size()
               ? kernel_.var_types[static_cast<size_t>(v)]
               : DType::kBool;
  }
  void check(const For& node) {
    expr(node.begin, DType::kI64, "begin of a loop");
    expr(node.end, DType::kI64, "end of a loop");
    if (!problem_.empty()) return;
    const bool tile = node.role == LoopRole::kTile;
    const bool parallel = node.role != LoopRole::kSerial && !tile;
    if (tile && (in_tile_ || in_phase_ || in_parallel_))
      return complain("a loop over tiles inside something");
    if (tile && !kernel_.block_bytes) return complain("a loop over tiles without memory for them");
    if (parallel && in_parallel_) return complain("a vector or grid loop inside another");
    if (in_parallel_ && (varies(node.begin) || varies(node.end)))
      return complain("a loop whose bounds differ between lanes");
    const size_t outer = scope_.size();
    if (!define(node.var, false)) return;
    check_type(node.var, DType::kI64, "loop variable");
    varying_[static_cast<size_t>(node.var)] = node.role == LoopRole::kVector;
    const bool saved = in_parallel_, saved_vector = in_vector_;
    in_tile_ |= tile;
    in_parallel_ |= parallel;
    in_vector_ |= node.role == LoopRole::kVector;
    // In a tile: its iterations are one block's.
    if (node.role == LoopRole::kGrid)
      grid_of_warps_ =
          in_tile_ && is_const_int(node.begin, 0) && is_const(node.end) && const_value(node.end) % kWarp == 0;
    block(node.body);
    if (node.role == LoopRole::kGrid) grid_of_warps_ = false;
    if (tile) in_tile_ = false;
    in_parallel_ = saved;
    in_vector_ = saved_vector;
    while (scope_.size() > outer) {
      defined_[static_cast<size_t>(scope_.back())] = false;
      scope_.pop_back();
    }
  }
  void check(const Let& node) {
    expr(node.value, type_of(node.var), "value of a variable");
    if (problem_.empty() && define(node.var, false))
      varying_[static_cast<size_t>(node.var)] = varies(node.value);
  }
  void check(const Declare& node) {
    expr(node.init, type_of(node.var), "first value of a variable");
    if (problem_.empty() && define(node.var, true)) varying_[static_cast<size_t>(node.var)] = in_vector_;
  }
  void check(const Assign& node) {
    expr(node.value, type_of(node.var), "new value of a variable");
    if (problem_.empty() &&
        (!defined_[static_cast<size_t>(node.var)] || !mutable_[static_cast<size_t>(node.var)]))
      complain(fmt::format("v{} cannot be assigned here", node.var));
  }
  void check(const Store& node) {
    if (!buffer_ok(node.buffer)) return complain("a store to no buffer");
    const LoopBuffer& buffer = kernel_.buffers[static_cast<size_t>(node.buffer)];
    if (buffer.kind == BufferKind::kInput) return complain("a store to the input " + buffer.name);
    if (buffer.kind == BufferKind::kShared && !in_tile_)
      return complain("a store to the memory of a tile outside of a tile: " + buffer.name);
    expr(node.offset, DType::kI64, "offset of a store to " + buffer.name);
    expr(node.value, buffer.type, "value stored to " + buffer.name);
    if (!node.add) return;
    if ((buffer.kind != BufferKind::kScratch && buffer.kind != BufferKind::kShared) ||
        is_float(buffer.type) || size_of(buffer.type) < 4)
      complain("something added to " + buffer.name + ", which is not scratch of integers of 4 or 8 bytes");
    if (in_vector_) complain("something added to " + buffer.name + " in a vector loop");
    if (node.warp && !grid_of_warps_) complain("values of warps that are not whole, for " + buffer.name);
  }
  void check(const If& node) {
    expr(node.condition, DType::kBool, "condition");
    if (problem_.empty() && !node.shortcut && varies(node.condition))
      return complain("a condition that differs between lanes");
    block(node.then_body);
    block(node.else_body);
  }
  void check(const Phase& node) {
    if (in_phase_) return complain("a phase inside a phase: " + node.name);
    if (node.spread && in_tile_) return complain("a spread phase inside a tile: " + node.name);
    in_phase_ = true;
    block(node.body);
    in_phase_ = false;
  }
  void tables(const BandTables& t) {
    if (!buffer_ok(t.first) || !buffer_ok(t.weights) || !buffer_ok(t.prepared))
      return complain("a band without its tables");
    const auto type = [&](int b) { return kernel_.buffers[static_cast<size_t>(b)].type; };
    if (type(t.first) != DType::kI32 || type(t.weights) != (t.integer ? DType::kI32 : DType::kF32))
      complain("a band with tables of wrong types");
    for (const Expr* e : {&t.taps, &t.taps_stride, &t.width, &t.src_width})
      expr(*e, DType::kI64, "size of a band", true);
  }
  void check(const BandPrepare& node) { tables(node.tables); }
  void check(const BandRow& node) {
    tables(node.tables);
    if (!buffer_ok(node.src) || !buffer_ok(node.dst)) return complain("a band row without buffers");
    if (kernel_.buffers[static_cast<size_t>(node.src)].type != node.tables.source_type)
      complain("a band row with a source of another type");
    if (kernel_.buffers[static_cast<size_t>(node.dst)].type != DType::kF32)
      complain("a band row whose destination is not f32");
    for (const Expr* e : {&node.src_offset, &node.src_step, &node.dst_offset, &node.dst_plane})
      expr(*e, DType::kI64, "offset of a band row");
  }

  const LoopKernel& kernel_;
  std::vector<bool> defined_, mutable_, varying_;
  std::vector<int> scope_;
  bool in_parallel_ = false, in_vector_ = false, in_phase_ = false, in_tile_ = false, grid_of_warps_ = false;
  std::string problem_;
};

}  // namespace

Status verify(const LoopKernel& kernel) { return LoopsVerifier(kernel).run(); }

}  // namespace galatea::kernel
