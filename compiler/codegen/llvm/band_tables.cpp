// The tables of a horizontal band's hand-made forms, filled once a call.
//
// Comes in: the first column and the weights of each output pixel. Goes out: `prepared` (band_row.cpp): per
// pixels that share a window where it begins; per group and step, index and weight of every tap of every
// pixel, in the form that its emitter reads; whether windows and weights fit at all.
#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

void FunctionEmitter::emit_band_tables(const kernel::BandTables& tables, const BandForm& form) {
  const PreparedLayout p = prepared_layout(tables, form);
  llvm::Type *i8 = builder_.getInt8Ty(), *i32 = builder_.getInt32Ty(), *word = builder_.getInt64Ty();
  memo_.clear();
  Value* stride = emit(tables.taps_stride);
  memo_.clear();
  const auto load = [&](llvm::Type* type, int buffer, Value* at) {
    return tag(builder_.CreateLoad(type, builder_.CreateGEP(type, buffers_[static_cast<size_t>(buffer)], at)),
               buffer);
  };
  const auto first_of = [&](Value* pixel) {
    return builder_.CreateSExt(load(i32, tables.first, pixel), word);
  };
  const auto least = [&](Value* a, Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
  };
  const auto most = [&](Value* a, Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSGT(a, b), a, b);
  };
  const auto update = [&](llvm::AllocaInst* variable, const auto& choose, Value* value) {
    builder_.CreateStore(choose(builder_.CreateLoad(variable->getAllocatedType(), variable), value),
                         variable);
  };
  auto *fits = allocate_var(i32, "fits"), *lowest = allocate_var(word, "lowest"),
       *highest = allocate_var(word, "highest"), *least_first = allocate_var(word, "least_first"),
       *most_first = allocate_var(word, "most_first");
  builder_.CreateStore(builder_.getInt32(static_cast<uint32_t>(form.held)), fits);
  builder_.CreateStore(p.src_width, lowest);
  builder_.CreateStore(i64(0), highest);
  const int64_t pixels = int64_t{1} << form.log_pixels;
  const bool spans = &form == &kSpans;
  Value* windows = builder_.CreateShl(p.groups, i64(4 - form.log_pixels));
  Value* padded_taps = builder_.CreateShl(p.steps, i64(form.log_taps));
  const auto in_window = [&](Value* low, Value* high) {
    return builder_.CreateICmpSLT(builder_.CreateSub(high, low), i64(form.window));
  };
  const auto held_if = [&](Value* condition) {
    return builder_.CreateSelect(condition, builder_.getInt32(static_cast<uint32_t>(form.held)),
                                 builder_.getInt32(0));
  };
  counted_loop(i64(0), windows, [&](Value* window) {
    Value* begin = builder_.CreateShl(window, i64(form.log_pixels));
    Value* end = least(builder_.CreateAdd(begin, i64(pixels)), p.width);
    // Pixels past the width read where another one does.
    Value* some = least(begin, builder_.CreateSub(p.width, i64(1)));
    builder_.CreateStore(first_of(some), least_first);
    builder_.CreateStore(first_of(some), most_first);
    counted_loop(begin, end, [&](Value* pixel) {
      Value* first = first_of(pixel);
      update(least_first, least, first);
      update(most_first, most, first);
    });
    Value *from = builder_.CreateLoad(word, least_first), *to = builder_.CreateLoad(word, most_first);
    Value* low = column(p, from);
    Value* high = column(p, builder_.CreateSub(builder_.CreateAdd(to, p.taps), i64(1)));
    update(lowest, least, low);
    update(highest, most, high);
    Value* suffices = held_if(in_window(low, high));
    if (form.moves)
      suffices = builder_.CreateSelect(in_window(low, high), suffices,
                                       builder_.CreateZExt(in_window(from, to), i32));
    update(fits, least, suffices);
    builder_.CreateStore(builder_.CreateTrunc(form.moves ? from : low, i32),
                         builder_.CreateGEP(i32, p.base, window));
    Value* number = builder_.CreateLShr(window, i64(4 - form.log_pixels));
    Value* group = builder_.CreateGEP(i8, p.tables, builder_.CreateMul(number, p.group_bytes));
    // Once something does not fit, nobody reads the tables.
    Value* fits_yet = builder_.CreateIsNotNull(builder_.CreateLoad(i32, fits));
    Value* filled = builder_.CreateSelect(fits_yet, builder_.CreateAdd(begin, i64(pixels)), begin);
    counted_loop(begin, filled, [&](Value* pixel) {
      if (spans) clear_spans(p, group, pixel);
      Value* exists = builder_.CreateICmpSLT(pixel, p.width);
      Value* safe = builder_.CreateSelect(exists, pixel, some);
      Value* first = first_of(safe);
      counted_loop(i64(0), padded_taps, [&](Value* tap) {
        Value* real = builder_.CreateAnd(exists, builder_.CreateICmpSLT(tap, p.taps));
        Value* safe_tap = builder_.CreateSelect(real, tap, i64(0));
        BandSlot slot;
        Value* begins = form.moves ? column(p, builder_.CreateAdd(from, safe_tap)) : low;
        slot.index = builder_.CreateSub(column(p, builder_.CreateAdd(first, safe_tap)), begins);
        // The columns of a span are in order: where taps fall together, at a border, so do their weights.
        Value* place = spans ? slot.index : tap;
        Value* step =
            builder_.CreateMul(builder_.CreateLShr(place, i64(form.log_taps)), i64(form.step_bytes));
        slot.step = builder_.CreateGEP(i8, group, step);
        slot.lane = builder_.CreateAnd(pixel, i64(kGroup - 1));
        slot.tap = builder_.CreateAnd(place, i64((int64_t{1} << form.log_taps) - 1));
        slot.weight = load(tables.integer ? i32 : builder_.getFloatTy(), tables.weights,
                           builder_.CreateAdd(builder_.CreateMul(safe, stride), safe_tap));
        slot.real = real;
        Value* held = &form == &kQuads   ? fill_quad(slot)
                      : &form == &kPairs ? fill_pair(slot)
                      : spans            ? fill_span(slot)
                                         : fill_float(slot);
        if (held) update(fits, least, held_if(held));
      });
    });
  });
  builder_.CreateStore(builder_.CreateLoad(i32, fits), prepared_header(p, 0));
  builder_.CreateStore(builder_.CreateTrunc(builder_.CreateLoad(word, lowest), i32), prepared_header(p, 1));
  Value* past = builder_.CreateAdd(builder_.CreateLoad(word, highest), i64(1));
  builder_.CreateStore(builder_.CreateTrunc(past, i32), prepared_header(p, 2));
}

