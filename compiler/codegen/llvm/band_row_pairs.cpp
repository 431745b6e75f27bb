// BandRow with byte shuffles and products of pairs (AVX2, and AVX-512 without VBMI and VNNI).
//
// Four neighbouring output pixels read one window of 16 source pixels of a channel. For each two taps a byte
// shuffle gathers each pixel's two bytes as 16-bit numbers, and one instruction multiplies them by 16-bit
// weights and adds both products exactly in 32 bits. A register holds such blocks of four side by side, each
// with a window of its own.
//
// `prepared`, 64-byte aligned:
//   i32 header[16]: [0] 1 if every block's window suffices and every weight fits, [1] first source column
//   needed, [2] one past the last; i32 base[blocks], padded to 64 bytes; per group of 16 pixels and pair of
//   taps: 64 bytes of indices (pixel l's at 4l and 4l+2, between them 0x80, which gives 0), 64 of weights;
//   channels planes of the current row, each src_width + 128 bytes, rounded up to 64
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kWindow = 16;
constexpr int kBlock = 4;
constexpr int kMostPairs = 3;  ///< with loops of their own
constexpr int kRest = -1;

}  // namespace

bool FunctionEmitter::has_pairs_form(const kernel::BandTables& tables) const {
  return target_.is_x86() && !target_.vnni_vbmi() && tables.integer && tables.source_type == DType::kU8 &&
         tables.prepared >= 0 && tables.channels >= 1 && tables.channels <= 4;
}

/// Fills header, bases, indices and weights from first[] and weights[].
void FunctionEmitter::emit_pairs_prepare(const kernel::BandTables& tables) {
  const PreparedLayout p = prepared_layout(tables, kPairs);
  llvm::Type *i8 = builder_.getInt8Ty(), *i16 = builder_.getInt16Ty(), *i32 = builder_.getInt32Ty();
  llvm::Type* word = builder_.getInt64Ty();
  memo_.clear();
  Value* stride = emit(tables.taps_stride);
  Value* last_column = builder_.CreateSub(p.src_width, i64(1));
  const auto smaller = [&](Value* a, Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
  };
  const auto larger = [&](Value* a, Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSGT(a, b), a, b);
  };
  const auto column = [&](Value* position) { return larger(smaller(position, last_column), i64(0)); };
  const auto first_of = [&](Value* i) {
    auto* raw =
        builder_.CreateLoad(i32, builder_.CreateGEP(i32, buffers_[static_cast<size_t>(tables.first)], i));
    tag(raw, tables.first);
    return builder_.CreateSExt(raw, word);
  };
  auto *fits = allocate_var(i32, "fits"), *lowest = allocate_var(word, "lowest"),
       *highest = allocate_var(word, "highest"), *block_low = allocate_var(word, "block_low"),
       *block_high = allocate_var(word, "block_high");
  const auto update = [&](llvm::AllocaInst* variable, const auto& choose, Value* value) {
    builder_.CreateStore(choose(builder_.CreateLoad(variable->getAllocatedType(), variable), value),
                         variable);
  };
  const auto keep_if = [&](Value* condition) {
    builder_.CreateStore(
        builder_.CreateAnd(builder_.CreateLoad(i32, fits), builder_.CreateZExt(condition, i32)), fits);
  };
  builder_.CreateStore(builder_.getInt32(1), fits);
  builder_.CreateStore(p.src_width, lowest);
  builder_.CreateStore(i64(0), highest);
  Value* padded_taps = builder_.CreateShl(p.quads, i64(1));
  counted_loop(i64(0), builder_.CreateShl(p.groups, i64(2)), [&](Value* block) {
    Value* begin = builder_.CreateShl(block, i64(2));
    Value* end = smaller(builder_.CreateAdd(begin, i64(kBlock)), p.width);
    // A block past the width reads where the last pixel does.
    Value* some = smaller(begin, builder_.CreateSub(p.width, i64(1)));
    builder_.CreateStore(column(first_of(some)), block_low);
    builder_.CreateStore(i64(0), block_high);
    counted_loop(begin, end, [&](Value* i) {
      Value* first = first_of(i);
      update(block_low, smaller, column(first));
      update(block_high, larger, column(builder_.CreateSub(builder_.CreateAdd(first, p.taps), i64(1))));
    });
    Value* low = builder_.CreateLoad(word, block_low);
    Value* high = builder_.CreateLoad(word, block_high);
    update(lowest, smaller, low);
    update(highest, larger, high);
    keep_if(builder_.CreateICmpSLT(builder_.CreateSub(high, low), i64(kWindow)));
    builder_.CreateStore(builder_.CreateTrunc(low, i32), builder_.CreateGEP(i32, p.base, block));
    Value* group = builder_.CreateGEP(i8, p.tables,
                                      builder_.CreateMul(builder_.CreateLShr(block, i64(2)), p.group_bytes));
    counted_loop(begin, builder_.CreateAdd(begin, i64(kBlock)), [&](Value* i) {
      Value* real_lane = builder_.CreateICmpSLT(i, p.width);
      Value* safe = builder_.CreateSelect(real_lane, i, some);
      Value* first = first_of(safe);
      Value* lane_bytes = builder_.CreateShl(builder_.CreateAnd(i, i64(kGroup - 1)), i64(2));
      counted_loop(i64(0), padded_taps, [&](Value* k) {
        Value* real = builder_.CreateAnd(real_lane, builder_.CreateICmpSLT(k, p.taps));
        Value* safe_k = builder_.CreateSelect(real, k, i64(0));
        Value* at = builder_.CreateAdd(builder_.CreateMul(safe, stride), safe_k);
        auto* loaded = builder_.CreateLoad(
            i32, builder_.CreateGEP(i32, buffers_[static_cast<size_t>(tables.weights)], at));
        tag(loaded, tables.weights);
        Value* weight = builder_.CreateTrunc(builder_.CreateSelect(real, loaded, builder_.getInt32(0)), i16);
        keep_if(builder_.CreateICmpEQ(builder_.CreateSExt(builder_.CreateTrunc(loaded, i16), i32), loaded));
        Value* index = builder_.CreateSub(column(builder_.CreateAdd(first, safe_k)), low);
        // The byte and the 0x80 behind it.
        Value* both = builder_.CreateOr(builder_.CreateZExt(builder_.CreateTrunc(index, i8), i16),
                                        builder_.getInt16(0x8000));
        Value* pair = builder_.CreateMul(builder_.CreateLShr(k, i64(1)), i64(kPairs.step_bytes));
        Value* slot = builder_.CreateGEP(
            i8, group,
            builder_.CreateAdd(
                pair,
                builder_.CreateAdd(lane_bytes, builder_.CreateShl(builder_.CreateAnd(k, i64(1)), i64(1)))));
        builder_.CreateAlignedStore(both, slot, llvm::Align(2));
        builder_.CreateAlignedStore(weight, builder_.CreateGEP(i8, slot, i64(64)), llvm::Align(2));
      });
    });
  });
  const auto header = [&](int at) { return builder_.CreateGEP(i32, p.start, i64(at)); };
  builder_.CreateStore(builder_.CreateLoad(i32, fits), header(0));
  builder_.CreateStore(builder_.CreateTrunc(builder_.CreateLoad(word, lowest), i32), header(1));
  builder_.CreateStore(
      builder_.CreateTrunc(builder_.CreateAdd(builder_.CreateLoad(word, highest), i64(1)), i32), header(2));
}

