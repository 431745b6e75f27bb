// Loads and stores: contiguous, reversed, strided by a few elements, gathered.
//
// A strided load of s elements apart takes the s vectors that hold all channels and picks its own:
// neighbouring channels then share the loads (LLVM merges the equal ones). Gathers are in gather.cpp.
#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

llvm::Type* FunctionEmitter::type_of(DType type) const {
  switch (type) {
    case DType::kBool:
      return llvm::Type::getInt1Ty(context_);
    case DType::kF16:
      return llvm::Type::getHalfTy(context_);
    case DType::kF32:
      return llvm::Type::getFloatTy(context_);
    case DType::kF64:
      return llvm::Type::getDoubleTy(context_);
    default:
      return llvm::Type::getIntNTy(context_, static_cast<unsigned>(8 * size_of(type)));
  }
}

llvm::Type* FunctionEmitter::memory_type(DType type) const {
  return is_bool(type) ? llvm::Type::getInt8Ty(context_) : type_of(type);
}

llvm::Value* FunctionEmitter::from_memory(DType type, Value* raw) {
  return is_bool(type) ? builder_.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType())) : raw;
}

llvm::Value* FunctionEmitter::to_memory(DType type, Value* value) {
  if (!is_bool(type)) return value;
  return builder_.CreateZExt(value, shaped(builder_.getInt8Ty(), value));
}

llvm::Instruction* FunctionEmitter::tag(llvm::Instruction* access, int buffer) {
  auto b = static_cast<size_t>(buffer);
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(context_, {scopes_[b]}));
  if (no_alias_[b]->getNumOperands() > 0) access->setMetadata(llvm::LLVMContext::MD_noalias, no_alias_[b]);
  return access;
}

llvm::Value* FunctionEmitter::address(int buffer, Value* offset) {
  auto b = static_cast<size_t>(buffer);
  return builder_.CreateGEP(memory_type(kernel_.buffers[b].type), buffers_[b], offset);
}

llvm::Value* FunctionEmitter::emit_load(const kernel::ExprNode& e) {
  const kernel::LoopBuffer& buffer = kernel_.buffers[static_cast<size_t>(e.index)];
  llvm::Align align(static_cast<uint64_t>(size_of(buffer.type)));
  if (e.type != buffer.type) return load_word(e);
  auto scalar_load = [&](Value* offset) {
    auto* raw = builder_.CreateAlignedLoad(memory_type(buffer.type), address(e.index, offset), align);
    tag(raw, e.index);
    return from_memory(buffer.type, raw);
  };
  if (vector_var_ < 0) return scalar_load(emit(e.args[0]));
  if (const auto found = match_look_up(e)) return emit_look_up(*found);
  kernel::VectorOffset parts;
  if (!kernel::match_vector_offset(e.args[0], vector_var_, varying_, &parts)) return gather(e);
  if (!parts.scale) return scalar_load(emit(e.args[0]));
  if (!kernel::is_const(parts.scale)) return gather(e);
  int64_t stride = kernel::const_value(parts.scale);
  if (stride == 0 || std::abs(stride) > kMaxInterleaved) return gather(e);
  // The constant stays apart from the base, so that the channels of a pixel share their loads.
  Value* base = builder_.CreateMul(vector_base_, i64(stride));
  if (parts.uniform) base = builder_.CreateAdd(emit(parts.uniform), base);
  int64_t constant = parts.constant;
  if (stride < -1)
    return from_memory(buffer.type, load_backwards(e.index, base, static_cast<int>(-stride), constant));
  bool channel = stride > 1 && constant >= 0 && constant < stride;
  if (!channel) base = builder_.CreateAdd(base, i64(constant));
  llvm::Type* element = memory_type(buffer.type);
  auto lanes = static_cast<unsigned>(lanes_);
  if (stride == 1 || stride == -1) {
    if (stride < 0) base = builder_.CreateSub(base, i64(lanes_ - 1));
    Value* pointer = address(e.index, base);
    llvm::Type* type = vector_of(element, lanes_);
    llvm::Instruction* raw = nullptr;
    if (!mask_) {
      raw = builder_.CreateAlignedLoad(type, pointer, align);
      prefetch_of_fold(e.index, parts, pointer);
    } else {
      Value* mask = stride < 0 ? builder_.CreateVectorReverse(mask_) : mask_;
      raw = builder_.CreateMaskedLoad(type, pointer, align, mask, llvm::Constant::getNullValue(type));
    }
    tag(raw, e.index);
    Value* value = stride < 0 ? builder_.CreateVectorReverse(raw) : static_cast<Value*>(raw);
    return from_memory(buffer.type, value);
  }
  if (channel)
    return from_memory(buffer.type,
                       load_strided(e.index, base, static_cast<int>(stride), static_cast<int>(constant)));
  // Without knowing the channel, the run may end past what the padding covers: only the elements wanted are
  // read.
  llvm::SmallVector<int, 256> pick, widen;
  llvm::SmallVector<llvm::Constant*, 256> wanted;
  const auto step = static_cast<unsigned>(stride);
  for (unsigned i = 0; i < lanes; ++i) pick.push_back(static_cast<int>(i * step));
  for (unsigned i = 0; i < lanes * step; ++i) {
    widen.push_back(static_cast<int>(i / step));
    wanted.push_back(builder_.getInt1(i % step == 0));
  }
  llvm::Type* run = vector_of(element, lanes_ * static_cast<int>(stride));
  Value* mask = mask_ ? mask_ : llvm::Constant::getAllOnesValue(vector_of(builder_.getInt1Ty(), lanes_));
  mask = builder_.CreateAnd(builder_.CreateShuffleVector(mask, widen), llvm::ConstantVector::get(wanted));
  llvm::Instruction* raw =
      builder_.CreateMaskedLoad(run, address(e.index, base), align, mask, llvm::Constant::getNullValue(run));
  tag(raw, e.index);
  return from_memory(buffer.type, builder_.CreateShuffleVector(raw, pick));
}