/// 64 bytes of indices, 64 of the weights' high parts, 64 of the low ones (weight = 256 * high + low, both
/// with signs); lane l's taps at bytes 4 l … 4 l + 3.
llvm::Value* FunctionEmitter::fill_quad(const BandSlot& slot) {
  llvm::Type *i8 = builder_.getInt8Ty(), *i32 = builder_.getInt32Ty();
  Value* weight = builder_.CreateSelect(slot.real, slot.weight, builder_.getInt32(0));
  Value* low = builder_.CreateAShr(builder_.CreateShl(weight, builder_.getInt32(24)), builder_.getInt32(24));
  Value* high = builder_.CreateAShr(builder_.CreateSub(weight, low), builder_.getInt32(8));
  Value* at =
      builder_.CreateGEP(i8, slot.step, builder_.CreateAdd(builder_.CreateShl(slot.lane, i64(2)), slot.tap));
  builder_.CreateStore(builder_.CreateTrunc(slot.index, i8), at);
  builder_.CreateStore(builder_.CreateTrunc(high, i8), builder_.CreateGEP(i8, at, i64(64)));
  builder_.CreateStore(builder_.CreateTrunc(low, i8), builder_.CreateGEP(i8, at, i64(128)));
  return builder_.CreateICmpEQ(builder_.CreateSExt(builder_.CreateTrunc(high, i8), i32), high);
}

