// Warps: while pixels of one row are gathered, those of a later row are asked for.
//
// Comes in: a vector loop inside of a loop over rows, with loads from an input whose places are computed from
// floats. Goes out: with the gathers of a vector, prefetches of the pixels that lie kRows times as far ahead
// as the middle of the row has moved since the last row. The rows of a turned image touch its lines along a
// diagonal, which is no stream to a processor: images beyond the cache take a half to a quarter of the time.
//
// Off, `rotate nearest` takes 3.4 times as long on bytes and 2.8 times on floats at 1080p, `warp_affine` of
// floats 1.65 times at 224 x 224 (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include <algorithm>

#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/llvm/emitter.h"
#include "compiler/kernel/division.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kRows = 4;
constexpr size_t kPrefetched = 64;  ///< bytes: a line
constexpr size_t kPixel = 4;        ///< elements, at most

bool comes_from_floats(const kernel::Expr& e) {
  bool found = false;
  kernel::for_each_node(e, [&](const kernel::Expr& n) {
    found |= n->kind == kernel::ExprKind::kOp && n->op == ScalarOp::kConvert && !is_float(n->type) &&
             is_float(n->args[0].type());
  });
  return found;
}

/// Whether the loop computes places from floats, and consists of what lower_gather.cpp writes.
bool is_warp(const kernel::For& loop) {
  bool places = false, plain = true;
  kernel::for_each_statement(loop.body, [&](const kernel::Statement& statement) {
    plain &= std::holds_alternative<kernel::Let>(statement.node) ||
             std::holds_alternative<kernel::Store>(statement.node) ||
             std::holds_alternative<kernel::If>(statement.node);
    if (const auto* let = std::get_if<kernel::Let>(&statement.node)) places |= comes_from_floats(let->value);
  });
  return places && plain;
}

}  // namespace

/// What the loop, which is about to be emitted, gathers from: the first load of each input that goes from
/// place to place stands for all of them.
void FunctionEmitter::find_gathered_rows(const kernel::For& loop) {
  gathered_rows_.clear();
  if (serial_loops_ == 0 || !is_warp(loop)) return;
  // What variables are in the middle of the loop. Each is expanded once, where it is bound: names that stand in
  // names that stand in names would else be expanded over and over.
  std::unordered_map<int, Expr> middles;
  middles[loop.var] = kernel::binary(ScalarOp::kShr, loop.begin + loop.end, kernel::const_int(1));
  const auto in_the_middle = [&](const Expr& e) {
    return kernel::rewrite(e, [&](const Expr& n) {
      const auto found = n->kind == kernel::ExprKind::kVar ? middles.find(n->index) : middles.end();
      return found == middles.end() ? Expr() : found->second;
    });
  };
  const auto visit = [&](const Expr& load) {
    if (load->kind != kernel::ExprKind::kLoadFlat || rows_ahead(load->index) ||
        kernel_.buffers[static_cast<size_t>(load->index)].kind != kernel::BufferKind::kInput)
      return;
    const Expr place = in_the_middle(load->args[0]);
    if (!comes_from_floats(place) || contains(place, kernel::ExprKind::kLoadFlat)) return;
    // Not computed where no pixel asks for it: the flag would be of a division that nobody wrote.
    if (kernel::may_divide_by_zero(place)) return;
    llvm::AllocaInst* last = allocate_var(builder_.getInt64Ty(), "row");
    llvm::IRBuilder<>(last->getNextNode()).CreateStore(i64(0), last);
    Value* here = emit(place);
    Value* moved = builder_.CreateSub(here, builder_.CreateLoad(builder_.getInt64Ty(), last));
    builder_.CreateStore(here, last);
    gathered_rows_.push_back({load->index, builder_.CreateMul(moved, i64(kRows))});
  };
  kernel::for_each_statement(loop.body, [&](const kernel::Statement& statement) {
    if (const auto* let = std::get_if<kernel::Let>(&statement.node))
      middles[let->var] = in_the_middle(let->value);
    kernel::for_each_expr(statement, [&](const Expr& e) { kernel::for_each_node(e, visit); });
  });
  memo_.clear();
}

/// How many elements after those of the row being emitted, if that is known.
llvm::Value* FunctionEmitter::rows_ahead(int buffer) const {
  for (const GatheredRows& rows : gathered_rows_)
    if (rows.buffer == buffer) return rows.ahead;
  return nullptr;
}

/// For the vector at vector_base_: as many pixels as may lie in lines of their own where lanes follow a row.
/// A block asks once for each input.
void FunctionEmitter::prefetch_rows_ahead(const GatherGroup& group) {
  Value* ahead = rows_ahead(group.buffer);
  if (!ahead || !group.place.leave) return;
  for (const GatherGroup& other : gathers_.back())
    if (&other != &group && other.buffer == group.buffer && other.place.base) return;
  llvm::Type* element = memory_type(kernel_.buffers[static_cast<size_t>(group.buffer)].type);
  Value* base = builder_.CreateGEP(element, group.place.base, ahead);
  const std::vector<Value*>& offsets = offsets_of(group.place.lanes);
  const size_t size = static_cast<size_t>(size_of(kernel_.buffers[static_cast<size_t>(group.buffer)].type));
  for (size_t lane = 0; lane < offsets.size(); lane += std::max<size_t>(kPrefetched / (kPixel * size), 1))
    builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                             {builder_.CreateGEP(element, base, offsets[lane]), builder_.getInt32(0),
                              builder_.getInt32(3), builder_.getInt32(1)});
}

}  // namespace galatea::codegen
