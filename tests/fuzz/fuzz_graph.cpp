// The text form of graphs.
//
// Must hold: no crash; what is accepted is legal, prints, and reads back as the same text; the passes leave
// it legal, unless the text claims an extent that no operator derives: that is trusted, true or not.
#include <cstdlib>
#include <string>

#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/reader.h"
#include "compiler/op/schema.h"
#include "compiler/passes/pass_runner.h"
#include "stdlib_ops/register_all.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_graph {
namespace {

bool knows_more(const ir::Type& written, const ir::Type& derived) {
  for (size_t d = 0; d < written.extents.size() && d < derived.extents.size(); ++d)
    if (written.extents[d] >= 0 && derived.extents[d] < 0) return true;
  return false;
}

/// Some extent is known from the text alone.
bool claims_extents(const ir::Graph& graph) {
  for (ir::BlockId b : graph.topological_order()) {
    for (const ir::Merge& merge : graph.block(b).merges)
      for (ir::ValueId operand : merge.operands)
        if (knows_more(graph.type(merge.result), graph.type(operand))) return true;
    for (ir::NodeId id : graph.block(b).nodes) {
      const ir::Node& node = graph.node(id);
      op::GraphBuilder::NodeSpec spec{node.op, node.inputs, node.args,         node.span,
                                      {},      node.key,    node.has_own_seed, node.name};
      const auto derived = op::check_call(graph, spec);
      if (!derived) return true;
      for (size_t k = 0; k < node.outputs.size(); ++k)
        if (knows_more(graph.type(node.outputs[k]), (*derived)[k])) return true;
    }
  }
  return false;
}
}  // namespace

GALATEA_FUZZ_TARGET(graph, 2500)(const uint8_t* data, size_t size) {
  static const op::Registry kRegistry = [] {
    op::Registry all;
    ops::register_all(all);
    return all;
  }();
  if (size > 4096) return;
  SourceMap sources;
  auto graph = ir::read_graph(std::string(reinterpret_cast<const char*>(data), size), sources, kRegistry);
  if (!graph) {
    require(!graph.error().message().empty());
    return;
  }
  std::string text = to_text(*graph);
  auto again = ir::read_graph(text, sources, kRegistry);
  require(again && to_text(*again) == text);
  if (claims_extents(*graph)) return;
  require(passes::run_passes(*graph, kRegistry, {}).has_value());
}

}  // namespace galatea::fuzz::of_graph
