// BandRow over f32 with permutes of two registers (AVX-512).
//
// Sixteen neighbouring output pixels read a window of 32 source pixels of a channel for each tap; one permute
// takes each lane's element from its two registers. Where all taps of a group lie in one window, it is loaded
// once. One fma a tap, in tap order. Tables: fill_float() in band_tables.cpp.
//
// Off, `resize 1.5` of floats takes 1.8 times as long at 224 x 224, `resize half` 1.5 times, `resize half
// cubic` 1.2 times and 1.9 times at 1080p (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

void FunctionEmitter::emit_float_row(const kernel::BandRow& row, const PreparedLayout& p) {
  take_row_apart(row, p);
  auto* one = llvm::BasicBlock::Create(context_, "window.shared", function_);
  auto* many = llvm::BasicBlock::Create(context_, "window.moves", function_);
  auto* after = llvm::BasicBlock::Create(context_, "window.after", function_);
  Value* fits = builder_.CreateLoad(builder_.getInt32Ty(), prepared_header(p, 0));
  builder_.CreateCondBr(builder_.CreateICmpSGT(fits, builder_.getInt32(1)), one, many);
  builder_.SetInsertPoint(one);
  // Enlarging by linear interpolation has two taps.
  switch_steps(p.steps, {2}, [&](int64_t taps) { emit_float_groups(row, p, true, taps); });
  builder_.CreateBr(after);
  builder_.SetInsertPoint(many);
  emit_float_groups(row, p, false, 0);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::emit_float_groups(const kernel::BandRow& row, const PreparedLayout& p, bool one_window,
                                        int64_t known_taps) {
  llvm::Type *i32 = builder_.getInt32Ty(), *f32 = builder_.getFloatTy();
  llvm::Type *numbers = vector_of(i32, kGroup), *floats = vector_of(f32, kGroup);
  const auto channels = static_cast<size_t>(row.tables.channels);
  const auto load = [&](llvm::Type* type, Value* pointer, uint64_t align) {
    return tag(builder_.CreateAlignedLoad(type, pointer, llvm::Align(align)), row.tables.prepared);
  };
  struct Window {
    Value *low, *high;
  };
  const auto window = [&](size_t c, Value* from) {
    Value* plane = builder_.CreateGEP(builder_.getInt8Ty(), p.planes,
                                      builder_.CreateMul(p.plane_bytes, i64(static_cast<int64_t>(c))));
    Value* at = builder_.CreateGEP(f32, plane, from);
    return Window{load(floats, at, 4), load(floats, builder_.CreateGEP(f32, at, i64(kGroup)), 4)};
  };
  const BandTarget target = band_target(row);
  counted_loop(i64(0), p.groups, [&](Value* g) {
    Value* table = builder_.CreateGEP(builder_.getInt8Ty(), p.tables, builder_.CreateMul(g, p.group_bytes));
    Value* first =
        builder_.CreateSExt(load(i32, builder_.CreateGEP(i32, p.base, g), 4), builder_.getInt64Ty());
    Value* begin = column(p, first);
    std::vector<Window> shared;
    for (size_t c = 0; c < channels && one_window; ++c) shared.push_back(window(c, begin));
    std::vector<Value*> sums(channels, llvm::Constant::getNullValue(floats));
    sum_steps(p.steps, known_taps, sums, [&](Value* tap, std::vector<Value*>& now) {
      Value* tables =
          builder_.CreateGEP(builder_.getInt8Ty(), table, builder_.CreateMul(tap, i64(kFloats.step_bytes)));
      Value* index = load(numbers, tables, 64);
      Value* weights = load(floats, builder_.CreateGEP(f32, tables, i64(kGroup)), 64);
      Value* from = column(p, builder_.CreateAdd(first, tap));
      if (one_window)
        index = builder_.CreateAdd(
            index,
            builder_.CreateVectorSplat(kGroup, builder_.CreateTrunc(builder_.CreateSub(from, begin), i32)));
      for (size_t c = 0; c < channels; ++c) {
        const Window here = one_window ? shared[c] : window(c, from);
        Value* taken = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_ps_512, {},
                                                {here.low, index, here.high});
        now[c] = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {floats}, {weights, taken, now[c]});
      }
    });
    Value* x = builder_.CreateShl(g, i64(4));
    Value* mask = lanes_below(x, p.width, kGroup);
    for (size_t c = 0; c < channels; ++c) store_group(row, target, x, c, sums[c], mask);
  });
}

}  // namespace galatea::codegen
