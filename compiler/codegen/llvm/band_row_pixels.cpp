// BandRow over f32 pixels of two to four channels, on every target: a pixel's channels are the lanes.
//
// One load and one fma a tap and pixel, in tap order; the load's last lanes may hold the next pixel or the
// padding of the row's buffer, and are dropped. Four pixels go side by side, since a pixel's sum is one chain
// of fmas. Where all their taps lie within the row, positions need no bounds.
//
// Serves rows whose taps lie too far apart for windows (band_row_floats.cpp), and targets without them. Off,
// so that channels are summed one by one, `resize eighth` of floats takes 1.5 times as long at 224 x 224 and 2.1
// times at 1080p (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int kTogether = 4;  ///< pixels

}  // namespace

bool FunctionEmitter::sums_whole_pixels(const kernel::BandTables& tables) {
  return tables.source_type == DType::kF32 && !tables.integer && tables.channels >= 2 && tables.channels <= 4;
}

void FunctionEmitter::emit_pixels_row(const kernel::BandRow& row) {
  const kernel::BandTables& t = row.tables;
  llvm::Type *i32 = builder_.getInt32Ty(), *i64_type = builder_.getInt64Ty(), *f32 = builder_.getFloatTy();
  llvm::Type* pixel = vector_of(f32, t.channels == 2 ? 2 : 4);
  memo_.clear();
  Value *width = emit(t.width), *taps = emit(t.taps), *stride = emit(t.taps_stride);
  Value *last_column = builder_.CreateSub(emit(t.src_width), i64(1)), *step = emit(row.src_step);
  Value* source = builder_.CreateGEP(f32, buffers_[static_cast<size_t>(row.src)], emit(row.src_offset));
  const BandTarget target = band_target(row);

  struct Pixel {
    Value *x, *first, *weights;
  };
  const auto sums = [&](const std::vector<Pixel>& pixels, bool within) {
    std::vector<Value*> out(kTogether, llvm::Constant::getNullValue(pixel));
    sum_steps(taps, 0, out, [&](Value* tap, std::vector<Value*>& now) {
      for (size_t i = 0; i < now.size(); ++i) {
        Value* column = builder_.CreateAdd(pixels[i].first, tap);
        if (!within) column = bounded(column, last_column);
        // Not tagged: the end may lie in the padding.
        Value* taken = builder_.CreateAlignedLoad(
            pixel, builder_.CreateGEP(f32, source, builder_.CreateMul(column, step)), llvm::Align(4));
        Value* weight = tag(
            builder_.CreateAlignedLoad(f32, builder_.CreateGEP(f32, pixels[i].weights, tap), llvm::Align(4)),
            t.weights);
        Value* weights =
            builder_.CreateVectorSplat(llvm::cast<llvm::FixedVectorType>(pixel)->getNumElements(), weight);
        now[i] = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {pixel}, {weights, taken, now[i]});
      }
    });
    return out;
  };

  counted_loop(
      i64(0), width,
      [&](Value* x) {
        std::vector<Pixel> pixels;
        Value* all_within = builder_.getTrue();
        for (int i = 0; i < kTogether; ++i) {
          // Behind the row's end its last pixel, made again.
          Value* here = bounded(builder_.CreateAdd(x, i64(i)), builder_.CreateSub(width, i64(1)));
          Value* at = builder_.CreateGEP(i32, buffers_[static_cast<size_t>(t.first)], here);
          Value* first = builder_.CreateSExt(
              tag(builder_.CreateAlignedLoad(i32, at, llvm::Align(4)), t.first), i64_type);
          Value* last = builder_.CreateSub(builder_.CreateAdd(first, taps), i64(1));
          all_within =
              builder_.CreateAnd(all_within, builder_.CreateAnd(builder_.CreateICmpSGE(first, i64(0)),
                                                                builder_.CreateICmpSLE(last, last_column)));
          Value* weights = builder_.CreateGEP(f32, buffers_[static_cast<size_t>(t.weights)],
                                              builder_.CreateMul(here, stride));
          pixels.push_back({here, first, weights});
        }
        auto* within = llvm::BasicBlock::Create(context_, "pixels.within", function_);
        auto* at_edge = llvm::BasicBlock::Create(context_, "pixels.at_edge", function_);
        auto* after = llvm::BasicBlock::Create(context_, "pixels.after", function_);
        builder_.CreateCondBr(all_within, within, at_edge);
        builder_.SetInsertPoint(within);
        const std::vector<Value*> inner = sums(pixels, true);
        within = builder_.GetInsertBlock();
        builder_.CreateBr(after);
        builder_.SetInsertPoint(at_edge);
        const std::vector<Value*> edge = sums(pixels, false);
        at_edge = builder_.GetInsertBlock();
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
        std::vector<Value*> sum;
        for (size_t i = 0; i < pixels.size(); ++i) {
          auto* either = builder_.CreatePHI(pixel, 2);
          either->addIncoming(inner[i], within);
          either->addIncoming(edge[i], at_edge);
          sum.push_back(either);
        }
        for (size_t i = 0; i < pixels.size(); ++i)
          for (int c = 0; c < t.channels; ++c)
            store_group(row, target, pixels[i].x, static_cast<size_t>(c),
                        builder_.CreateExtractElement(sum[i], static_cast<uint64_t>(c)), nullptr);
      },
      kTogether);
}

}  // namespace galatea::codegen
