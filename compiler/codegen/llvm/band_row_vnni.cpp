// BandRow with byte permutes and byte dot products (AVX-512 VBMI and VNNI).
//
// Sixteen neighbouring output pixels read one window of 64 source pixels of a channel; an index vector per
// quad of taps gathers each lane's four taps, and two byte dot products (weights split as 256*hi + lo, both
// signed bytes) accumulate them exactly in 32 bits.
//
// `prepared`, 64-byte aligned:
//   i32 header[16]: [0] 1 if every group's window suffices and every weight has 16 bits, [1] first source
//   column needed, [2] one past the last i32 base[groups], padded to 64 bytes per group and quad: 64 bytes of
//   indices, 64 of hi weights, 64 of lo weights (lane l's taps at bytes 4l … 4l+3) channels planes of the
//   current row, each src_width + 128 bytes, rounded up to 64
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {}  // namespace

bool FunctionEmitter::has_vnni_form(const kernel::BandTables& tables) const {
  return target_.vnni_vbmi() && tables.integer && tables.source_type == DType::kU8 && tables.prepared >= 0 &&
         tables.channels >= 1 && tables.channels <= 4;
}

/// Fills header, bases, indices and weights from first[] and weights[].
void FunctionEmitter::emit_vnni_prepare(const kernel::BandTables& tables) {
  PreparedLayout p = prepared_layout(tables, kQuads);
  llvm::Type* i8 = builder_.getInt8Ty();
  llvm::Type* i32 = builder_.getInt32Ty();
  memo_.clear();
  Value* stride = emit(tables.taps_stride);
  Value* last_column = builder_.CreateSub(p.src_width, i64(1));
  auto column = [&](Value* position) {
    Value* low = builder_.CreateSelect(builder_.CreateICmpSLT(position, last_column), position, last_column);
    return builder_.CreateSelect(builder_.CreateICmpSGT(low, i64(0)), low, i64(0));
  };
  auto first_of = [&](Value* i) {
    auto* raw =
        builder_.CreateLoad(i32, builder_.CreateGEP(i32, buffers_[static_cast<size_t>(tables.first)], i));
    tag(raw, tables.first);
    return builder_.CreateSExt(raw, builder_.getInt64Ty());
  };
  auto smaller = [&](Value* a, Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
  };
  auto larger = [&](Value* a, Value* b) { return builder_.CreateSelect(builder_.CreateICmpSGT(a, b), a, b); };
  llvm::Type* word = builder_.getInt64Ty();
  auto* fits = allocate_var(builder_.getInt32Ty(), "fits");
  auto* lowest = allocate_var(word, "lowest");
  auto* highest = allocate_var(word, "highest");
  auto* group_low = allocate_var(word, "group_low");
  auto* group_high = allocate_var(word, "group_high");
  builder_.CreateStore(builder_.getInt32(1), fits);
  builder_.CreateStore(p.src_width, lowest);
  builder_.CreateStore(i64(0), highest);
  counted_loop(i64(0), p.groups, [&](Value* g) {
    Value* begin = builder_.CreateShl(g, i64(4));
    Value* end = smaller(builder_.CreateAdd(begin, i64(kGroup)), p.width);
    builder_.CreateStore(p.src_width, group_low);
    builder_.CreateStore(i64(0), group_high);
    counted_loop(begin, end, [&](Value* i) {
      Value* first = first_of(i);
      builder_.CreateStore(smaller(builder_.CreateLoad(word, group_low), column(first)), group_low);
      builder_.CreateStore(larger(builder_.CreateLoad(word, group_high),
                                  column(builder_.CreateSub(builder_.CreateAdd(first, p.taps), i64(1)))),
                           group_high);
    });
    Value* low = builder_.CreateLoad(word, group_low);
    Value* high = builder_.CreateLoad(word, group_high);
    builder_.CreateStore(smaller(builder_.CreateLoad(word, lowest), low), lowest);
    builder_.CreateStore(larger(builder_.CreateLoad(word, highest), high), highest);
    Value* ok = builder_.CreateZExt(builder_.CreateICmpSLT(builder_.CreateSub(high, low), i64(64)), i32);
    builder_.CreateStore(builder_.CreateAnd(builder_.CreateLoad(i32, fits), ok), fits);
    builder_.CreateStore(builder_.CreateTrunc(low, i32), builder_.CreateGEP(i32, p.base, g));
    Value* table = builder_.CreateGEP(i8, p.tables, builder_.CreateMul(g, p.group_bytes));
    // Lanes past the width and taps past the last read weight 0.
    Value* padded_taps = builder_.CreateShl(p.quads, i64(2));
    counted_loop(begin, builder_.CreateAdd(begin, i64(kGroup)), [&](Value* i) {
      Value* real_lane = builder_.CreateICmpSLT(i, p.width);
      Value* safe = builder_.CreateSelect(real_lane, i, begin);
      Value* first = first_of(safe);
      Value* lane_bytes = builder_.CreateShl(builder_.CreateSub(i, begin), i64(2));
      counted_loop(i64(0), padded_taps, [&](Value* k) {
        Value* real = builder_.CreateAnd(real_lane, builder_.CreateICmpSLT(k, p.taps));
        Value* safe_k = builder_.CreateSelect(real, k, i64(0));
        Value* at = builder_.CreateAdd(builder_.CreateMul(safe, stride), safe_k);
        auto* loaded = builder_.CreateLoad(
            i32, builder_.CreateGEP(i32, buffers_[static_cast<size_t>(tables.weights)], at));
        tag(loaded, tables.weights);
        Value* weight = builder_.CreateSelect(real, loaded, builder_.getInt32(0));
        Value* low_part =
            builder_.CreateAShr(builder_.CreateShl(weight, builder_.getInt32(24)), builder_.getInt32(24));
        Value* high_part = builder_.CreateAShr(builder_.CreateSub(weight, low_part), builder_.getInt32(8));
        Value* in_bytes =
            builder_.CreateICmpEQ(builder_.CreateSExt(builder_.CreateTrunc(high_part, i8), i32), high_part);
        builder_.CreateStore(
            builder_.CreateAnd(builder_.CreateLoad(i32, fits), builder_.CreateZExt(in_bytes, i32)), fits);
        Value* index = builder_.CreateSub(column(builder_.CreateAdd(first, safe_k)), low);
        Value* quad = builder_.CreateMul(builder_.CreateLShr(k, i64(2)), i64(kQuads.step_bytes));
        Value* slot = builder_.CreateGEP(
            i8, table,
            builder_.CreateAdd(quad, builder_.CreateAdd(lane_bytes, builder_.CreateAnd(k, i64(3)))));
        builder_.CreateStore(builder_.CreateTrunc(index, i8), slot);
        builder_.CreateStore(builder_.CreateTrunc(high_part, i8), builder_.CreateGEP(i8, slot, i64(64)));
        builder_.CreateStore(builder_.CreateTrunc(low_part, i8), builder_.CreateGEP(i8, slot, i64(128)));
      });
    });
  });
  auto header = [&](int at) { return builder_.CreateGEP(i32, p.start, i64(at)); };
  builder_.CreateStore(builder_.CreateLoad(i32, fits), header(0));
  builder_.CreateStore(builder_.CreateTrunc(builder_.CreateLoad(word, lowest), i32), header(1));
  builder_.CreateStore(
      builder_.CreateTrunc(builder_.CreateAdd(builder_.CreateLoad(word, highest), i64(1)), i32), header(2));
}

