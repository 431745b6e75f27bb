// A few operators of every kind, small enough to be read at one glance, so that tests of the graph do not
// depend on the library.
#pragma once

#include "compiler/op/operator.h"

namespace galatea::testing {

/// `files` (source), `decode` (native, takes a region), `constant`, `add`, `mul`, `less`, `convert`,
/// `uniform` (draws), `shapes`, `crop` and `flip` (views), `brighten` (map), `blur` (window), `resize` (bands
/// with tables), `random_zoom` (draws its own region), `mean` (reduce), `gather`, `permute_batch` (of the
/// batch).
const op::Registry& sample_registry();

}  // namespace galatea::testing
