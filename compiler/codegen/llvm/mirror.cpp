// Mirrored rows of interleaved pixels: read in runs from the end to the beginning, turned round in registers.
//
// Comes in: loads whose offset falls by s = 2 to 4 elements from lane to lane. Goes out: plain loads of whole
// runs. Pixels that are stored as they were read are not taken apart: each part of the new run is one shuffle
// of two loads (s elements of a pixel keep their order, so a part comes from a little more than a part).
//
// Off, `flip horizontal` of bytes takes 1.2 times as long at 224 x 224 (`./dev bench per-op`, 2-core AMD
// EPYC, Zen 5).
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

/// lanes_ elements, the first at `base + constant`, each s before the one of the lane before.
llvm::Value* FunctionEmitter::load_backwards(int buffer, Value* base, int s, int64_t constant) {
  const int64_t channel = ((constant % s) + s) % s;
  Value* lowest = builder_.CreateAdd(base, i64(constant - channel - int64_t{s} * (lanes_ - 1)));
  Value* mask = mask_;
  if (mask_) mask_ = builder_.CreateVectorReverse(mask_);
  Value* out = load_strided(buffer, lowest, s, static_cast<int>(channel), true);
  mask_ = mask;
  return out;
}

/// Whether the stores, which make whole pixels, copy whole pixels that lie backwards.
std::optional<FunctionEmitter::PixelsBackwards> FunctionEmitter::match_backwards(
    const std::vector<const kernel::Store*>& pixel) const {
  PixelsBackwards out;
  const auto s = static_cast<int64_t>(pixel.size());
  for (size_t c = 0; c < pixel.size(); ++c) {
    const Expr& value = pixel[c]->value;
    kernel::VectorOffset parts;
    if (value->kind != kernel::ExprKind::kLoadFlat ||
        value->type != kernel_.buffers[static_cast<size_t>(value->index)].type ||
        value->type != kernel_.buffers[static_cast<size_t>(pixel[c]->buffer)].type ||
        !kernel::match_vector_offset(value->args[0], vector_var_, varying_, &parts) || !parts.scale ||
        !kernel::is_const(parts.scale) || kernel::const_value(parts.scale) != -s)
      return std::nullopt;
    if (c == 0) out = {value->index, parts.uniform, parts.constant};
    if (value->index != out.buffer || parts.constant != out.constant + static_cast<int64_t>(c) ||
        !parts.uniform != !out.uniform || (parts.uniform && !kernel::same(parts.uniform, out.uniform)))
      return std::nullopt;
  }
  return out;
}

/// Elements first … first+unit-1 of the run that begins with the last pixel from `lowest` on.
llvm::Value* FunctionEmitter::backwards_part(int buffer, Value* lowest, int s, int first, int unit) {
  const auto source = [&](int at) { return (lanes_ - 1 - at / s) * s + at % s; };
  int low = source(first), high = low;
  for (int at = first; at < first + unit; ++at) {
    low = std::min(low, source(at));
    high = std::max(high, source(at));
  }
  const DType type = kernel_.buffers[static_cast<size_t>(buffer)].type;
  const llvm::Align align(static_cast<uint64_t>(size_of(type)));
  llvm::Type* vector = vector_of(memory_type(type), unit);
  const auto load = [&](int from) -> Value* {
    Value* pointer = address(buffer, builder_.CreateAdd(lowest, i64(from)));
    if (!mask_) return tag(builder_.CreateAlignedLoad(vector, pointer, align), buffer);
    llvm::SmallVector<int, 64> lane;  // of the loop, whose last lanes have the first pixels
    for (int i = 0; i < unit; ++i) lane.push_back(lanes_ - 1 - (from + i) / s);
    Value* mask = builder_.CreateShuffleVector(mask_, lane);
    return tag(builder_.CreateMaskedLoad(vector, pointer, align, mask, llvm::Constant::getNullValue(vector)),
               buffer);
  };
  const int second = high - unit + 1;
  Value* below = load(low);
  Value* above = second == low ? below : load(second);
  llvm::SmallVector<int, 64> pick;
  for (int at = first; at < first + unit; ++at) {
    const int from = source(at);
    pick.push_back(from < low + unit ? from - low : unit + from - second);
  }
  if (!target_.is_x86() || unit * size_of(type) != 16 || size_of(type) != 1)
    return builder_.CreateShuffleVector(below, above, pick);
  // Intrinsics: with AVX-512 LLVM would go by way of 16-bit elements, which takes twice as long.
  Value* out = nullptr;
  for (int half = 0; half < 2; ++half) {
    constexpr uint8_t kZero = 0x80;
    std::vector<llvm::Constant*> from;
    for (const int at : pick) from.push_back(builder_.getInt8(at / unit == half ? at % unit : kZero));
    Value* bytes = builder_.CreateIntrinsic(llvm::Intrinsic::x86_ssse3_pshuf_b_128, {},
                                            {half == 0 ? below : above, llvm::ConstantVector::get(from)});
    out = half == 0 ? bytes : builder_.CreateOr(out, bytes);
  }
  return out;
}

void FunctionEmitter::store_backwards(const PixelStores& pixel, int buffer, Value* base) {
  const auto s = static_cast<int>(pixel.values.size());
  const DType type = kernel_.buffers[static_cast<size_t>(buffer)].type;
  const llvm::Align align(static_cast<uint64_t>(size_of(type)));
  Value* lowest = builder_.CreateMul(vector_base_, i64(-s));
  if (pixel.from->uniform) lowest = builder_.CreateAdd(emit(pixel.from->uniform), lowest);
  lowest = builder_.CreateAdd(lowest, i64(pixel.from->constant - int64_t{s} * (lanes_ - 1)));
  const int unit = shuffle_unit(size_of(type));
  for (int at = 0; at < lanes_ * s; at += unit) {
    Value* part = backwards_part(pixel.from->buffer, lowest, s, at, unit);
    Value* pointer = address(buffer, builder_.CreateAdd(base, i64(at)));
    if (mask_)
      tag(builder_.CreateMaskedStore(part, pointer, align, run_mask(s, at, unit)), buffer);
    else
      store_whole(part, pointer, buffer, pixel.streaming);
  }
}

}  // namespace galatea::codegen
