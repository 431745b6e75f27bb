// What is legal in a graph, as listed at the head of ir/graph.h.
//
// Comes in: a graph. Goes out: the first rule that it breaks, in the words of its text (printer.h). That is a
// bug of ours (ErrorKind::kInternal), unless the graph was read from text.
#pragma once

#include "compiler/ir/graph.h"

namespace galatea::ir {

Status verify(const Graph& graph);
/// The same without asking every operator's type rule again, which is nearly all of the work.
Status verify_form(const Graph& graph);

}  // namespace galatea::ir
