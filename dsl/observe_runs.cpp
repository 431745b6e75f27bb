// Which augmentations ran on a sample, and with what parameter, as outputs of the pipeline. In: a note of the
// library where one is applied. Out: numbers that are 0 for samples which took another way.
#include <algorithm>

#include "compiler/op/operator.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

using namespace ir;

/// Carries values from the arms in which they were made to the exit.
class Carrier {
 public:
  Carrier(Graph& graph, const op::Registry& registry)
      : graph_(graph), builder_(graph), constant_(registry.find("constant")) {
    GALATEA_CHECK(constant_ != nullptr, "runs are observed with the operator `constant`");
    order_ = graph.topological_order();
  }

  /// A constant of one number at the end of a block.
  ValueId constant(BlockId block, const Type& type, int64_t number) {
    builder_.set_insertion_block(block);
    op::GraphBuilder::NodeSpec spec;
    spec.op = constant_;
    spec.args = {{"value", Attr(std::vector<int64_t>{number}), {}},
                 {"dtype", Attr(type.dtype), {}},
                 {"shape", Attr(type.extents), {}}};
    if (!type.layout.empty()) spec.args.push_back({"layout", Attr(type.layout.str()), {}});
    const Result<NodeId> added = builder_.add_node(std::move(spec));
    GALATEA_CHECK(added.has_value(), "a constant that the operator refuses");
    return graph_.node(*added).outputs[0];
  }

  /// The value at the exit: what `value` is in `block` for samples that pass it, else 0.
  ValueId at_exit(ValueId value, BlockId block) {
    const Type type = graph_.type(value);
    const ValueId zero = constant(0, type, 0);
    std::vector<ValueId> here(graph_.blocks.size(), zero);
    for (const BlockId b : order_) {
      const std::vector<BlockId>& predecessors = graph_.block(b).predecessors;
      std::vector<ValueId> operands;
      for (const BlockId p : predecessors) operands.push_back(here[p]);
      const bool differ =
          std::adjacent_find(operands.begin(), operands.end(), std::not_equal_to<>()) != operands.end();
      if (b == block)
        here[b] = value;
      else if (!operands.empty())
        here[b] = differ ? builder_.add_merge(b, type, operands, {}) : operands[0];
    }
    return here[graph_.exit_block()];
  }

 private:
  Graph& graph_;
  op::GraphBuilder builder_;
  const op::Operator* constant_;
  std::vector<BlockId> order_;
};

/// Whether zeros can stand for it where it was not made.
bool has_known_extents(const Type& type) { return type.static_volume() > 0; }

}  // namespace

void Evaluator::note_run(const std::string& name, const Value& parameter) {
  if (!options_.observe_runs || !graph_ || !alive()) return;
  noted_runs_.push_back({name, block_, parameter.is_node() ? parameter.node : kNoId});
}

std::vector<AugmentationRun> Evaluator::add_runs_as_outputs(Graph& graph) {
  std::vector<AugmentationRun> runs;
  Carrier carrier(graph, registry_);
  std::vector<ValueId>& results = graph.blocks[graph.exit_block()].terminator.results;
  auto add_output = [&](ValueId value, BlockId block, std::string name) {
    results.push_back(carrier.at_exit(value, block));
    graph.output_names.push_back(std::move(name));
    return results.size() - 1;
  };
  for (const NotedRun& noted : noted_runs_) {
    AugmentationRun run{noted.name, 0, {}};
    run.ran = add_output(carrier.constant(noted.block, {DType::kI32, 0, {}, Device::kCpu, {}}, 1),
                         noted.block, noted.name + " ran");
    if (noted.parameter != kNoId && has_known_extents(graph.type(noted.parameter)))
      run.parameter = add_output(noted.parameter, noted.block, noted.name + " parameter");
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace galatea::dsl