void FunctionEmitter::emit_vnni_row(const kernel::BandRow& row) {
  PreparedLayout p = prepared_layout(row.tables, kQuads);
  llvm::Type* i32 = builder_.getInt32Ty();
  auto header = [&](int at) { return builder_.CreateLoad(i32, builder_.CreateGEP(i32, p.start, i64(at))); };
  memo_.clear();
  Value* dense = builder_.CreateICmpEQ(emit(row.src_step), i64(row.tables.channels));
  Value* fast = builder_.CreateAnd(dense, builder_.CreateICmpNE(header(0), builder_.getInt32(0)));
  auto* fast_block = llvm::BasicBlock::Create(context_, "row.permute", function_);
  auto* plain_block = llvm::BasicBlock::Create(context_, "row.plain", function_);
  auto* after = llvm::BasicBlock::Create(context_, "row.after", function_);
  builder_.CreateCondBr(fast, fast_block, plain_block);
  builder_.SetInsertPoint(plain_block);
  memo_.clear();
  emit_plain_row(row);
  builder_.CreateBr(after);

  builder_.SetInsertPoint(fast_block);
  memo_.clear();
  Value* low = builder_.CreateSExt(header(1), builder_.getInt64Ty());
  Value* high = builder_.CreateSExt(header(2), builder_.getInt64Ty());
  emit_deinterleave(row, p, low, high);
  // One or two quads are nearly all there is; the rest loops.
  auto* one = llvm::BasicBlock::Create(context_, "quads.1", function_);
  auto* two = llvm::BasicBlock::Create(context_, "quads.2", function_);
  auto* many = llvm::BasicBlock::Create(context_, "quads.n", function_);
  llvm::SwitchInst* choice = builder_.CreateSwitch(p.quads, many, 2);
  choice->addCase(builder_.getInt64(1), one);
  choice->addCase(builder_.getInt64(2), two);
  for (auto [block, quads] : {std::pair{one, 1}, {two, 2}, {many, 0}}) {
    builder_.SetInsertPoint(block);
    emit_vnni_groups(row, p, quads);
    builder_.CreateBr(after);
  }
  builder_.SetInsertPoint(after);
  memo_.clear();
}

