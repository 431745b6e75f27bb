#include "runtime/cuda/graph_cache.h"

#include <algorithm>

#include <fmt/format.h>

namespace galatea::runtime::cuda {

namespace {

/// Runs that are counted; the one that has not come for longest makes place.
constexpr size_t kMostSeen = 64;

/// FNV-1a over words, stirred in the end. Equal numbers are compared in full before a graph is launched.
uint64_t hash_of(StreamHandle stream, std::span<const Command> commands) {
  uint64_t hash = 0xCBF29CE484222325U;
  const auto add = [&hash](uint64_t word) { hash = (hash ^ word) * 0x100000001B3U; };
  add(reinterpret_cast<uintptr_t>(stream));
  for (const Command& command : commands) {
    add(static_cast<uint64_t>(command.kind) | uint64_t{command.num_arguments} << 32);
    add(command.num_blocks | uint64_t{command.num_threads} << 32);
    add(reinterpret_cast<uintptr_t>(command.function));
    for (const uint64_t word : command.words) add(word);
  }
  return hash ^ hash >> 32;
}

template <typename HostPointer>
void set_side(CopyNodeSide<HostPointer>& side, bool is_host, uint64_t address) {
  side.type = is_host ? memory_type::kHost : memory_type::kDevice;
  if (is_host)
    side.host = reinterpret_cast<HostPointer>(static_cast<uintptr_t>(address));
  else
    side.device = address;
}

CopyNodeParams copy_params(const Command& command) {
  CopyNodeParams out;
  set_side(out.from, command.kind == Command::Kind::kUpload, command.from());
  set_side(out.to, command.kind == Command::Kind::kDownload, command.to());
  out.bytes = static_cast<size_t>(command.bytes());
  return out;
}

KernelNodeParams kernel_params(const Command& command, ArgumentList& arguments) {
  KernelNodeParams out;
  out.function = command.function;
  out.grid_x = command.num_blocks;
  out.block_x = command.num_threads;
  out.arguments = arguments.list().data();
  return out;
}

}  // namespace

GraphCache::GraphCache(std::shared_ptr<const Context> context, bool is_wanted, CommandTimes* times)
    : context_(std::move(context)), times_(times) {
  if (times_)
    off_because_ = "each command is timed";
  else if (!is_wanted)
    off_because_ = "the session's options";
  else if (const char* missing = context_->driver().missing_for_graphs())
    off_because_ =
        fmt::format("the driver, for CUDA {}, has no {}", context_->driver().version_text(), missing);
  else
    freed_ = std::make_shared<FreedMemory>();
}

GraphCache::~GraphCache() {
  while (!graphs_.empty()) drop(graphs_.size() - 1);
}

Status GraphCache::submit(const Stream& stream, std::span<const Command> commands) {
  if (times_) return times_->enqueue(stream, commands);
  if (!is_on() || commands.size() < kLeastCommands || commands.size() > kMostCommands)
    return enqueue(stream, commands);
  drop_freed();
  ++now_;
  const uint64_t hash = hash_of(stream.handle(), commands);
  Graph* graph = find(hash, stream.handle(), commands);
  if (!graph && is_worth_it(hash)) {
    const char* entry = nullptr;
    if (const Code result = make(stream, commands, hash, entry); result != code::kSuccess) {
      GALATEA_TRY(turn_off(result, entry));
    } else {
      graph = &graphs_.back();
    }
  }
  if (graph) {
    const auto& entry = context_->api().launch_graph;
    const Code result = context_->call_raw(entry, graph->handle, stream.handle());
    if (result == code::kSuccess) {
      graph->last_used = now_;
      if (++graph->launches == kPays) patience_ = kFirstPatience;
      ++counts_.launches;
      counts_.commands += static_cast<int64_t>(commands.size());
      return {};
    }
    // Nothing of it was enqueued.
    GALATEA_TRY(turn_off(result, entry.name));
  }
  ++counts_.plain;
  return enqueue(stream, commands);
}

GraphCache::Graph* GraphCache::find(uint64_t hash, StreamHandle stream, std::span<const Command> commands) {
  const auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const Graph& graph) {
    return graph.hash == hash && graph.stream == stream && std::ranges::equal(graph.commands, commands);
  });
  return found == graphs_.end() ? nullptr : &*found;
}

