// Runs loops, one element after the other: the judge between lowering and the code generators.
//
// Comes in: verified loops and a call. Goes out: the output tensors' bytes. Expressions are flattened once
// into lists of steps, so that a shared node is evaluated once; `permuted` runs vector and grid loops in a
// scrambled order, which finds iterations that depend on each other.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "compiler/kernel/interpreter.h"
#include "compiler/kernel/loops.h"
#include "compiler/kernel/node_map.h"

namespace galatea::kernel {

namespace {

struct Memory {
  uint8_t* data = nullptr;
  int64_t low = 0, high = -1;  ///< elements that exist: [low, high]
  int64_t last_readable = -1;  ///< loads may also touch the padding
  DType type = DType::kU8;
  bool is_shared = false;
};

/// What a node tells, beside the others of its expression in memory: tests run each of them millions of times.
struct Step {
  ExprKind kind;
  ScalarOp op;
  DType type, from;  ///< kOp: as evaluate() takes them
  int index;         ///< the node's
  int args[3];       ///< places of values
  int to;
};
/// An expression as steps; the last value is the expression's.
struct Steps {
  size_t begin = 0, end = 0;    ///< of all nodes but constants
  size_t first = 0, after = 0;  ///< values: one for each node; constants are there from the beginning
};

class Interpreter {
 public:
  Interpreter(const LoopKernel& kernel, const runtime::KernelCall& call, bool permuted)
      : kernel_(kernel),
        call_(call),
        permuted_(permuted),
        layout_(layout_scratch(kernel)),
        vars_(kernel.var_types.size()) {}

  void run() {
    place_buffers();
    for (size_t t = 0; t < kernel_.stride_vars.size(); ++t)
      for (size_t d = 0; d < kernel_.stride_vars[t].size(); ++d)
        if (const int v = kernel_.stride_vars[t][d]; v >= 0)
          vars_[static_cast<size_t>(v)] = cell_from_int(DType::kI64, call_.tensors[t].strides[d]);
    run_block(kernel_.body);
  }

 private:
  // ---- memory
  /// What a block would have: its own memory, or for a call that needs more, scratch.
  int64_t shared_bytes() { return std::max(integer(kernel_.block_bytes), block_memory(kernel_)); }
  void place_buffers() {
    if (kernel_.block_bytes) shared_.resize(static_cast<size_t>(shared_bytes() + runtime::kBufferPadding));
    owners_.resize(shared_.size(), -1);
    for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
      const LoopBuffer& buffer = kernel_.buffers[b];
      Memory memory;
      memory.type = buffer.type;
      if (buffer.kind == BufferKind::kShared) {
        memory.is_shared = true;
        memory.data = shared_.data();
        memory.high = shared_bytes() / size_of(buffer.type) - 1;
      } else if (buffer.kind == BufferKind::kScratch) {
        memory.data = call_.scratch + integer(layout_.offsets[b]);
        memory.high = integer(buffer.elements) - 1;
      } else {
        place_tensor(buffer, &memory);
      }
      memory.last_readable = memory.high + runtime::kBufferPadding / size_of(memory.type);
      memories_.push_back(memory);
    }
  }
  void place_tensor(const LoopBuffer& buffer, Memory* memory) {
    const runtime::KernelTensor& tensor = call_.tensors[buffer.tensor];
    const size_t rank = kernel_.stride_vars[static_cast<size_t>(buffer.tensor)].size();
    memory->data = static_cast<uint8_t*>(tensor.data);
    memory->high = 0;
    for (size_t d = 0; d < rank; ++d) {
      if (tensor.extents[d] <= 0) {
        memory->low = 0;
        memory->high = -1;
        return;
      }
      const int64_t reach = (tensor.extents[d] - 1) * tensor.strides[d];
      (reach < 0 ? memory->low : memory->high) += reach;
    }
  }
  /// Apart from who asks, so that frames of what runs for each element hold no text.
  [[noreturn, gnu::noinline]] void refuse(std::string_view what, int buffer, int64_t offset) const {
    const auto at = static_cast<size_t>(buffer);
    throw InternalError(fmt::format("{}: {} {}[{}] outside [{}, {}]", kernel_.name, what,
                                    kernel_.buffers[at].name, offset, memories_[at].low, memories_[at].high));
  }
  Cell load(int buffer, int64_t offset) {
    const Memory& m = memories_[static_cast<size_t>(buffer)];
    if (offset < m.low || offset > m.last_readable) refuse("load of", buffer, offset);
    if (m.is_shared && owners_[static_cast<size_t>(offset * size_of(m.type))] != buffer)
      refuse("load of what is not stored in this tile:", buffer, offset);
    return load_cell(m.type, m.data + offset * size_of(m.type));
  }