void FunctionEmitter::emit_pairs_row(const kernel::BandRow& row) {
  const PreparedLayout p = prepared_layout(row.tables, kPairs);
  llvm::Type* i32 = builder_.getInt32Ty();
  const auto header = [&](int at) {
    return builder_.CreateLoad(i32, builder_.CreateGEP(i32, p.start, i64(at)));
  };
  memo_.clear();
  Value* dense = builder_.CreateICmpEQ(emit(row.src_step), i64(row.tables.channels));
  Value* fast = builder_.CreateAnd(dense, builder_.CreateICmpNE(header(0), builder_.getInt32(0)));
  auto* fast_block = llvm::BasicBlock::Create(context_, "row.pairs", function_);
  auto* plain_block = llvm::BasicBlock::Create(context_, "row.plain", function_);
  auto* after = llvm::BasicBlock::Create(context_, "row.after", function_);
  builder_.CreateCondBr(fast, fast_block, plain_block);
  builder_.SetInsertPoint(plain_block);
  memo_.clear();
  emit_plain_row(row);
  builder_.CreateBr(after);

  builder_.SetInsertPoint(fast_block);
  memo_.clear();
  take_row_apart(row, p, builder_.CreateSExt(header(1), builder_.getInt64Ty()),
                 builder_.CreateSExt(header(2), builder_.getInt64Ty()));
  auto* many = llvm::BasicBlock::Create(context_, "pairs.n", function_);
  auto* rest = llvm::BasicBlock::Create(context_, "pairs.rest", function_);
  llvm::SwitchInst* choice = builder_.CreateSwitch(p.quads, many, kMostPairs);
  for (int pairs = 0; pairs <= kMostPairs; ++pairs) {
    auto* block = pairs == 0 ? many : llvm::BasicBlock::Create(context_, "pairs", function_);
    if (pairs > 0) choice->addCase(builder_.getInt64(static_cast<uint64_t>(pairs)), block);
    builder_.SetInsertPoint(block);
    emit_pairs_groups(row, p, pairs);
    builder_.CreateBr(rest);
  }
  builder_.SetInsertPoint(rest);
  emit_pairs_groups(row, p, kRest);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  memo_.clear();
}

