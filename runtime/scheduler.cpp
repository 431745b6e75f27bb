#include "runtime/scheduler.h"

#include <algorithm>

#include "runtime/messages.h"

namespace galatea::runtime {

Scheduler::Scheduler(SessionCore& core, int num_threads)
    : core_(core),
      queue_(core.loaded->program->prefetch_depth, core.loaded->program->batch_size, num_threads) {
  times_.site_ns.assign(core.loaded->sites.size(), 0);
}

/// Adds what comes next to the queue; false if nothing can be planned now.
bool Scheduler::plan_one() {
  if (!queue_.has_room(core_.loaded->program->batch_size)) return false;
  auto plan = core_.planner.plan();
  starved_input_.clear();
  if (auto* job = std::get_if<std::shared_ptr<BatchJob>>(&plan)) {
    queue_.push(std::move(*job));
    return true;
  }
  if (std::holds_alternative<BatchPlanner::EpochEnd>(plan)) {
    queue_.push_epoch_end();
    ready_.notify_all();
    return true;
  }
  if (auto* starved = std::get_if<BatchPlanner::Starved>(&plan)) starved_input_ = starved->input;
  return false;
}

std::unique_ptr<Frame> Scheduler::take_frame() {
  if (frames_.empty()) return core_.make_frame();
  auto frame = std::move(frames_.back());
  frames_.pop_back();
  return frame;
}

/// With nothing else running, and no finished batch before it that still takes memory, a sample has all the
/// memory there is.
std::optional<Scheduler::Ticket> Scheduler::find_starved() {
  if (num_running_ > 0) return std::nullopt;
  auto oldest = std::find_if(starved_.begin(), starved_.end(),
                             [&](const Ticket& ticket) { return queue_.is_front(*ticket.job); });
  if (oldest == starved_.end()) return std::nullopt;
  Ticket ticket = std::move(*oldest);
  starved_.erase(oldest);
  frames_.clear();  // and with them what their arenas keep
  ticket.frame = core_.make_frame();
  ticket.start = Start::kAlone;
  return ticket;
}

std::optional<Scheduler::Ticket> Scheduler::find_work() {
  if (alone_) return std::nullopt;
  if (auto ticket = find_starved()) return ticket;
  if (!resumed_.empty()) {
    Ticket ticket = std::move(resumed_.front());
    resumed_.pop_front();
    return ticket;
  }
  // Nothing new while samples lack memory. What they wait for goes on without it: older batches are given out
  // already.
  if (!starved_.empty()) return std::nullopt;
  // A batch is planned only when all samples of the one before are given out, so the newest job has all the
  // tickets there are.
  BatchJob* newest = queue_.newest();
  while (!newest || newest->num_taken == newest->num_samples()) {
    if (!plan_one()) return std::nullopt;
    newest = queue_.newest();
  }
  return Ticket{queue_.newest_shared(), newest->num_taken++, take_frame(), Start::kFresh};
}

std::optional<Scheduler::Ticket> Scheduler::take(Worker& worker) {
  std::unique_lock lock(mutex_);
  for (size_t i = 0; i < worker.site_ns.size(); ++i) times_.site_ns[i] += std::exchange(worker.site_ns[i], 0);
  const auto begin = std::chrono::steady_clock::now();
  for (bool waited = false;; waited = true) {
    if (core_.cancelled) return std::nullopt;
    if (auto ticket = find_work()) {
      ++num_running_;
      alone_ = ticket->start == Start::kAlone;
      const auto now = std::chrono::steady_clock::now();
      if (times_.first_read == std::chrono::steady_clock::time_point{}) {
        times_.first_read = now;
      } else if (waited) {
        times_.wait_ns +=
            std::chrono::duration_cast<std::chrono::nanoseconds>(now - std::max(begin, times_.first_read))
                .count();
      }
      return ticket;
    }
    work_.wait(lock);
  }
}

void Scheduler::sample_done(BatchJob& job) {
  if (--job.num_pending > 0 || !job.parked.empty()) return;
  job.complete = true;
  ready_.notify_all();
}

void Scheduler::run_step(std::unique_lock<std::mutex>& lock, const std::shared_ptr<BatchJob>& job) {
  lock.unlock();
  const bool goes_on = run_batch_step(core_, *job);
  lock.lock();
  auto parked = std::move(job->parked);
  job->parked.clear();
  if (goes_on) {
    job->num_pending = static_cast<int>(parked.size());
    for (auto& [slot, frame] : parked) resumed_.push_back({job, slot, std::move(frame), Start::kResumed});
    work_.notify_all();
    return;
  }
  for (auto& [slot, frame] : parked) frames_.push_back(std::move(frame));
  job->complete = true;
  ready_.notify_all();
}

void Scheduler::give_back(Ticket ticket, Progress progress) {
  std::unique_lock lock(mutex_);
  BatchJob& job = *ticket.job;
  --num_running_;
  const bool was_alone = std::exchange(alone_, false);
  if (was_alone || !starved_.empty() || progress == Progress::kStarved) work_.notify_all();
  if (progress == Progress::kStarved) {
    ticket.frame.reset();
    starved_.push_back(std::move(ticket));
    return;
  }
  if (progress == Progress::kParked) {
    job.parked.emplace_back(ticket.slot, std::move(ticket.frame));
    --job.num_pending;
  } else {
    frames_.push_back(std::move(ticket.frame));
    sample_done(job);
  }
  if (job.num_pending == 0 && !job.parked.empty() && !core_.cancelled) run_step(lock, ticket.job);
}

Result<std::shared_ptr<BatchJob>> Scheduler::next(Executor::Deadline deadline) {
  std::unique_lock lock(mutex_);
  // Only who has seen the end of an epoch asks for the next one.
  if (epoch_ended_) core_.planner.start_epoch();
  epoch_ended_ = false;
  work_.notify_all();
  for (;;) {
    if (fatal_) return std::unexpected(*fatal_);
    if (core_.cancelled) return make_error(message::kCancelled);
    if (queue_.front_ready()) {
      auto job = queue_.pop();
      epoch_ended_ = !job;
      work_.notify_all();  // there is room again
      return job;
    }
    // With nothing in flight nobody else will notice that the host has to feed first.
    if (queue_.empty() && !plan_one()) return make_error(message::kNothingFed, starved_input_);
    if (queue_.front_ready()) continue;
    work_.notify_all();
    if (!deadline) {
      ready_.wait(lock);
    } else if (ready_.wait_until(lock, *deadline) == std::cv_status::timeout && !queue_.front_ready()) {
      return make_error(message::kTimeout, 0);
    }
  }
}

void Scheduler::stop(Error error) {
  std::lock_guard lock(mutex_);
  if (!fatal_) fatal_ = std::move(error);
  core_.cancelled = true;
  work_.notify_all();
  ready_.notify_all();
}

void Scheduler::wake() {
  std::lock_guard lock(mutex_);
  work_.notify_all();
  ready_.notify_all();
}

ExecutorTimes Scheduler::times() const {
  std::lock_guard lock(mutex_);
  return times_;
}

}  // namespace galatea::runtime
