// Entry, buffers, loops, stores.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/llvm/emitter.h"
#include "runtime/kernel_abi.h"

namespace galatea::codegen {

using kernel::BufferKind;

namespace {

// Byte offsets of runtime::KernelCall and runtime::KernelTensor.
constexpr int64_t kCallTensors = offsetof(runtime::KernelCall, tensors);
constexpr int64_t kCallParams = offsetof(runtime::KernelCall, params);
constexpr int64_t kCallScratch = offsetof(runtime::KernelCall, scratch);
constexpr int64_t kCallStatus = offsetof(runtime::KernelCall, status);
constexpr int64_t kTensorStrides = offsetof(runtime::KernelTensor, strides);

int num_factors(const kernel::Expr& e) {
  if (e->kind != kernel::ExprKind::kOp || e->op != ScalarOp::kMul) return 1;
  return num_factors(e->args[0]) + num_factors(e->args[1]);
}

/// Whether everything that the block stores are tables: scratch memory of one axis or two, not of pixels.
bool makes_tables_only(const kernel::LoopKernel& kernel, const kernel::Block& block) {
  bool out = true;
  kernel::for_each_statement(block, [&](const kernel::Statement& statement) {
    if (const auto* store = std::get_if<kernel::Store>(&statement.node)) {
      const kernel::LoopBuffer& buffer = kernel.buffers[static_cast<size_t>(store->buffer)];
      out &= buffer.kind == BufferKind::kScratch && num_factors(buffer.elements) <= 2;
    }
    out &= !std::holds_alternative<kernel::BandRow>(statement.node);
  });
  return out;
}

}  // namespace

FunctionEmitter::FunctionEmitter(const kernel::LoopKernel& kernel, const Target& target, llvm::Module& module)
    : kernel_(kernel), target_(target), module_(module), context_(module.getContext()), builder_(context_) {
  vars_.resize(kernel.var_types.size());
  varying_.assign(kernel.var_types.size(), false);
}

void FunctionEmitter::run(const std::string& symbol) {
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_);
  set_target(function_);
  emit_entry();
  prepare_streams();
  emit_block(kernel_.body);
  end_streams();
  builder_.CreateRetVoid();
}

void FunctionEmitter::set_target(llvm::Function* function) const {
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("target-cpu", target_.cpu());
  if (!target_.features().empty()) function->addFnAttr("target-features", target_.features());
  function->addFnAttr("prefer-vector-width", std::to_string(target_.vector_bits()));
  function->addFnAttr("min-legal-vector-width", std::to_string(target_.vector_bits()));
}

void FunctionEmitter::emit_entry() {
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
  Value* call = function_->getArg(0);
  auto pointer_at = [&](Value* base, int64_t offset) {
    return builder_.CreateLoad(
        builder_.getPtrTy(),
        builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, static_cast<uint64_t>(offset)));
  };
  tensors_ = pointer_at(call, kCallTensors);
  params_ = pointer_at(call, kCallParams);
  Value* scratch = pointer_at(call, kCallScratch);
  status_ = pointer_at(call, kCallStatus);
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    Value* cell = builder_.CreateLoad(builder_.getInt64Ty(),
                                      builder_.CreateConstGEP1_64(builder_.getInt64Ty(), params_, i));
    DType type = kernel_.params[i].type;
    Value* narrow = is_bool(type) ? builder_.CreateICmpNE(cell, i64(0))
                                  : builder_.CreateTrunc(
                                        cell, builder_.getIntNTy(static_cast<unsigned>(8 * size_of(type))));
    param_values_.push_back(is_float(type) ? builder_.CreateBitCast(narrow, type_of(type)) : narrow);
  }
  for (size_t t = 0; t < kernel_.stride_vars.size(); ++t) {
    for (size_t d = 0; d < kernel_.stride_vars[t].size(); ++d) {
      int var = kernel_.stride_vars[t][d];
      if (var < 0) continue;
      auto offset = static_cast<int64_t>(t * sizeof(runtime::KernelTensor)) + kTensorStrides +
                    static_cast<int64_t>(8 * d);
      define(var, builder_.CreateLoad(builder_.getInt64Ty(),
                                      builder_.CreateConstGEP1_64(builder_.getInt8Ty(), tensors_,
                                                                  static_cast<uint64_t>(offset))));
    }
  }
  place_buffers(scratch);
}

