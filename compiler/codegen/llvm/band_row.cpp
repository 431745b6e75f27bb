// BandRow: one row of a horizontal band over interleaved pixels.
//
// With VNNI and VBMI, u8 rows go through byte permutes (band_row_vnni.cpp), on other x86 through byte
// shuffles (band_row_pairs.cpp). Otherwise as many output pixels as there are 32-bit lanes are a vector: per
// tap, one 32-bit gather fetches all channels of a u8 pixel; wider elements are gathered one by one. Sums are
// exact integers, or f32 fma in tap order, as BandRow's meaning says.
#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

using kernel::Expr;

namespace {

constexpr int64_t kHeaderBytes = 64;

}  // namespace

/// A header, bases, per group of pixels and step of taps the step's tables, planes of the current row.
FunctionEmitter::PreparedLayout FunctionEmitter::prepared_layout(const kernel::BandTables& tables,
                                                                 const PreparedForm& form) {
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
  out.quads = builder_.CreateLShr(builder_.CreateAdd(out.taps, i64(taps - 1)), i64(form.log_taps));
  out.base = advance(out.start, i64(kHeaderBytes));
  out.tables = advance(out.base, whole_lines(builder_.CreateShl(out.groups, i64(form.log_base_bytes))));
  out.group_bytes = builder_.CreateMul(out.quads, i64(form.step_bytes));
  out.planes = advance(out.tables, builder_.CreateMul(out.groups, out.group_bytes));
  out.plane_bytes = whole_lines(builder_.CreateAdd(out.src_width, i64(128)));
  return out;
}

void FunctionEmitter::emit_band_prepare(const kernel::BandPrepare& prepare) {
  if (has_vnni_form(prepare.tables)) emit_vnni_prepare(prepare.tables);
  if (has_pairs_form(prepare.tables)) emit_pairs_prepare(prepare.tables);
}

void FunctionEmitter::emit_band_row(const kernel::BandRow& row) {
  if (has_vnni_form(row.tables)) {
    emit_vnni_row(row);
    return;
  }
  if (has_pairs_form(row.tables)) {
    emit_pairs_row(row);
    return;
  }
  emit_plain_row(row);
}

void FunctionEmitter::emit_plain_row(const kernel::BandRow& row) {
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
