// Loops for three channels beside loops for any number; see lower_channels.cpp.
#pragma once

#include "compiler/kernel/kernel.h"

namespace galatea::kernel {

/// The parameter that is the last extent of all images, if loops gain by knowing it; else -1.
int unknown_channels(const Kernel& kernel);
/// The same kernel where the parameter is three.
Kernel with_three_channels(const Kernel& kernel, int parameter);
/// Whether it is.
Expr has_three_channels(int parameter);

}  // namespace galatea::kernel
