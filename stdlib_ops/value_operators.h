// The makers of operators on plain values: colour spaces, padding, erasing, normalisation, one_hot, sums of
// squares.
//
// Comes in: nothing. Goes out: Operator values; register_all.cpp calls the makers beside those of
// operators.h.
#pragma once

#include "compiler/op/operator.h"

namespace galatea::ops {

op::Operator make_color_space_conversion();
op::Operator make_pad();
op::Operator make_erase();
op::Operator make_normalize();
op::Operator make_one_hot();
op::Operator make_reductions_mean_square();
op::Operator make_reductions_rms();
op::Operator make_reductions_variance();
op::Operator make_reductions_std_dev();

}  // namespace galatea::ops
