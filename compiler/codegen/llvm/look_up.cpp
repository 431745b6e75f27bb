// Tables of 256 bytes: looked up in registers, not in memory.
//
// Comes in: a load from scratch or an input of 256 bytes (or one of several such tables, the same for all
// lanes) whose offset is a byte. Goes out: with VBMI two permutes of 128 bytes each and a choice by the top
// bit; with AVX-512 a byte shuffle for each 16 entries, and choices by the upper four bits; with AVX2 sixteen
// byte shuffles that give 0 outside their entries; with NEON four look-ups in 64 bytes, each of which leaves
// alone what is outside of its entries.
//
// Off, `lookup_table` takes 2.9 times as long at 224 x 224, `equalize` 1.5 times; a channel at a time,
// `color-chain` to bytes takes 1.6 times as long (`./dev bench`, 2-core AMD EPYC, Zen 5).
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int kEntries = 256;

}  // namespace

/// offset = i64(a byte) + what is the same for all lanes and a multiple of 256.
bool FunctionEmitter::match_entry(const Expr& offset, LookUp* out) const {
  if (offset->kind == kernel::ExprKind::kOp && offset->op == ScalarOp::kAdd)
    return match_entry(offset->args[0], out) && match_entry(offset->args[1], out);
  if (offset->kind == kernel::ExprKind::kOp && offset->op == ScalarOp::kConvert &&
      offset->args[0].type() == DType::kU8) {
    if (out->byte) return false;
    out->byte = offset->args[0];
    return true;
  }
  const bool scaled = offset->kind == kernel::ExprKind::kOp && offset->op == ScalarOp::kMul &&
                      kernel::is_const(offset->args[1]);
  const Expr& factor = scaled ? offset->args[1] : offset;
  if (!kernel::is_const(factor) || kernel::const_value(factor) % kEntries != 0) return false;
  kernel::VectorOffset parts;
  if (!kernel::match_vector_offset(offset, vector_var_, varying_, &parts) || parts.scale) return false;
  out->base = out->base ? out->base + offset : offset;
  return true;
}

std::optional<FunctionEmitter::LookUp> FunctionEmitter::match_look_up(const kernel::ExprNode& e) const {
  if (e.kind != kernel::ExprKind::kLoadFlat || e.type != DType::kU8) return {};
  const kernel::LoopBuffer& buffer = kernel_.buffers[static_cast<size_t>(e.index)];
  if (buffer.kind == kernel::BufferKind::kOutput || buffer.type != DType::kU8 || !buffer.elements ||
      !kernel::is_const(buffer.elements) || kernel::const_value(buffer.elements) % kEntries != 0)
    return {};
  LookUp out;
  out.table = e.index;
  if (!match_entry(e.args[0], &out) || !out.byte) return {};
  return out;
}

llvm::Value* FunctionEmitter::emit_look_up(const LookUp& load) {
  // Bytes of pixels are looked up before they are taken apart: all channels at once, if they share a table.
  const Expr& from = load.byte;
  kernel::VectorOffset parts;
  if (!load.base && (has_wide_bytes() || for_each_register([](int) {})) &&
      from->kind == kernel::ExprKind::kLoadFlat &&
      kernel_.buffers[static_cast<size_t>(from->index)].type == DType::kU8 &&
      kernel::match_vector_offset(from->args[0], vector_var_, varying_, &parts) && parts.scale &&
      kernel::is_const(parts.scale)) {
    const int64_t s = kernel::const_value(parts.scale);
    if (s >= 2 && s <= kMaxInterleaved && parts.constant >= 0 && parts.constant < s) {
      Value* base = builder_.CreateMul(vector_base_, i64(s));
      if (parts.uniform) base = builder_.CreateAdd(emit(parts.uniform), base);
      std::vector<Value*> wide;
      const auto load_register = [&](int first) {
        wide.push_back(load_wide_bytes(from->index, builder_.CreateAdd(base, i64(s * first)),
                                       static_cast<int>(s), static_cast<int>(parts.constant), load.table));
      };
      if (!for_each_register(load_register)) load_register(0);
      return builder_.CreateTrunc(concatenate(std::move(wide)), vector_of(builder_.getInt8Ty(), lanes_));
    }
  }
  Value* bytes = emit(from);
  Value* base = load.base ? emit(load.base) : nullptr;
  if (!is_vector(bytes)) {
    Value* offset = builder_.CreateZExt(bytes, builder_.getInt64Ty());
    if (base) offset = builder_.CreateAdd(base, offset);
    auto* raw = builder_.CreateAlignedLoad(builder_.getInt8Ty(), address(load.table, offset), llvm::Align(1));
    return tag(raw, load.table);
  }
  return look_up(load.table, bytes, base);
}

