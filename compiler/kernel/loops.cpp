// What every user of loops shares: walking, offsets, the meaning of BandRow, the layout of scratch.
//
// Comes in: a LoopKernel or parts of one. Goes out: answers about it. The printer is loops_printer.cpp, the
// verifier loops_verifier.cpp.
#include "compiler/kernel/loops.h"

#include <algorithm>
#include <type_traits>

#include "runtime/kernel_abi.h"

namespace galatea::kernel {

namespace {

const Block* blocks_of(const Statement& statement, const Block** second) {
  *second = nullptr;
  if (const auto* loop = std::get_if<For>(&statement.node)) return &loop->body;
  if (const auto* phase = std::get_if<Phase>(&statement.node)) return &phase->body;
  if (const auto* branch = std::get_if<If>(&statement.node)) {
    *second = &branch->else_body;
    return &branch->then_body;
  }
  return nullptr;
}

void visit_if(const Expr& e, const std::function<void(const Expr&)>& visit) {
  if (e) visit(e);
}

void visit_tables(const BandTables& t, const std::function<void(const Expr&)>& visit) {
  for (const Expr* e : {&t.taps, &t.taps_stride, &t.width, &t.src_width}) visit_if(*e, visit);
}

Expr add_if(const Expr& a, const Expr& b) { return !a ? b : !b ? a : a + b; }

Expr padded_bytes(const Expr& elements, DType type) {
  const int64_t align = runtime::kBufferAlignment;
  const Expr bytes =
      max(elements, const_int(0)) * const_int(size_of(type)) + const_int(runtime::kBufferPadding + align - 1);
  return bytes & const_int(-align);
}

}  // namespace

int64_t block_memory(const LoopKernel& kernel) {
  if (!kernel.block_bytes) return 0;
  const bool known = is_const(kernel.block_bytes) && const_value(kernel.block_bytes) <= kSharedBytes;
  return known ? const_value(kernel.block_bytes) : kSharedBytes;
}

void for_each_statement(const Block& block, const std::function<void(const Statement&)>& visit) {
  for (const Statement& statement : block) {
    visit(statement);
    const Block* second = nullptr;
    if (const Block* first = blocks_of(statement, &second)) for_each_statement(*first, visit);
    if (second) for_each_statement(*second, visit);
  }
}

void for_each_expr(const Statement& statement, const std::function<void(const Expr&)>& visit) {
  std::visit(
      [&](const auto& node) {
        using T = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<T, For>) {
          visit_if(node.begin, visit);
          visit_if(node.end, visit);
        } else if constexpr (std::is_same_v<T, Let> || std::is_same_v<T, Assign>) {
          visit_if(node.value, visit);
        } else if constexpr (std::is_same_v<T, Declare>) {
          visit_if(node.init, visit);
        } else if constexpr (std::is_same_v<T, Store>) {
          visit_if(node.offset, visit);
          visit_if(node.value, visit);
        } else if constexpr (std::is_same_v<T, If>) {
          visit_if(node.condition, visit);
        } else if constexpr (std::is_same_v<T, BandPrepare>) {
          visit_tables(node.tables, visit);
        } else if constexpr (std::is_same_v<T, BandRow>) {
          visit_tables(node.tables, visit);
          for (const Expr* e : {&node.src_offset, &node.src_step, &node.dst_offset, &node.dst_plane})
            visit_if(*e, visit);
        }
      },
      statement.node);
}

bool uses_var(const Expr& e, int index) {
  return any_node(e, bit_of(ExprKind::kVar), [&](const Expr& n) { return n->index == index; });
}

namespace {

/// Takes offsets apart by one variable. Each node is asked once how it depends on it: offsets into which
/// definitions were put are DAGs.
class OffsetMatcher {
 public:
  OffsetMatcher(int variable, const std::vector<bool>& varying) : variable_(variable), varying_(varying) {}

  bool match(const Expr& offset, VectorOffset* out) {
    const Dependence d = dependence(offset);
    if (d == Dependence::kOther) return false;
    if (d == Dependence::kUniform) {
      if (is_const(offset)) {
        *out = {Expr(), Expr(), const_value(offset)};
        return true;
      }
      if (offset->kind == ExprKind::kOp && offset->op == ScalarOp::kAdd && is_const(offset->args[1])) {
        *out = {offset->args[0], Expr(), const_value(offset->args[1])};
        return true;
      }
      *out = {offset, Expr(), 0};
      return true;
    }
    if (offset->kind == ExprKind::kVar) {
      *out = {Expr(), const_int(1), 0};
      return true;
    }
    if (offset->kind != ExprKind::kOp) return false;
    VectorOffset a, b;
    if (offset->op == ScalarOp::kAdd || offset->op == ScalarOp::kSub) {
      if (!match(offset->args[0], &a)) return false;
      if (!match(offset->args[1], &b)) return false;
      if (offset->op == ScalarOp::kSub) {
        if (b.uniform) b.uniform = -b.uniform;
        if (b.scale) b.scale = -b.scale;
        b.constant = -b.constant;
      }
      *out = {add_if(a.uniform, b.uniform), add_if(a.scale, b.scale), a.constant + b.constant};
      return true;
    }
    if (offset->op == ScalarOp::kMul) {
      const bool left = dependence(offset->args[0]) == Dependence::kVector;
      const Expr& factor = offset->args[left ? 1 : 0];
      if (dependence(factor) != Dependence::kUniform) return false;
      if (!match(offset->args[left ? 0 : 1], &a)) return false;
      if (is_const(factor)) {
        const int64_t c = const_value(factor);
        *out = {a.uniform ? a.uniform * factor : Expr(), a.scale * factor, a.constant * c};
      } else {
        const Expr uniform = add_if(a.uniform, a.constant == 0 ? Expr() : const_int(a.constant));
        *out = {uniform ? uniform * factor : Expr(), a.scale * factor, 0};
      }
      return true;
    }
    if (offset->op == ScalarOp::kNeg) {
      if (!match(offset->args[0], &a)) return false;
      *out = {a.uniform ? -a.uniform : Expr(), -a.scale, -a.constant};
      return true;
    }
    return false;
  }

