// The kernel passes, in order.
#pragma once

#include "compiler/kernel/kernel.h"

namespace galatea::kernel {

struct KernelPassOptions {
  bool fuse = true;  ///< false: nothing is inlined or sunk (for comparing)
};

Kernel run_kernel_passes(Kernel kernel, const KernelPassOptions& options);

}  // namespace galatea::kernel
