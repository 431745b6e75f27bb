// What the fake driver knows: streams with work that is not done yet, events, modules, counts, faults.
//
// Comes in: calls of fake_driver.cpp. Goes out: codes of the driver. One lock around everything.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

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
    int device = 0;
    std::function<void(const Operation&)> run;
  };
  int number = 0, device = 0;
  Clock clock;  ///< what the next operation comes after
  std::deque<Operation> waiting;
  uint64_t enqueued = 0, done = 0;
  bool is_blocking = false;  ///< ordered with the legacy stream
  int capture_mode = -1;     ///< -1: nobody captures it
};

struct Event {
  std::shared_ptr<Stream> stream;  ///< null: never recorded
  uint64_t point = 0;              ///< operations of the stream in front of it
  Clock clock;
  unsigned flags = 0;
  bool is_captured = false;  ///< recorded in a stream that was being captured
  std::chrono::steady_clock::time_point recorded{};
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
  int other_architecture = 90;  ///< of odd devices
  int64_t memory = int64_t{8} << 30;
  int architecture_of(int device) const { return device % 2 == 0 ? architecture : other_architecture; }
  bool eager = false, permuted = false;
};

/// Of this thread: the devices whose contexts are current, the innermost last.
extern thread_local std::vector<int> current_devices;
/// Of this thread, exchanged by cuThreadExchangeStreamCaptureMode.
extern thread_local int thread_capture_mode;
/// A test says that this thread does not wait now.
extern thread_local bool thread_must_not_wait;

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
  /// At the head of a call that may wait for the device, or that breaks the capture of a graph.
  Code enter_unsafe(const char* entry);
  Code enter_waiting(const char* entry);
  /// The stream of a handle as work or an event is to find it: behind the legacy stream, and the other way
  /// round, where CUDA orders them. Null: there is none.
  std::shared_ptr<Stream> stream(runtime::cuda::StreamHandle handle);
  /// The same without order.
  std::shared_ptr<Stream> stream_as_it_is(runtime::cuda::StreamHandle handle);
  bool legacy_is_captured() const;

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
  /// Notes the use of the allocation at an address, of so many bytes from there (0: of all of it); null after
  /// complaining: there is none.
  Allocation* use(const void* address, const Stream::Operation& by, bool is_write, const char* name,
                  int64_t bytes = 0);

 private:
  std::shared_ptr<Stream> make_blocking();
  /// What `later` is given from now on comes behind what `earlier` was given.
  void order(const std::shared_ptr<Stream>& earlier, const std::shared_ptr<Stream>& later);

  std::shared_ptr<Stream> legacy_;
  std::map<std::thread::id, std::shared_ptr<Stream>> per_thread_;
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
