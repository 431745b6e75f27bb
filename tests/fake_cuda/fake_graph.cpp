// Graphs: nodes with what they come behind, made executable, launched as one operation of a stream.
//
// Each node of an executable graph is a stream of its own to the order of uses: it comes behind what the
// launch comes behind, and behind the nodes that it names. So two nodes that use one allocation, and that no
// edge orders, are an error, as they are in two streams.
#include <algorithm>

#include "tests/fake_cuda/fake_call.h"
#include "tests/fake_cuda/fake_work.h"

namespace galatea::fake_cuda {

using runtime::cuda::ContextHandle;
using runtime::cuda::CopyNodeParams;
using runtime::cuda::DriverApi;
using runtime::cuda::GraphExecHandle;
using runtime::cuda::GraphHandle;
using runtime::cuda::GraphNodeHandle;
using runtime::cuda::KernelNodeParams;
using runtime::cuda::StreamHandle;
namespace memory_type = runtime::cuda::memory_type;

/// An operation of a graph. Nodes only come behind nodes made before them.
struct GraphNode {
  Work work;
  std::vector<size_t> behind;
  int number = 0;                    ///< of its stream in clocks
  std::vector<int64_t> allocations;  ///< their numbers when the graph was made executable; -1: none
};
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
};
struct GraphExec {
  std::vector<GraphNode> nodes;
  uint64_t launches = 0;
  Event last;  ///< behind the launch before
};

namespace {

int64_t number_at(State& state, const void* address) {
  const Allocation* found = state.memory.find(address);
  return found ? found->number : -1;
}

/// The places of a node's predecessors; false: one is not of this graph.
bool find_all(const Graph& graph, const GraphNodeHandle* nodes, size_t count, std::vector<size_t>& out) {
  for (size_t k = 0; k < count; ++k) {
    const auto found = std::ranges::find(graph.nodes, reinterpret_cast<GraphNode*>(nodes[k]),
                                         &std::unique_ptr<GraphNode>::get);
    if (found == graph.nodes.end()) return false;
    out.push_back(static_cast<size_t>(found - graph.nodes.begin()));
  }
  return true;
}

Code add(State& state, GraphHandle handle, const GraphNodeHandle* behind, size_t num_behind, Work work,
         GraphNodeHandle* out) {
  const auto graph = state.graphs.find(handle);
  auto node = std::make_unique<GraphNode>();
  if (!find_all(*graph->second, behind, num_behind, node->behind)) return code::kInvalidValue;
  node->work = std::move(work);
  *out = reinterpret_cast<GraphNodeHandle>(node.get());
  graph->second->nodes.push_back(std::move(node));
  return code::kSuccess;
}

/// Nodes in an order that their edges allow: the one they were made in, or as far from it as can be.
std::vector<size_t> order_of(const GraphExec& exec, bool permuted) {
  std::vector<size_t> out;
  std::vector<bool> is_done(exec.nodes.size(), false);
  const auto is_ready = [&](size_t k) {
    return !is_done[k] && std::ranges::all_of(exec.nodes[k].behind, [&](size_t b) { return is_done[b]; });
  };
  while (out.size() < exec.nodes.size()) {
    size_t next = 0;
    for (size_t turn = 0; turn < exec.nodes.size(); ++turn) {
      next = permuted ? exec.nodes.size() - 1 - turn : turn;
      if (is_ready(next)) break;
    }
    is_done[next] = true;
    out.push_back(next);
  }
  return out;
}

/// What was freed since may be other memory now, of which the graph knows nothing.
void look_for_freed(State& state, const GraphExec& exec) {
  for (const GraphNode& node : exec.nodes)
    for (size_t k = 0; k < node.allocations.size(); ++k)
      if (number_at(state, node.work.addresses[k]) != node.allocations[k]) {
        state.complain("a graph is launched whose " + node.work.what +
                       " names memory that was freed since the graph was made");
        return;
      }
}

}  // namespace
}  // namespace galatea::fake_cuda

using namespace galatea::fake_cuda;  // NOLINT(google-build-using-namespace): entry points have C names

