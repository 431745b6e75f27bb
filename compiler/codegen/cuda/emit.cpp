// Loops to CUDA C++.
//
// Comes in: loops in the form for GPUs (Lets, Phases, kGrid and kSerial loops). Goes out: one function of
// readable text over the prelude. Offsets are written in C's own signs, values through the prelude's
// functions, which wrap and round as base/scalar_op.h says.
#include "compiler/codegen/cuda/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>

#include "base/text_writer.h"
#include "compiler/codegen/cuda/scalar_text.h"
#include "compiler/codegen/cuda/wide_loops.h"
#include "compiler/kernel/small_indices.h"
#include "compiler/kernel/spread_phases.h"
#include "runtime/kernel_abi.h"

namespace galatea::codegen {

namespace {

using namespace kernel;

std::string identifier(const std::string& name) {
  std::string out;
  for (const char c : name) out += (std::isalnum(static_cast<unsigned char>(c)) != 0) ? c : '_';
  return out;
}

/// What a text is: a kernel; a function that a kernel runs for a call; or what either runs in place of itself
/// for a call that is not small.
enum class TextForm : uint8_t { kKernel, kArm, kRare };

class Emitter {
 public:
  /// `rare`: the text of form kRare, which calls run whose numbers are not small or whose tiles do not fit.
  /// Empty: there is none, and nothing is known of numbers.
  Emitter(const LoopKernel& kernel, const std::string& name, TextForm form, std::string rare = {})
      : kernel_(kernel), name_(name), form_(form), rare_(std::move(rare)) {}

  std::string run() {
    const bool is_kernel = form_ == TextForm::kKernel;
    if (is_kernel) out_.line(fmt::format("// {}", kernel_.name));
    const int inputs = num_inputs(kernel_);
    int tensors = 0;
    for (const LoopBuffer& buffer : kernel_.buffers) tensors = std::max(tensors, buffer.tensor + 1);
    out_.line(!is_kernel ? "{"
                         : fmt::format("{}({}, {}, {}) {{",
                                       is_made_in_tiles(kernel_) ? "GALATEA_TILE_KERNEL" : "GALATEA_KERNEL",
                                       name_, inputs, tensors - inputs));
    out_.indent();
    if (is_kernel) out_.line("GALATEA_SAMPLE");
    out_.line("const galatea_tensor* const tensors = galatea_global(call.tensors);");
    out_.line("const u64* const params = galatea_global(call.params);");
    out_.line("u32 flags = 0;");
    for (size_t p = 0; p < kernel_.params.size(); ++p) emit_param(p);
    if (kernel_.block_bytes) emit_block_memory();
    if (!indices_ && form_ != TextForm::kRare) indices_.emplace(kernel_, Numbers::kAny);
    emit_buffers();
    for (size_t t = 0; t < kernel_.stride_vars.size(); ++t)
      for (size_t d = 0; d < kernel_.stride_vars[t].size(); ++d)
        if (kernel_.stride_vars[t][d] >= 0)
          out_.line(fmt::format("const i64 v{} = tensors[{}].strides[{}];", kernel_.stride_vars[t][d], t, d));
    emit_shared_buffers();
    if (const std::vector<SharedStep> steps = shared_steps(kernel_); !steps.empty())
      emit_steps(steps);
    else
      block(kernel_.body);
    out_.line("if (flags != 0 && call.status) GALATEA_OR(galatea_global(call.status), flags);");
    if (form_ != TextForm::kKernel)
      out_.line(form_ == TextForm::kArm ? "GALATEA_ARM_END" : "GALATEA_RARE_END");
    out_.dedent();
    out_.line("}");
    return out_.take();
  }

 private:
  // ---- names
  std::string param_name(size_t index) const {
    return fmt::format("p{}_{}", index, identifier(kernel_.params[index].name));
  }
  std::string buffer_name(int index) const {
    return "b_" + identifier(kernel_.buffers[static_cast<size_t>(index)].name);
  }

