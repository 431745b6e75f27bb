// Every operator's maker, from operators.def. One operator, one file, but for families that differ in a table
// row.
//
// Comes in: nothing. Goes out: Operator values.
#pragma once

#include <vector>

#include "compiler/op/operator.h"

namespace galatea::ops {

#define GALATEA_OPERATOR(name) op::Operator make_##name();
#define GALATEA_OPERATORS(name) std::vector<op::Operator> make_##name();
#include "stdlib_ops/operators.def"
#undef GALATEA_OPERATORS
#undef GALATEA_OPERATOR

}  // namespace galatea::ops
