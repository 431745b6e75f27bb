// Tiles: kernels of several stages whose blocks each make what their part of the output needs.
//
// Comes in: a kernel whose stages are placed. Goes out: for each stage that is kept, how far the indices of
// its readers reach, and how much memory that takes. No operator is named: an index is affine in an axis of
// its reader, or read from a table (the first row of a resize's window), or else the whole axis is needed.
#pragma once

#include <optional>
#include <vector>

#include "compiler/kernel/kernel.h"

namespace galatea::kernel::lowering {

class Lowering;

/// Where an index lies while its reader's axis is in a range: scale * axis + [low, high], or
/// first(axis) + [low, high]. `high` is inclusive.
struct Reach {
  int reader = -1, axis = -1;  ///< axis -1: it does not move
  Expr scale, low, high;       ///< over parameters
  Expr first;                  ///< not empty: in place of scale * axis, over the reader's axis
  Border border = Border::kNone;
  bool inside = false;  ///< no index is outside of what is read, so the border corrects none
};
/// What all readers of one axis of a stage need: a hull of reaches; empty: all of it.
using Reaches = std::vector<Reach>;

struct Tiles {
  int lead = 0;                               ///< an output's stage; all outputs have its extents
  std::vector<int64_t> size;                  ///< per axis of the lead, 0: all of it
  int chunked = -1;                           ///< axis of the lead along which a tile may have to be cut
  std::vector<int> kept;                      ///< stages in a block's memory, in order
  std::vector<std::vector<Reaches>> reaches;  ///< per stage and axis
  std::vector<bool> early;                    ///< per stage: it decides how far others reach
  Expr bytes;  ///< over parameters: enough for a tile, or for one row of it where it is cut
};

/// The bytes of a buffer in a block's memory, as they are laid out there.
Expr tile_bytes(const Expr& elements, DType type);

}  // namespace galatea::kernel::lowering