  std::string read_param(size_t index) const {
    const DType type = kernel_.params[index].type;
    const std::string bits = fmt::format("params[{}]", index);
    if (type == DType::kF32) return fmt::format("galatea_f32((u32){})", bits);
    if (type == DType::kF64) return fmt::format("galatea_f64({})", bits);
    if (type == DType::kF16) return fmt::format("f16{{(u16){}}}", bits);
    if (type == DType::kBool) return fmt::format("{} != 0", bits);
    return fmt::format("({}){}", c_type(type), bits);
  }
  void emit_param(size_t index) {
    out_.line(fmt::format("const {} {} = {};", c_type(kernel_.params[index].type), param_name(index),
                          read_param(index)));
  }
  /// Of many parameters each phase of a tile reads its own again: kept from phase to phase they take registers that
  /// there are not.
  bool reads_params_again() const { return in_tile_ && kernel_.params.size() > kKeptParams; }
  void emit_params_of(const Block& phase) {
    std::set<size_t> used;
    std::set<const ExprNode*> seen;
    const std::function<void(const Expr&)> look = [&](const Expr& e) {
      if (!seen.insert(e.get()).second) return;
      if (e->kind == ExprKind::kParam) used.insert(static_cast<size_t>(e->index));
      for (const Expr& arg : e->args) look(arg);
    };
    for_each_statement(phase, [&](const Statement& statement) { for_each_expr(statement, look); });
    out_.indent();
    for (const size_t p : used) emit_param(p);
    out_.dedent();
  }

  void emit_buffers() {
    bool scratch = false;
    for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
      const LoopBuffer& buffer = kernel_.buffers[b];
      const std::string type = memory_type(buffer.type), name = buffer_name(static_cast<int>(b));
      if (buffer.kind == BufferKind::kShared) continue;  // once it is known where they lie
      if (buffer.kind == BufferKind::kScratch && is_made_in_tiles(kernel_)) continue;  // memory of blocks
      if (buffer.kind == BufferKind::kInput) {
        out_.line(fmt::format("const {0}* const {1} = galatea_global((const {0}*)tensors[{2}].data);", type,
                              name, buffer.tensor));
      } else if (buffer.kind == BufferKind::kOutput) {
        out_.line(fmt::format("{0}* const {1} = galatea_global(({0}*)tensors[{2}].data);", type, name,
                              buffer.tensor));
      } else {
        if (!scratch) out_.line("u8* scratch = galatea_global(call.scratch);");
        scratch = true;
        out_.line(fmt::format("{0}* const {1} = ({0}*)scratch;", type, name));
        const std::string elements = shared(buffer.elements);
        const int64_t align = runtime::kBufferAlignment;
        out_.line(fmt::format("scratch += (galatea_max((i64){}, (i64)0) * {} + {}) & {};", elements,
                              size_of(buffer.type), runtime::kBufferPadding + align - 1, -align));
      }
    }
  }

  /// The memory of a block: as much as it needs where that is known and little, else kSharedBytes. A call that
  /// needs more has scratch, which few blocks share then. Of a kernel made in tiles, calls that have scratch are
  /// made by the rare form.
  void emit_block_memory() {
    const Expr& bytes = kernel_.block_bytes;
    const bool known = is_const(bytes) && const_value(bytes) <= kSharedBytes;
    // Of the kernels of one launch a block runs one: they share it.
    if (form_ == TextForm::kKernel) out_.line(fmt::format("GALATEA_SHARED({})", block_memory(kernel_)));
    if (!rare_.empty()) emit_rare();
    if (known || !rare_.empty()) {
      out_.line("u8* const memory = galatea_shared(shared);");
      out_.line("const u32 blocks = tiles;");
      return;
    }
    out_.line(fmt::format("const i64 need = {};", shared(bytes)));
    names_.emplace(bytes.get(), "need");
    out_.line(fmt::format("const bool fits = need <= {};", kSharedBytes));
    out_.line(fmt::format("u8* const memory = fits ? shared : call.scratch + galatea_min(tile, {}u) * need;",
                          kSpilledTiles - 1));
    out_.line(fmt::format("const u32 blocks = fits ? tiles : galatea_min(tiles, {}u);", kSpilledTiles));
  }
  void emit_rare() {
    out_.line("struct any_numbers {");
    out_.indent();
    out_.line("GALATEA_RARE");
    std::istringstream lines(rare_);
    for (std::string line; std::getline(lines, line);) out_.line(line);
    out_.dedent();
    out_.line("};");
    out_.line(fmt::format("if (call.scratch) GALATEA_RUN_RARE(any_numbers, {})",
                          form_ == TextForm::kKernel ? "calls[number]" : "call"));
    indices_.emplace(kernel_, Numbers::kSmall);  // from here on
  }
  void emit_shared_buffers() {
    for (size_t b = 0; b < kernel_.buffers.size(); ++b)
      if (const LoopBuffer& buffer = kernel_.buffers[b]; buffer.kind == BufferKind::kShared)
        out_.line(fmt::format("{0}* const {1} = ({0}*)memory;", memory_type(buffer.type),
                              buffer_name(static_cast<int>(b))));
  }

