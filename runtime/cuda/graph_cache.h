// Runs of commands that came before, as executable graphs: one call of the driver instead of one a command.
//
// Comes in: what a stream is to do. Goes out: the same work in the same stream, enqueued as a graph if an
// equal run (addresses, sizes, grids, all of it) has come often enough, else command by command. A graph is
// a chain in the order of the run, so that nothing but the number of calls depends on it.
//
// A graph has to pay for its making: a run is counted first, by a number of 64 bits; a graph that went
// without having paid makes the next ones wait longer; a newcomer takes the place only of a graph that has
// not been used for long. So there are at most kMostGraphs, and work that never repeats costs a look-up.
//
// A driver that has no graphs, or fails to make or launch one, gets plain commands from then on;
// off_because() says why. Only a device that is lost is an error. One thread at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/command_times.h"
#include "runtime/cuda/commands.h"
#include "runtime/cuda/freed_memory.h"
#include "runtime/device_graphs.h"

namespace galatea::runtime::cuda {

/// What became of the runs that are long enough for a graph.
struct GraphCounts {
  int64_t launches = 0;        ///< runs that were one call
  int64_t commands = 0;        ///< of those
  int64_t plain = 0;           ///< runs that were enqueued command by command
  int64_t made = 0, gone = 0;  ///< graphs
};

class GraphCache {
 public:
  static constexpr size_t kLeastCommands = kLeastGraphCommands;
  static constexpr size_t kMostCommands = 512;  ///< of one graph
  static constexpr size_t kMostGraphs = 16;
  /// How often a run has come when its graph is made.
  static constexpr int kFirstPatience = 4, kMostPatience = 1024;
  static constexpr int kPays = 8;        ///< launches that have paid for a graph
  static constexpr int64_t kIdle = 256;  ///< runs without it after which a graph may be replaced

  /// `is_wanted` false: everything is plain. `times`: everything is plain, and timed.
  GraphCache(std::shared_ptr<const Context> context, bool is_wanted, CommandTimes* times = nullptr);
  ~GraphCache();
  GraphCache(const GraphCache&) = delete;
  GraphCache& operator=(const GraphCache&) = delete;

  Status submit(const Stream& stream, std::span<const Command> commands);

  /// Where pools say what they free: graphs that name such memory go. Null where there are none.
  const std::shared_ptr<FreedMemory>& freed() const { return freed_; }
  const GraphCounts& counts() const { return counts_; }
  /// Empty: graphs are used.
  const std::string& off_because() const { return off_because_; }
  size_t num_graphs() const { return graphs_.size(); }

 private:
  struct Graph {
    uint64_t hash = 0;
    StreamHandle stream = nullptr;
    std::vector<Command> commands;
    GraphExecHandle handle = nullptr;
    int64_t launches = 0, last_used = 0;
  };
  /// A run that has no graph (yet).
  struct Seen {
    uint64_t hash = 0;
    int64_t last_used = 0;
    int times = 0;
  };

  bool is_on() const { return off_because_.empty(); }
  Graph* find(uint64_t hash, StreamHandle stream, std::span<const Command> commands);
  /// Whether the run has come often enough, and there is a place for its graph.
  bool is_worth_it(uint64_t hash);
  Seen& count(uint64_t hash);
  bool make_place();
  Code make(const Stream& stream, std::span<const Command> commands, uint64_t hash, const char*& entry);
  Code add_nodes(GraphHandle graph, std::span<const Command> commands, const char*& entry) const;
  /// A call failed that nothing depends on: plain from now on, unless the device is lost.
  Status turn_off(Code result, const char* entry);
  void drop(size_t k);
  void drop_freed();

  std::shared_ptr<const Context> context_;
  CommandTimes* times_;
  std::shared_ptr<FreedMemory> freed_;
  std::string off_because_;
  std::vector<Graph> graphs_;
  std::vector<Seen> seen_;
  int64_t now_ = 0;  ///< runs so far
  int patience_ = kFirstPatience;
  GraphCounts counts_;
};

}  // namespace galatea::runtime::cuda
