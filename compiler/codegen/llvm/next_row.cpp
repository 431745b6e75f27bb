// Rows that are copied (mirrors, crops, padding): while one is, what the next one reads is asked for.
//
// Comes in: a vector loop inside of a loop over rows, all of whose stores copy. Goes out: a prefetch for each
// line that the vector reads, where the next row is expected: as far from this one as this one is from the
// last. Rows that are walked backwards, or that leave gaps, are streams which the processor finds late or not
// at all: copies of images beyond the cache take half the time.
#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kLineBytes = 64;

/// What a store copies: an element, or a fill where that is not wanted.
const kernel::ExprNode* copied(const kernel::Expr& value) {
  if (value->kind == kernel::ExprKind::kLoadFlat) return value.get();
  if (value->kind != kernel::ExprKind::kOp || value->op != ScalarOp::kSelect ||
      value->args[1]->kind != kernel::ExprKind::kLoadFlat || !kernel::is_const(value->args[2]))
    return nullptr;
  return value->args[1].get();
}

}  // namespace

/// What the loop, which is about to be emitted, copies a row of.
void FunctionEmitter::find_rows(const kernel::For& loop) {
  rows_.clear();
  if (serial_loops_ == 0) return;
  std::vector<Row> found;
  std::vector<Expr> starts;
  for (const kernel::Statement& statement : loop.body) {
    const auto* store = std::get_if<kernel::Store>(&statement.node);
    const kernel::ExprNode* load = store && store->streaming ? copied(store->value) : nullptr;
    kernel::VectorOffset parts;
    if (!load || load->type != kernel_.buffers[static_cast<size_t>(load->index)].type ||
        !kernel::match_vector_offset(load->args[0], loop.var, varying_, &parts) || !parts.uniform ||
        !parts.scale || !kernel::is_const(parts.scale))
      return;
    const int64_t step = kernel::const_value(parts.scale);
    if (step == 0 || std::abs(step) > kMaxInterleaved) return;
    bool is_new = true;
    for (size_t r = 0; r < found.size(); ++r) {
      if (found[r].buffer != load->index || found[r].step != step || !kernel::same(starts[r], parts.uniform))
        continue;
      found[r].constant = std::min(found[r].constant, parts.constant);
      is_new = false;
    }
    if (!is_new) continue;
    found.push_back({load->index, step, parts.constant, nullptr});
    starts.push_back(parts.uniform);
  }
  for (size_t r = 0; r < found.size(); ++r) {
    llvm::AllocaInst* last = allocate_var(builder_.getInt64Ty(), "row");
    llvm::IRBuilder<>(last->getNextNode()).CreateStore(i64(0), last);
    Value* start = emit(starts[r]);
    Value* distance = builder_.CreateSub(start, builder_.CreateLoad(builder_.getInt64Ty(), last));
    builder_.CreateStore(start, last);
    found[r].next = builder_.CreateAdd(start, distance);
  }
  rows_ = std::move(found);
}

/// For the vector at vector_base_.
void FunctionEmitter::prefetch_next_rows() {
  for (const Row& row : rows_) {
    const int64_t size = size_of(kernel_.buffers[static_cast<size_t>(row.buffer)].type);
    const int64_t run = std::abs(row.step) * lanes_;
    Value* first = builder_.CreateAdd(row.next, builder_.CreateMul(vector_base_, i64(row.step)));
    first = builder_.CreateAdd(first, i64(row.constant + (row.step < 0 ? row.step * (lanes_ - 1) : 0)));
    Value* pointer = address(row.buffer, first);
    for (int64_t at = 0; at < run * size; at += kLineBytes)
      builder_.CreateIntrinsic(
          llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
          {builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, static_cast<uint64_t>(at)),
           builder_.getInt32(0), builder_.getInt32(3), builder_.getInt32(1)});
  }
}

}  // namespace galatea::codegen
