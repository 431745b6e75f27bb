// Jobs in flight, in ticket order, within a bound that counts samples: batch 1 keeps as many threads busy as
// batch 64.
//
// Comes in: planned jobs and ends of epochs. Goes out: the oldest, once complete. Not thread-safe: the
// scheduler's lock guards it.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include "runtime/batch_job.h"

namespace galatea::runtime {

class PrefetchQueue {
 public:
  PrefetchQueue(int prefetch_depth, int batch_size, int num_threads)
      : window_(std::max<int64_t>(static_cast<int64_t>(std::max(1, prefetch_depth)) * batch_size,
                                  2 * static_cast<int64_t>(num_threads))) {}
  /// Room for a batch of this many samples? One batch always fits.
  bool has_room(int num_samples) const { return samples_ == 0 || samples_ + num_samples <= window_; }
  bool empty() const { return entries_.empty(); }
  void push(std::shared_ptr<BatchJob> job) {
    samples_ += job->num_samples();
    entries_.push_back(std::move(job));
  }
  void push_epoch_end() { entries_.push_back(nullptr); }
  const std::deque<std::shared_ptr<BatchJob>>& entries() const { return entries_; }
  /// The oldest job with samples that are not given out, null if there is none.
  std::shared_ptr<BatchJob> oldest_with_work() const {
    auto found = std::find_if(entries_.begin(), entries_.end(),
                              [](const auto& job) { return job && job->num_taken < job->num_samples(); });
    return found == entries_.end() ? nullptr : *found;
  }
  bool front_ready() const { return !entries_.empty() && (!entries_.front() || entries_.front()->complete); }
  bool is_front(const BatchJob& job) const { return !entries_.empty() && entries_.front().get() == &job; }
  /// Null: the end of an epoch.
  std::shared_ptr<BatchJob> pop() {
    auto job = std::move(entries_.front());
    entries_.pop_front();
    if (job) samples_ -= job->num_samples();
    return job;
  }

 private:
  int64_t window_;
  int64_t samples_ = 0;
  std::deque<std::shared_ptr<BatchJob>> entries_;
};

}  // namespace galatea::runtime
