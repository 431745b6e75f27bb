// The explicit list of operators (a static library would drop static initialisers silently).
//
// Comes in: an empty registry. Goes out: the registry with every operator of galatea.
#pragma once

#include "compiler/op/operator.h"

namespace galatea::ops {

void register_all(op::Registry& registry);

}  // namespace galatea::ops
