// What the fake driver knows: streams with work that is not done yet, events, modules, counts, faults.
//
// Comes in: calls of fake_driver.cpp. Goes out: codes of the driver. One lock around everything.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/cuda/driver_api.h"
#include "tests/fake_cuda/address_space.h"
#include "tests/fake_cuda/fake_cuda.h"

namespace galatea::fake_cuda {

using runtime::cuda::Code;
namespace code = runtime::cuda::code;

struct Stream {
  struct Operation {
    Tick tick;
    Clock clock;
    std::function<void(const Operation&)> run;
  };
  int number = 0;
  Clock clock;  ///< what the next operation comes after
  std::deque<Operation> waiting;
  uint64_t enqueued = 0, done = 0;
};

struct Event {
  std::shared_ptr<Stream> stream;  ///< null: never recorded
  uint64_t point = 0;              ///< operations of the stream in front of it
  Clock clock;
};

struct Graph;
struct GraphExec;
struct Module;
struct Function {
  Module* module = nullptr;
  std::string name;
  void* code = nullptr;
  int inputs = 0, outputs = 0;            ///< tensors of a call
  std::vector<std::pair<int, int>> arms;  ///< of a call, by its kernel, where the function holds several
};
struct Module {
  void* library = nullptr;
  std::unordered_map<std::string, std::unique_ptr<Function>> functions;
};

struct Settings {
  int devices = 1, driver_version = 12080, architecture = 90, init_code = 0;
  int64_t memory = int64_t{8} << 30;
  bool eager = false, permuted = false;
};

class State {
 public:
  static State& get();

  std::mutex mutex;
  Settings settings;
  FakeCudaCounters counters;
  AddressSpace memory;
  Clock host;  ///< what the host has waited for
  bool executes = true;
  std::unordered_map<const void*, std::shared_ptr<Stream>> streams;
  std::unordered_map<const void*, std::shared_ptr<Event>> events;
  std::unordered_map<const void*, std::unique_ptr<Module>> modules;
  std::unordered_map<const void*, std::shared_ptr<Graph>> graphs;
  std::unordered_map<const void*, std::shared_ptr<GraphExec>> graph_execs;
  std::map<std::string, int64_t, std::less<>> calls;  ///< by entry point
  std::string errors;

  /// At the head of every entry point: counts, and says how the call shall fail (or does not).
  Code enter(const char* entry);
  /// A number in clocks, for a stream or what is one to the order of uses.
  int take_number() { return ++numbers_; }
  void read_environment();
  void fail_at(int64_t call, Code result);
  void complain(const std::string& text);
  /// Every later call gives this.
  void lose(Code result) { lost_ = result; }
  void reset_counts();

  void enqueue(const std::shared_ptr<Stream>& stream, std::string what,
               std::function<void(const Stream::Operation&)> run);
  /// Does what stands in front of a point, and whatever that waits for.
  void finish(Stream& stream, uint64_t point);
  void finish_all();
  /// Notes the use of the allocation at an address; null after complaining: there is none.
  Allocation* use(const void* address, const Stream::Operation& by, bool is_write, const char* name);

 private:
  int numbers_ = 0;
  int64_t fail_call_ = 0;  ///< counts down; 0: none
  Code fail_code_ = code::kOutOfMemory, lost_ = code::kSuccess;
};

/// Runs the calls of one launch.
struct Launch {
  Function* function = nullptr;
  unsigned blocks = 0, threads = 0;
  const void* calls = nullptr;  ///< descriptors, runtime/cuda/batch_launch.h
  const uint32_t* first_blocks = nullptr;
  uint32_t num_calls = 0;
};
void run_launch(State& state, const Launch& launch, const Stream::Operation& operation);

}  // namespace galatea::fake_cuda
