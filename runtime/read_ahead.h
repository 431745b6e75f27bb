// What comes next, before threads take it: batches that are planned, and the samples that sources hear of, so
// that a disk or a server works ahead of the threads, from one batch to the next.
//
// Comes in: jobs as they are planned, ends of epochs. Goes out: those in order; samples to tell sources of, each
// once. Not thread-safe: the scheduler's lock guards it.
//
// Sources are told of at most kMost samples that no thread has taken, and of several at a time: a disk that has
// many requests at once sorts them, and a thread is woken seldom.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/prefetch_queue.h"

namespace galatea::runtime {

class ReadAhead {
 public:
  static constexpr int kMost = 64;
  /// That many fewer are told of before more are.
  static constexpr int kAtATime = 16;
  using Sample = std::pair<size_t, int64_t>;  ///< source, index

  explicit ReadAhead(size_t num_sources) : num_sources_(num_sources) {}

  /// Behind those that are there; null: the end of an epoch.
  void add(std::shared_ptr<BatchJob> job) { planned_.push_back(std::move(job)); }
  bool has_planned() const { return !planned_.empty(); }
  std::shared_ptr<BatchJob> take_planned() {
    auto job = std::move(planned_.front());
    planned_.pop_front();
    return job;
  }

  /// Whether fewer samples are planned than sources may hear of.
  bool wants_plan(const PrefetchQueue& queue) const;
  /// The next samples that sources have not heard of; none while they know of enough. They count as told.
  std::vector<Sample> take_untold(const PrefetchQueue& queue);
  /// A thread has taken a sample; whether so many were that it is time for take_untold().
  bool note_taken() { return ++num_taken_ % kAtATime == 0; }

 private:
  /// Calls `visit(job)` for the jobs of queue and plan in order, until it returns false.
  template <typename Visit>
  void each_job(const PrefetchQueue& queue, Visit visit) const;
  void add_places(const BatchJob& job, int slot, std::vector<Sample>& to) const;

  size_t num_sources_;
  int64_t num_taken_ = 0;
  std::deque<std::shared_ptr<BatchJob>> planned_;
};

}  // namespace galatea::runtime