 private:
  /// How an expression depends on the variable.
  enum class Dependence { kUniform, kVector, kOther };

  Dependence dependence(const Expr& e) {
    if (!contains(e, ExprKind::kVar)) return Dependence::kUniform;
    if (e->kind == ExprKind::kVar) {
      if (e->index == variable_) return Dependence::kVector;
      const auto index = static_cast<size_t>(e->index);
      return index < varying_.size() && varying_[index] ? Dependence::kOther : Dependence::kUniform;
    }
    if (const auto* found = known_.find(e.get())) return found->second;
    Dependence out = Dependence::kUniform;
    for (const Expr& arg : e->args) {
      const Dependence d = dependence(arg);
      if (d != Dependence::kUniform) out = d;
      if (d == Dependence::kOther) break;
    }
    known_.emplace(e.get(), out);
    return out;
  }

  const int variable_;
  const std::vector<bool>& varying_;
  NodeMap<Dependence> known_;
};

}  // namespace

bool match_vector_offset(const Expr& offset, int variable, const std::vector<bool>& varying,
                         VectorOffset* out) {
  return OffsetMatcher(variable, varying).match(offset, out);
}

Expr prepared_bytes(const BandTables& tables) {
  // Per group of 16 output pixels and tap: an index vector and a weight vector of 64 bytes; per group 128
  // bytes of bases. Besides, one source row taken apart into planes of up to 4 bytes an element, each plane
  // padded by 128 elements.
  const Expr groups = (max(tables.width, const_int(0)) + const_int(15)) / const_int(16) + const_int(1);
  const Expr per_group = (max(tables.taps, const_int(0)) + const_int(4)) * const_int(128) + const_int(128);
  const Expr planes =
      (max(tables.src_width, const_int(0)) + const_int(128)) * const_int(4 * int64_t{tables.channels});
  return const_int(256) + groups * per_group + planes;
}

Block expand_band_row(const BandRow& row, std::vector<DType>& var_types) {
  const auto new_var = [&](DType type) {
    var_types.push_back(type);
    return static_cast<int>(var_types.size()) - 1;
  };
  const BandTables& t = row.tables;
  const DType acc_type = t.integer ? DType::kI32 : DType::kF32;
  const int i = new_var(DType::kI64), first = new_var(DType::kI64), k = new_var(DType::kI64);
  const Expr vi = var(i, DType::kI64), vk = var(k, DType::kI64);
  const Expr position = var(first, DType::kI64) + vk;
  const Expr inside = max(min(position, t.src_width - const_int(1)), const_int(0));
  const Expr weight = load_flat(t.weights, acc_type, vi * t.taps_stride + vk);

  Block pixel;
  pixel.push_back({Let{first, convert(load_flat(t.first, DType::kI32, vi), DType::kI64)}, {}});
  std::vector<int> sums;
  Block taps_body;
  const int at = new_var(DType::kI64);
  taps_body.push_back({Let{at, row.src_offset + inside * row.src_step}, {}});
  for (int c = 0; c < t.channels; ++c) {
    sums.push_back(new_var(acc_type));
    pixel.push_back({Declare{sums.back(), t.integer ? const_int(0, DType::kI32) : const_float(0.0)}, {}});
    const Expr source = load_flat(row.src, t.source_type, var(at, DType::kI64) + const_int(c));
    const Expr sum = var(sums.back(), acc_type);
    const Expr next = t.integer ? sum + weight * convert(source, DType::kI32)
                                : fma(weight, convert(source, DType::kF32), sum);
    taps_body.push_back({Assign{sums.back(), next}, {}});
  }
  pixel.push_back({For{k, const_int(0), t.taps, LoopRole::kSerial, 1, 1, std::move(taps_body)}, {}});
  for (int c = 0; c < t.channels; ++c) {
    Expr value = convert(var(sums[static_cast<size_t>(c)], acc_type), DType::kF32);
    if (row.scale != 1.0F) value = value * const_float(static_cast<double>(row.scale));
    pixel.push_back({Store{row.dst, row.dst_offset + const_int(c) * row.dst_plane + vi, value, false}, {}});
  }
  Block out;
  out.push_back({For{i, const_int(0), t.width, LoopRole::kSerial, 1, 1, std::move(pixel)}, {}});
  return out;
}

ScratchLayout layout_scratch(const LoopKernel& kernel) {
  ScratchLayout layout;
  const auto is_scratch = [](const LoopBuffer& buffer) { return buffer.kind == BufferKind::kScratch; };
  const bool is_only = std::ranges::count_if(kernel.buffers, is_scratch) == 1;
  Expr at = const_int(0);
  for (const LoopBuffer& buffer : kernel.buffers) {
    if (!is_scratch(buffer)) {
      layout.offsets.emplace_back();
      continue;
    }
    layout.offsets.push_back(at);
    const Expr& elements = buffer.elements;
    const bool may_be_empty = elements->kind == ExprKind::kOp && elements->op == ScalarOp::kSelect &&
                              is_const_int(elements->args[1], 0);
    at = is_only && may_be_empty
             ? select(elements->args[0], const_int(0), padded_bytes(elements->args[2], buffer.type))
             : at + padded_bytes(elements, buffer.type);
  }
  layout.bytes = at;
  return layout;
}

}  // namespace galatea::kernel