  // ---- expressions
  const Steps& steps_of(const Expr& e) {
    if (const auto* found = steps_.find(e.get())) return found->second;
    Steps steps{list_.size(), 0, values_.size(), 0};
    NodeMap<int> done;
    flatten(e, steps.first, &done);
    steps.end = list_.size();
    steps.after = values_.size();
    return steps_.emplace(e.get(), steps).first->second;
  }
  /// Adds the steps of an expression whose values begin at `first`; returns the place of its value among them.
  int flatten(const Expr& e, size_t first, NodeMap<int>* done) {
    if (const auto* found = done->find(e.get())) return found->second;
    GALATEA_CHECK(e->args.size() <= 3, "an operation with more than three operands");
    Step step{e->kind, e->op, e->type, e->type, e->index, {0, 0, 0}, 0};
    for (size_t i = 0; i < e->args.size(); ++i) step.args[i] = flatten(e->args[i], first, done);
    if (e->kind == ExprKind::kOp) {
      const DType operand_type = e->args[0].type();
      if (is_comparison(e->op)) step.type = operand_type;
      step.from = is_conversion(e->op) ? operand_type : step.type;
    }
    step.to = static_cast<int>(values_.size() - first);
    values_.push_back(e->kind == ExprKind::kConst ? e->value : Cell{});
    if (e->kind != ExprKind::kConst) list_.push_back(step);
    done->emplace(e.get(), step.to);
    return step.to;
  }
  Cell evaluate_step(const Step& step, const Cell* values) {
    const auto arg = [&](int i) { return values[step.args[i]]; };
    switch (step.kind) {
      case ExprKind::kParam:
        return Cell{call_.params[step.index]};
      case ExprKind::kVar:
        return vars_[static_cast<size_t>(step.index)];
      case ExprKind::kLoadFlat:
        return load(step.index, cell_to_int(DType::kI64, arg(0)));
      case ExprKind::kPhilox:
        return cell_from_int(DType::kU32,
                             static_cast<int64_t>(philox(arg(0).bits, arg(1).bits, arg(2).bits, step.index)));
      case ExprKind::kOp: {
        const Cell operands[3] = {arg(0), arg(1), arg(2)};
        return evaluate(step.op, step.type, step.from, operands, call_.status ? call_.status : &status_);
      }
      default:
        throw InternalError("a node of an earlier level in loops");
    }
  }
  Cell value(const Expr& e) {
    if (e->kind == ExprKind::kConst) return e->value;
    if (e->kind == ExprKind::kVar) return vars_[static_cast<size_t>(e->index)];
    const Steps& steps = steps_of(e);
    Cell* const values = values_.data() + steps.first;
    for (size_t at = steps.begin; at < steps.end; ++at)
      values[list_[at].to] = evaluate_step(list_[at], values);
    return values_[steps.after - 1];
  }
  int64_t integer(const Expr& e) { return cell_to_int(DType::kI64, value(e)); }

  // ---- statements
  void run_block(const Block& block) {
    for (const Statement& statement : block) std::visit([&](const auto& node) { run(node); }, statement.node);
  }
  void run(const For& node) {
    const int64_t begin = integer(node.begin), end = integer(node.end);
    const int64_t n = end - begin;
    const auto body = [&](int64_t i) {
      vars_[static_cast<size_t>(node.var)] = cell_from_int(DType::kI64, i);
      if (node.role == LoopRole::kTile) {
        std::fill(shared_.begin(), shared_.end(), uint8_t{0xA5});
        std::fill(owners_.begin(), owners_.end(), -1);
      }
      run_block(node.body);
    };
    if (!permuted_ || node.role == LoopRole::kSerial) {
      for (int64_t i = begin; i < end; ++i) body(i);
      return;
    }
    // Odd numbers backwards, then even ones forwards: neighbours are never in order.
    for (int64_t i = n - 1; i >= 0; --i)
      if (i % 2 == 1) body(begin + i);
    for (int64_t i = 0; i < n; i += 2) body(begin + i);
  }
  void run(const Let& node) { vars_[static_cast<size_t>(node.var)] = value(node.value); }
  void run(const Declare& node) { vars_[static_cast<size_t>(node.var)] = value(node.init); }
  void run(const Assign& node) { vars_[static_cast<size_t>(node.var)] = value(node.value); }
  void run(const Store& node) {
    const Memory& m = memories_[static_cast<size_t>(node.buffer)];
    const int64_t offset = integer(node.offset);
    Cell cell = value(node.value);
    if (offset < m.low || offset > m.high) refuse("store to", node.buffer, offset);
    if (m.is_shared) {
      const auto owned = owners_.begin() + static_cast<std::ptrdiff_t>(offset * size_of(m.type));
      std::fill_n(owned, size_of(m.type), node.buffer);
    }
    uint8_t* address = m.data + offset * size_of(m.type);
    if (node.add) {
      const ScalarOp op = node.combiner == Combiner::kSum   ? ScalarOp::kAdd
                          : node.combiner == Combiner::kMin ? ScalarOp::kMin
                                                            : ScalarOp::kMax;
      const Cell operands[] = {load_cell(m.type, address), cell};
      cell = evaluate(op, m.type, m.type, operands, &status_);
    }
    store_cell(m.type, address, cell);
  }
  void run(const If& node) { run_block(value(node.condition).bits ? node.then_body : node.else_body); }
  void run(const Phase& node) { run_block(node.body); }
  void run(const BandPrepare&) {}
  void run(const BandRow& node) {
    auto found = expanded_.find(&node);
    if (found == expanded_.end()) {
      if (var_types_.empty()) var_types_ = kernel_.var_types;
      found = expanded_.emplace(&node, expand_band_row(node, var_types_)).first;
      vars_.resize(var_types_.size());
    }
    run_block(found->second);
  }

  const LoopKernel& kernel_;
  const runtime::KernelCall& call_;
  const bool permuted_;
  const ScratchLayout layout_;  ///< kept: steps_ knows its expressions by address
  std::vector<Cell> vars_;
  std::vector<Memory> memories_;
  std::vector<uint8_t> shared_;  ///< of the tile that is being made
  std::vector<int> owners_;      ///< per byte of shared_: the buffer that was stored there last
  NodeMap<Steps> steps_;         ///< of each expression that was asked for
  std::vector<Step> list_;
  std::vector<Cell> values_;
  std::unordered_map<const BandRow*, Block> expanded_;
  std::vector<DType> var_types_;
  uint32_t status_ = 0;
};

}  // namespace

void interpret_loops(const LoopKernel& kernel, const runtime::KernelCall& call, bool permuted) {
  Interpreter(kernel, call, permuted).run();
}

}  // namespace galatea::kernel
