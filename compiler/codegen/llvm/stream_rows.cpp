// Rows of a large output that are copied or filled, past the cache, whatever their length.
//
// Comes in: vector loops, each a piece of a row, whose values are stored one after the other. Goes out: whole
// lines. What a piece leaves of its last line is kept in a register; where the next piece goes on at that
// very place (the border behind a row, the next row), its first values complete the line. So rows that are no
// whole lines, and edges inside of rows, cost no line that is read to be written in part; the few that nobody
// completes are stored in part. Every element is stored once, and no kernel that reads its output is made so.
// AVX-512 only, which has masks for bytes.
//
// Off, `pad` of bytes takes 1.08 times as long at 224 x 224, `erase` of bytes 1.07 times at 1080p; `erase`
// of bytes at 224 x 224 takes 0.76 (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kLine = 64;

/// An element as it is, a fill, or one of both by a condition.
bool is_copy(const kernel::Expr& value) {
  if (kernel::is_const(value) || value->kind == kernel::ExprKind::kParam ||
      value->kind == kernel::ExprKind::kVar || value->kind == kernel::ExprKind::kLoadFlat)
    return true;
  return value->kind == kernel::ExprKind::kOp && value->op == ScalarOp::kSelect && is_copy(value->args[1]) &&
         is_copy(value->args[2]);
}

}  // namespace

/// The loop's only store, if it is a piece of a row; else null.
const kernel::Store* FunctionEmitter::streamed_row(const kernel::For& loop) const {
  if (!target_.avx512() || serial_loops_ == 0 || loop.body.size() != 1) return nullptr;
  const auto* store = std::get_if<kernel::Store>(&loop.body[0].node);
  if (!store || !store->streaming || store->add || !is_copy(store->value)) return nullptr;
  const kernel::LoopBuffer& buffer = kernel_.buffers[static_cast<size_t>(store->buffer)];
  kernel::VectorOffset parts;
  if (buffer.kind != kernel::BufferKind::kOutput || loop.lanes * size_of(buffer.type) != kLine ||
      !kernel::match_vector_offset(store->offset, loop.var, varying_, &parts) || !parts.scale ||
      !kernel::is_const_int(parts.scale, 1))
    return nullptr;
  bool is_read = false;
  kernel::for_each_statement(kernel_.body, [&](const kernel::Statement& statement) {
    kernel::for_each_expr(statement, [&](const Expr& e) {
      kernel::for_each_node(e, [&](const Expr& n) {
        is_read |= n->kind == kernel::ExprKind::kLoadFlat && n->index == store->buffer;
      });
    });
  });
  return is_read ? nullptr : store;
}

FunctionEmitter::KeptLine& FunctionEmitter::kept_line(int buffer) {
  const auto found = kept_lines_.find(buffer);
  if (found != kept_lines_.end()) return found->second;
  const DType type = kernel_.buffers[static_cast<size_t>(buffer)].type;
  llvm::Type* vector = vector_of(memory_type(type), static_cast<int>(kLine / size_of(type)));
  KeptLine line{allocate_var(vector, "line"), allocate_var(builder_.getInt64Ty(), "line.at"),
                allocate_var(builder_.getInt64Ty(), "line.count")};
  // Allocations stand at the top of the entry, the latest first.
  llvm::IRBuilder<> entry(line.value->getNextNode());
  entry.CreateStore(llvm::Constant::getNullValue(vector), line.value);
  entry.CreateStore(i64(0), line.at);
  entry.CreateStore(i64(0), line.count);
  return kept_lines_.emplace(buffer, line).first->second;
}

/// Stores what is kept, of which nothing more comes.
void FunctionEmitter::store_kept(int buffer, const KeptLine& kept) {
  const DType type = kernel_.buffers[static_cast<size_t>(buffer)].type;
  const int lanes = static_cast<int>(kLine / size_of(type));
  Value* count = builder_.CreateLoad(builder_.getInt64Ty(), kept.count);
  when(builder_.CreateICmpSGT(count, i64(0)), [&] {
    Value* line = builder_.CreateLoad(builder_.getInt64Ty(), kept.at);
    Value* value = builder_.CreateLoad(kept.value->getAllocatedType(), kept.value);
    tag(builder_.CreateMaskedStore(value, builder_.CreateIntToPtr(line, builder_.getPtrTy()),
                                   llvm::Align(kLine), lanes_below(i64(0), count, lanes)),
        buffer);
    builder_.CreateStore(i64(0), kept.count);
  });
}

