// `galatea.replay`: one sample again, with its draws as numbers in the text (`galatea trace --replay`), and
// which call of a text made a node, by which it finds draws and readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "compiler/ir/graph.h"
#include "dsl/calls.h"
#include "dsl/value.h"

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

class Evaluator;

class Replay {
 public:
  explicit Replay(Evaluator& evaluator) : ev_(evaluator) {}

  /// `with_draws(call, a, b, …)`: what the call gives, with the numbers in place of what it draws, in order;
  /// None leaves a draw as it is. A call that comes again takes the numbers that follow.
  Value with_draws(const CallArguments& arguments);
  /// `only_sample(call, number, of)`: what the reader gives, reading that sample alone.
  Value only_sample(const CallArguments& arguments);
  /// Another graph begins.
  void forget() { done_.clear(); }

 private:
  /// False after an error.
  bool write_draw(ir::Node& node, const Value& value, Span span);

  /// How far a call of `with_draws` has come.
  struct Done {
    size_t nodes = 0;  ///< of the graph, looked at
    size_t draws = 0;  ///< of the call, met
  };
  Evaluator& ev_;
  std::map<std::pair<uint32_t, uint32_t>, Done> done_;  ///< by where the wrapped call begins
};

}  // namespace galatea::dsl