bool GraphCache::is_worth_it(uint64_t hash) {
  Seen& seen = count(hash);
  return seen.times >= patience_ && make_place();
}

GraphCache::Seen& GraphCache::count(uint64_t hash) {
  auto found = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& seen) { return seen.hash == hash; });
  if (found == seen_.end()) {
    if (seen_.size() < kMostSeen)
      found = seen_.emplace(seen_.end());
    else
      found = std::ranges::min_element(seen_, {}, &Seen::last_used);
    *found = Seen{hash, 0, 0};
  }
  found->last_used = now_;
  ++found->times;
  return *found;
}

bool GraphCache::make_place() {
  if (graphs_.size() < kMostGraphs) return true;
  const auto oldest = std::ranges::min_element(graphs_, {}, &Graph::last_used);
  if (now_ - oldest->last_used < kIdle) return false;
  drop(static_cast<size_t>(oldest - graphs_.begin()));
  return true;
}

Code GraphCache::make(const Stream& stream, std::span<const Command> commands, uint64_t hash,
                      const char*& entry) {
  const auto& api = context_->api();
  GraphHandle graph = nullptr;
  entry = api.create_graph.name;
  if (const Code result = context_->call_raw(api.create_graph, &graph, 0); result != code::kSuccess)
    return result;
  Graph out{hash, stream.handle(), {commands.begin(), commands.end()}, nullptr, 0, now_};
  Code result = add_nodes(graph, commands, entry);
  if (result == code::kSuccess) {
    entry = api.instantiate_graph.name;
    result = context_->call_raw(api.instantiate_graph, &out.handle, graph, 0);
  }
  context_->release(api.destroy_graph, graph);
  if (result != code::kSuccess) return result;
  graphs_.push_back(std::move(out));
  std::erase_if(seen_, [&](const Seen& seen) { return seen.hash == hash; });
  ++counts_.made;
  return result;
}

/// A chain: each command behind the one before.
Code GraphCache::add_nodes(GraphHandle graph, std::span<const Command> commands, const char*& entry) const {
  const auto& api = context_->api();
  GraphNodeHandle last = nullptr;
  for (const Command& command : commands) {
    GraphNodeHandle node = nullptr;
    const size_t num_before = last ? 1 : 0;
    Code result = code::kSuccess;
    if (command.kind == Command::Kind::kLaunch) {
      ArgumentList arguments(command);
      const KernelNodeParams params = kernel_params(command, arguments);
      entry = api.add_kernel_node.name;
      result = context_->call_raw(api.add_kernel_node, &node, graph, &last, num_before, &params);
    } else {
      const CopyNodeParams params = copy_params(command);
      entry = api.add_copy_node.name;
      result =
          context_->call_raw(api.add_copy_node, &node, graph, &last, num_before, &params, context_->handle());
    }
    if (result != code::kSuccess) return result;
    last = node;
  }
  return code::kSuccess;
}

Status GraphCache::turn_off(Code result, const char* entry) {
  if (is_device_lost(result)) return context_->failure(result, entry);
  while (!graphs_.empty()) drop(graphs_.size() - 1);
  seen_.clear();
  freed_.reset();
  off_because_ = fmt::format("{} gave {}", entry, context_->driver().name_of(result));
  return {};
}

void GraphCache::drop(size_t k) {
  if (graphs_[k].launches < kPays) patience_ = std::min(2 * patience_, kMostPatience);
  context_->release(context_->api().destroy_graph_exec, graphs_[k].handle);
  graphs_.erase(graphs_.begin() + static_cast<std::ptrdiff_t>(k));
  ++counts_.gone;
}

/// Their addresses may mean other memory by now, of which the driver knows what it does not of numbers.
void GraphCache::drop_freed() {
  for (const FreedMemory::Range& range : freed_->take()) {
    const auto names_it = [&](const Graph& graph) {
      return std::ranges::any_of(graph.commands, [&](const Command& command) {
        return std::ranges::any_of(command.words, [&](uint64_t word) { return range.holds(word); });
      });
    };
    for (size_t k = graphs_.size(); k-- > 0;)
      if (names_it(graphs_[k])) drop(k);
  }
}

}  // namespace galatea::runtime::cuda