  /// An expression over parameters; parts used more than once get names first.
  std::string shared(const Expr& e) {
    std::unordered_map<const ExprNode*, int> uses;
    const std::function<void(const Expr&)> count = [&](const Expr& node) {
      if (++uses[node.get()] > 1) return;
      for (const Expr& arg : node->args) count(arg);
    };
    count(e);
    const std::function<void(const Expr&)> visit = [&](const Expr& node) {
      if (names_.contains(node.get())) return;
      for (const Expr& arg : node->args) visit(arg);
      if (uses[node.get()] < 2 || node->args.empty()) return;
      const std::string name = fmt::format("s{}", names_.size());
      out_.line(fmt::format("const {} {} = {};", c_type(node.type()), name, value(node)));
      names_.emplace(node.get(), name);
    };
    visit(e);
    return value(e);
  }

  // ---- expressions
  /// An offset or loop bound: no wrapping to think of.
  std::string index(const Expr& e) {
    if (e->kind == ExprKind::kConst) return fmt::format("{}", const_value(e));
    if (indices_ && indices_->is_narrow(e)) return value(e);
    if (e->kind == ExprKind::kOp && e->type == DType::kI64 && !names_.contains(e.get())) {
      const auto pair = [&](const char* sign) {
        return fmt::format("({} {} {})", index(e->args[0]), sign, index(e->args[1]));
      };
      if (e->op == ScalarOp::kAdd) return pair("+");
      if (e->op == ScalarOp::kSub) return pair("-");
      if (e->op == ScalarOp::kMul) return pair("*");
    }
    return value(e);
  }

  /// An offset into a buffer. In a block's memory it fits in 32 bits, and is computed modulo 2^32: so do its
  /// summands, whatever they are.
  std::string place(int buffer, const Expr& offset) {
    const bool is_shared = kernel_.buffers[static_cast<size_t>(buffer)].kind == BufferKind::kShared;
    return is_shared ? fmt::format("(i32){}", low_half(offset)) : index(offset);
  }
  std::string low_half(const Expr& e) {
    if (e->kind == ExprKind::kOp && !names_.contains(e.get())) {
      const auto pair = [&](const char* sign) {
        return fmt::format("({} {} {})", low_half(e->args[0]), sign, low_half(e->args[1]));
      };
      if (e->op == ScalarOp::kAdd) return pair("+");
      if (e->op == ScalarOp::kSub) return pair("-");
      if (e->op == ScalarOp::kMul) return pair("*");
    }
    return e->kind == ExprKind::kConst ? fmt::format("{}u", static_cast<uint32_t>(const_value(e)))
                                       : fmt::format("(u32)({})", value(e));
  }

