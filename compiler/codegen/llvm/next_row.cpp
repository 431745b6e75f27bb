// What a loop over a large input reads next is asked for.
//
// Comes in: a vector loop that stores into a batch, or folds an input. Goes out: a prefetch for each line
// that the vector reads, elsewhere. One loop over a whole tensor, or one that folds it: a page further on,
// since processors follow a stream to the end of its page and no further; copies and pointwise operators out
// of memory take 0.7 to 0.9 of the time. A loop inside of a loop over rows, all of whose stores copy
// (mirrors, crops, padding): where the next row is expected, as far from this one as this one is from the
// last, or of short rows one that lies a page on. Rows that are walked backwards, or that leave gaps, are
// streams which the processor finds late or not at all: copies of images beyond the cache take half the time.
//
// Off, row by row: `pad` of floats takes 1.9 times as long at 1080p, `flip horizontal` 1.2 times. Off,
// folds: `max` of bytes takes 1.1 times as long at 224 x 224 (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
// Runs over whole tensors and short rows gain nothing there (0.94 to 1.02; 0.87 to 1.03); on an Intel Xeon,
// whose streams end with their page, they take 0.7 to 0.9 and 0.83 to 0.97 of their time
// (docs/performance/pictures-in-memory.md).
#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/llvm/emitter.h"
#include "compiler/kernel/division.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kLineBytes = 64;
constexpr int64_t kAheadBytes = 4096;  ///< a small page
/// A vector that reads less of a stream than this asks for the same line too often.
constexpr int64_t kLeastBytes = kLineBytes / 2;
constexpr uint32_t kIntoSecondCache = 2;  ///< the first one would lose it again before it is read

/// What a store copies: an element, or a fill where that is not wanted.
const kernel::ExprNode* copied(const kernel::Expr& value) {
  if (value->kind == kernel::ExprKind::kLoadFlat) return value.get();
  if (value->kind != kernel::ExprKind::kOp || value->op != ScalarOp::kSelect ||
      value->args[1]->kind != kernel::ExprKind::kLoadFlat || !kernel::is_const(value->args[2]))
    return nullptr;
  return value->args[1].get();
}

/// Whether it may be computed before a loop that need not have elements: what divides would raise a flag that
/// nobody asked for.
bool is_quiet(const kernel::Expr& e) { return !kernel::may_divide_by_zero(e); }

/// Whether it is the same before the loop: the body has variables of its own.
bool is_known_outside(const kernel::Expr& e) {
  return !contains(e, kernel::ExprKind::kVar) && !contains(e, kernel::ExprKind::kLoadFlat);
}

}  // namespace

/// A place that is walked through by steps; channels of one pixel count as one.
void FunctionEmitter::add_row(const Row& row, const Expr& start, std::vector<Row>* rows,
                              std::vector<Expr>* starts) {
  for (size_t r = 0; r < rows->size(); ++r) {
    const Expr& other = (*starts)[r];
    if ((*rows)[r].buffer != row.buffer || (*rows)[r].step != row.step ||
        static_cast<bool>(other) != static_cast<bool>(start) || (start && !kernel::same(other, start)))
      continue;
    (*rows)[r].constant = std::min((*rows)[r].constant, row.constant);
    return;
  }
  rows->push_back(row);
  starts->push_back(start);
}

/// What the loop, which is about to be emitted and which is in no other, walks through.
void FunctionEmitter::find_runs(const kernel::For& loop) {
  rows_.clear();
  if (serial_loops_ > 0) return;
  bool streams = false;
  std::vector<Row> found;
  std::vector<Expr> starts;
  const auto visit = [&](const Expr& e) {
    if (e->kind != kernel::ExprKind::kLoadFlat) return;
    const kernel::LoopBuffer& buffer = kernel_.buffers[static_cast<size_t>(e->index)];
    kernel::VectorOffset parts;
    if (buffer.kind != kernel::BufferKind::kInput ||
        !kernel::match_vector_offset(e->args[0], loop.var, varying_, &parts) || !parts.scale ||
        !kernel::is_const(parts.scale) ||
        (parts.uniform && !(is_known_outside(parts.uniform) && is_quiet(parts.uniform))))
      return;
    const int64_t step = kernel::const_value(parts.scale);
    if (step != 0 && std::abs(step) <= kMaxInterleaved)
      add_row({e->index, step, parts.constant, nullptr}, parts.uniform, &found, &starts);
  };
  kernel::for_each_statement(loop.body, [&](const kernel::Statement& statement) {
    const auto* store = std::get_if<kernel::Store>(&statement.node);
    streams |= store && store->streaming;
    kernel::for_each_expr(statement, [&](const Expr& e) { kernel::for_each_node(e, visit); });
  });
  if (!streams) return;
  for (size_t r = 0; r < found.size(); ++r) {
    const int64_t size = size_of(kernel_.buffers[static_cast<size_t>(found[r].buffer)].type);
    Value* ahead = i64(found[r].step < 0 ? -kAheadBytes / size : kAheadBytes / size);
    found[r].next = starts[r] ? builder_.CreateAdd(emit(starts[r]), ahead) : ahead;
  }
  // The memo knows expressions by their addresses, and `starts` ends here.
  memo_.clear();
  rows_ = std::move(found);
}

