// Polygons and vertices of some masks: the native functions of fn.segmentation.select_masks.
//
// Of all three, inputs 0 = mask ids (i32 [k]), 1 = polygons (i32 [p, 3]: mask id, first vertex, end).
// masks.count: input 2 = vertices, of which the extent is taken. Results: how many polygons and how
// many vertices are selected (i64).
// masks.polygons: the polygons that are selected, their vertices numbered anew. masks.vertices: these, rows of
// input 2, any type.
#pragma once

#include <vector>

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kMasksCount = "masks.count";
inline constexpr const char* kMasksPolygons = "masks.polygons";
inline constexpr const char* kMasksVertices = "masks.vertices";

std::vector<runtime::NativeFunction> select_masks_functions();

}  // namespace galatea::native