  std::string value(const Expr& e) {
    if (const auto named = names_.find(e.get()); named != names_.end()) return named->second;
    switch (e->kind) {
      case ExprKind::kConst:
        return constant_text(*e);
      case ExprKind::kParam:
        return reads_params_again() && !in_phase_
                   ? fmt::format("({})", read_param(static_cast<size_t>(e->index)))
                   : param_name(static_cast<size_t>(e->index));
      case ExprKind::kVar:
        return fmt::format("{}v{}", narrow_vars_.contains(e->index) ? "(i64)" : "", e->index);
      case ExprKind::kLoadFlat: {
        if (const auto wide = wide_loads_.find(e.get()); wide != wide_loads_.end()) return wide->second;
        const std::string element = fmt::format("{}[{}]", buffer_name(e->index), place(e->index, e->args[0]));
        return is_bool(e->type) ? "(" + element + " != 0)" : element;
      }
      case ExprKind::kPhilox:
        return fmt::format("galatea_philox({}, {}, {}, {})", value(e->args[0]), value(e->args[1]),
                           value(e->args[2]), e->index);
      case ExprKind::kOp:
        if (indices_ && (indices_->is_narrow(e) || indices_->is_clamp(e))) return "(i64)" + narrow(e);
        return operation(*e);
      default:
        GALATEA_CHECK(false, "a node of an earlier level in loops");
        return "";
    }
  }

  std::string operation(const ExprNode& e) {
    const DType operand = e.args[0].type();
    // Comparisons and conversions give the same for a value of either type.
    const bool asks = (e.op >= ScalarOp::kEq && e.op <= ScalarOp::kGe) || e.op == ScalarOp::kConvert ||
                      e.op == ScalarOp::kSaturate;
    const bool narrow_args =
        indices_ && asks && std::ranges::all_of(e.args, [&](const Expr& a) { return indices_->is_small(a); });
    const auto arg = [&](size_t i) { return narrow_args ? narrow(e.args[i]) : value(e.args[i]); };
    switch (e.op) {
      case ScalarOp::kEq:
        return fmt::format("({} == {})", arg(0), arg(1));
      case ScalarOp::kNe:
        return fmt::format("({} != {})", arg(0), arg(1));
      case ScalarOp::kLt:
        return fmt::format("({} < {})", arg(0), arg(1));
      case ScalarOp::kLe:
        return fmt::format("({} <= {})", arg(0), arg(1));
      case ScalarOp::kGt:
        return fmt::format("({} > {})", arg(0), arg(1));
      case ScalarOp::kGe:
        return fmt::format("({} >= {})", arg(0), arg(1));
      case ScalarOp::kConvert:
      case ScalarOp::kSaturate:
        return conversion(e, narrow_args ? DType::kI32 : operand, arg(0));
      case ScalarOp::kBitcast:
        return bitcast(e.type, operand, arg(0));
      case ScalarOp::kDiv:
        if (!is_float(e.type)) return quotient(e, arg(0), arg(1), "i64", "u64");
        break;
      case ScalarOp::kRem:
        return is_float(e.type) ? fmt::format("galatea_fmod({}, {})", arg(0), arg(1))
                                : quotient(e, arg(0), arg(1), "i64", "u64");
      case ScalarOp::kFloor:
      case ScalarOp::kCeil:
      case ScalarOp::kTrunc:
      case ScalarOp::kRound:
      case ScalarOp::kRoundAway:
        if (!is_float(e.type)) return arg(0);
        if (e.op == ScalarOp::kRound) return fmt::format("galatea_rint({})", arg(0));
        break;
      default:
        break;
    }
    GALATEA_CHECK(!is_math(e.op), "mathematics that was not expanded: " + std::string(name_of(e.op)));
    std::string text = fmt::format("galatea_{}(", name_of(e.op));
    for (size_t i = 0; i < e.args.size(); ++i) text += (i > 0 ? ", " : "") + arg(i);
    return text + ")";
  }