/// Elements to the row that is asked for, `distance` being those to the next one: so many rows that a page
/// lies in between. A short row is over before what it asks of the next one has come.
llvm::Value* FunctionEmitter::page_of_rows(Value* distance, int buffer) {
  constexpr int kDoublings = 4;
  const int64_t size = size_of(kernel_.buffers[static_cast<size_t>(buffer)].type);
  for (int k = 0; k < kDoublings; ++k) {
    Value* length = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, distance, builder_.getFalse());
    distance = builder_.CreateSelect(builder_.CreateICmpSLT(length, i64(kAheadBytes / size)),
                                     builder_.CreateShl(distance, i64(1)), distance);
  }
  return distance;
}

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
        !is_quiet(parts.uniform) || !parts.scale || !kernel::is_const(parts.scale))
      return;
    const int64_t step = kernel::const_value(parts.scale);
    if (step == 0 || std::abs(step) > kMaxInterleaved) return;
    add_row({load->index, step, parts.constant, nullptr}, parts.uniform, &found, &starts);
  }
  for (size_t r = 0; r < found.size(); ++r) {
    llvm::AllocaInst* last = allocate_var(builder_.getInt64Ty(), "row");
    llvm::IRBuilder<>(last->getNextNode()).CreateStore(i64(0), last);
    Value* start = emit(starts[r]);
    Value* distance = builder_.CreateSub(start, builder_.CreateLoad(builder_.getInt64Ty(), last));
    builder_.CreateStore(start, last);
    found[r].next = builder_.CreateAdd(start, page_of_rows(distance, found[r].buffer));
  }
  memo_.clear();
  rows_ = std::move(found);
}

/// For the vector at vector_base_.
void FunctionEmitter::prefetch_next_rows() {
  for (const Row& row : rows_) {
    const int64_t size = size_of(kernel_.buffers[static_cast<size_t>(row.buffer)].type);
    const int64_t run = std::abs(row.step) * lanes_;
    if (serial_loops_ == 0 && run * size < kLeastBytes) continue;
    Value* first = builder_.CreateAdd(row.next, builder_.CreateMul(vector_base_, i64(row.step)));
    first = builder_.CreateAdd(first, i64(row.constant + (row.step < 0 ? row.step * (lanes_ - 1) : 0)));
    prefetch_lines(address(row.buffer, first), run * size);
  }
}

/// Of a vector that is loaded at `pointer`, at `place`: where a loop over a whole input folds it (a maximum,
/// a sum), so that each turn takes the vector behind the last, what lies a page on.
void FunctionEmitter::prefetch_of_fold(int buffer, const kernel::VectorOffset& place, Value* pointer) {
  const kernel::LoopBuffer& from = kernel_.buffers[static_cast<size_t>(buffer)];
  const int64_t bytes = size_of(from.type) * lanes_;
  kernel::VectorOffset turn;
  if (fold_var_ < 0 || from.kind != kernel::BufferKind::kInput || bytes < kLeastBytes || !place.uniform ||
      !kernel::match_vector_offset(place.uniform, fold_var_, varying_, &turn) || !turn.scale ||
      !kernel::is_const_int(turn.scale, lanes_))
    return;
  prefetch_lines(builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, kAheadBytes), bytes);
}

void FunctionEmitter::prefetch_lines(Value* pointer, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kLineBytes)
    builder_.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
        {builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, static_cast<uint64_t>(at)),
         builder_.getInt32(0), builder_.getInt32(kIntoSecondCache), builder_.getInt32(1)});
}

}  // namespace galatea::codegen