void FunctionEmitter::place_buffers(Value* scratch) {
  kernel::ScratchLayout layout = kernel::layout_scratch(kernel_);
  llvm::MDBuilder metadata(context_);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain("kernel");
  for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
    const kernel::LoopBuffer& buffer = kernel_.buffers[b];
    if (buffer.kind == BufferKind::kScratch) {
      buffers_.push_back(
          builder_.CreateGEP(builder_.getInt8Ty(), scratch, emit(layout.offsets[b]), buffer.name));
      memo_.clear();
    } else {
      auto offset = static_cast<uint64_t>(buffer.tensor) * sizeof(runtime::KernelTensor);
      buffers_.push_back(builder_.CreateLoad(
          builder_.getPtrTy(), builder_.CreateConstGEP1_64(builder_.getInt8Ty(), tensors_, offset),
          buffer.name));
    }
    scopes_.push_back(metadata.createAnonymousAliasScope(domain, buffer.name));
  }
  // Buffers never overlap, except that two inputs may be one tensor, which nobody writes.
  for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
    llvm::SmallVector<llvm::Metadata*, 8> others;
    for (size_t o = 0; o < kernel_.buffers.size(); ++o)
      if (o != b) others.push_back(scopes_[o]);
    no_alias_.push_back(llvm::MDNode::get(context_, others));
  }
}

llvm::AllocaInst* FunctionEmitter::allocate_var(llvm::Type* type, const char* name) {
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  return entry.CreateAlloca(type, nullptr, name);
}

void FunctionEmitter::define(int var, Value* value) { vars_[static_cast<size_t>(var)] = {value, nullptr}; }

void FunctionEmitter::emit_block(const kernel::Block& block) {
  if (vector_var_ >= 0) {
    find_pixel_stores(block);
    find_gathers(block);
  }
  for (const kernel::Statement& statement : block) {
    memo_.clear();
    std::visit(
        [&](const auto& node) {
          using T = std::decay_t<decltype(node)>;
          if constexpr (std::is_same_v<T, kernel::For>) {
            emit_for(node);
          } else if constexpr (std::is_same_v<T, kernel::Let>) {
            Value* value = emit(node.value);
            define(node.var, value);
            varying_[static_cast<size_t>(node.var)] = is_vector(value);
          } else if constexpr (std::is_same_v<T, kernel::Declare>) {
            Value* init = emit(node.init);
            if (vector_var_ >= 0) init = spread(init);
            llvm::AllocaInst* memory = allocate_var(init->getType(), "var");
            builder_.CreateStore(init, memory);
            vars_[static_cast<size_t>(node.var)] = {nullptr, memory};
            varying_[static_cast<size_t>(node.var)] = is_vector(init);
          } else if constexpr (std::is_same_v<T, kernel::Assign>) {
            Value* value = emit(node.value);
            llvm::AllocaInst* memory = vars_[static_cast<size_t>(node.var)].memory;
            if (memory->getAllocatedType()->isVectorTy()) value = spread(value);
            builder_.CreateStore(value, memory);
          } else if constexpr (std::is_same_v<T, kernel::Store>) {
            emit_store(node);
          } else if constexpr (std::is_same_v<T, kernel::If>) {
            emit_if(node);
          } else if constexpr (std::is_same_v<T, kernel::Phase>) {
            makes_tables_only_ = makes_tables_only(kernel_, node.body);
            emit_block(node.body);
            makes_tables_only_ = false;
          } else if constexpr (std::is_same_v<T, kernel::BandPrepare>) {
            emit_band_prepare(node);
          } else {
            emit_band_row(node);
          }
        },
        statement.node);
    memo_.clear();
  }
  if (vector_var_ >= 0) gathers_.pop_back();
}