/// Columns [low, high) of the row, 64 at a time, into planes. Loads are masked to the columns needed: nothing
/// else of the row need exist.
void FunctionEmitter::emit_deinterleave(const kernel::BandRow& row, const PreparedLayout& p, Value* low,
                                        Value* high) {
  int channels = row.tables.channels;
  memo_.clear();
  Value* source =
      builder_.CreateGEP(builder_.getInt8Ty(), buffers_[static_cast<size_t>(row.src)], emit(row.src_offset));
  llvm::Type* vector = vector_of(builder_.getInt8Ty(), 64);
  counted_loop(
      low, high,
      [&](Value* x) {
        Value* start = builder_.CreateMul(x, i64(channels));
        Value* left = builder_.CreateSub(builder_.CreateMul(high, i64(channels)), start);
        std::vector<Value*> parts;
        for (int j = 0; j < channels; ++j) {
          Value* bytes = builder_.CreateSub(left, i64(64 * j));
          bytes = builder_.CreateSelect(builder_.CreateICmpSGT(bytes, i64(0)), bytes, i64(0));
          Value* some =
              builder_.CreateSub(builder_.CreateShl(i64(1), builder_.CreateAnd(bytes, i64(63))), i64(1));
          Value* bits = builder_.CreateSelect(builder_.CreateICmpSGE(bytes, i64(64)), i64(-1), some);
          Value* mask = builder_.CreateBitCast(bits, vector_of(builder_.getInt1Ty(), 64));
          Value* pointer =
              builder_.CreateGEP(builder_.getInt8Ty(), source, builder_.CreateAdd(start, i64(64 * j)));
          auto* load = builder_.CreateMaskedLoad(vector, pointer, llvm::Align(1), mask,
                                                 llvm::Constant::getNullValue(vector));
          tag(load, row.src);
          parts.push_back(load);
        }
        for (int c = 0; c < channels; ++c) {
          Value* plane = pick_channel(parts, c);
          Value* to = builder_.CreateGEP(builder_.getInt8Ty(), p.planes,
                                         builder_.CreateAdd(builder_.CreateMul(p.plane_bytes, i64(c)), x));
          tag(builder_.CreateAlignedStore(plane, to, llvm::Align(1)), row.tables.prepared);
        }
      },
      64);
}

/// Byte c, c+n, c+2n, … of n vectors taken as one run.
llvm::Value* FunctionEmitter::pick_channel(const std::vector<Value*>& parts, int c) {
  auto n = static_cast<int>(parts.size());
  if (n == 1) return parts[0];
  // Two at a time: what lies in the first two vectors, then what lies in the others, then both together.
  llvm::SmallVector<int, 64> low(64, -1), high(64, -1), both(64, -1);
  for (int i = 0; i < 64; ++i) {
    int at = i * n + c;
    if (at < 128)
      low[static_cast<size_t>(i)] = at;
    else
      high[static_cast<size_t>(i)] = at - 128;
    both[static_cast<size_t>(i)] = at < 128 ? i : 64 + i;
  }
  Value* first = builder_.CreateShuffleVector(parts[0], parts[1], low);
  if (n == 2) return first;
  Value* last = n == 4 ? parts[3] : llvm::PoisonValue::get(parts[2]->getType());
  Value* second = builder_.CreateShuffleVector(parts[2], last, high);
  return builder_.CreateShuffleVector(first, second, both);
}