  // ---- places and sizes in 32 bits
  /// The same value as an i32, which holds it.
  std::string narrow(const Expr& e) {
    if (names_.contains(e.get())) return "(i32)" + value(e);
    if (e->kind == ExprKind::kConst) return fmt::format("(i32)({})", const_value(e));
    if (e->kind == ExprKind::kVar) return fmt::format("(i32)v{}", e->index);
    if (indices_->is_clamp(e))
      return fmt::format("galatea_max(galatea_min({}, {}), {})", far(e->args[0]->args[0]),
                         narrow(e->args[0]->args[1]), narrow(e->args[1]));
    return indices_->is_narrow(e) ? narrow_operation(*e) : fmt::format("(i32)({})", value(e));
  }
  /// What will be clamped: a value that need not be small is cut off where nothing depends on it.
  std::string far(const Expr& e) {
    if (!indices_->is_far_sum(e)) return fmt::format("galatea_far({})", value(e));
    return fmt::format("galatea_{}(galatea_far({}), {})", name_of(e->op), value(e->args[0]),
                       narrow(e->args[1]));
  }
  /// A quotient or a remainder. Without a sign a division is shorter, and by what is not 0 it has no branch, so
  /// that the two of one pair of numbers are made together.
  std::string quotient(const ExprNode& e, const std::string& a, const std::string& b, const char* type,
                       const char* natural) {
    const bool is_natural = indices_ && e.type == DType::kI64 && indices_->is_natural(e.args[0]);
    if (is_natural && indices_->is_positive(e.args[1]))
      return fmt::format("({0})(({1})({2}) {3} ({1})({4}))", type, natural, a,
                         e.op == ScalarOp::kDiv ? "/" : "%", b);
    // A sum that may be less than 0 is a place that is folded at an edge, and nearly always inside.
    const bool is_sum = e.args[0]->kind == ExprKind::kOp &&
                        (e.args[0]->op == ScalarOp::kAdd || e.args[0]->op == ScalarOp::kSub);
    const bool is_folded = indices_ && e.type == DType::kI64 && e.op == ScalarOp::kRem && is_sum &&
                           !is_natural && !kernel::is_const(e.args[1]);
    return fmt::format("galatea_{}({}, {}, &flags)", is_folded ? "fold" : name_of(e.op), a, b);
  }
  std::string narrow_operation(const ExprNode& e) {
    const auto arg = [&](size_t i) { return narrow(e.args[i]); };
    if (e.op == ScalarOp::kSelect)
      return fmt::format("galatea_select({}, {}, {})", value(e.args[0]), arg(1), arg(2));
    if (e.op == ScalarOp::kDiv || e.op == ScalarOp::kRem) return quotient(e, arg(0), arg(1), "i32", "u32");
    std::string text = fmt::format("galatea_{}(", name_of(e.op));
    for (size_t i = 0; i < e.args.size(); ++i) text += (i > 0 ? ", " : "") + arg(i);
    return text + ")";
  }

  // ---- statements
  void block(const Block& statements) {
    for (const Statement& statement : statements)
      std::visit([&](const auto& node) { emit(node); }, statement.node);
  }
  void body(const Block& statements, const char* end = "}") {
    out_.indent();
    block(statements);
    out_.dedent();
    out_.line(end);
  }
  DType type_of(int variable) const {
    return narrow_vars_.contains(variable) ? DType::kI32 : kernel_.var_types[static_cast<size_t>(variable)];
  }
  void loop_body(const For& node, const Block& statements) {
    if (indices_) indices_->enter(node);
    body(statements);
    if (indices_) indices_->leave();
  }

  /// Blocks take parts of one step after the other. Who takes a part of a step waits for the step before it,
  /// whose parts are all in the hands of blocks that run already: so nobody waits for a block that has not
  /// begun.
  void emit_steps(const std::vector<SharedStep>& steps) {
    for (const Statement& statement : kernel_.body)
      if (const auto* let = std::get_if<Let>(&statement.node)) emit(*let);
    out_.line(fmt::format("GALATEA_PARTS({}) {{", steps.size()));
    out_.indent();
    out_.line("GALATEA_TAKE");
    for (size_t k = 0; k < steps.size(); ++k) {
      const SharedStep& step = steps[k];
      out_.line(fmt::format("if (step_number == {}) {{", k));
      out_.indent();
      if (k > 0) out_.line(fmt::format("GALATEA_AWAIT({})", k));
      if (step.spread) std::visit([&](const auto& node) { emit(node); }, step.spread->node);
      if (!step.alone.empty() || k + 1 < steps.size()) {
        out_.line(fmt::format("GALATEA_LAST({}) {{", k + 1));
        out_.indent();
        for (const Phase* phase : step.alone) emit(*phase, "GALATEA_BLOCK_PHASE");
        out_.line(fmt::format("GALATEA_DONE({})", k + 1));
        out_.dedent();
        out_.line("}");
      }
      out_.dedent();
      out_.line("}");
    }
    out_.dedent();
    out_.line("}");
  }

