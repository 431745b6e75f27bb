// BandRow: one row of a horizontal band over interleaved pixels.
//
// With VNNI and VBMI, u8 rows go through byte permutes (band_row_vnni.cpp), on other x86 through byte
// shuffles (band_row_pairs.cpp), and where neighbouring pixels lie too far apart for either, span by span
// (band_row_spans.cpp); with AVX-512, f32 rows go through permutes of two registers (band_row_floats.cpp).
// These forms read columns from planes, into which band_planes.cpp takes a row apart (spans with VNNI do
// not), and tables that band_tables.cpp fills once a call. Otherwise as many output pixels as there are
// 32-bit lanes are a vector: per tap, one 32-bit gather fetches all channels of a u8 pixel; wider elements
// are gathered one by one. Sums are exact integers, or f32 fma in tap order, as BandRow's meaning says.
//
// `prepared`, 64-byte aligned:
//   i32 header[16]: [0] whether windows suffice for all groups and weights (0: no; floats: 1 with a window
//   for each tap, 2 with one for all; bytes: 1 with windows, 2 with spans), [1] first source column needed,
//   [2] one past the last; i32 base[]: per pixels that share a window its first column (floats: the first
//   pixel's, which may lie outside), padded to 64 bytes; per group of 16 pixels and step of taps the step's
//   tables; channels planes of the current row, each src_width + 128 elements, rounded up to 64 bytes
//
// Off, so that every row takes a gather a tap, `resize half` of bytes takes 4.2 times as long at 224 x 224
// and 4.1 times at 1080p (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

using kernel::Expr;

namespace {

constexpr int64_t kHeaderBytes = 64;
constexpr int64_t kPlanePadding = 128;

}  // namespace

/// The hand-made form that the target has for such rows, or null.
const FunctionEmitter::BandForm* FunctionEmitter::form_of(const kernel::BandTables& tables) const {
  if (!target_.is_x86() || tables.prepared < 0 || tables.channels < 1 || tables.channels > 4) return nullptr;
  if (tables.integer && tables.source_type == DType::kU8) return target_.vnni_vbmi() ? &kQuads : &kPairs;
  if (!tables.integer && tables.source_type == DType::kF32 && target_.avx512()) return &kFloats;
  return nullptr;
}

FunctionEmitter::PreparedLayout FunctionEmitter::prepared_layout(const kernel::BandTables& tables,
                                                                 const BandForm& form) {
  PreparedLayout out;
  const auto advance = [&](Value* start, Value* bytes) {
    return builder_.CreateGEP(builder_.getInt8Ty(), start, bytes);
  };
  const auto whole_lines = [&](Value* bytes) {
    return builder_.CreateAnd(builder_.CreateAdd(bytes, i64(63)), i64(-64));
  };
  out.start = buffers_[static_cast<size_t>(tables.prepared)];
  memo_.clear();
  out.width = emit(tables.width);
  out.taps = emit(tables.taps);
  out.src_width = emit(tables.src_width);
  memo_.clear();
  out.groups = builder_.CreateLShr(builder_.CreateAdd(out.width, i64(kGroup - 1)), i64(4));
  const int64_t taps = int64_t{1} << form.log_taps;
  out.steps = builder_.CreateLShr(builder_.CreateAdd(out.taps, i64(taps - 1)), i64(form.log_taps));
  out.base = advance(out.start, i64(kHeaderBytes));
  // An i32 for all pixels that share a window.
  out.tables = advance(out.base, whole_lines(builder_.CreateShl(out.groups, i64(2 + 4 - form.log_pixels))));
  out.group_bytes = builder_.CreateMul(out.steps, i64(form.step_bytes));
  out.planes = advance(out.tables, builder_.CreateMul(out.groups, out.group_bytes));
  out.plane_bytes = whole_lines(
      builder_.CreateShl(builder_.CreateAdd(out.src_width, i64(kPlanePadding)), i64(form.log_bytes)));
  return out;
}

llvm::Value* FunctionEmitter::prepared_header(const PreparedLayout& layout, int number) {
  return builder_.CreateGEP(builder_.getInt32Ty(), layout.start, i64(number));
}

/// The column that a position outside of the row stands for.
llvm::Value* FunctionEmitter::column(const PreparedLayout& layout, Value* position) {
  return bounded(position, builder_.CreateSub(layout.src_width, i64(1)));
}

/// min(number, last), at least 0.
llvm::Value* FunctionEmitter::bounded(Value* number, Value* last) {
  Value* low = builder_.CreateSelect(builder_.CreateICmpSLT(number, last), number, last);
  return builder_.CreateSelect(builder_.CreateICmpSGT(low, i64(0)), low, i64(0));
}