/// All groups of the row; fixed_quads > 0: that many, unrolled.
void FunctionEmitter::emit_vnni_groups(const kernel::BandRow& row, const PreparedLayout& p, int fixed_quads) {
  llvm::Type* i8 = builder_.getInt8Ty();
  llvm::Type* bytes = vector_of(i8, 64);
  llvm::Type* words = vector_of(builder_.getInt32Ty(), kGroup);
  auto channels = static_cast<size_t>(row.tables.channels);
  memo_.clear();
  Value* dst_offset = emit(row.dst_offset);
  Value* dst_plane = emit(row.dst_plane);
  memo_.clear();
  auto load64 = [&](Value* pointer, int64_t offset) {
    auto* load =
        builder_.CreateAlignedLoad(bytes, builder_.CreateGEP(i8, pointer, i64(offset)), llvm::Align(64));
    tag(load, row.tables.prepared);
    return load;
  };
  auto dot = [&](Value* sum, Value* data, Value* weights) {
    return builder_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_vpdpbusd_512, {},
        {sum, builder_.CreateBitCast(data, words), builder_.CreateBitCast(weights, words)});
  };
  counted_loop(i64(0), p.groups, [&](Value* g) {
    Value* table = builder_.CreateGEP(i8, p.tables, builder_.CreateMul(g, p.group_bytes));
    auto* base_load =
        builder_.CreateLoad(builder_.getInt32Ty(), builder_.CreateGEP(builder_.getInt32Ty(), p.base, g));
    tag(base_load, row.tables.prepared);
    Value* base = builder_.CreateSExt(base_load, builder_.getInt64Ty());
    std::vector<Value*> windows, high(channels), low(channels);
    for (size_t c = 0; c < channels; ++c) {
      Value* at = builder_.CreateAdd(builder_.CreateMul(p.plane_bytes, i64(static_cast<int64_t>(c))), base);
      auto* window = builder_.CreateAlignedLoad(bytes, builder_.CreateGEP(i8, p.planes, at), llvm::Align(1));
      tag(window, row.tables.prepared);
      windows.push_back(window);
      high[c] = low[c] = llvm::Constant::getNullValue(words);
    }
    auto add_quad = [&](Value* quad, std::vector<Value*>& hi, std::vector<Value*>& lo) {
      Value* index = load64(quad, 0);
      Value* weight_high = load64(quad, 64);
      Value* weight_low = load64(quad, 128);
      for (size_t c = 0; c < channels; ++c) {
        Value* taps =
            builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_qi_512, {}, {windows[c], index});
        hi[c] = dot(hi[c], taps, weight_high);
        lo[c] = dot(lo[c], taps, weight_low);
      }
    };
    if (fixed_quads > 0) {
      for (int q = 0; q < fixed_quads; ++q)
        add_quad(builder_.CreateGEP(i8, table, i64(q * kQuads.step_bytes)), high, low);
    } else {
      std::vector<llvm::AllocaInst*> sums;
      for (size_t c = 0; c < 2 * channels; ++c) {
        sums.push_back(allocate_var(words, "sum"));
        builder_.CreateStore(llvm::Constant::getNullValue(words), sums.back());
      }
      counted_loop(i64(0), p.quads, [&](Value* q) {
        std::vector<Value*> hi, lo;
        for (size_t c = 0; c < channels; ++c) {
          hi.push_back(builder_.CreateLoad(words, sums[c]));
          lo.push_back(builder_.CreateLoad(words, sums[channels + c]));
        }
        add_quad(builder_.CreateGEP(i8, table, builder_.CreateMul(q, i64(kQuads.step_bytes))), hi, lo);
        for (size_t c = 0; c < channels; ++c) {
          builder_.CreateStore(hi[c], sums[c]);
          builder_.CreateStore(lo[c], sums[channels + c]);
        }
      });
      for (size_t c = 0; c < channels; ++c) {
        high[c] = builder_.CreateLoad(words, sums[c]);
        low[c] = builder_.CreateLoad(words, sums[channels + c]);
      }
    }
    Value* x = builder_.CreateShl(g, i64(4));
    Value* left = builder_.CreateSub(p.width, x);
    Value* bits = builder_.CreateSub(
        builder_.CreateShl(
            builder_.getInt32(1),
            builder_.CreateTrunc(
                builder_.CreateSelect(builder_.CreateICmpSLT(left, i64(kGroup)), left, i64(kGroup)),
                builder_.getInt32Ty())),
        builder_.getInt32(1));
    Value* mask = builder_.CreateBitCast(builder_.CreateTrunc(bits, builder_.getInt16Ty()),
                                         vector_of(builder_.getInt1Ty(), kGroup));
    for (size_t c = 0; c < channels; ++c) {
      Value* sum = builder_.CreateAdd(builder_.CreateShl(high[c], llvm::ConstantInt::get(words, 8)), low[c]);
      Value* value = builder_.CreateSIToFP(sum, vector_of(builder_.getFloatTy(), kGroup));
      value =
          builder_.CreateFMul(value, llvm::ConstantFP::get(value->getType(), static_cast<double>(row.scale)));
      Value* at = builder_.CreateAdd(
          dst_offset, builder_.CreateAdd(builder_.CreateMul(dst_plane, i64(static_cast<int64_t>(c))), x));
      tag(builder_.CreateMaskedStore(
              value, builder_.CreateGEP(builder_.getFloatTy(), buffers_[static_cast<size_t>(row.dst)], at),
              llvm::Align(4), mask),
          row.dst);
    }
  });
}

}  // namespace galatea::codegen
