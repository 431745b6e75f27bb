// The operators of the language (arith.*) and its mathematics (math.*), as tables.
//
// Comes in: nothing. Goes out: their Operator values, for register_all.
#pragma once

#include <vector>

#include "compiler/op/operator.h"

namespace galatea::ops {

std::vector<op::Operator> make_arithmetic();
std::vector<op::Operator> make_math();

}  // namespace galatea::ops
