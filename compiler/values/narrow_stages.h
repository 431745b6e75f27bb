// Stages cut down to what is read of them.
//
// Comes in: a lowering. Goes out: one of the same meaning in which no stage that reads an input is larger
// than its readers ask for: its axes begin where they begin to read, its extents end where they end. (A
// resize's horizontal stage spans all rows of the image, its vertical stage reads those of a window.) Then a
// stage may be computed whole, by any backend and placement, without touching elements of an input outside of
// region_of(): an image of which only that window was decoded can stand behind the input.
// Tables, which read no input, stay as they are.
//
// Of an output a window may be all that is wanted; its stage is then cut down like the others, and the window
// that it holds is told. The output's extents stay those of the whole.
#pragma once

#include <vector>

#include "compiler/op/recipe.h"
#include "compiler/values/demand.h"

namespace galatea::values {

/// `windows`: what is wanted of each output (an empty list: everything). Each wanted window becomes the one
/// that its stage holds: at least as large.
op::Lowering narrow_stages(op::Lowering lowering, std::vector<Window>& windows);
op::Lowering narrow_stages(op::Lowering lowering);

}  // namespace galatea::values
