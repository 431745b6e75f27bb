// The order in which pixel functions name the axes of a tensor: y, x, c, whatever the layout.
//
// Comes in: a type. Goes out: the dimensions in that order; nothing where pixel functions cannot read it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace galatea::op {

/// Dimension of the first, second, … index of a read. An image's axes are rows, columns and channels; a
/// tensor of up to three dimensions without image axes (a table, labels) is read in its own order. Three
/// dimensions without a layout are HWC. Nothing for sequences, volumes and more than three dimensions.
std::optional<std::vector<int>> pixel_axes(const ir::Type& type);

/// The layout of an image made by coordinates: `like` decides between HWC and CHW.
Layout pixel_layout(int rank, const ir::Type* like);

/// Coordinates are i32, and f32 holds every one of them.
inline constexpr int64_t kMaxPixelExtent = 1 << 24;

}  // namespace galatea::op