  void emit(const For& node) {
    GALATEA_CHECK(node.role != LoopRole::kVector, "loops for a CPU given to the CUDA emitter");
    if (node.role == LoopRole::kTile) {
      out_.line(fmt::format("GALATEA_TILES(v{}, {}) {{", node.var, index(node.end)));
      in_tile_ = true;
      loop_body(node, node.body);
      in_tile_ = false;
      return;
    }
    if (const auto wide = in_tile_ ? std::nullopt : plan_wide(kernel_, node)) return emit_wide(node, *wide);
    if (node.role == LoopRole::kSerial) return emit_serial(node);
    if (node.role == LoopRole::kGrid) grid_ = &node;
    if (in_tile_ && node.role == LoopRole::kGrid && is_const_int(node.begin, 0)) {
      // Elements of a tile are counted in one register.
      out_.line(fmt::format("GALATEA_SMALL_GRID(v{}, {}) {{", node.var, index(node.end)));
      out_.indent();
      out_.line(fmt::format("const i64 v{0} = n_v{0};", node.var));
      out_.dedent();
      return loop_body(node, node.body);
    }
    out_.line(fmt::format("GALATEA_GRID(v{}, {}, {}) {{", node.var, index(node.begin), index(node.end)));
    loop_body(node, node.body);
  }
  void emit_serial(const For& node) {
    const bool is_narrow = indices_ && indices_->is_small(node.begin) && indices_->is_small(node.end);
    const std::string begin = is_narrow ? narrow(node.begin) : index(node.begin),
                      end = is_narrow ? narrow(node.end) : index(node.end);
    if (is_narrow) narrow_vars_.insert(node.var);
    const If* only = ends_with(node);
    const std::string more = only ? " && " + value(only->condition) : "";
    out_.line(fmt::format("{}for ({} v{} = {}, e{} = {}; v{} < e{}{}; ++v{}) {{",
                          form_ == TextForm::kRare ? "GALATEA_ROLLED " : "", c_type(type_of(node.var)),
                          node.var, begin, node.var, end, node.var, node.var, more, node.var));
    loop_body(node, only ? only->then_body : node.body);
  }
  /// The condition without which an iteration does nothing, and so does each that follows it; else null.
  static const If* ends_with(const For& node) {
    const auto* only = node.body.size() == 1 ? std::get_if<If>(&node.body[0].node) : nullptr;
    return only && only->else_body.empty() && !uses_var(only->condition, node.var) ? only : nullptr;
  }
  /// Each thread takes `width` neighbouring elements, by wide loads and stores where these are aligned, else
  /// one by one.
  void emit_wide(const For& node, const WideLoop& wide) {
    const std::string end = index(node.end), all = fmt::format("v{}", node.var);
    if (indices_) indices_->enter(node);
    out_.line(fmt::format("GALATEA_WIDE_GRID({}, {}, {}) {{", all, wide.width, end));
    out_.indent();
    for (size_t i = 0; i < node.body.size(); ++i) {
      const auto* let = std::get_if<Let>(&node.body[i].node);
      if (let && (wide.once[i] || let->var == wide.along)) emit(*let);
    }
    std::set<size_t> used;
    for (const auto& [load, place] : wide.loads) used.insert(place.run);
    for (const auto& [store, place] : wide.stores) used.insert(place.run);
    std::string fits = fmt::format("{} + {} <= {}", all, wide.width, end);
    if (wide.row) fits += fmt::format(" && {} % {} == 0", index(wide.row), wide.width);
    const auto type_of_run = [&](size_t r) {
      return kernel_.buffers[static_cast<size_t>(wide.runs[r].buffer)].type;
    };
    const auto run_bytes = [&](size_t r) {
      return wide.width * wide.runs[r].scale * size_of(type_of_run(r));
    };
    const auto alignment = [&](size_t r) { return std::min<int64_t>(run_bytes(r) & -run_bytes(r), 16); };
    for (const size_t r : used) {
      const WideRun& run = wide.runs[r];
      Expr offset = var(wide.along, DType::kI64) * const_int(run.scale);
      if (run.uniform) offset = run.uniform + offset;
      if (run.low != 0) offset = offset + const_int(run.low);
      out_.line(fmt::format("{}{}* const at{} = &{}[{}];", run.store ? "" : "const ",
                            memory_type(type_of_run(r)), r, buffer_name(run.buffer), index(offset)));
      fits += fmt::format(" && galatea_aligned<{}>(at{})", alignment(r), r);
    }
    out_.line(fmt::format("if ({}) {{", fits));
    out_.indent();
    for (const size_t r : used) {
      out_.line(fmt::format("alignas(16) {} run{}[{}];", memory_type(type_of_run(r)), r,
                            wide.width * wide.runs[r].scale));
      if (!wide.runs[r].store)
        out_.line(fmt::format("galatea_copy<{}, {}>(run{}, at{});", run_bytes(r), alignment(r), r, r));
    }
    out_.line(fmt::format("const i64 first = v{};", wide.along));
    out_.line(fmt::format("GALATEA_UNROLL for (int k = 0; k < {}; ++k) {{", wide.width));
    out_.indent();
    out_.line(fmt::format("const i64 v{} = first + k;", wide.along));
    const auto element = [&](const WideLoop::Place& place) {
      const int64_t scale = wide.runs[place.run].scale;
      return scale == 1 ? fmt::format("run{}[k]", place.run)
                        : fmt::format("run{}[k * {} + {}]", place.run, scale, place.element);
    };
    for (const auto& [load, place] : wide.loads)
      wide_loads_.emplace(load, is_bool(load->type) ? "(" + element(place) + " != 0)" : element(place));
    for (size_t i = 0; i < node.body.size(); ++i) {
      if (const auto* let = std::get_if<Let>(&node.body[i].node)) {
        if (!wide.once[i] && let->var != wide.along) emit(*let);
        continue;
      }
      const Store& store = std::get<Store>(node.body[i].node);
      const auto place = wide.stores.find(&store);
      if (place == wide.stores.end())
        emit(store);
      else
        out_.line(fmt::format("{} = {};", element(place->second), value(store.value)));
    }
    wide_loads_.clear();
    out_.dedent();
    out_.line("}");
    for (const size_t r : used)
      if (wide.runs[r].store)
        out_.line(fmt::format("galatea_copy<{}, {}>(at{}, run{});", run_bytes(r), alignment(r), r, r));
    out_.dedent();
    out_.line("} else {");
    out_.indent();
    out_.line(
        fmt::format("const i64 from = {0}, to = galatea_min({0} + {1}, (i64)({2}));", all, wide.width, end));
    out_.line(fmt::format("GALATEA_ROLLED for (i64 {0} = from; {0} < to; ++{0}) {{", all));
    body(node.body);
    out_.dedent();
    out_.line("}");
    out_.dedent();
    out_.line("}");
    if (indices_) indices_->leave();
  }
  void emit(const Let& node) {
    if (indices_ && indices_->is_small(node.value)) {
      narrow_vars_.insert(node.var);
      out_.line(fmt::format("const i32 v{} = {};", node.var, narrow(node.value)));
      return indices_->define(node);
    }
    if (indices_) indices_->define(node);
    out_.line(fmt::format("const {} v{} = {};", c_type(type_of(node.var)), node.var, value(node.value)));
  }
  void emit(const Declare& node) {
    out_.line(fmt::format("{} v{} = {};", c_type(type_of(node.var)), node.var, value(node.init)));
  }
  void emit(const Assign& node) { out_.line(fmt::format("v{} = {};", node.var, value(node.value))); }
  void emit(const Store& node) {
    if (node.add && (node.warp || node.combiner != Combiner::kSum)) {
      static constexpr const char* kNames[] = {"galatea_sum", "galatea_least", "galatea_most"};
      const std::string what = fmt::format("{}, &{}[{}]", kNames[static_cast<int>(node.combiner)],
                                           buffer_name(node.buffer), place(node.buffer, node.offset));
      out_.line(node.warp ? fmt::format("GALATEA_BY_WARP(warps{0}, {1}, v{0}, {2})", grid_->var, what,
                                        value(node.value))
                          : fmt::format("GALATEA_COMBINE({}, {});", what, value(node.value)));
      return;
    }
    if (node.add) {
      out_.line(fmt::format("GALATEA_ADD(&{}[{}], {});", buffer_name(node.buffer),
                            place(node.buffer, node.offset), value(node.value)));
      return;
    }
    out_.line(fmt::format("{}[{}] = {};", buffer_name(node.buffer), place(node.buffer, node.offset),
                          value(node.value)));
  }
  void emit(const If& node) {
    out_.line(fmt::format("if ({}) {{", value(node.condition)));
    if (node.else_body.empty()) return body(node.then_body);
    body(node.then_body, "} else {");
    body(node.else_body);
  }
  void emit(const Phase& node) { emit(node, in_tile_ ? "GALATEA_BLOCK_PHASE" : "GALATEA_PHASE"); }
  void emit(const Phase& node, const char* begin) {
    // On the host, where values of warps wait for each other.
    for_each_statement(node.body, [&](const Statement& statement) {
      const auto* loop = std::get_if<For>(&statement.node);
      if (!loop || loop->role != LoopRole::kGrid) return;
      for (const Statement& inner : loop->body)
        if (const auto* store = std::get_if<Store>(&inner.node); store && store->warp)
          out_.line(fmt::format("GALATEA_WARPS(warps{}, {}, {})", loop->var, c_type(store->value.type()),
                                const_value(loop->end)));
    });
    out_.line(fmt::format("{}  // {}", begin, node.name));
    in_phase_ = true;
    if (reads_params_again()) emit_params_of(node.body);
    body(node.body, "GALATEA_END_PHASE");
    in_phase_ = false;
  }
  void emit(const BandPrepare&) { GALATEA_CHECK(false, "loops for a CPU given to the CUDA emitter"); }
  void emit(const BandRow&) { GALATEA_CHECK(false, "loops for a CPU given to the CUDA emitter"); }

