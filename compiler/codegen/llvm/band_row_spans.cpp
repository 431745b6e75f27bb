// BandRow where it shrinks much, so that the columns of neighbouring pixels lie too far apart for a window:
// a pixel's taps are a span, a run of neighbouring columns, of which sixteen are a part.
//
// With VNNI and VBMI a part is loaded as it lies in the row; a byte permute takes each channel's sixteen
// bytes into a quarter of the register, and two byte dot products (weights split as 256*hi + lo) multiply
// them by the part's weights, which all quarters share. On other x86 a part of a plane is widened to 16-bit
// numbers, and one instruction multiplies them by 16-bit weights and adds pairs. Either way a pixel's sum
// comes as several 32-bit numbers, and those of four pixels are added up together. Tables: fill_span() in
// band_tables.cpp.
//
// Off, `resize eighth` of bytes takes 4.5 times as long at 224 x 224 and 7.3 times at 1080p (`./dev bench
// per-op`, 2-core AMD EPYC, Zen 5).
#include <llvm/IR/IntrinsicsX86.h>

#include <array>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int kPart = 16;    ///< columns
constexpr int kQuarter = 4;  ///< 32-bit numbers in 128 bits
constexpr int kPixels = 4;   ///< added up together
constexpr int64_t kPartBytes = 2 * kPart;

}  // namespace

void FunctionEmitter::emit_spans_row(const kernel::BandRow& row, const PreparedLayout& p) {
  if (!target_.vnni_vbmi()) take_row_apart(row, p);
  llvm::Type *i8 = builder_.getInt8Ty(), *i32 = builder_.getInt32Ty();
  const auto channels = static_cast<size_t>(row.tables.channels);
  const bool bytes = target_.vnni_vbmi();
  const SpanSource source = bytes ? span_source(row, p) : SpanSource{};
  const BandTarget target = band_target(row);
  counted_loop(
      i64(0), p.width,
      [&](Value* x) {
        // Tables go on to the end of a group of sixteen.
        Value* group = builder_.CreateMul(builder_.CreateLShr(x, i64(4)), p.group_bytes);
        Value* lane = builder_.CreateMul(builder_.CreateAnd(x, i64(kGroup - 1)), i64(kPartBytes));
        Value* table = builder_.CreateGEP(i8, p.tables, builder_.CreateAdd(group, lane));
        std::vector<Value*> begins;
        for (int64_t j = 0; j < kPixels; ++j) {
          auto* raw =
              builder_.CreateLoad(i32, builder_.CreateGEP(i32, p.base, builder_.CreateAdd(x, i64(j))));
          tag(raw, row.tables.prepared);
          begins.push_back(builder_.CreateSExt(raw, builder_.getInt64Ty()));
        }
        // Bytes: of each pixel the high sums and the low ones. Words: of each channel those of each pixel.
        std::vector<Value*> sums(bytes ? 2 * kPixels : kPixels * channels,
                                 llvm::Constant::getNullValue(vector_of(i32, bytes ? kPart : kPart / 2)));
        // One loop for any number of parts: copies for one and two gain a twentieth of the row, and are
        // longer to compile than all of this.
        sum_steps(p.steps, 0, sums, [&](Value* part, std::vector<Value*>& now) {
          Value* tables = builder_.CreateGEP(i8, table, builder_.CreateMul(part, i64(kSpans.step_bytes)));
          for (size_t j = 0; j < kPixels; ++j) {
            Value* weights = builder_.CreateGEP(i8, tables, i64(kPartBytes * static_cast<int64_t>(j)));
            Value* from = builder_.CreateAdd(begins[j], builder_.CreateShl(part, i64(4)));
            if (bytes)
              add_span_bytes(row, source, from, weights, now[2 * j], now[2 * j + 1]);
            else
              for (size_t c = 0; c < channels; ++c)
                add_span_words(row, p, c, from, weights, now[kPixels * c + j]);
          }
        });
        Value* mask = lanes_below(x, p.width, kPixels);
        const auto store = [&](size_t channel, Value* four) {
          store_group(row, target, x, channel,
                      builder_.CreateSIToFP(four, vector_of(builder_.getFloatTy(), kPixels)), mask);
        };
        if (bytes) {
          std::vector<Value*> pixels;
          for (size_t j = 0; j < kPixels; ++j)
            pixels.push_back(builder_.CreateAdd(
                builder_.CreateShl(sums[2 * j], llvm::ConstantInt::get(sums[2 * j]->getType(), 8)),
                sums[2 * j + 1]));
          Value* all = add_quarters(pixels);
          for (size_t c = 0; c < channels; ++c) store(c, quarter(all, c));
        } else {
          for (size_t c = 0; c < channels; ++c) {
            const auto first = sums.begin() + static_cast<std::ptrdiff_t>(kPixels * c);
            Value* halves = add_quarters({first, first + kPixels});
            store(c, builder_.CreateAdd(quarter(halves, 0), quarter(halves, 1)));
          }
        }
      },
      kPixels);
}