/// A u32 at a byte offset of a u8 buffer (band_row.cpp).
llvm::Value* FunctionEmitter::load_word(const kernel::ExprNode& e) {
  GALATEA_CHECK(e.type == DType::kU32 && kernel_.buffers[static_cast<size_t>(e.index)].type == DType::kU8,
                "a load of another type than its buffer's");
  Value* pointers = address(e.index, emit(e.args[0]));
  if (!is_vector(pointers))
    return builder_.CreateAlignedLoad(builder_.getInt32Ty(), pointers, llvm::Align(1));
  Value* mask = mask_ ? mask_ : llvm::Constant::getAllOnesValue(vector_of(builder_.getInt1Ty(), lanes_));
  llvm::Type* words = vector_of(builder_.getInt32Ty(), lanes_);
  return builder_.CreateMaskedGather(words, pointers, llvm::Align(1), mask,
                                     llvm::Constant::getNullValue(words));
}

void FunctionEmitter::store_vector(const kernel::LoopBuffer& buffer, const kernel::Store& store,
                                   Value* value) {
  llvm::Align align(static_cast<uint64_t>(size_of(buffer.type)));
  kernel::VectorOffset parts;
  bool linear = kernel::match_vector_offset(store.offset, vector_var_, varying_, &parts);
  GALATEA_CHECK(!linear || parts.scale, "a store in a vector loop does not depend on its variable");
  Value* raw = to_memory(buffer.type, spread(value));
  int64_t stride = linear && kernel::is_const(parts.scale) ? kernel::const_value(parts.scale) : 0;
  if (stride == 1 || stride == -1) {
    Value* base = builder_.CreateMul(vector_base_, i64(stride));
    if (parts.uniform) base = builder_.CreateAdd(emit(parts.uniform), base);
    base = builder_.CreateAdd(base, i64(parts.constant - (stride < 0 ? lanes_ - 1 : 0)));
    if (stride < 0) raw = builder_.CreateVectorReverse(raw);
    Value* pointer = address(store.buffer, base);
    if (mask_)
      tag(builder_.CreateMaskedStore(raw, pointer, align,
                                     stride < 0 ? builder_.CreateVectorReverse(mask_) : mask_),
          store.buffer);
    else
      store_whole(raw, pointer, store.buffer, store.streaming);
    return;
  }
  Value* offsets = spread(emit(store.offset));
  Value* pointers =
      builder_.CreateGEP(memory_type(buffer.type), buffers_[static_cast<size_t>(store.buffer)], offsets);
  Value* mask = mask_ ? mask_ : llvm::Constant::getAllOnesValue(vector_of(builder_.getInt1Ty(), lanes_));
  tag(builder_.CreateMaskedScatter(raw, pointers, align, mask), store.buffer);
}

}  // namespace galatea::codegen