  static constexpr size_t kKeptParams = 8;
  const LoopKernel& kernel_;
  const std::string name_;
  const TextForm form_;
  const std::string rare_;
  std::optional<SmallIndices> indices_;
  std::set<int> narrow_vars_;  ///< those that are i32 in the text
  TextWriter out_;
  std::unordered_map<const ExprNode*, std::string> names_;
  bool in_tile_ = false, in_phase_ = false;
  const For* grid_ = nullptr;                                    ///< the loop that is being written
  std::unordered_map<const ExprNode*, std::string> wide_loads_;  ///< what is in registers already
};

/// Whether some calls are not small, or do not fit: those have scratch.
bool has_rare_calls(const LoopKernel& loops) {
  return is_made_in_tiles(loops) && std::ranges::any_of(loops.buffers, [](const LoopBuffer& buffer) {
           return buffer.kind == BufferKind::kScratch;
         });
}

std::string text_of(const LoopKernel& loops, const std::string& name, TextForm form) {
  if (!has_rare_calls(loops)) return Emitter(loops, name, form).run();
  return Emitter(loops, name, form, Emitter(loops, "", TextForm::kRare).run()).run();
}

}  // namespace

std::string emit_cuda(const LoopKernel& loops, const std::string& name) {
  return text_of(loops, name, TextForm::kKernel);
}
std::string emit_cuda_arm(const LoopKernel& loops) { return text_of(loops, "", TextForm::kArm); }

}  // namespace galatea::codegen