void FunctionEmitter::emit_for(const kernel::For& loop) {
  if (loop.role == kernel::LoopRole::kVector && loop.lanes > 1 && vector_var_ < 0) {
    emit_vector(loop);
    return;
  }
  if (vector_var_ < 0)
    if (const auto turn = match_turn(loop)) return emit_turned(loop, *turn);
  Value* begin = emit(loop.begin);
  Value* end = emit(loop.end);
  GALATEA_CHECK(!is_vector(begin) && !is_vector(end), "bounds of a loop differ between lanes");
  const int outer = std::exchange(fold_var_, vector_var_ >= 0 && serial_loops_ == 0 ? loop.var : -1);
  emit_serial(begin, end, loop.var, loop.body);
  fold_var_ = outer;
}

void FunctionEmitter::emit_serial(Value* begin, Value* end, int var, const kernel::Block& body) {
  ++serial_loops_;
  counted_loop(begin, end, [&](Value* index) {
    define(var, index);
    varying_[static_cast<size_t>(var)] = false;
    emit_block(body);
  });
  --serial_loops_;
}

/// for index = begin, begin + step … while index < end: body(index).
void FunctionEmitter::counted_loop(Value* begin, Value* end, const std::function<void(Value*)>& body,
                                   int64_t step) {
  auto* head = llvm::BasicBlock::Create(context_, "loop", function_);
  auto* inside = llvm::BasicBlock::Create(context_, "loop.body", function_);
  auto* after = llvm::BasicBlock::Create(context_, "loop.after", function_);
  auto* before = builder_.GetInsertBlock();
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  builder_.CreateCondBr(builder_.CreateICmpSLT(index, end), inside, after);
  builder_.SetInsertPoint(inside);
  body(index);
  index->addIncoming(builder_.CreateNSWAdd(index, i64(step)), builder_.GetInsertBlock());
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
}

/// Lanes below the end of the loop, for the vector that begins at `base`.
llvm::Value* FunctionEmitter::lanes_below(Value* base, Value* end, int lanes) {
  llvm::SmallVector<llvm::Constant*, 64> iota;
  for (int i = 0; i < lanes; ++i) iota.push_back(builder_.getInt32(static_cast<uint32_t>(i)));
  Value* left = builder_.CreateSub(end, base);
  left = builder_.CreateSelect(builder_.CreateICmpSLT(left, i64(lanes)), left, i64(lanes));
  left = builder_.CreateTrunc(left, builder_.getInt32Ty());
  return builder_.CreateICmpSLT(llvm::ConstantVector::get(iota),
                                builder_.CreateVectorSplat(static_cast<unsigned>(lanes), left));
}

namespace {

constexpr int kLongBody = 30;  ///< operations from loads to stores

/// Whether the loop computes floats, and much of little: a chain of colours that is normalised, say. What a
/// processor looks ahead is about as long as that then, so that it waits for the chain of one vector where it
/// could have begun with the next.
bool is_long(const kernel::For& loop) {
  int operations = 0, loads = 0;
  std::unordered_set<const kernel::ExprNode*> seen;
  const std::function<void(const kernel::Expr&)> visit = [&](const kernel::Expr& e) {
    if (!seen.insert(e.get()).second) return;
    operations += e->kind == kernel::ExprKind::kOp ? 1 : 0;
    if (e->kind != kernel::ExprKind::kLoadFlat) {
      for (const kernel::Expr& arg : e->args) visit(arg);
      return;
    }
    ++loads;
    // Of an offset only what is looked up counts.
    kernel::for_each_node(e->args[0], [&](const kernel::Expr& n) {
      if (n->kind == kernel::ExprKind::kLoadFlat || n.type() == DType::kU8) visit(n);
    });
  };
  for (const kernel::Statement& statement : loop.body) {
    if (const auto* let = std::get_if<kernel::Let>(&statement.node)) {
      visit(let->value);
    } else if (const auto* store = std::get_if<kernel::Store>(&statement.node)) {
      if (store->value.type() != DType::kF32) return false;
      visit(store->value);
    } else {
      return false;
    }
  }
  return operations >= kLongBody && operations > 3 * loads;
}

}  // namespace

/// Every iteration under a mask.
void FunctionEmitter::emit_masked(const kernel::For& loop, Value* begin, Value* end) {
  counted_loop(
      begin, end,
      [&](Value* base) { emit_vector_body(loop, base, lanes_below(base, end, loop.lanes), loop.lanes); },
      loop.lanes);
}

