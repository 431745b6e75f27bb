// Loops: the lowered form of a kernel, and the only input of both code generators.
//
// Comes in: a Kernel and its Schedule. Goes out: buffers and a tree of statements over scalar expressions in
// which kVar, kParam and kLoadFlat are the only leaves besides constants. Printed (explain --emit=loops),
// interpreted, emitted as LLVM IR and as CUDA C++.
//
// Semantics
// - For: runs body for var = begin, begin+1, … end-1.
//   kSerial: in order. kVector: iterations are independent; a code generator runs `lanes` of them at once,
//   the tail masked. kGrid: iterations are independent; a GPU spreads them over its threads, a CPU runs them
//   in order. kTile: iterations are independent, and what they leave in shared memory nobody reads; a GPU
//   spreads them over the blocks of a call. A statement may be preceded by others inside one body.
// - Let defines an immutable variable for the rest of its body; Declare a mutable one; Assign changes it.
//   Inside a kVector loop, variables are per lane.
// - Store writes buffer[offset] = value (value has the buffer's type); with `add`, buffer[offset] is combined
//   with the value by `combiner` (sums wrap): iterations of a kGrid loop may do so to one element (an atomic
//   operation on a GPU), and a kVector loop holds none. With `warp`, the 32 iterations from each multiple of
//   32 on name one element (the loop has whole thirty-twos, from 0): a warp combines their values by
//   shuffles, and one of its threads adds. LoadFlat reads. Offsets count elements.
// - If: the condition is the same for all lanes (it does not depend on a kVector variable). A shortcut is
//   different: wherever its condition holds, both bodies do the same, and then_body is quicker. Its condition
//   may differ between lanes; a code generator runs then_body if it holds in every lane, else else_body in
//   all.
// - Phase: on a GPU, a barrier for the threads of the sample stands between top-level phases; in order
//   elsewhere. The iterations of a `spread` one may be shared by all blocks of a call, like tiles; any other
//   is one block's. Phases inside a kTile loop are for the threads of the block that has the tile; they may
//   stand in serial loops and conditions, which are the same for all of these threads.
// - BandRow: one row of a horizontal band over interleaved pixels, the shape worth hand-made vectors:
//     for c in 0..channels, i in 0..width:
//       dst[dst_offset + c*dst_plane + i] =
//           f32( Σ_{k=0}^{taps-1} weights[i*taps_stride + k]
//                                 * src[src_offset + clamp(first[i] + k, 0, src_width-1)*src_step + c] )
//           [* scale]
//   with i32 sums when the weights are i32 (result converted to f32, then multiplied by `scale`, an exact
//   power of two), else f32 fma in tap order. src is u8 (i32 weights) or f32/i16/u16 (f32 weights).
//   `prepared` is scratch for tables that an emitter derives from first/weights once per call: BandPrepare
//   stands before the row loop. Emitters without a special form use expand_band_row().
//
// Forms that emitters may count on
// - Offsets are i64 in the form `((uniform + vector_var * scale) + constant)`: terms that do not depend on
//   the kVector variable come first (hoisted into a Let outside where they can be), then the variable (times a
//   constant where its stride is known: 1, or the number of channels), then an integer constant; so
//   neighbouring channels of a pixel are loads or stores that differ in the constant only.
//   match_vector_offset() takes them apart.
// - A body of a kVector loop holds Let, Declare, Assign, Store, If with a uniform condition, and kSerial For
//   with uniform bounds. kVector and kGrid loops do not nest.
// - Loads are safe in every lane below `end` (borders clamp first and select afterwards); masked-off lanes
//   load at most kBufferPadding bytes past the end of a row of the buffer, so they need a mask only for
//   tensors that the host lends.
// - With ScheduleOptions::gpu the body is Lets, Phases and kTile loops; a Phase holds Lets and kGrid loops
//   only (no kVector, BandPrepare, BandRow).
// - Input and output tensors have non-null data even when empty (and kBufferPadding bytes after them).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/kernel/kernel.h"

