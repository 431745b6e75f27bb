// narrow_arithmetic: see passes.h; the analysis stands in narrow_integers.cpp.
#include "compiler/kernel/narrow_integers.h"
#include "compiler/kernel/passes/passes.h"

namespace galatea::kernel {

void narrow_arithmetic(Kernel& kernel) { narrow_integers(kernel, {}); }

}  // namespace galatea::kernel
