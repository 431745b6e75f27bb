// The makers of the operators of fn.transforms.
#pragma once

#include "compiler/op/operator.h"

namespace galatea::ops {

op::Operator make_transforms_translation();
op::Operator make_transforms_scale();
op::Operator make_transforms_rotation();
op::Operator make_transforms_shear();
op::Operator make_transforms_crop();
op::Operator make_transforms_combine();

}  // namespace galatea::ops