namespace galatea::kernel {

enum class BufferKind : uint8_t { kInput, kOutput, kScratch, kShared };

/// Memory that each block of a GPU has for the tile that it works on, where LoopKernel::block_bytes is no
/// more; else kSpilledTiles blocks have block_bytes each, in the only scratch buffer of a kernel made in tiles.
/// That one is empty in calls of small numbers whose tiles fit (small_indices.h).
/// Buffers of kind kShared are views of all of it: who stores what where, offsets say.
inline constexpr int64_t kSharedBytes = 32768;
inline constexpr int64_t kSpilledTiles = 8;
/// Neighbouring threads of a GPU that run together, and hand values to each other.
inline constexpr int64_t kWarp = 32;
/// Spread phases and kTile loops of one kernel, at most, where there are other phases.
inline constexpr int kMostSpread = 15;

struct LoopBuffer {
  std::string name;
  BufferKind kind = BufferKind::kScratch;
  DType type = DType::kF32;
  int tensor = -1;  ///< number in KernelCall::tensors for inputs and outputs
  Expr elements;    ///< scratch: size, over kParam only; dense inputs of known extents: how many; else empty
};

enum class LoopRole : uint8_t { kSerial, kVector, kGrid, kTile };

struct Statement;
using Block = std::vector<Statement>;

struct For {
  int var = 0;
  Expr begin, end;
  LoopRole role = LoopRole::kSerial;
  int lanes = 1;  ///< kVector
  int unroll = 1;
  Block body;
};
struct Let {
  int var = 0;
  Expr value;
};
struct Declare {
  int var = 0;
  Expr init;
};
struct Assign {
  int var = 0;
  Expr value;
};
struct Store {
  int buffer = 0;
  Expr offset, value;
  bool streaming = false;
  bool add = false;
  Combiner combiner = Combiner::kSum;
  bool warp = false;
};
struct If {
  Expr condition;
  Block then_body, else_body;
  bool shortcut =
      false;  ///< else_body would do as well, then_body is quicker; lanes may differ in the condition
};
struct Phase {
  std::string name;
  Block body;
  bool spread = false;
};
/// Tables of one band, made once per call; see the head of this file.
struct BandTables {
  int first = -1, weights = -1;   ///< buffers: i32 first[width]; i32 or f32 weights[width * taps_stride]
  Expr taps, taps_stride, width;  ///< over kParam only
  Expr src_width;                 ///< pixels of a source row, over kParam only
  int channels = 3;
  bool integer = true;
  DType source_type = DType::kU8;
  int prepared = -1;  ///< u8 scratch of prepared_bytes(tables) bytes
};
struct BandPrepare {
  BandTables tables;
};
struct BandRow {
  BandTables tables;
  int src = 0;
  Expr src_offset,
      src_step;  ///< src_step: elements between neighbouring pixels; the row has tables.src_width pixels
  int dst = 0;
  Expr dst_offset, dst_plane;
  float scale = 1.0F;
};

struct Statement {
  std::variant<For, Let, Declare, Assign, Store, If, Phase, BandPrepare, BandRow> node;
  Span span;
};

struct LoopKernel {
  std::string name;
  std::vector<KernelParam> params;
  std::vector<LoopBuffer> buffers;
  std::vector<DType> var_types;
  /// Strides of tensors are variables defined on entry: stride_vars[tensor][axis] (or -1 where known to be
  /// implied by density).
  std::vector<std::vector<int>> stride_vars;
  Expr block_bytes;  ///< over kParam: what kTile loops' phases need in shared memory; empty: no such loop
  Block body;
};

/// Bytes of shared memory of a block that runs it: what it needs where that is known and little, else
/// kSharedBytes; 0: it has no tiles.
int64_t block_memory(const LoopKernel& kernel);
std::string to_text(const LoopKernel& kernel);
Status verify(const LoopKernel& kernel);
/// Bytes of `prepared` as an expression over params; enough for every emitter (see
/// codegen/llvm/band_tables.h).
Expr prepared_bytes(const BandTables& tables);
/// The plain meaning of a BandRow as ordinary statements. `next_var` numbers new variables, their types are
/// appended to var_types.
Block expand_band_row(const BandRow& row, std::vector<DType>& var_types);
/// Calls `visit` with every statement, outer before inner.
void for_each_statement(const Block& block, const std::function<void(const Statement&)>& visit);
/// Calls `visit` with every expression that the statement itself holds (not those of nested statements).
void for_each_expr(const Statement& statement, const std::function<void(const Expr&)>& visit);
/// Whether variable `index` occurs.
bool uses_var(const Expr& e, int index);
/// offset = uniform + scale * var + constant, where `uniform` (may be empty: 0) and `scale` do not contain
/// the variable.
struct VectorOffset {
  Expr uniform, scale;  ///< scale is empty where the variable does not occur
  int64_t constant = 0;
};
/// Takes an offset apart; false if the variable occurs in any other way (a gather). Variables named in
/// `varying` (those that differ between lanes) must not occur in `uniform` or `scale`.
bool match_vector_offset(const Expr& offset, int variable, const std::vector<bool>& varying,
                         VectorOffset* out);
/// Scratch bytes (each buffer padded and aligned as kernel_abi.h says) over kParam only, and each buffer's
/// byte offset. Where the only buffer is empty, there are none: whoever is called sees which calls these are.
struct ScratchLayout {
  std::vector<Expr> offsets;  ///< per buffer; empty for inputs and outputs
  Expr bytes;
};
ScratchLayout layout_scratch(const LoopKernel& kernel);

}  // namespace galatea::kernel
