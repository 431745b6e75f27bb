// Scalar expressions to instructions.
#include <algorithm>
#include <utility>

#include "compiler/op/lineage.h"
#include "compiler/plan/emitter.h"

namespace galatea::plan {

using kernel::ExprKind;
using kernel::SymbolKind;
using runtime::Instruction;

bool Emitter::visible_here(ir::BlockId defined_in) const { return dominates_[defined_in][block_]; }

void Emitter::know_node(const Expr& e, int reg, ir::BlockId block) {
  const auto place = static_cast<int32_t>(known_nodes_.size());
  const auto [newest, is_first] = newest_of_node_.emplace(e.get(), place);
  known_nodes_.push_back({e, reg, block, is_first ? -1 : std::exchange(newest->second, place)});
}

void Emitter::know_hash(const Expr& e, int reg, ir::BlockId block) {
  const auto place = static_cast<int32_t>(known_.size());
  const auto [newest, is_first] = newest_of_hash_.try_emplace(kernel::hash_of(e), place);
  known_.push_back({e, reg, block, is_first ? -1 : std::exchange(newest->second, place)});
}

int Emitter::reg(const Expr& e) {
  if (const auto found = newest_of_node_.find(e.get()); found != newest_of_node_.end())
    for (int32_t at = found->second; at >= 0; at = known_nodes_[static_cast<size_t>(at)].older)
      if (const Known& known = known_nodes_[static_cast<size_t>(at)]; visible_here(known.block))
        return known.reg;
  // Equal expressions built apart share a register, too.
  if (const auto found = newest_of_hash_.find(kernel::hash_of(e)); found != newest_of_hash_.end())
    for (int32_t at = found->second; at >= 0; at = known_[static_cast<size_t>(at)].older)
      if (const Known& known = known_[static_cast<size_t>(at)];
          visible_here(known.block) && kernel::same(known.expr, e)) {
        know_node(e, known.reg, known.block);
        return known.reg;
      }
  const int made = emit_expr(e);
  know_node(e, made, block_);
  know_hash(e, made, block_);
  return made;
}

void Emitter::forget_since(const Knowledge& before) {
  for (; known_nodes_.size() > before.nodes; known_nodes_.pop_back())
    newest_of_node_[known_nodes_.back().expr.get()] = known_nodes_.back().older;
  for (; known_.size() > before.hashes; known_.pop_back())
    newest_of_hash_[kernel::hash_of(known_.back().expr)] = known_.back().older;
  for (; added_stores_.size() > before.stores; added_stores_.pop_back()) {
    auto [value, block] = added_stores_.back();
    stored_scalars_[value].erase(block);
  }
  for (; added_downloads_.size() > before.downloads; added_downloads_.pop_back()) {
    auto [value, block] = added_downloads_.back();
    host_slots_[value].erase(block);
  }
}

std::vector<int32_t> Emitter::regs(const std::vector<Expr>& list) {
  std::vector<int32_t> out;
  for (const Expr& e : list) out.push_back(reg(table_.resolve(e)));
  return out;
}

int Emitter::emit_expr(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kConst: {
      Instruction& instruction = emit(Op::kConst);
      instruction.dst = new_register();
      instruction.a = add_constant(e->value);
      instruction.type = e->type;
      return instruction.dst;
    }
    case ExprKind::kSymbol:
      return emit_symbol(*e);
    case ExprKind::kOp: {
      doubt_division(e);
      std::vector<int> operands;
      for (const Expr& arg : e->args) operands.push_back(reg(arg));
      Instruction& instruction = emit(Op::kScalar);
      instruction.scalar_op = e->op;
      // For comparisons the instruction carries the operand type (evaluate()).
      instruction.type = is_comparison(e->op) ? e->args[0].type() : e->type;
      instruction.from = e->args[0].type();
      instruction.dst = new_register();
      instruction.a = operands[0];
      if (operands.size() > 1) instruction.b = operands[1];
      if (operands.size() > 2) instruction.c = operands[2];
      return instruction.dst;
    }
    case ExprKind::kPhilox: {
      int key = reg(e->args[0]), low = reg(e->args[1]), high = reg(e->args[2]);
      Instruction& instruction = emit(Op::kPhilox);
      instruction.dst = new_register();
      instruction.a = key;
      instruction.b = low;
      instruction.c = high;
      instruction.imm = e->index;
      return instruction.dst;
    }
    default:
      GALATEA_CHECK(false, "an expression of a kernel in the sample program: " + kernel::to_text(e));
  }
}

namespace {

uint64_t hash64(uint64_t a, uint64_t b) {
  // splitmix64's finaliser (Steele, Lea, Flood 2014) over both words.
  uint64_t x = a + 0x9E3779B97F4A7C15U * (b + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

}  // namespace

int Emitter::emit_symbol(const kernel::ExprNode& e) {
  switch (e.symbol) {
    case SymbolKind::kExtent: {
      int slot = slot_of(static_cast<ir::ValueId>(e.a));
      Instruction& instruction = emit(Op::kExtent);
      instruction.dst = new_register();
      instruction.a = slot;
      instruction.imm = static_cast<int32_t>(e.b);
      return instruction.dst;
    }
    case SymbolKind::kElement: {
      auto value = static_cast<ir::ValueId>(e.a);
      if (table_.info(value).scalar) {  // a merge
        auto found = merge_registers_.find({value, e.b});
        GALATEA_CHECK(found != merge_registers_.end(), "a merged scalar is used before its block");
        return found->second;
      }
      int slot = host_slot_of(value);
      int index = reg(kernel::const_int(e.b));
      Instruction& instruction = emit(Op::kLoad);
      instruction.dst = new_register();
      instruction.a = slot;
      instruction.b = index;
      instruction.type = e.type;
      return instruction.dst;
    }
    case SymbolKind::kSampleIndex: {
      Instruction& instruction = emit(Op::kSampleIndex);
      instruction.dst = new_register();
      instruction.a = e.a < 0 || graph_.node(static_cast<ir::NodeId>(e.a)).op->is_fed()
                          ? -1
                          : source_index_[static_cast<size_t>(e.a)];
      return instruction.dst;
    }
    case SymbolKind::kNodeKey: {
      auto node = static_cast<ir::NodeId>(e.a);
      uint64_t key =
          graph_.node(node).has_own_seed ? graph_.node(node).key : hash64(seed_, graph_.node(node).key);
      int64_t source = table_.lineage().counting_source(node);
      bool indexed = source >= 0 && !graph_.node(static_cast<ir::NodeId>(source)).op->is_fed();
      Instruction& instruction = emit(Op::kNodeKey);
      instruction.dst = new_register();
      instruction.a = add_constant(Cell{key});
      instruction.b = indexed ? source_index_[static_cast<size_t>(source)] : -1;
      return instruction.dst;
    }
    case SymbolKind::kBatchSlot: {
      Instruction& instruction = emit(Op::kBatchSlot);
      instruction.dst = new_register();
      return instruction.dst;
    }
    case SymbolKind::kLocal: {
      auto found = local_registers_.find(e.a);
      GALATEA_CHECK(found != local_registers_.end(), "a native function's scalar is used before its call");
      return found->second.reg;
    }
  }
  GALATEA_CHECK(false, "unknown symbol");
}

}  // namespace galatea::plan
