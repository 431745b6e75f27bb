// Stages cut down to what is read of them.
//
// Comes in: a lowering. Goes out: one of the same meaning in which no stage that reads an input is larger
// than its readers ask for: its axes begin where they begin to read, its extents end where they end. (A
// resize's horizontal stage spans all rows of the image, its vertical stage reads those of a window.) Then a
// stage may be computed whole, by any backend and placement, without touching elements of an input outside of
// region_of(): an image of which only that window was decoded can stand behind the input.
// Tables, which read no input, stay as they are.
#pragma once

#include "compiler/op/recipe.h"

namespace galatea::passes {

op::Lowering narrow_stages(op::Lowering lowering);

}  // namespace galatea::passes