/// Whether elements that are computed a second time are the same again.
bool FunctionEmitter::may_run_twice(const kernel::For& loop) {
  std::vector<int> stored, loaded;
  bool simple = true;
  kernel::for_each_statement(loop.body, [&](const kernel::Statement& statement) {
    if (const auto* store = std::get_if<kernel::Store>(&statement.node)) {
      stored.push_back(store->buffer);
      simple &= !store->add;
    }
    simple &= !std::holds_alternative<kernel::Assign>(statement.node);
    kernel::for_each_expr(statement, [&](const Expr& e) {
      kernel::for_each_node(e, [&](const Expr& n) {
        if (n->kind == kernel::ExprKind::kLoadFlat) loaded.push_back(n->index);
      });
    });
  });
  return simple && std::none_of(stored.begin(), stored.end(), [&](int buffer) {
           return std::find(loaded.begin(), loaded.end(), buffer) != loaded.end();
         });
}

/// Several vectors as one, which the code generator splits into instructions that alternate. What is left at
/// the end of a row is computed with elements before it, which are stored once more; rows that are shorter
/// than one step go vector by vector. Off for long bodies, `color-chain` to floats takes 1.1 times as long
/// (2-core AMD EPYC, Zen 5; for warps see lower_gather.cpp).
void FunctionEmitter::emit_side_by_side(const kernel::For& loop, Value* begin, Value* end) {
  const int lanes = loop.lanes * std::max(loop.unroll, 2);
  auto* wide = llvm::BasicBlock::Create(context_, "wide", function_);
  auto* narrow = llvm::BasicBlock::Create(context_, "narrow", function_);
  auto* after = llvm::BasicBlock::Create(context_, "after", function_);
  Value* last = builder_.CreateSub(end, i64(lanes));
  builder_.CreateCondBr(builder_.CreateICmpSGE(last, begin), wide, narrow);
  builder_.SetInsertPoint(wide);
  counted_loop(
      begin, end,
      [&](Value* base) {
        base = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, base, last);
        emit_vector_body(loop, base, nullptr, lanes);
      },
      lanes);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(narrow);
  if (target_.avx512())
    emit_masked(loop, begin, end);
  else
    emit_serial(begin, end, loop.var, loop.body);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

/// Two forms. Whole vectors, then the rest: with AVX-512 one iteration under a mask, elsewhere (masked bytes
/// are slow there) element by element. Or every iteration under a mask: half as much code to compile, for
/// what is not worth more: phases that only prepare tables. (Rows on the way to the output are worth more: a
/// window over rings was 17 % slower.)
void FunctionEmitter::emit_vector(const kernel::For& loop) {
  Value* begin = emit(loop.begin);
  Value* end = emit(loop.end);
  if (target_.avx512() && makes_tables_only_) {
    emit_masked(loop, begin, end);
    return;
  }
  find_gathered_rows(loop);
  find_runs(loop);
  if (target_.is_x86() && (loop.unroll > 1 || is_long(loop)) && may_run_twice(loop))
    return emit_side_by_side(loop, begin, end);
  if (auto packing = match_packing(loop)) return emit_packed(loop, std::move(*packing), begin, end);
  if (const kernel::Store* row = streamed_row(loop)) return emit_streamed_row(loop, *row, begin, end);
  if (serial_loops_ > 0) find_rows(loop);
  Value* count = builder_.CreateSub(end, begin);
  Value* lanes = i64(loop.lanes);
  Value* whole = builder_.CreateAdd(begin, builder_.CreateAnd(count, i64(-static_cast<int64_t>(loop.lanes))));

  auto* head = llvm::BasicBlock::Create(context_, "vector", function_);
  auto* inside = llvm::BasicBlock::Create(context_, "vector.body", function_);
  auto* rest = llvm::BasicBlock::Create(context_, "rest", function_);
  auto* tail = llvm::BasicBlock::Create(context_, "tail", function_);
  auto* after = llvm::BasicBlock::Create(context_, "after", function_);
  auto* start = llvm::BasicBlock::Create(context_, "vector.start", function_);
  builder_.CreateCondBr(builder_.CreateICmpSGT(count, i64(0)), start, after);
  builder_.SetInsertPoint(start);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* base = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  base->addIncoming(begin, start);
  builder_.CreateCondBr(builder_.CreateICmpSLT(base, whole), inside, rest);
  builder_.SetInsertPoint(inside);
  // Mirrored rows from their end: then the source is one run, from row to row. Off, `flip horizontal` of
  // floats takes 1.1 times as long at 224 x 224 (2-core AMD EPYC, Zen 5).
  const bool from_end = serial_loops_ > 0 && !rows_.empty() &&
                        std::all_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.step < 0; });
  Value* at = from_end ? builder_.CreateSub(builder_.CreateSub(builder_.CreateAdd(begin, whole), lanes), base)
                       : static_cast<Value*>(base);
  emit_vector_body(loop, at, nullptr, loop.lanes);
  base->addIncoming(builder_.CreateNSWAdd(base, lanes), builder_.GetInsertBlock());
  builder_.CreateBr(head);

  builder_.SetInsertPoint(rest);
  builder_.CreateCondBr(builder_.CreateICmpSLT(whole, end), tail, after);
  builder_.SetInsertPoint(tail);
  if (target_.avx512())
    emit_vector_body(loop, whole, lanes_below(whole, end, loop.lanes), loop.lanes);
  else
    emit_serial(whole, end, loop.var, loop.body);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  rows_.clear();
}

