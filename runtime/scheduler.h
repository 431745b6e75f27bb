// Gives out tickets (batch, slot), older batches first, and gathers what was done.
//
//   planner ─▶ queue of jobs ─take()─▶ thread ─done()──▶ last of its batch: complete ─▶ consumer
//                    ▲                    ├─parked()─▶ last arrival: batch step of those that wait at the
//                    first │                    │            barrier, which are requeued then; or what the
//                    samples │                    │            recorded goes to the device, and who waits for
//                    that is │                    │            requeued once it is done │ └─waits────▶ goes
//                    on when it has the memory that it wants └────────────────────────────────┘
//
// Beside them read_ahead() finds out which batches come next, and tells sources of their samples.
//
// Threads wait while the window is full, memory is short, or nothing was fed; the consumer waits for the
// oldest job, at first with its eyes open. One mutex guards all: a sample takes it twice, and costs about a
// millisecond.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "runtime/executor.h"
#include "runtime/prefetch_queue.h"
#include "runtime/read_ahead.h"
#include "runtime/waiting_samples.h"

namespace galatea::runtime {

class Scheduler {
 private:
  static constexpr size_t kCacheLine = 64;

 public:
  Scheduler(SessionCore& core, int num_threads);
  /// Waits for work; nullopt when cancelled.
  std::optional<Ticket> take();
  /// Takes a ticket back; the worker's times go to the totals.
  void give_back(Ticket ticket, Progress progress, Worker& worker);
  Result<std::shared_ptr<BatchJob>> next(Executor::Deadline deadline);
  /// Plans what comes next and tells sources of it, until the session is cancelled: for a thread of its own,
  /// which may wait for a disk or a server where workers must not.
  void read_ahead();
  void wake();
  void shrink();
  /// Ends the session: a thread cannot go on.
  void stop(Error error);
  ExecutorTimes times() const;

 private:
  std::optional<Ticket> find_work();
  std::optional<Ticket> find_waiting();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  bool prepare_outputs(std::unique_lock<std::mutex>& lock);
  void ring();
  bool look_for_batch(std::unique_lock<std::mutex>& lock, Executor::Deadline deadline);
  bool wait_for_batch(std::unique_lock<std::mutex>& lock, Executor::Deadline deadline);
  bool plan_one();
  bool plan_ahead(std::unique_lock<std::mutex>& lock);
  void keep(BatchPlanner::Plan plan);
  void complete(std::unique_lock<std::mutex>& lock, BatchJob& job);
  void run_step(std::unique_lock<std::mutex>& lock, const std::shared_ptr<BatchJob>& job);
  void enqueue_step(std::unique_lock<std::mutex>& lock, const std::shared_ptr<BatchJob>& job);
  void resume(const std::shared_ptr<BatchJob>& job, Parked parked);
  void give_up(BatchJob& job);
  void begin_again(BatchJob& job);
  void take_frames(Parked parked);
  void poll_device();
  bool wait_for_device(std::unique_lock<std::mutex>& lock);
  void leave_device(const std::shared_ptr<BatchJob>& job, bool is_fine);
  std::unique_ptr<Frame> take_frame();

  SessionCore& core_;
  mutable std::mutex mutex_;
  std::condition_variable work_, ready_, ahead_;
  PrefetchQueue queue_;
  ReadAhead upcoming_;        ///< planned, but not in the queue
  bool is_planning_ = false;  ///< read_ahead() does, and nobody else
  bool is_paused_ = false;    ///< the planner, until the consumer asks for the next epoch
  std::deque<Ticket> resumed_;
  std::deque<std::shared_ptr<BatchJob>> on_device_;  ///< whose samples wait for what was enqueued
  WaitingSamples waiting_;
  const bool has_idle_processor_;  ///< while all threads run
  std::chrono::steady_clock::duration last_wait_ =
      std::chrono::steady_clock::duration::max();  ///< for a batch
  int num_sleeps_ = 0;         ///< waits in which the consumer does not look for its batch
  int num_running_ = 0;        ///< samples, batch steps, batches on the device that samples wait for
  bool is_held_back_ = false;  ///< all that the oldest sample waits for is held by the consumer
  std::vector<std::unique_ptr<Frame>> frames_;
  std::string starved_input_;  ///< what the planner last asked for
  bool has_prepared_ = false;  ///< outputs beside those in work
  bool epoch_ended_ = false;   ///< next() has told the consumer so
  std::optional<Error> fatal_;
  ExecutorTimes times_;
  /// How often ready_ was told; on a line of its own, which a consumer looks at while threads write the
  /// others.
  alignas(kCacheLine) std::atomic<uint64_t> num_rings_{0};
};

}  // namespace galatea::runtime
