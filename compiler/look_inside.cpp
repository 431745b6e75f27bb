#include "compiler/look_inside.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "compiler/op/name_for_people.h"
#include "compiler/op/schema.h"
#include "compiler/passes/graph_edits.h"

namespace galatea {
namespace {

bool is_picture(const ir::Type& type) {
  if (type.layout.empty()) return type.ndim == 3 && type.dtype == DType::kU8;
  const bool has_frames = type.layout.find('F') == 0;
  return type.layout.find('H') >= 0 && type.layout.find('W') >= 0 && type.ndim <= (has_frames ? 4 : 3);
}

/// Waveforms, of which decoders say no layout: numbers whose count, and channels, only the run tells.
bool is_sound(const ir::Type& type) {
  if (type.dtype != DType::kF32 && type.dtype != DType::kI16) return false;
  if (!type.layout.empty()) return type.layout.find('T') == 0 || type.layout.find('t') == 0;
  const bool is_open = std::all_of(type.extents.begin(), type.extents.end(), [](int64_t e) { return e < 0; });
  return is_open && (type.ndim == 1 || type.ndim == 2);
}

bool is_spectrogram(const ir::Type& type) {
  return type.ndim == 2 && type.layout.find('f') >= 0 && type.layout.find('t') >= 0;
}

/// The node that made a value: not the one that hands it on as one output of a call that several nodes stand for.
const ir::Node* maker_of(const ir::Graph& graph, ir::ValueId id) {
  const ir::Node* node = graph.defining_node(id);
  while (node != nullptr && node->op != nullptr && node->op->internal && node->outputs.size() > 1 &&
         node->outputs.size() == node->inputs.size()) {
    const auto place = std::ranges::find(node->outputs, id) - node->outputs.begin();
    id = node->inputs[static_cast<size_t>(place)];
    node = graph.defining_node(id);
  }
  return node;
}

bool can_be_drawn(const ir::Type& type) { return is_picture(type) || is_sound(type) || is_spectrogram(type); }

}  // namespace

void add_nodes_as_outputs(ir::Graph& graph, const SourceMap& sources) {
  const ir::BlockId exit = graph.exit_block();
  ir::Terminator& end = graph.blocks[exit].terminator;
  std::vector<ir::ValueId> results;
  std::vector<std::string> names;
  for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
    const ir::Value& value = graph.value(id);
    const ir::Node* node = graph.defining_node(id);
    if (node != nullptr && (node->op == nullptr || node->span.file == 0)) continue;
    const ir::BlockId block = node != nullptr ? node->block : value.block;
    if (value.variable.empty() || !can_be_drawn(value.type) || !graph.dominates(block, exit)) continue;
    if (std::find(end.results.begin(), end.results.end(), id) != end.results.end()) continue;
    std::string name = value.variable;
    if (node != nullptr) {
      const Span place = sources.resolve(node->span);
      const SourceFile* file = sources.file(place.file);
      const ir::Node* maker = maker_of(graph, id);
      name += fmt::format(
          " = {}, line {}",
          op::name_for_people(op::shown_name(maker != nullptr && maker->op != nullptr ? *maker : *node)),
          file ? file->position(place.begin).line : 0);
    }
    results.push_back(id);
    names.push_back(std::move(name));
  }
  // The pipeline's outputs follow; they may lack names.
  graph.output_names.resize(end.results.size());
  results.insert(results.end(), end.results.begin(), end.results.end());
  names.insert(names.end(), graph.output_names.begin(), graph.output_names.end());
  end.results = std::move(results);
  graph.output_names = std::move(names);
}

Carrier::Carrier(ir::Graph& graph, const op::Operator& constant)
    : graph_(graph), builder_(graph), constant_(constant), order_(graph.topological_order()) {}

ir::ValueId Carrier::constant(ir::BlockId block, const ir::Type& type, int64_t number) {
  builder_.set_insertion_block(block);
  op::GraphBuilder::NodeSpec spec;
  spec.op = &constant_;
  spec.args = {{"value", ir::Attr(std::vector<int64_t>{number}), {}},
               {"dtype", ir::Attr(type.dtype), {}},
               {"shape", ir::Attr(type.extents), {}}};
  if (!type.layout.empty()) spec.args.push_back({"layout", ir::Attr(type.layout.str()), {}});
  const Result<ir::NodeId> added = builder_.add_node(std::move(spec));
  GALATEA_CHECK(added.has_value(), "a constant that the operator refuses");
  return graph_.node(*added).outputs[0];
}

ir::ValueId Carrier::at_exit(ir::ValueId value, ir::BlockId block) {
  const ir::Type type = graph_.type(value);
  const ir::ValueId zero = constant(0, type, 0);
  std::vector<ir::ValueId> here(graph_.blocks.size(), zero);
  for (const ir::BlockId b : order_) {
    const std::vector<ir::BlockId>& predecessors = graph_.block(b).predecessors;
    std::vector<ir::ValueId> operands;
    for (const ir::BlockId p : predecessors) operands.push_back(here[p]);
    const bool differ =
        std::adjacent_find(operands.begin(), operands.end(), std::not_equal_to<>()) != operands.end();
    if (b == block)
      here[b] = value;
    else if (!operands.empty())
      here[b] = differ ? builder_.add_merge(b, type, operands, {}) : operands[0];
  }
  return here[graph_.exit_block()];
}

std::vector<ir::BlockId> branches(const ir::Graph& graph) {
  std::vector<ir::BlockId> found;
  for (const ir::BlockId id : graph.topological_order()) {
    const ir::TerminatorKind kind = graph.block(id).terminator.kind;
    if (kind == ir::TerminatorKind::kBranch || kind == ir::TerminatorKind::kSwitch) found.push_back(id);
  }
  return found;
}

std::vector<ir::BlockId> common_branches(const ir::Graph& graph) {
  std::vector<ir::BlockId> found = branches(graph);
  std::erase_if(found, [&, exit = graph.exit_block()](ir::BlockId id) { return !graph.dominates(id, exit); });
  return found;
}

void take_arm(ir::Graph& graph, ir::BlockId block, size_t arm) {
  passes::jump_instead(graph, block, graph.block(block).terminator.targets[arm]);
  passes::remove_unreachable_blocks(graph);
}

void change_draws(ir::Graph& graph, int draw) {
  for (ir::Node& node : graph.nodes) {
    if (node.op == nullptr || !node.op->random || node.op->source) continue;
    node.key ^= static_cast<uint64_t>(draw) * 0x9E3779B97F4A7C15u;
  }
}

}  // namespace galatea
