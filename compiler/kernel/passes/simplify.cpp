// simplify: see passes.h; the rewrites stand in simplify_expr.cpp.
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/simplify_expr.h"
#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {

void simplify(Kernel& kernel) {
  for (Stage& stage : kernel.stages)
    for (Expr* part : element_parts(stage))
      if (*part) *part = simplified(*part);
}

}  // namespace galatea::kernel