/// if (condition) then();
void FunctionEmitter::when(Value* condition, const std::function<void()>& then) {
  auto* inside = llvm::BasicBlock::Create(context_, "when", function_);
  auto* after = llvm::BasicBlock::Create(context_, "after", function_);
  builder_.CreateCondBr(condition, inside, after);
  builder_.SetInsertPoint(inside);
  then();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::emit_streamed_row(const kernel::For& loop, const kernel::Store& store, Value* begin,
                                        Value* end) {
  const int buffer = store.buffer, lanes = loop.lanes;
  const int64_t size = size_of(kernel_.buffers[static_cast<size_t>(buffer)].type);
  const KeptLine kept = kept_line(buffer);
  kernel::VectorOffset parts;
  GALATEA_CHECK(kernel::match_vector_offset(store.offset, loop.var, varying_, &parts), "a row's place");
  find_rows(loop);
  Value* start = parts.uniform ? emit(parts.uniform) : i64(0);
  memo_.clear();
  start = address(buffer, builder_.CreateAdd(start, i64(parts.constant)));
  start = builder_.CreatePtrToInt(start, builder_.getInt64Ty());
  const auto place = [&](Value* element) {  // of an element of the loop
    return builder_.CreateAdd(start, builder_.CreateMul(element, i64(size)));
  };
  const auto values_at = [&](Value* base, Value* mask) {
    Value* out = nullptr;
    sink_ = &out;
    emit_vector_body(loop, base, mask, lanes);
    sink_ = nullptr;
    return out;
  };
  const auto load = [&](llvm::AllocaInst* variable) {
    return builder_.CreateLoad(variable->getAllocatedType(), variable);
  };
  const auto store_line = [&](Value* value, Value* line) {
    store_past(value, builder_.CreateIntToPtr(line, builder_.getPtrTy()), buffer,
               stream_bits_[static_cast<size_t>(buffer)].run);
  };
  const auto keep = [&](Value* value, Value* line, Value* count) {
    builder_.CreateStore(value, kept.value);
    builder_.CreateStore(line, kept.at);
    builder_.CreateStore(count, kept.count);
  };
  when(builder_.CreateICmpSLT(begin, end), [&] {
    llvm::AllocaInst* next = allocate_var(builder_.getInt64Ty(), "next");
    Value* first = place(begin);
    Value* before = builder_.CreateAnd(first, i64(kLine - 1));
    Value* line = builder_.CreateSub(first, before);
    before = builder_.CreateUDiv(before, i64(size));  // elements of the line that are not of this piece
    Value* joins = builder_.CreateAnd(builder_.CreateICmpEQ(load(kept.count), before),
                                      builder_.CreateICmpEQ(load(kept.at), line));
    when(builder_.CreateNot(joins), [&] { store_kept(buffer, kept); });
    builder_.CreateStore(begin, next);
    when(builder_.CreateICmpNE(before, i64(0)), [&] {
      Value* base = builder_.CreateSub(begin, before);
      Value* own = builder_.CreateAnd(builder_.CreateNot(lanes_below(i64(0), before, lanes)),
                                      lanes_below(base, end, lanes));
      Value* value = values_at(base, own);
      auto* joined = llvm::BasicBlock::Create(context_, "joined", function_);
      auto* alone = llvm::BasicBlock::Create(context_, "alone", function_);
      auto* whole = llvm::BasicBlock::Create(context_, "joined.whole", function_);
      auto* more = llvm::BasicBlock::Create(context_, "joined.more", function_);
      auto* after = llvm::BasicBlock::Create(context_, "joined.after", function_);
      builder_.CreateCondBr(joins, joined, alone);
      builder_.SetInsertPoint(joined);
      Value* together = builder_.CreateSelect(own, value, load(kept.value));
      Value* count = builder_.CreateSub(end, base);
      builder_.CreateCondBr(builder_.CreateICmpSGE(count, i64(lanes)), whole, more);
      builder_.SetInsertPoint(whole);
      store_line(together, line);
      builder_.CreateStore(i64(0), kept.count);
      builder_.CreateBr(after);
      builder_.SetInsertPoint(more);
      keep(together, line, count);
      builder_.CreateBr(after);
      builder_.SetInsertPoint(alone);
      tag(builder_.CreateMaskedStore(value, builder_.CreateIntToPtr(line, builder_.getPtrTy()),
                                     llvm::Align(kLine), own),
          buffer);
      builder_.CreateBr(after);
      builder_.SetInsertPoint(after);
      builder_.CreateStore(builder_.CreateAdd(base, i64(lanes)), next);
    });
    Value* from = load(next);
    Value* left =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, builder_.CreateSub(end, from), i64(0));
    Value* whole = builder_.CreateAdd(from, builder_.CreateAnd(left, i64(-int64_t{lanes})));
    counted_loop(from, whole, [&](Value* base) { store_line(values_at(base, nullptr), place(base)); }, lanes);
    when(builder_.CreateICmpSLT(whole, end), [&] {
      keep(values_at(whole, lanes_below(whole, end, lanes)), place(whole), builder_.CreateSub(end, whole));
    });
  });
  rows_.clear();
}

}  // namespace galatea::codegen