/// Any number of bytes, a power of two.
llvm::Value* FunctionEmitter::look_up(int table, Value* bytes, Value* base) {
  const auto n = static_cast<int>(llvm::cast<llvm::FixedVectorType>(bytes->getType())->getNumElements());
  const int width = target_.vector_bits() / 8;
  if (n == width) return look_up_register(table, bytes, base);
  auto* narrowed = llvm::dyn_cast<llvm::TruncInst>(bytes);
  if (n == lanes_ && narrowed && narrowed->getOperand(0)->getType() == vector_of(builder_.getInt32Ty(), n)) {
    // Low bytes of 32-bit lanes stay where they are.
    std::vector<Value*> words;
    const auto look_up_words = [&](int first) {
      Value* wide = builder_.CreateBitCast(slice(narrowed->getOperand(0), first, width / 4),
                                           vector_of(builder_.getInt8Ty(), width));
      words.push_back(builder_.CreateBitCast(look_up_register(table, wide, base),
                                             vector_of(builder_.getInt32Ty(), width / 4)));
    };
    if (has_wide_bytes()) look_up_words(0);
    if (!words.empty() || for_each_register(look_up_words))
      return builder_.CreateTrunc(concatenate(std::move(words)), bytes->getType());
  }
  if (n < width) {
    llvm::SmallVector<int, 64> widen;
    for (int i = 0; i < width; ++i) widen.push_back(i < n ? i : 0);
    return slice(look_up_register(table, builder_.CreateShuffleVector(bytes, widen), base), 0, n);
  }
  std::vector<Value*> registers;
  for (int first = 0; first < n; first += width)
    registers.push_back(look_up_register(table, slice(bytes, first, width), base));
  return concatenate(std::move(registers));
}

llvm::Value* FunctionEmitter::look_up_register(int table, Value* bytes, Value* base) {
  const int width = target_.vector_bits() / 8;
  llvm::Type* vector = vector_of(builder_.getInt8Ty(), width);
  const auto number = [&](int value) { return llvm::ConstantInt::get(vector, static_cast<uint64_t>(value)); };
  // Scratch begins at whole cache lines; tensors lie where they do.
  const bool scratch = kernel_.buffers[static_cast<size_t>(table)].kind == kernel::BufferKind::kScratch;
  const auto entries = [&](int first, int count) -> Value* {
    Value* offset = base ? builder_.CreateAdd(base, i64(first)) : i64(first);
    auto* load = builder_.CreateAlignedLoad(vector_of(builder_.getInt8Ty(), count), address(table, offset),
                                            llvm::Align(scratch ? std::min(count, 64) : 1));
    return tag(load, table);
  };
  if (target_.vnni_vbmi()) {
    const auto half = [&](int first) {
      return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                      {entries(first, 64), bytes, entries(first + 64, 64)});
    };
    return builder_.CreateSelect(builder_.CreateICmpSLT(bytes, number(0)), half(128), half(0));
  }
  if (!target_.is_x86()) {
    Value* out = nullptr;
    for (int first = 0; first < kEntries; first += 64) {
      std::vector<Value*> args;
      if (out) args.push_back(out);
      for (int part = 0; part < 64; part += 16) args.push_back(entries(first + part, 16));
      args.push_back(first == 0 ? bytes : builder_.CreateSub(bytes, number(first)));
      out = builder_.CreateIntrinsic(
          out ? llvm::Intrinsic::aarch64_neon_tbx4 : llvm::Intrinsic::aarch64_neon_tbl4, {vector}, args);
    }
    return out;
  }
  const auto shuffle = [&](int first, Value* index) {
    Value* sixteen = entries(first, 16);
    llvm::SmallVector<int, 64> repeat;
    for (int i = 0; i < width; ++i) repeat.push_back(i % 16);
    Value* all = builder_.CreateShuffleVector(sixteen, repeat);
    return builder_.CreateIntrinsic(
        target_.avx512() ? llvm::Intrinsic::x86_avx512_pshuf_b_512 : llvm::Intrinsic::x86_avx2_pshuf_b, {},
        {all, index});
  };
  if (target_.avx512()) {
    Value* low = builder_.CreateAnd(bytes, number(15));
    std::vector<Value*> values;
    for (int first = 0; first < kEntries; first += 16) values.push_back(shuffle(first, low));
    for (int bit = 16; values.size() > 1; bit *= 2) {
      Value* upper = builder_.CreateICmpNE(builder_.CreateAnd(bytes, number(bit)), number(0));
      std::vector<Value*> chosen;
      for (size_t i = 0; i < values.size(); i += 2)
        chosen.push_back(builder_.CreateSelect(upper, values[i + 1], values[i]));
      values = std::move(chosen);
    }
    return values[0];
  }
  // Index h*16 + l becomes 0x70 + l, any other at least 0x80, for which the shuffle gives 0.
  Value* out = nullptr;
  for (int first = 0; first < kEntries; first += 16) {
    Value* here = first == 0 ? bytes : builder_.CreateXor(bytes, number(first));
    Value* index = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, here, number(0x70));
    Value* part = shuffle(first, index);
    out = out ? builder_.CreateOr(out, part) : part;
  }
  return out;
}

}  // namespace galatea::codegen
