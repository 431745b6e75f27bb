// Which call of a text made a node: what `galatea.replay` finds draws and readers by, and what writes it.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "compiler/ir/graph.h"

namespace galatea::dsl {

/// The call in `file` that made the node of this span: its own, or the innermost of those that led to it. Not
/// valid: there is none.
inline Span call_in(Span node, const std::vector<CallSite>& calls, uint32_t file) {
  if (node.file == file) return node;
  for (const CallSite& call : calls)
    if (call.span.file == file) return call.span;
  return {};
}

/// Whether `galatea.replay.with_draws` can write what the node draws: one tensor of a size known here.
inline bool is_written_draw(const ir::Graph& graph, const ir::Node& node) {
  constexpr int64_t kMostNumbers = 256;
  if (node.outputs.size() != 1) return false;
  const int64_t volume = graph.type(node.outputs[0]).static_volume();
  return volume > 0 && volume <= kMostNumbers;
}

}  // namespace galatea::dsl
