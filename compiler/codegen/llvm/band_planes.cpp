// A row of interleaved pixels taken apart into planes, for the hand-made forms of BandRow.
//
// Comes in: the row, and which columns are needed. Goes out: planes in `prepared` (band_row.cpp).
#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kRegister = 64;  ///< bytes
constexpr int64_t kShort = 16;     ///< bytes of what is read at the end

}  // namespace

/// Columns needed: where the target has permutes of two registers, whole registers first; 16 bytes at a time
/// to the end. What is read behind it lies in the row or in the padding of its buffer. (Loads under a mask
/// would read nothing behind it, but where the row is not in the cache Zen 5 waits for each row.)
void FunctionEmitter::take_row_apart(const kernel::BandRow& row, const PreparedLayout& p) {
  const int channels = row.tables.channels;
  const int64_t size = size_of(row.tables.source_type);
  llvm::Type* element = memory_type(row.tables.source_type);
  memo_.clear();
  Value* source = builder_.CreateGEP(element, buffers_[static_cast<size_t>(row.src)], emit(row.src_offset));
  const auto bound = [&](int number) {
    Value* raw = builder_.CreateLoad(builder_.getInt32Ty(), prepared_header(p, number));
    return builder_.CreateSExt(raw, builder_.getInt64Ty());
  };
  const auto take = [&](Value* from, Value* to, int64_t bytes) {
    const int64_t count = bytes / size;
    const llvm::Align align(static_cast<uint64_t>(size));
    llvm::Type* vector = vector_of(element, static_cast<int>(count));
    counted_loop(
        from, to,
        [&](Value* x) {
          std::vector<Value*> run;
          for (int part = 0; part < channels; ++part) {
            Value* at = builder_.CreateAdd(builder_.CreateMul(x, i64(channels)), i64(count * part));
            auto* load = builder_.CreateAlignedLoad(vector, builder_.CreateGEP(element, source, at), align);
            // The end may lie in the padding.
            run.push_back(bytes == kShort ? load : tag(load, row.src));
          }
          for (int c = 0; c < channels; ++c) {
            Value* plane =
                builder_.CreateGEP(builder_.getInt8Ty(), p.planes, builder_.CreateMul(p.plane_bytes, i64(c)));
            Value* picked = bytes == kShort ? pick_strided(run, c) : pick_channel(run, c);
            tag(builder_.CreateAlignedStore(picked, builder_.CreateGEP(element, plane, x), align),
                row.tables.prepared);
          }
        },
        count);
  };
  Value *low = bound(1), *high = bound(2);
  if (size == 1 ? target_.vnni_vbmi() : target_.avx512()) {
    Value* columns = builder_.CreateSub(high, low);
    columns = builder_.CreateSelect(builder_.CreateICmpSGT(columns, i64(0)), columns, i64(0));
    Value* rest = builder_.CreateAdd(low, builder_.CreateAnd(columns, i64(-kRegister / size)));
    take(low, rest, kRegister);
    low = rest;
  }
  take(low, high, kShort);
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
