// Who runs samples: in order on the caller's thread (the judge), or on worker threads. Both give the same
// jobs in the same order.
//
// Comes in: what a session's threads share (SessionCore). Goes out: finished jobs, in ticket order.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "runtime/batch_planner.h"

namespace galatea::runtime {

struct SessionCore {
  std::shared_ptr<const LoadedProgram> loaded;
  std::shared_ptr<Allocator> allocator;
  std::unique_ptr<MemoryGate> gate;       ///< where memory is limited
  std::shared_ptr<DeviceSession> device;  ///< of a program for a GPU
  BufferPool pool;
  BatchPlanner planner;
  std::atomic<bool> cancelled{false};
  /// Batches that the consumer has, counted from when they leave the executor.
  std::shared_ptr<std::atomic<int>> num_held = std::make_shared<std::atomic<int>>(0);
  Trace* trace = nullptr;

  SessionCore(std::shared_ptr<const LoadedProgram> program, std::shared_ptr<Allocator> memory,
              std::shared_ptr<DeviceSession> gpu = nullptr)
      : loaded(std::move(program)),
        allocator(std::move(memory)),
        gate(allocator->limit() > 0 ? std::make_unique<MemoryGate>(*allocator) : nullptr),
        device(std::move(gpu)),
        pool(*allocator),
        planner(loaded, *allocator, pool, gate.get(), device.get()) {}
  std::unique_ptr<Frame> make_frame() { return std::make_unique<Frame>(loaded, *allocator, gate.get()); }
  Worker make_worker() const;
};

/// Where time went.
struct ExecutorTimes {
  std::vector<SiteTime> sites;
  int64_t wait_ns = 0;
  std::chrono::steady_clock::time_point first_read{};  ///< epoch of the clock: nothing was read
};

class Executor {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  virtual ~Executor() = default;
  /// The next finished job, counted as held; null at the end of an epoch. Errors: time-out (without its
  /// number), cancelled, nothing fed.
  virtual Result<std::shared_ptr<BatchJob>> next(Deadline deadline) = 0;
  /// Something was fed.
  virtual void wake() = 0;
  /// After SessionCore::cancelled was set.
  virtual void cancel() = 0;
  /// Gives back what is kept for reuse.
  virtual void shrink() = 0;
  virtual ExecutorTimes times() const = 0;
};

std::unique_ptr<Executor> make_inline_executor(SessionCore& core);
Result<std::unique_ptr<Executor>> make_cpu_executor(SessionCore& core, int num_threads);

/// kWaits: the sample goes on when the gate has given it what it wants. kStartsOver: it met a need that
/// nobody had stated and that did not fit; it begins again and asks for that at once.
enum class Progress { kDone, kParked, kWaits, kStartsOver };
enum class Start { kFresh, kGoesOn };
/// Runs one sample to its end or to the next barrier, and applies on_error to it. Throws only where not even
/// its frame can be tidied up.
Progress advance_sample(SessionCore& core, BatchJob& job, int slot, Frame& frame, Worker& worker,
                        Start start);
/// Samples of one batch that wait at a barrier, with their places.
using Parked = std::vector<std::pair<int, std::unique_ptr<Frame>>>;
/// Takes out the parked samples that wait at the first of the batch's barriers, and does its step with them.
/// None of the batch may run: then nobody else can come there, since a program only leads on. Samples that
/// take other ways have no part in it.
Parked run_batch_step(SessionCore& core, BatchJob& job);

/// What a sample is told that gets no memory: which samples of its batch hold some while they wait for it, at
/// a barrier. Empty: none.
std::string holders_of_memory(const BatchJob& job);

/// Whether some of the parked samples wait at a barrier of the device: those go first.
bool is_at_device_barrier(const BatchJob& job);
/// kWaits: they go on once the batch's device is done.
enum class DeviceStep { kGoesOn, kWaits, kFailed };
/// Enqueues what the samples recorded. kFailed: the batch failed, and its frames are of no more use.
DeviceStep run_device_step(BatchJob& job);
/// The parked samples that wait at a barrier of the device, taken out.
Parked leave_device_barrier(BatchJob& job);

}  // namespace galatea::runtime
