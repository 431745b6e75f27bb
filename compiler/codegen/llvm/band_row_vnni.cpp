// BandRow with byte permutes and byte dot products (AVX-512 VBMI and VNNI).
//
// Sixteen neighbouring output pixels read one window of 64 source pixels of a channel; an index vector per
// quad of taps gathers each lane's four taps, and two byte dot products (weights split as 256*hi + lo, both
// signed bytes) accumulate them exactly in 32 bits. Tables: fill_quad() in band_tables.cpp.
//
// Off, so that rows go through band_row_pairs.cpp, `resize half` of bytes takes 1.09 times as long at 1080p
// and `resize half cubic` 1.1 times (`./dev bench per-op`, 2-core AMD EPYC, Zen 5), a resize of 275 x 269 to
// 224 x 224 49 in place of 41 us on Zen 4.
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

void FunctionEmitter::emit_vnni_row(const kernel::BandRow& row, const PreparedLayout& p) {
  take_row_apart(row, p);
  // One or two quads are nearly all there is.
  switch_steps(p.steps, {1, 2}, [&](int64_t quads) { emit_vnni_groups(row, p, quads); });
}

/// All groups of the row; known_quads > 0: that many, unrolled.
void FunctionEmitter::emit_vnni_groups(const kernel::BandRow& row, const PreparedLayout& p,
                                       int64_t known_quads) {
  llvm::Type* i8 = builder_.getInt8Ty();
  llvm::Type* bytes = vector_of(i8, 64);
  llvm::Type* words = vector_of(builder_.getInt32Ty(), kGroup);
  const auto channels = static_cast<size_t>(row.tables.channels);
  const auto load = [&](Value* pointer, uint64_t align) {
    return tag(builder_.CreateAlignedLoad(bytes, pointer, llvm::Align(align)), row.tables.prepared);
  };
  const auto dot = [&](Value* sum, Value* data, Value* weights) {
    return builder_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_vpdpbusd_512, {},
        {sum, builder_.CreateBitCast(data, words), builder_.CreateBitCast(weights, words)});
  };
  const BandTarget target = band_target(row);
  counted_loop(i64(0), p.groups, [&](Value* g) {
    Value* table = builder_.CreateGEP(i8, p.tables, builder_.CreateMul(g, p.group_bytes));
    auto* base_load =
        builder_.CreateLoad(builder_.getInt32Ty(), builder_.CreateGEP(builder_.getInt32Ty(), p.base, g));
    tag(base_load, row.tables.prepared);
    Value* base = builder_.CreateSExt(base_load, builder_.getInt64Ty());
    std::vector<Value*> windows;
    for (size_t c = 0; c < channels; ++c) {
      Value* at = builder_.CreateAdd(builder_.CreateMul(p.plane_bytes, i64(static_cast<int64_t>(c))), base);
      windows.push_back(load(builder_.CreateGEP(i8, p.planes, at), 1));
    }
    // Of each channel the high sums, then of each the low ones.
    std::vector<Value*> sums(2 * channels, llvm::Constant::getNullValue(words));
    sum_steps(p.steps, known_quads, sums, [&](Value* quad, std::vector<Value*>& now) {
      Value* tables = builder_.CreateGEP(i8, table, builder_.CreateMul(quad, i64(kQuads.step_bytes)));
      Value* index = load(tables, 64);
      Value* high = load(builder_.CreateGEP(i8, tables, i64(64)), 64);
      Value* low = load(builder_.CreateGEP(i8, tables, i64(128)), 64);
      for (size_t c = 0; c < channels; ++c) {
        Value* taps =
            builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_qi_512, {}, {windows[c], index});
        now[c] = dot(now[c], taps, high);
        now[channels + c] = dot(now[channels + c], taps, low);
      }
    });
    Value* x = builder_.CreateShl(g, i64(4));
    Value* mask = lanes_below(x, p.width, kGroup);
    for (size_t c = 0; c < channels; ++c) {
      Value* sum = builder_.CreateAdd(builder_.CreateShl(sums[c], llvm::ConstantInt::get(words, 8)),
                                      sums[channels + c]);
      store_group(row, target, x, c, builder_.CreateSIToFP(sum, vector_of(builder_.getFloatTy(), kGroup)),
                  mask);
    }
  });
}

}  // namespace galatea::codegen
