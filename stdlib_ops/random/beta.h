// random.beta: see beta.cpp.
#pragma once

#include "compiler/op/operator.h"

namespace galatea::ops {

op::Operator make_random_beta();

}  // namespace galatea::ops
