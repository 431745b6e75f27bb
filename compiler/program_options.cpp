#include "compiler/program_options.h"

#include <random>

namespace galatea {
namespace {

runtime::OnErrorPolicy to_runtime(ir::OnError policy) {
  switch (policy) {
    case ir::OnError::kSkip:
      return runtime::OnErrorPolicy::kSkip;
    case ir::OnError::kReplace:
      return runtime::OnErrorPolicy::kReplace;
    case ir::OnError::kRaise:
      break;
  }
  return runtime::OnErrorPolicy::kRaise;
}

}  // namespace

void set_options(const ir::Graph& graph, runtime::Program& program) {
  program.name = graph.name;
  program.batch_size = graph.options.batch_size;
  program.num_threads = graph.options.num_threads;
  program.prefetch_depth = graph.options.prefetch_queue_depth;
  program.on_error = to_runtime(graph.options.on_error);
  program.memory_limit = graph.options.memory_limit;
  if (graph.options.seed >= 0) {
    program.seed = static_cast<uint64_t>(graph.options.seed);
  } else {
    std::random_device device;
    // Kept to 63 bits, so that the summary can show a seed that may be given back.
    program.seed = ((uint64_t{device()} << 32) | device()) >> 1;
  }
}

}  // namespace galatea
