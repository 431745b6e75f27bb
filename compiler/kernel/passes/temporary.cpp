#include "compiler/kernel/expand_math.h"
#include "compiler/kernel/passes/passes.h"

namespace galatea::kernel {

Kernel run_kernel_passes(Kernel kernel, const KernelPassOptions&) {
  for (Stage& stage : kernel.stages) {
    for (Expr* e : {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.source, &stage.finish})
      if (*e) *e = expand_math(*e);
  }
  return kernel;
}

}  // namespace galatea::kernel