/// 64 bytes of indices (lane l's at 4 l and 4 l + 2, between them 0x80, which gives 0), 64 of weights.
llvm::Value* FunctionEmitter::fill_pair(const BandSlot& slot) {
  llvm::Type *i8 = builder_.getInt8Ty(), *i16 = builder_.getInt16Ty(), *i32 = builder_.getInt32Ty();
  Value* both = builder_.CreateOr(builder_.CreateZExt(builder_.CreateTrunc(slot.index, i8), i16),
                                  builder_.getInt16(0x8000));
  Value* at = builder_.CreateGEP(
      i8, slot.step,
      builder_.CreateAdd(builder_.CreateShl(slot.lane, i64(2)), builder_.CreateShl(slot.tap, i64(1))));
  Value* weight =
      builder_.CreateTrunc(builder_.CreateSelect(slot.real, slot.weight, builder_.getInt32(0)), i16);
  builder_.CreateAlignedStore(both, at, llvm::Align(2));
  builder_.CreateAlignedStore(weight, builder_.CreateGEP(i8, at, i64(64)), llvm::Align(2));
  return builder_.CreateICmpEQ(builder_.CreateSExt(builder_.CreateTrunc(slot.weight, i16), i32), slot.weight);
}

/// 16 indices of 32 bits, from where the tap's window begins; 16 weights. (Pixels past the width are not
/// stored.)
llvm::Value* FunctionEmitter::fill_float(const BandSlot& slot) {
  Value* at = builder_.CreateGEP(builder_.getInt32Ty(), slot.step, slot.lane);
  builder_.CreateStore(builder_.CreateTrunc(slot.index, builder_.getInt32Ty()), at);
  builder_.CreateStore(slot.weight, builder_.CreateGEP(builder_.getFloatTy(), at, i64(kGroup)));
  return nullptr;
}

/// 32 bytes for each pixel of the group: bytes of sixteen weights' high parts and of the low ones (as quads
/// have them), or sixteen words. Weights of one column add up.
llvm::Value* FunctionEmitter::fill_span(const BandSlot& slot) {
  llvm::Type *i8 = builder_.getInt8Ty(), *i16 = builder_.getInt16Ty(), *i32 = builder_.getInt32Ty();
  Value* weight = builder_.CreateSelect(slot.real, slot.weight, builder_.getInt32(0));
  Value* pixel = builder_.CreateGEP(i8, slot.step, builder_.CreateShl(slot.lane, i64(5)));
  if (!target_.vnni_vbmi()) {
    Value* at = builder_.CreateGEP(i16, pixel, slot.tap);
    weight = builder_.CreateAdd(weight, builder_.CreateSExt(builder_.CreateLoad(i16, at), i32));
    Value* held = builder_.CreateTrunc(weight, i16);
    builder_.CreateStore(held, at);
    return builder_.CreateICmpEQ(builder_.CreateSExt(held, i32), weight);
  }
  Value* at = builder_.CreateGEP(i8, pixel, slot.tap);
  Value* behind = builder_.CreateGEP(i8, at, i64(16));
  const auto kept = [&](Value* from) { return builder_.CreateSExt(builder_.CreateLoad(i8, from), i32); };
  weight = builder_.CreateAdd(weight, builder_.CreateShl(kept(at), builder_.getInt32(8)));
  weight = builder_.CreateAdd(weight, kept(behind));
  Value* low = builder_.CreateTrunc(weight, i8);
  Value* high =
      builder_.CreateAShr(builder_.CreateSub(weight, builder_.CreateSExt(low, i32)), builder_.getInt32(8));
  builder_.CreateStore(builder_.CreateTrunc(high, i8), at);
  builder_.CreateStore(low, behind);
  return builder_.CreateICmpEQ(builder_.CreateSExt(builder_.CreateTrunc(high, i8), i32), high);
}

/// No weights yet for a pixel of the group.
void FunctionEmitter::clear_spans(const PreparedLayout& layout, Value* group, Value* pixel) {
  llvm::Type *i8 = builder_.getInt8Ty(), *half = vector_of(i8, 16);
  Value* lane = builder_.CreateShl(builder_.CreateAnd(pixel, i64(kGroup - 1)), i64(5));
  counted_loop(i64(0), layout.steps, [&](Value* step) {
    Value* at = builder_.CreateAdd(builder_.CreateMul(step, i64(kSpans.step_bytes)), lane);
    for (const int64_t offset : {0, 16})
      builder_.CreateAlignedStore(llvm::Constant::getNullValue(half),
                                  builder_.CreateGEP(i8, group, builder_.CreateAdd(at, i64(offset))),
                                  llvm::Align(16));
  });
}

}  // namespace galatea::codegen