ENTRY Code cuGraphCreate(GraphHandle* out, unsigned flags) {
  Call call;
  if (call.fails()) return call.result;
  if (flags != 0) return code::kInvalidValue;
  auto graph = std::make_shared<Graph>();
  *out = reinterpret_cast<GraphHandle>(graph.get());
  call.state.graphs.emplace(graph.get(), graph);
  ++call.state.counters.live_graphs;
  return code::kSuccess;
}
ENTRY Code cuGraphAddKernelNode_v2(GraphNodeHandle* out, GraphHandle graph, const GraphNodeHandle* behind,
                                   size_t num_behind, const KernelNodeParams* params) {
  Call call;
  if (call.fails()) return call.result;
  if (!call.state.graphs.contains(graph)) return code::kInvalidHandle;
  if (params->grid_y != 1 || params->grid_z != 1 || params->block_y != 1 || params->block_z != 1 ||
      params->extra || params->kernel)
    return code::kInvalidValue;
  Work work;
  if (const Code made =
          make_launch(call.state, params->function, params->grid_x, params->block_x, params->arguments, work);
      made != code::kSuccess)
    return made;
  return add(call.state, graph, behind, num_behind, std::move(work), out);
}
ENTRY Code cuGraphAddMemcpyNode(GraphNodeHandle* out, GraphHandle graph, const GraphNodeHandle* behind,
                                size_t num_behind, const CopyNodeParams* params, ContextHandle context) {
  Call call;
  if (call.fails()) return call.result;
  if (!call.state.graphs.contains(graph)) return code::kInvalidHandle;
  if (!context) return code::kInvalidContext;
  if (params->height != 1 || params->depth != 1 || params->bytes == 0) return code::kInvalidValue;
  const bool from_host = params->from.type == memory_type::kHost;
  const bool to_host = params->to.type == memory_type::kHost;
  if (from_host && to_host) return code::kInvalidValue;
  Work work;
  if (const Code made =
          make_copy(call.state,
                    from_host ? CopyKind::kUpload
                    : to_host ? CopyKind::kDownload
                              : CopyKind::kOnDevice,
                    to_host ? params->to.host : pointer(params->to.device),
                    from_host ? params->from.host : pointer(params->from.device), params->bytes, work);
      made != code::kSuccess)
    return made;
  if (work.reads_pageable || work.writes_pageable)
    call.state.complain("a graph copies from or to memory that is not pinned");
  return add(call.state, graph, behind, num_behind, std::move(work), out);
}
ENTRY Code cuGraphInstantiateWithFlags(GraphExecHandle* out, GraphHandle handle, uint64_t flags) {
  Call call;
  if (call.fails()) return call.result;
  const auto graph = call.state.graphs.find(handle);
  if (graph == call.state.graphs.end()) return code::kInvalidHandle;
  if (flags != 0) return code::kInvalidValue;
  auto exec = std::make_shared<GraphExec>();
  for (const auto& node : graph->second->nodes) {
    GraphNode& made = exec->nodes.emplace_back(*node);
    made.number = call.state.take_number();
    for (const void* address : made.work.addresses)
      made.allocations.push_back(number_at(call.state, address));
  }
  *out = reinterpret_cast<GraphExecHandle>(exec.get());
  call.state.graph_execs.emplace(exec.get(), exec);
  ++call.state.counters.live_graph_execs;
  ++call.state.counters.graphs_made;
  return code::kSuccess;
}
ENTRY Code cuGraphLaunch(GraphExecHandle handle, StreamHandle stream_handle) {
  WorkCall call;
  if (call.fails()) return call.result;
  State& state = call.state;
  const auto found = state.graph_execs.find(handle);
  const auto stream = state.stream(stream_handle);
  if (found == state.graph_execs.end() || !stream) return code::kInvalidHandle;
  const std::shared_ptr<GraphExec> exec = found->second;
  if (state.executes) look_for_freed(state, *exec);
  ++state.counters.graph_launches;
  ++exec->launches;
  for (const GraphNode& node : exec->nodes) node.work.count(state.counters);
  // A graph runs once at a time.
  const Event before = exec->last;
  stream->clock.merge(before.clock);
  state.enqueue(stream, "graph",
                [exec, before, launch = exec->launches, &state](const Stream::Operation& operation) {
                  if (before.stream) state.finish(*before.stream, before.point);
                  std::vector<Stream::Operation> nodes(exec->nodes.size());
                  for (size_t k = 0; k < nodes.size(); ++k) {
                    const GraphNode& node = exec->nodes[k];
                    nodes[k].clock = operation.clock;
                    nodes[k].device = operation.device;
                    for (const size_t b : node.behind) nodes[k].clock.merge(nodes[b].clock);
                    nodes[k].clock[node.number] = launch;
                    nodes[k].tick = {node.number, launch, node.work.what + " of a graph"};
                  }
                  for (const size_t k : order_of(*exec, state.settings.permuted))
                    exec->nodes[k].work.run(nodes[k]);
                });
  // Behind the launch comes what stands behind all of its nodes.
  for (const GraphNode& node : exec->nodes) stream->clock[node.number] = exec->launches;
  exec->last.stream = stream;
  exec->last.point = stream->enqueued;
  exec->last.clock = stream->clock;
  return code::kSuccess;
}
ENTRY Code cuGraphDestroy(GraphHandle handle) {
  Call call;
  if (call.state.graphs.erase(handle) == 0) return code::kInvalidHandle;
  --call.state.counters.live_graphs;
  return call.result;
}
ENTRY Code cuGraphExecDestroy(GraphExecHandle handle) {
  Call call;
  // Launches on their way go on.
  if (call.state.graph_execs.erase(handle) == 0) return code::kInvalidHandle;
  --call.state.counters.live_graph_execs;
  return call.result;
}

#define CHECK_ENTRY(member, symbol, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), decltype(DriverApi{}.member.function)>);
GALATEA_CUDA_GRAPH_ENTRIES(CHECK_ENTRY)
#undef CHECK_ENTRY
