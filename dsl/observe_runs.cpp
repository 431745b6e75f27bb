// Which augmentations ran on a sample, and with what parameter, as outputs of the pipeline. In: a note of the
// library where one is applied. Out: numbers that are 0 for samples which took another way.
#include "compiler/look_inside.h"
#include "compiler/op/operator.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

using namespace ir;

/// Whether zeros can stand for it where it was not made.
bool has_known_extents(const Type& type) { return type.static_volume() > 0; }

}  // namespace

void Evaluator::note_run(const std::string& name, const Value& parameter) {
  if (!options_.observe_runs || !graph_ || !alive()) return;
  noted_runs_.push_back({name, block_, parameter.is_node() ? parameter.node : kNoId});
}

std::vector<AugmentationRun> Evaluator::add_runs_as_outputs(Graph& graph) {
  std::vector<AugmentationRun> runs;
  const op::Operator* constant = registry_.find("constant");
  GALATEA_CHECK(constant != nullptr, "runs are observed with the operator `constant`");
  Carrier carrier(graph, *constant);
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