void FunctionEmitter::emit_band_prepare(const kernel::BandPrepare& prepare) {
  const BandForm* form = form_of(prepare.tables);
  if (!form) return;
  emit_band_tables(prepare.tables, *form);
  if (form == &kFloats) return;
  auto* start = buffers_[static_cast<size_t>(prepare.tables.prepared)];
  Value* fits = builder_.CreateIsNotNull(builder_.CreateLoad(builder_.getInt32Ty(), start));
  auto* spans = llvm::BasicBlock::Create(context_, "tables.spans", function_);
  auto* after = llvm::BasicBlock::Create(context_, "tables.after", function_);
  builder_.CreateCondBr(fits, after, spans);
  builder_.SetInsertPoint(spans);
  emit_band_tables(prepare.tables, kSpans);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  memo_.clear();
}

void FunctionEmitter::emit_band_row(const kernel::BandRow& row) {
  const BandForm* form = form_of(row.tables);
  if (!form) return emit_plain_row(row);
  const PreparedLayout p = prepared_layout(row.tables, *form);
  memo_.clear();
  Value* dense = builder_.CreateICmpEQ(emit(row.src_step), i64(row.tables.channels));
  Value* fits = builder_.CreateLoad(builder_.getInt32Ty(), prepared_header(p, 0));
  Value* fast = builder_.CreateAnd(dense, builder_.CreateICmpNE(fits, builder_.getInt32(0)));
  auto* fast_block = llvm::BasicBlock::Create(context_, "row.windows", function_);
  auto* plain_block = llvm::BasicBlock::Create(context_, "row.plain", function_);
  auto* after = llvm::BasicBlock::Create(context_, "row.after", function_);
  builder_.CreateCondBr(fast, fast_block, plain_block);
  builder_.SetInsertPoint(plain_block);
  memo_.clear();
  emit_plain_row(row);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(fast_block);
  memo_.clear();
  if (form == &kFloats) {
    emit_float_row(row, p);
  } else {
    auto* windows_block = llvm::BasicBlock::Create(context_, "row.together", function_);
    auto* spans_block = llvm::BasicBlock::Create(context_, "row.spans", function_);
    builder_.CreateCondBr(builder_.CreateICmpEQ(fits, builder_.getInt32(static_cast<uint32_t>(kSpans.held))),
                          spans_block, windows_block);
    builder_.SetInsertPoint(spans_block);
    emit_spans_row(row, prepared_layout(row.tables, kSpans));
    builder_.CreateBr(after);
    builder_.SetInsertPoint(windows_block);
    memo_.clear();
    if (form == &kQuads)
      emit_vnni_row(row, p);
    else
      emit_pairs_row(row, p);
  }
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  memo_.clear();
}

/// Copies of code for known numbers of steps, and one for any (0).
void FunctionEmitter::switch_steps(Value* steps, const std::vector<int64_t>& known,
                                   const std::function<void(int64_t)>& emit) {
  auto* any = llvm::BasicBlock::Create(context_, "steps.any", function_);
  auto* after = llvm::BasicBlock::Create(context_, "steps.after", function_);
  llvm::SwitchInst* choice = builder_.CreateSwitch(steps, any, static_cast<unsigned>(known.size()));
  const auto copy = [&](llvm::BasicBlock* block, int64_t number) {
    builder_.SetInsertPoint(block);
    emit(number);
    builder_.CreateBr(after);
  };
  for (const int64_t number : known) {
    auto* block = llvm::BasicBlock::Create(context_, "steps", function_);
    choice->addCase(builder_.getInt64(static_cast<uint64_t>(number)), block);
    copy(block, number);
  }
  copy(any, 0);
  builder_.SetInsertPoint(after);
}

/// sums after `add` of steps 0, 1, …: unrolled where their number is known (not 0), else in a loop.
void FunctionEmitter::sum_steps(Value* steps, int64_t known, std::vector<Value*>& sums,
                                const std::function<void(Value*, std::vector<Value*>&)>& add) {
  for (int64_t step = 0; step < known; ++step) add(i64(step), sums);
  if (known > 0) return;
  std::vector<llvm::AllocaInst*> kept;
  for (Value* sum : sums) {
    kept.push_back(allocate_var(sum->getType(), "sum"));
    builder_.CreateStore(sum, kept.back());
  }
  const auto reload = [&] {
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = builder_.CreateLoad(kept[i]->getAllocatedType(), kept[i]);
  };
  counted_loop(i64(0), steps, [&](Value* step) {
    reload();
    add(step, sums);
    for (size_t i = 0; i < sums.size(); ++i) builder_.CreateStore(sums[i], kept[i]);
  });
  reload();
}