/// Columns [low, high) of the row, 16 at a time, into planes; what is read behind them lies in the row or in
/// the padding of its buffer.
void FunctionEmitter::take_row_apart(const kernel::BandRow& row, const PreparedLayout& p, Value* low,
                                     Value* high) {
  const int channels = row.tables.channels;
  memo_.clear();
  Value* source =
      builder_.CreateGEP(builder_.getInt8Ty(), buffers_[static_cast<size_t>(row.src)], emit(row.src_offset));
  llvm::Type* vector = vector_of(builder_.getInt8Ty(), kWindow);
  counted_loop(
      low, high,
      [&](Value* x) {
        std::vector<Value*> run;
        for (int part = 0; part < channels; ++part) {
          Value* at = builder_.CreateAdd(builder_.CreateMul(x, i64(channels)), i64(kWindow * part));
          // Not tagged: the end may lie in the padding.
          run.push_back(builder_.CreateAlignedLoad(
              vector, builder_.CreateGEP(builder_.getInt8Ty(), source, at), llvm::Align(1)));
        }
        for (int c = 0; c < channels; ++c) {
          Value* to = builder_.CreateGEP(builder_.getInt8Ty(), p.planes,
                                         builder_.CreateAdd(builder_.CreateMul(p.plane_bytes, i64(c)), x));
          tag(builder_.CreateAlignedStore(pick_strided(run, c), to, llvm::Align(1)), row.tables.prepared);
        }
      },
      kWindow);
}

/// The row's whole registers, with so many pairs of taps, unrolled, or (0) any number of them; kRest: what
/// remains behind them, under a mask (masked stores of AVX2 are slow).
void FunctionEmitter::emit_pairs_groups(const kernel::BandRow& row, const PreparedLayout& p,
                                        int fixed_pairs) {
  llvm::Type* i8 = builder_.getInt8Ty();
  const bool wide = target_.avx512();
  const int lanes = target_.vector_bits() / 32, blocks = lanes / kBlock, bytes = 4 * lanes;
  llvm::Type *byte_vector = vector_of(i8, bytes), *sums_type = vector_of(builder_.getInt32Ty(), lanes),
             *halves = vector_of(builder_.getInt16Ty(), 2 * lanes);
  const auto channels = static_cast<size_t>(row.tables.channels);
  memo_.clear();
  Value* dst_offset = emit(row.dst_offset);
  Value* dst_plane = emit(row.dst_plane);
  memo_.clear();
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
    const auto add_pair = [&](Value* pair) {
      Value *index = load(pair, 0), *weights = load(pair, 64);
      for (size_t c = 0; c < channels; ++c)
        sums[c] = builder_.CreateAdd(sums[c], product(windows[c], index, weights));
    };
    if (fixed_pairs > 0) {
      for (int q = 0; q < fixed_pairs; ++q)
        add_pair(builder_.CreateGEP(i8, table, i64(q * kPairs.step_bytes)));
    } else {
      std::vector<llvm::AllocaInst*> kept;
      for (Value* sum : sums) {
        kept.push_back(allocate_var(sums_type, "sum"));
        builder_.CreateStore(sum, kept.back());
      }
      counted_loop(i64(0), p.quads, [&](Value* q) {
        for (size_t c = 0; c < channels; ++c) sums[c] = builder_.CreateLoad(sums_type, kept[c]);
        add_pair(builder_.CreateGEP(i8, table, builder_.CreateMul(q, i64(kPairs.step_bytes))));
        for (size_t c = 0; c < channels; ++c) builder_.CreateStore(sums[c], kept[c]);
      });
      for (size_t c = 0; c < channels; ++c) sums[c] = builder_.CreateLoad(sums_type, kept[c]);
    }
    for (size_t c = 0; c < channels; ++c) {
      Value* value = builder_.CreateSIToFP(sums[c], vector_of(builder_.getFloatTy(), lanes));
      value =
          builder_.CreateFMul(value, llvm::ConstantFP::get(value->getType(), static_cast<double>(row.scale)));
      Value* at = builder_.CreateAdd(
          dst_offset, builder_.CreateAdd(builder_.CreateMul(dst_plane, i64(static_cast<int64_t>(c))), x));
      Value* to = builder_.CreateGEP(builder_.getFloatTy(), buffers_[static_cast<size_t>(row.dst)], at);
      tag(mask ? builder_.CreateMaskedStore(value, to, llvm::Align(4), mask)
               : static_cast<llvm::Instruction*>(builder_.CreateAlignedStore(value, to, llvm::Align(4))),
          row.dst);
    }
  };
  Value* whole = builder_.CreateAnd(p.width, i64(-lanes));
  if (fixed_pairs != kRest)
    counted_loop(i64(0), whole, [&](Value* x) { emit_group(x, nullptr); }, lanes);
  else
    counted_loop(whole, p.width, [&](Value* x) { emit_group(x, lanes_below(x, p.width, lanes)); }, lanes);
}

}  // namespace galatea::codegen
