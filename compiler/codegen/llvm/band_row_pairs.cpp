// BandRow with byte shuffles and products of pairs (AVX2, and AVX-512 without VBMI and VNNI).
//
// Four neighbouring output pixels read one window of 16 source pixels of a channel. For each two taps a byte
// shuffle gathers each pixel's two bytes as 16-bit numbers, and one instruction multiplies them by 16-bit
// weights and adds both products exactly in 32 bits. A register holds such blocks of four side by side, each
// with a window of its own. Tables: fill_pair() in band_tables.cpp.
//
// Off, so that every row takes a gather a tap, the kernel of `resize half` of bytes takes 4.1 times as long
// with AVX2 at 224 x 224 (`kernel_bench`, 2-core AMD EPYC, Zen 5).
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int kWindow = 16;
constexpr int kBlock = 4;
constexpr int64_t kRest = -1;

}  // namespace

void FunctionEmitter::emit_pairs_row(const kernel::BandRow& row, const PreparedLayout& p) {
  take_row_apart(row, p);
  switch_steps(p.steps, {1, 2, 3}, [&](int64_t pairs) { emit_pairs_groups(row, p, pairs); });
  emit_pairs_groups(row, p, kRest);
}

/// The row's whole registers, with so many pairs of taps, unrolled, or (0) any number of them; kRest: what
/// remains behind them, under a mask (masked stores of AVX2 are slow).
void FunctionEmitter::emit_pairs_groups(const kernel::BandRow& row, const PreparedLayout& p,
                                        int64_t known_pairs) {
  llvm::Type* i8 = builder_.getInt8Ty();
  const bool wide = target_.avx512();
  const int lanes = target_.vector_bits() / 32, blocks = lanes / kBlock, bytes = 4 * lanes;
  llvm::Type *byte_vector = vector_of(i8, bytes), *sums_type = vector_of(builder_.getInt32Ty(), lanes),
             *halves = vector_of(builder_.getInt16Ty(), 2 * lanes);
  const auto channels = static_cast<size_t>(row.tables.channels);
  // A register is a group, or half of one.
  const auto table_at = [&](Value* x) {
    Value* group = builder_.CreateMul(builder_.CreateLShr(x, i64(4)), p.group_bytes);
    Value* part = builder_.CreateShl(builder_.CreateAnd(x, i64(kGroup - 1)), i64(2));
    return builder_.CreateGEP(i8, p.tables, builder_.CreateAdd(group, part));
  };
  const auto load = [&](Value* pointer, int64_t offset) {
    auto* raw = builder_.CreateAlignedLoad(byte_vector, builder_.CreateGEP(i8, pointer, i64(offset)),
                                           llvm::Align(static_cast<uint64_t>(bytes)));
    tag(raw, row.tables.prepared);
    return raw;
  };
  const auto product = [&](Value* window, Value* index, Value* weights) {
    Value* taps = builder_.CreateIntrinsic(
        wide ? llvm::Intrinsic::x86_avx512_pshuf_b_512 : llvm::Intrinsic::x86_avx2_pshuf_b, {},
        {window, index});
    return builder_.CreateIntrinsic(
        wide ? llvm::Intrinsic::x86_avx512_pmaddw_d_512 : llvm::Intrinsic::x86_avx2_pmadd_wd, {},
        {builder_.CreateBitCast(taps, halves), builder_.CreateBitCast(weights, halves)});
  };
  const BandTarget target = band_target(row);
  const auto emit_group = [&](Value* x, Value* mask) {
    Value* table = table_at(x);
    std::vector<Value*> windows;
    std::vector<Value*> bases;
    for (int b = 0; b < blocks; ++b) {
      Value* number = builder_.CreateAdd(builder_.CreateLShr(x, i64(2)), i64(b));
      auto* raw = builder_.CreateLoad(builder_.getInt32Ty(),
                                      builder_.CreateGEP(builder_.getInt32Ty(), p.base, number));
      tag(raw, row.tables.prepared);
      bases.push_back(builder_.CreateSExt(raw, builder_.getInt64Ty()));
    }
    for (size_t c = 0; c < channels; ++c) {
      std::vector<Value*> parts;
      for (Value* base : bases) {
        Value* at = builder_.CreateAdd(builder_.CreateMul(p.plane_bytes, i64(static_cast<int64_t>(c))), base);
        auto* raw = builder_.CreateAlignedLoad(vector_of(i8, kWindow), builder_.CreateGEP(i8, p.planes, at),
                                               llvm::Align(1));
        parts.push_back(tag(raw, row.tables.prepared));
      }
      windows.push_back(concatenate(std::move(parts)));
    }
    std::vector<Value*> sums(channels, llvm::Constant::getNullValue(sums_type));
    sum_steps(p.steps, std::max<int64_t>(known_pairs, 0), sums, [&](Value* step, std::vector<Value*>& now) {
      Value* pair = builder_.CreateGEP(i8, table, builder_.CreateMul(step, i64(kPairs.step_bytes)));
      Value *index = load(pair, 0), *weights = load(pair, 64);
      for (size_t c = 0; c < channels; ++c)
        now[c] = builder_.CreateAdd(now[c], product(windows[c], index, weights));
    });
    for (size_t c = 0; c < channels; ++c)
      store_group(row, target, x, c, builder_.CreateSIToFP(sums[c], vector_of(builder_.getFloatTy(), lanes)),
                  mask);
  };
  Value* whole = builder_.CreateAnd(p.width, i64(-lanes));
  if (known_pairs != kRest)
    counted_loop(i64(0), whole, [&](Value* x) { emit_group(x, nullptr); }, lanes);
  else
    counted_loop(whole, p.width, [&](Value* x) { emit_group(x, lanes_below(x, p.width, lanes)); }, lanes);
}

}  // namespace galatea::codegen