FunctionEmitter::BandTarget FunctionEmitter::band_target(const kernel::BandRow& row) {
  memo_.clear();
  Value* start =
      builder_.CreateGEP(builder_.getFloatTy(), buffers_[static_cast<size_t>(row.dst)], emit(row.dst_offset));
  Value* plane = emit(row.dst_plane);
  memo_.clear();
  return {start, plane};
}

/// Stores sums of pixels from `x` on, times the row's factor; a null mask: all of them.
void FunctionEmitter::store_group(const kernel::BandRow& row, const BandTarget& target, Value* x,
                                  size_t channel, Value* value, Value* mask) {
  if (row.scale != 1.0F)
    value =
        builder_.CreateFMul(value, llvm::ConstantFP::get(value->getType(), static_cast<double>(row.scale)));
  Value* at = builder_.CreateAdd(builder_.CreateMul(target.plane, i64(static_cast<int64_t>(channel))), x);
  Value* to = builder_.CreateGEP(builder_.getFloatTy(), target.start, at);
  tag(mask ? builder_.CreateMaskedStore(value, to, llvm::Align(4), mask)
           : static_cast<llvm::Instruction*>(builder_.CreateAlignedStore(value, to, llvm::Align(4))),
      row.dst);
}

void FunctionEmitter::emit_plain_row(const kernel::BandRow& row) {
  if (sums_whole_pixels(row.tables)) return emit_pixels_row(row);
  std::vector<DType> types = kernel_.var_types;
  kernel::Block block = row.tables.source_type == DType::kU8 && row.tables.channels >= 2 &&
                                row.tables.channels <= 4 && row.tables.integer
                            ? gathered_row(row, types)
                            : kernel::expand_band_row(row, types);
  vars_.resize(types.size());
  varying_.resize(types.size(), false);
  emit_block(block);
}

/// expand_band_row() with pixels as lanes, and a pixel's channels fetched as one word. A word at a row's last
/// pixel may hold bytes of the next row or of the padding; they are shifted out.
kernel::Block FunctionEmitter::gathered_row(const kernel::BandRow& row, std::vector<DType>& types) {
  using namespace kernel;
  const BandTables& t = row.tables;
  auto new_var = [&](DType type) {
    types.push_back(type);
    return static_cast<int>(types.size()) - 1;
  };
  int i = new_var(DType::kI64), first = new_var(DType::kI64), k = new_var(DType::kI64),
      word = new_var(DType::kU32), weight = new_var(DType::kI32);
  Expr vi = var(i, DType::kI64), vk = var(k, DType::kI64);
  Block pixel;
  pixel.push_back({Let{first, convert(load_flat(t.first, DType::kI32, vi), DType::kI64)}, {}});
  std::vector<int> sums;
  for (int c = 0; c < t.channels; ++c) {
    sums.push_back(new_var(DType::kI32));
    pixel.push_back({Declare{sums.back(), const_int(0, DType::kI32)}, {}});
  }
  Expr inside = max(min(var(first, DType::kI64) + vk, t.src_width - const_int(1)), const_int(0));
  Block tap;
  tap.push_back({Let{weight, load_flat(t.weights, DType::kI32, vi * t.taps_stride + vk)}, {}});
  // The word load: a leaf of ours, marked by its type; emit_load() gathers u32 from a u8 buffer.
  tap.push_back({Let{word, load_flat(row.src, DType::kU32, row.src_offset + inside * row.src_step)}, {}});
  for (int c = 0; c < t.channels; ++c) {
    Expr byte =
        binary(ScalarOp::kAnd, binary(ScalarOp::kShr, var(word, DType::kU32), const_int(8 * c, DType::kU32)),
               const_int(255, DType::kU32));
    Expr sum = var(sums[static_cast<size_t>(c)], DType::kI32);
    tap.push_back(
        {Assign{sums[static_cast<size_t>(c)], sum + var(weight, DType::kI32) * convert(byte, DType::kI32)},
         {}});
  }
  pixel.push_back({For{k, const_int(0), t.taps, LoopRole::kSerial, 1, 1, std::move(tap)}, {}});
  for (int c = 0; c < t.channels; ++c) {
    Expr value = convert(var(sums[static_cast<size_t>(c)], DType::kI32), DType::kF32);
    if (row.scale != 1.0F) value = value * const_float(static_cast<double>(row.scale));
    pixel.push_back({Store{row.dst, row.dst_offset + const_int(c) * row.dst_plane + vi, value, false}, {}});
  }
  Block out;
  out.push_back(
      {For{i, const_int(0), t.width, LoopRole::kVector, target_.vector_bits() / 32, 1, std::move(pixel)},
       {}});
  return out;
}

}  // namespace galatea::codegen