void FunctionEmitter::emit_vector_body(const kernel::For& loop, Value* base, Value* mask, int lanes) {
  vector_var_ = loop.var;
  lanes_ = lanes;
  vector_base_ = base;
  mask_ = mask;
  varying_[static_cast<size_t>(loop.var)] = true;
  emit_block(loop.body);
  if (!mask) prefetch_next_rows();
  varying_[static_cast<size_t>(loop.var)] = false;
  vector_var_ = -1;
  lanes_ = 1;
  vector_base_ = nullptr;
  mask_ = nullptr;
  pixel_stores_.clear();
}

void FunctionEmitter::emit_if(const kernel::If& branch) {
  // The rest of a row is not worth shortcuts: they would double the code.
  if (branch.shortcut && mask_) return emit_block(branch.else_body);
  Value* condition = emit(branch.condition);
  if (branch.shortcut && is_vector(condition)) condition = builder_.CreateAndReduce(condition);
  GALATEA_CHECK(!is_vector(condition), "a branch differs between lanes");
  auto* then_block = llvm::BasicBlock::Create(context_, "then", function_);
  auto* else_block = llvm::BasicBlock::Create(context_, "else", function_);
  auto* after = llvm::BasicBlock::Create(context_, "after", function_);
  builder_.CreateCondBr(condition, then_block, else_block);
  builder_.SetInsertPoint(then_block);
  emit_block(branch.then_body);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(else_block);
  emit_block(branch.else_body);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::emit_store(const kernel::Store& store) {
  const kernel::LoopBuffer& buffer = kernel_.buffers[static_cast<size_t>(store.buffer)];
  if (packing_) return add_to_packing(store);
  if (vector_var_ >= 0 && add_to_pixel(store)) return;
  Value* value = emit(store.value);
  if (vector_var_ < 0) {
    const llvm::Align align(static_cast<uint64_t>(size_of(buffer.type)));
    Value* place = address(store.buffer, emit(store.offset));
    Value* stored = to_memory(buffer.type, value);
    if (store.add) {
      GALATEA_CHECK(store.combiner == kernel::Combiner::kSum, "a store for a GPU given to the LLVM emitter");
      auto* before = builder_.CreateAlignedLoad(memory_type(buffer.type), place, align);
      stored = builder_.CreateAdd(tag(before, store.buffer), stored);
    }
    auto* instruction = builder_.CreateAlignedStore(stored, place, align);
    tag(instruction, store.buffer);
    return;
  }
  if (sink_)
    *sink_ = to_memory(buffer.type, spread(value));
  else
    store_vector(buffer, store, value);
}

}  // namespace galatea::codegen
