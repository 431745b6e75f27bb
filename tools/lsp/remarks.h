// What the compiler does with a text, for people who write it: windows that are decoded, operators that became one
// kernel.
//
// Comes in: an evaluation without errors. Goes out: remarks at lines of the document. Nothing is run.
#pragma once

#include <vector>

#include "tools/lsp/document.h"

namespace galatea::tools::lsp {

/// Made when they are asked for, once an evaluation. None for pipelines so large that the answer would be late.
const std::vector<Remark>& remarks_of(const Evaluation& evaluation, const op::Registry& registry);

}  // namespace galatea::tools::lsp
