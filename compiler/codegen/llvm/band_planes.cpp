// A row of interleaved pixels taken apart into planes, for the hand-made forms of BandRow.
//
// Comes in: the row, and which columns are needed. Goes out: planes in `prepared` (band_row.cpp).
#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kRegister = 64;  ///< bytes
constexpr int64_t kShort = 16;     ///< bytes of what is read without a mask

}  // namespace

/// Columns needed, 16 bytes at a time; what is read behind them lies in the row or in the padding of its
/// buffer.
void FunctionEmitter::take_row_apart(const kernel::BandRow& row, const PreparedLayout& p) {
  const int channels = row.tables.channels;
  memo_.clear();
  Value* source =
      builder_.CreateGEP(builder_.getInt8Ty(), buffers_[static_cast<size_t>(row.src)], emit(row.src_offset));
  llvm::Type* vector = vector_of(builder_.getInt8Ty(), kShort);
  const auto bound = [&](int number) {
    Value* raw = builder_.CreateLoad(builder_.getInt32Ty(), prepared_header(p, number));
    return builder_.CreateSExt(raw, builder_.getInt64Ty());
  };
  counted_loop(
      bound(1), bound(2),
      [&](Value* x) {
        std::vector<Value*> run;
        for (int part = 0; part < channels; ++part) {
          Value* at = builder_.CreateAdd(builder_.CreateMul(x, i64(channels)), i64(kShort * part));
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
      kShort);
}

/// The same with AVX-512, a register at a time. Loads are masked to the columns needed: nothing else of the
/// row need exist.
void FunctionEmitter::take_masked_row_apart(const kernel::BandRow& row, const PreparedLayout& p) {
  const int channels = row.tables.channels;
  llvm::Type* element = memory_type(row.tables.source_type);
  const llvm::Align align(static_cast<uint64_t>(size_of(row.tables.source_type)));
  const int64_t count = kRegister / size_of(row.tables.source_type);
  memo_.clear();
  Value* source = builder_.CreateGEP(element, buffers_[static_cast<size_t>(row.src)], emit(row.src_offset));
  llvm::Type* vector = vector_of(element, static_cast<int>(count));
  const auto bound = [&](int number) {
    Value* raw = builder_.CreateLoad(builder_.getInt32Ty(), prepared_header(p, number));
    return builder_.CreateSExt(raw, builder_.getInt64Ty());
  };
  Value *low = bound(1), *high = bound(2);
  counted_loop(
      low, high,
      [&](Value* x) {
        Value* start = builder_.CreateMul(x, i64(channels));
        Value* left = builder_.CreateSub(builder_.CreateMul(high, i64(channels)), start);
        std::vector<Value*> parts;
        for (int j = 0; j < channels; ++j) {
          Value* here = builder_.CreateSub(left, i64(count * j));
          here = builder_.CreateSelect(builder_.CreateICmpSGT(here, i64(0)), here, i64(0));
          Value* some =
              builder_.CreateSub(builder_.CreateShl(i64(1), builder_.CreateAnd(here, i64(63))), i64(1));
          Value* bits = builder_.CreateSelect(builder_.CreateICmpSGE(here, i64(count)), i64(-1), some);
          Value* mask = builder_.CreateBitCast(
              builder_.CreateTrunc(bits, builder_.getIntNTy(static_cast<unsigned>(count))),
              vector_of(builder_.getInt1Ty(), static_cast<int>(count)));
          Value* pointer = builder_.CreateGEP(element, source, builder_.CreateAdd(start, i64(count * j)));
          auto* load =
              builder_.CreateMaskedLoad(vector, pointer, align, mask, llvm::Constant::getNullValue(vector));
          tag(load, row.src);
          parts.push_back(load);
        }
        for (int c = 0; c < channels; ++c) {
          Value* plane =
              builder_.CreateGEP(builder_.getInt8Ty(), p.planes, builder_.CreateMul(p.plane_bytes, i64(c)));
          tag(builder_.CreateAlignedStore(pick_channel(parts, c), builder_.CreateGEP(element, plane, x),
                                          align),
              row.tables.prepared);
        }
      },
      count);
}

/// Element c, c+n, c+2n, … of n vectors taken as one run.
llvm::Value* FunctionEmitter::pick_channel(const std::vector<Value*>& parts, int c) {
  const auto n = static_cast<int>(parts.size());
  if (n == 1) return parts[0];
  const auto count =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements());
  // Two at a time: what lies in the first two vectors, then what lies in the others, then both together.
  llvm::SmallVector<int, 64> low, high, both;
  for (int i = 0; i < count; ++i) {
    const int at = i * n + c;
    const bool first = at < 2 * count;
    low.push_back(first ? at : -1);
    high.push_back(first ? -1 : at - 2 * count);
    both.push_back(first ? i : count + i);
  }
  Value* first = builder_.CreateShuffleVector(parts[0], parts[1], low);
  if (n == 2) return first;
  Value* last = n == 4 ? parts[3] : llvm::PoisonValue::get(parts[2]->getType());
  Value* second = builder_.CreateShuffleVector(parts[2], last, high);
  return builder_.CreateShuffleVector(first, second, both);
}

}  // namespace galatea::codegen