FunctionEmitter::SpanSource FunctionEmitter::span_source(const kernel::BandRow& row,
                                                         const PreparedLayout& p) {
  const int channels = row.tables.channels;
  SpanSource out;
  memo_.clear();
  out.start =
      builder_.CreateGEP(builder_.getInt8Ty(), buffers_[static_cast<size_t>(row.src)], emit(row.src_offset));
  memo_.clear();
  Value* past = builder_.CreateLoad(builder_.getInt32Ty(), prepared_header(p, 2));
  out.last = builder_.CreateSub(builder_.CreateSExt(past, builder_.getInt64Ty()), i64(1));
  std::vector<uint8_t> pick;
  for (int i = 0; i < 4 * kPart; ++i) {
    const int channel = i / kPart;
    pick.push_back(static_cast<uint8_t>(channel < channels ? i % kPart * channels + channel : 0));
  }
  out.pick = llvm::ConstantDataVector::get(context_, pick);
  return out;
}

/// A part of a pixel's span from column `from`; a quarter of the sums is a channel.
void FunctionEmitter::add_span_bytes(const kernel::BandRow& row, const SpanSource& source, Value* from,
                                     Value* weights, Value*& high, Value*& low) {
  // From the last column on the padding of the row's buffer is enough; further right all weights are 0.
  Value* inside = builder_.CreateSelect(builder_.CreateICmpSLT(from, source.last), from, source.last);
  Value* at = builder_.CreateGEP(builder_.getInt8Ty(), source.start,
                                 builder_.CreateMul(inside, i64(row.tables.channels)));
  // Not tagged: the end may lie in the padding.
  Value* span = builder_.CreateAlignedLoad(vector_of(builder_.getInt8Ty(), 4 * kPart), at, llvm::Align(1));
  Value* taps = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_qi_512, {}, {span, source.pick});
  const auto dot = [&](Value* sum, int64_t offset) {
    auto* sixteen = builder_.CreateAlignedLoad(vector_of(builder_.getInt8Ty(), kPart),
                                               builder_.CreateGEP(builder_.getInt8Ty(), weights, i64(offset)),
                                               llvm::Align(kPart));
    tag(sixteen, row.tables.prepared);
    llvm::SmallVector<int, 64> quarters;
    for (int i = 0; i < 4 * kPart; ++i) quarters.push_back(i % kPart);
    Value* shared = builder_.CreateShuffleVector(sixteen, quarters);
    return builder_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_vpdpbusd_512, {},
        {sum, builder_.CreateBitCast(taps, sum->getType()), builder_.CreateBitCast(shared, sum->getType())});
  };
  high = dot(high, 0);
  low = dot(low, kPart);
}

/// The same of one channel's plane.
void FunctionEmitter::add_span_words(const kernel::BandRow& row, const PreparedLayout& p, size_t channel,
                                     Value* from, Value* weights, Value*& sum) {
  llvm::Type* words = vector_of(builder_.getInt16Ty(), kPart);
  Value* at = builder_.CreateAdd(builder_.CreateMul(p.plane_bytes, i64(static_cast<int64_t>(channel))), from);
  auto* span =
      builder_.CreateAlignedLoad(vector_of(builder_.getInt8Ty(), kPart),
                                 builder_.CreateGEP(builder_.getInt8Ty(), p.planes, at), llvm::Align(1));
  tag(span, row.tables.prepared);
  auto* factors = builder_.CreateAlignedLoad(words, weights, llvm::Align(2 * kPart));
  tag(factors, row.tables.prepared);
  sum = builder_.CreateAdd(sum, builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_pmadd_wd, {},
                                                         {builder_.CreateZExt(span, words), factors}));
}

/// Of four registers: in each quarter, number i is the sum of the four numbers in that quarter of register i.
llvm::Value* FunctionEmitter::add_quarters(const std::vector<Value*>& four) {
  const auto count =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(four[0]->getType())->getNumElements());
  const auto add = [&](Value* a, Value* b, const std::array<int, 4>& low, const std::array<int, 4>& high) {
    const auto shuffle = [&](const std::array<int, 4>& order) {
      llvm::SmallVector<int, 16> mask;
      for (int i = 0; i < count; ++i) {
        const int from = order[static_cast<size_t>(i % kQuarter)];
        mask.push_back(i / kQuarter * kQuarter + from % kQuarter + (from < kQuarter ? 0 : count));
      }
      return builder_.CreateShuffleVector(a, b, mask);
    };
    return builder_.CreateAdd(shuffle(low), shuffle(high));
  };
  constexpr std::array<int, 4> kLow{0, 4, 1, 5}, kHigh{2, 6, 3, 7}, kFirst{0, 1, 4, 5}, kLast{2, 3, 6, 7};
  return add(add(four[0], four[1], kLow, kHigh), add(four[2], four[3], kLow, kHigh), kFirst, kLast);
}

llvm::Value* FunctionEmitter::quarter(Value* vector, size_t number) {
  llvm::SmallVector<int, kQuarter> mask;
  for (int i = 0; i < kQuarter; ++i) mask.push_back(static_cast<int>(number) * kQuarter + i);
  return builder_.CreateShuffleVector(vector, mask);
}

}  // namespace galatea::codegen
