// Stores past the cache: what goes straight into a large batch is read by nobody soon.
//
// Comes in: a whole vector for an output that the plan marked. Goes out: a store past the cache where the
// tensor is large and the place is aligned, a plain one elsewhere; one predictable branch. A fence at the end
// of the kernel: such stores are ordered by nothing else.
//
// Off, `crop_mirror_normalize` of bytes takes 1.2 times as long at 1080p, `brightness` 1.2 times (`./dev
// bench per-op`, 2-core AMD EPYC, Zen 5).
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"
#include "runtime/kernel_abi.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kCallStreamFrom = offsetof(runtime::KernelCall, stream_from);

}  // namespace

/// Per output that is streamed to: the bits of an address that must be 0; all of them where the tensor is
/// small.
void FunctionEmitter::prepare_streams() {
  stream_bits_.assign(kernel_.buffers.size(), {});
  if (!target_.is_x86()) return;
  Value* least = nullptr;
  kernel::for_each_statement(kernel_.body, [&](const kernel::Statement& statement) {
    const auto* store = std::get_if<kernel::Store>(&statement.node);
    if (!store || !store->streaming) return;
    const auto b = static_cast<size_t>(store->buffer);
    const kernel::LoopBuffer& buffer = kernel_.buffers[b];
    if (stream_bits_[b].run || buffer.kind != kernel::BufferKind::kOutput) return;
    // How large a tensor must be is the caller's to know: small batches stay in the cache for their reader.
    if (!least)
      least = builder_.CreateLoad(builder_.getInt64Ty(),
                                  builder_.CreateConstGEP1_64(builder_.getInt8Ty(), function_->getArg(0),
                                                              static_cast<uint64_t>(kCallStreamFrom)));
    Value* bytes = i64(size_of(buffer.type));
    const auto tensor = static_cast<size_t>(buffer.tensor);
    for (size_t d = 0; d < kernel_.stride_vars[tensor].size(); ++d) {
      const uint64_t offset =
          tensor * sizeof(runtime::KernelTensor) + offsetof(runtime::KernelTensor, extents) + 8 * d;
      bytes = builder_.CreateMul(
          bytes, builder_.CreateLoad(builder_.getInt64Ty(),
                                     builder_.CreateConstGEP1_64(builder_.getInt8Ty(), tensors_, offset)));
    }
    const auto bits = [&](Value* from) {
      return builder_.CreateSelect(builder_.CreateICmpSGE(bytes, from), i64(target_.vector_bits() / 8 - 1),
                                   i64(-1));
    };
    Value* rows = i64(runtime::kStreamFrom);
    rows = builder_.CreateSelect(builder_.CreateICmpSGT(least, rows), least, rows);
    stream_bits_[b] = {bits(least), bits(rows)};
  });
}

void FunctionEmitter::end_streams() {
  for (const auto& [buffer, kept] : kept_lines_) store_kept(buffer, kept);
  for (const StreamBits& bits : stream_bits_)
    if (bits.run) {
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
      return;
    }
}

/// Stores a whole vector to consecutive elements.
void FunctionEmitter::store_whole(Value* vector, Value* pointer, int buffer, bool streaming) {
  const DType type = kernel_.buffers[static_cast<size_t>(buffer)].type;
  const llvm::Align align(static_cast<uint64_t>(size_of(type)));
  // Row by row, lines that two rows share are written in two ways, which costs more than small tensors gain.
  const StreamBits& of_buffer = stream_bits_[static_cast<size_t>(buffer)];
  Value* bits = !streaming ? nullptr : serial_loops_ == 0 ? of_buffer.run : of_buffer.rows;
  const auto elements = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  const auto line = static_cast<unsigned>(target_.vector_bits() / 8);
  if (!bits || elements * static_cast<unsigned>(size_of(type)) % line != 0) {
    tag(builder_.CreateAlignedStore(vector, pointer, align), buffer);
    return;
  }
  store_past(vector, pointer, buffer, bits);
}

/// Past the cache where all bits of the address are 0.
void FunctionEmitter::store_past(Value* vector, Value* pointer, int buffer, Value* bits) {
  const llvm::Align align(static_cast<uint64_t>(size_of(kernel_.buffers[static_cast<size_t>(buffer)].type)));
  const auto line = static_cast<unsigned>(target_.vector_bits() / 8);
  auto* past = llvm::BasicBlock::Create(context_, "stream", function_);
  auto* plain = llvm::BasicBlock::Create(context_, "store", function_);
  auto* after = llvm::BasicBlock::Create(context_, "stored", function_);
  Value* address = builder_.CreatePtrToInt(pointer, builder_.getInt64Ty());
  builder_.CreateCondBr(builder_.CreateICmpEQ(builder_.CreateAnd(address, bits), i64(0)), past, plain);
  builder_.SetInsertPoint(past);
  auto* store = builder_.CreateAlignedStore(vector, pointer, llvm::Align(line));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                     llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(builder_.getInt32(1))));
  tag(store, buffer);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(plain);
  tag(builder_.CreateAlignedStore(vector, pointer, align), buffer);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

}  // namespace galatea::codegen
