#include "runtime/scheduler.h"

#include <sys/resource.h>

#include <algorithm>
#include <thread>

#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a consumer may hold what the next batch needs while it waits for that: another of its threads may
/// be about to let go.
constexpr std::chrono::milliseconds kPatience{500};

/// How long a consumer looks for its batch before it sleeps. Waking a sleeper costs the thread that made the
/// batch 25 us on a virtual machine, and it sleeps for another 40.
constexpr std::chrono::microseconds kShortWait{500};

/// How many batches a consumer sleeps for, once it was sent off its processor while it looked for one: others
/// want that processor, this library's own threads among them.
constexpr int kSleepsWhenPushed = 64;

/// How often this thread was sent off its processor, which it would have kept.
int64_t times_pushed() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/// Of a thread that looks for something: leaves the core to another for a moment.
void relax_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Scheduler::Scheduler(SessionCore& core, int num_threads)
    : core_(core),
      queue_(core.loaded->program->prefetch_depth, core.loaded->program->batch_size, num_threads),
      upcoming_(core.loaded->sources.size()),
      waiting_(core.gate.get()),
      has_idle_processor_(std::thread::hardware_concurrency() > static_cast<unsigned>(num_threads)) {
  times_.sites.resize(core.loaded->sites.size());
}

/// Adds what comes next to the queue; false if nothing can be planned now.
bool Scheduler::plan_one() {
  if (!queue_.has_room(core_.loaded->program->batch_size)) return false;
  if (!upcoming_.has_planned() && !is_planning_) keep(core_.planner.plan());
  if (!upcoming_.has_planned()) return false;
  if (auto job = upcoming_.take_planned()) {
    queue_.push(std::move(job));
  } else {
    queue_.push_epoch_end();
    ring();
  }
  ahead_.notify_one();
  return true;
}

void Scheduler::keep(BatchPlanner::Plan plan) {
  starved_input_.clear();
  if (auto* job = std::get_if<std::shared_ptr<BatchJob>>(&plan)) return upcoming_.add(std::move(*job));
  if (auto* starved = std::get_if<BatchPlanner::Starved>(&plan)) {
    starved_input_ = starved->input;
    return;
  }
  is_paused_ = true;
  if (std::holds_alternative<BatchPlanner::EpochEnd>(plan)) upcoming_.add(nullptr);
}

/// Finds the batch behind those that are planned, while few samples are; false: there is no need, or what
/// the host feeds decides. Of a stream this reads containers, so that nobody else waits for it.
bool Scheduler::plan_ahead(std::unique_lock<std::mutex>& lock) {
  const Program& program = *core_.loaded->program;
  if (!program.external_inputs.empty() || is_paused_ || !upcoming_.wants_plan(queue_)) return false;
  is_planning_ = true;
  lock.unlock();
  auto plan = core_.planner.plan();
  lock.lock();
  is_planning_ = false;
  keep(std::move(plan));
  work_.notify_all();
  return true;
}

void Scheduler::read_ahead() {
  std::unique_lock lock(mutex_);
  while (!core_.cancelled) {
    if (plan_ahead(lock)) continue;
    const std::vector<ReadAhead::Sample> samples = upcoming_.take_untold(queue_);
    if (samples.empty()) {
      ahead_.wait(lock);
      continue;
    }
    lock.unlock();
    for (const auto& [source, index] : samples)
      if (!core_.cancelled) core_.loaded->sources[source].samples->will_read(index);
    lock.lock();
  }
}

std::unique_ptr<Frame> Scheduler::take_frame() {
  if (frames_.empty()) return core_.make_frame();
  auto frame = std::move(frames_.back());
  frames_.pop_back();
  return frame;
}

/// A sample that waits for memory: the first if it can go on, or if it never will.
std::optional<Ticket> Scheduler::find_waiting() {
  is_held_back_ = false;
  for (;;) {
    // Asked first: what the consumer lets go afterwards may be what the sample needs.
    const bool consumer_holds = core_.num_held->load() > 0;
    if (auto ticket = waiting_.grant_first(frames_, core_.pool)) return ticket;
    if (num_running_ > 0) return std::nullopt;
    if (waiting_.give_up_youngest(queue_)) continue;
    if (!queue_.is_front(waiting_.first_job())) return std::nullopt;
    if (!consumer_holds) return waiting_.refuse_first();
    is_held_back_ = true;
    ring();
    return std::nullopt;
  }
}

std::optional<Ticket> Scheduler::find_work() {
  if (!on_device_.empty()) poll_device();
  if (!resumed_.empty()) {
    Ticket ticket = std::move(resumed_.front());
    resumed_.pop_front();
    return ticket;
  }
  auto job = queue_.oldest_with_work();
  // Nothing new while samples lack memory, but of a batch before theirs, which began again.
  if (!waiting_.empty() && (!job || job->serial >= waiting_.first_job().serial)) return find_waiting();
  while (!job) {
    if (!plan_one()) return std::nullopt;
    job = queue_.oldest_with_work();
  }
  Ticket ticket{job, job->num_taken++, take_frame(), Start::kFresh};
  if (!core_.gate || job->has_fixed_outputs) return ticket;
  waiting_.add(std::move(ticket));
  return find_waiting();
}

/// Memory that the consumer gives back rings no bell, so that who waits for memory looks now and then.
void Scheduler::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (waiting_.empty()) return work_.wait(lock);
  work_.wait_for(lock, std::chrono::milliseconds(10));
}

std::optional<Ticket> Scheduler::take() {
  std::unique_lock lock(mutex_);
  std::optional<Clock::time_point> begin;  // of waiting: the clock is not free, and most find work at once
  for (;;) {
    if (core_.cancelled) return std::nullopt;
    if (auto ticket = find_work()) {
      ++num_running_;
      if (ticket->start == Start::kFresh && upcoming_.note_taken()) ahead_.notify_one();
      if (times_.first_read == Clock::time_point{}) {
        times_.first_read = Clock::now();
      } else if (begin) {
        times_.wait_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(
                              Clock::now() - std::max(*begin, times_.first_read))
                              .count();
      }
      return ticket;
    }
    if (!begin) begin = Clock::now();
    if (prepare_outputs(lock) || wait_for_device(lock)) continue;
    wait_for_work(lock);
  }
}

/// A worker that has nothing to do touches the pages of the batch that comes next: the consumer holds one more
/// than is in work.
bool Scheduler::prepare_outputs(std::unique_lock<std::mutex>& lock) {
  if (has_prepared_ || core_.gate || queue_.empty() || core_.loaded->sources.empty()) return false;
  has_prepared_ = true;
  lock.unlock();
  for (const OutputSpec& output : core_.loaded->program->outputs) {
    const int64_t bytes = fixed_bytes(output);
    if (bytes > 0 && !output.on_device) core_.pool.prepare(bytes * core_.loaded->program->batch_size);
  }
  lock.lock();
  return true;
}

/// Every sample is done.
void Scheduler::complete(std::unique_lock<std::mutex>& lock, BatchJob& job) {
  if (core_.device) {
    ++num_running_;
    lock.unlock();
    job.finish_device();
    lock.lock();
    --num_running_;
    if (!waiting_.empty()) work_.notify_all();
  }
  job.complete = true;
  ring();
}

void Scheduler::resume(const std::shared_ptr<BatchJob>& job, Parked parked) {
  job->num_pending = static_cast<int>(parked.size());
  for (auto& [slot, frame] : parked) resumed_.push_back({job, slot, std::move(frame), Start::kGoesOn});
  work_.notify_all();
}

/// The batch is an error.
void Scheduler::give_up(BatchJob& job) {
  take_frames(std::exchange(job.parked, {}));
  job.complete = true;
  ring();
}

void Scheduler::run_step(std::unique_lock<std::mutex>& lock, const std::shared_ptr<BatchJob>& job) {
  if (is_at_device_barrier(*job)) return enqueue_step(lock, job);
  ++num_running_;
  lock.unlock();
  Parked met = run_batch_step(core_, *job);
  lock.lock();
  --num_running_;
  if (!waiting_.empty()) work_.notify_all();
  resume(job, std::move(met));
}

/// All samples are done or parked, and one of them needs a substitute that has met the others.
void Scheduler::begin_again(BatchJob& job) {
  take_frames(std::exchange(job.parked, {}));
  job.begin_again();
  work_.notify_all();
}

void Scheduler::take_frames(Parked parked) {
  for (auto& [slot, frame] : parked) {
    frame->end();
    frames_.push_back(std::move(frame));
  }
}

void Scheduler::enqueue_step(std::unique_lock<std::mutex>& lock, const std::shared_ptr<BatchJob>& job) {
  ++num_running_;
  lock.unlock();
  const DeviceStep step = run_device_step(*job);
  lock.lock();
  if (step != DeviceStep::kWaits) return leave_device(job, step == DeviceStep::kGoesOn);
  on_device_.push_back(job);
  work_.notify_all();
}

/// Behind enqueue_step(), once nobody waits for the device any more.
void Scheduler::leave_device(const std::shared_ptr<BatchJob>& job, bool is_fine) {
  --num_running_;
  if (!waiting_.empty()) work_.notify_all();
  if (!is_fine) return give_up(*job);
  resume(job, leave_device_barrier(*job));
}

void Scheduler::poll_device() {
  for (size_t k = 0; k < on_device_.size();) {
    const auto is_done = on_device_[k]->device()->is_done();
    if (is_done && !*is_done) {
      ++k;
      continue;
    }
    auto job = std::move(on_device_[k]);
    on_device_.erase(on_device_.begin() + static_cast<std::ptrdiff_t>(k));
    // An error of the device is found again, and told, by wait_for_device().
    leave_device(job, is_done.has_value() || job->wait_for_device());
  }
}

/// A worker that has nothing else to do waits for the oldest batch on the device; false: there is none.
bool Scheduler::wait_for_device(std::unique_lock<std::mutex>& lock) {
  if (on_device_.empty()) return false;
  auto job = std::move(on_device_.front());
  on_device_.pop_front();
  lock.unlock();
  const bool is_fine = job->wait_for_device();
  lock.lock();
  leave_device(job, is_fine);
  return true;
}

void Scheduler::give_back(Ticket ticket, Progress progress, Worker& worker) {
  std::unique_lock lock(mutex_);
  for (size_t i = 0; i < worker.site_times.size(); ++i)
    times_.sites[i].add(std::exchange(worker.site_times[i], {}));
  BatchJob& job = *ticket.job;
  --num_running_;
  if (!waiting_.empty()) work_.notify_all();
  if (progress == Progress::kWaits || progress == Progress::kStartsOver) {
    ticket.start = progress == Progress::kWaits ? Start::kGoesOn : Start::kFresh;
    if (ticket.start == Start::kFresh) job.restart(ticket.slot);
    waiting_.add(std::move(ticket));
    return;
  }
  if (progress == Progress::kParked) {
    job.parked.emplace_back(ticket.slot, std::move(ticket.frame));
  } else {
    frames_.push_back(std::move(ticket.frame));
  }
  if (--job.num_pending > 0) return;
  if (job.begins_again()) return begin_again(job);
  if (job.parked.empty()) return complete(lock, job);
  if (!core_.cancelled) run_step(lock, ticket.job);
}

/// Tells the consumer that something has changed.
void Scheduler::ring() {
  num_rings_.fetch_add(1, std::memory_order_release);
  ready_.notify_all();
}

/// Looks for a change for a short time instead of sleeping at once; whether there was one. Where batches took
/// longer than that, or processors are wanted by others, nobody looks.
bool Scheduler::look_for_batch(std::unique_lock<std::mutex>& lock, Executor::Deadline deadline) {
  if (!has_idle_processor_ || last_wait_ > kShortWait) return false;
  if (num_sleeps_ > 0) {
    --num_sleeps_;
    return false;
  }
  const uint64_t before = num_rings_.load(std::memory_order_relaxed);
  lock.unlock();
  const int64_t pushed_before = times_pushed();
  auto until = Clock::now() + kShortWait;
  if (deadline) until = std::min(until, *deadline);
  const auto has_rung = [&] { return num_rings_.load(std::memory_order_acquire) != before; };
  while (!has_rung() && Clock::now() < until) {
    for (int i = 0; i < 64 && !has_rung(); ++i) relax_processor();
  }
  const bool is_pushed = times_pushed() != pushed_before;
  // The thread that rang is about to unlock: sleeping on the lock would cost what was saved.
  for (int i = 0; i < 1000 && !lock.try_lock(); ++i) relax_processor();
  if (!lock.owns_lock()) lock.lock();
  if (is_pushed) num_sleeps_ = kSleepsWhenPushed;
  return has_rung();  // asked again: nobody rings while the lock is held
}

/// Until something may have changed; false when the deadline has passed.
bool Scheduler::wait_for_batch(std::unique_lock<std::mutex>& lock, Executor::Deadline deadline) {
  if (look_for_batch(lock, deadline)) return true;
  if (!waiting_.empty()) {
    const auto soon = Clock::now() + std::chrono::milliseconds(20);
    ready_.wait_until(lock, deadline ? std::min(soon, *deadline) : soon);
    return !deadline || Clock::now() < *deadline;
  }
  if (deadline) return ready_.wait_until(lock, *deadline) == std::cv_status::no_timeout;
  ready_.wait(lock);
  return true;
}

Result<std::shared_ptr<BatchJob>> Scheduler::next(Executor::Deadline deadline) {
  std::unique_lock lock(mutex_);
  // Only who has seen the end of an epoch asks for the next one.
  if (epoch_ended_) {
    core_.planner.start_epoch();
    is_paused_ = false;
    ahead_.notify_one();
  }
  epoch_ended_ = false;
  work_.notify_all();
  const auto begin = Clock::now();
  std::optional<Clock::time_point> held_back_since;
  for (;;) {
    if (fatal_) return std::unexpected(*fatal_);
    if (core_.cancelled) return make_error(message::kCancelled);
    if (queue_.front_ready()) {
      last_wait_ = Clock::now() - begin;
      auto job = queue_.pop();
      epoch_ended_ = !job;
      if (job) core_.num_held->fetch_add(1);
      work_.notify_all();  // there is room again
      return job;
    }
    if (!is_held_back_) {
      held_back_since.reset();
    } else if (!held_back_since) {
      held_back_since = Clock::now();
    } else if (Clock::now() - *held_back_since > kPatience) {
      return make_error(message::kHeldMemory, core_.num_held->load(), core_.gate->limit());
    }
    // With nothing in flight nobody else will notice that the host has to feed first.
    if (queue_.empty() && !plan_one() && !is_planning_)
      return make_error(message::kNothingFed, starved_input_);
    if (queue_.front_ready()) continue;
    work_.notify_all();
    if (!wait_for_batch(lock, deadline) && !queue_.front_ready()) return make_error(message::kTimeout, 0);
  }
}

void Scheduler::stop(Error error) {
  std::lock_guard lock(mutex_);
  if (!fatal_) fatal_ = std::move(error);
  core_.cancelled = true;
  work_.notify_all();
  ahead_.notify_all();
  ring();
}

void Scheduler::shrink() {
  std::lock_guard lock(mutex_);
  frames_.clear();
  core_.pool.drop_free();
  if (core_.device) core_.device->drop_idle();
}

void Scheduler::wake() {
  std::lock_guard lock(mutex_);
  work_.notify_all();
  ahead_.notify_all();
  ring();
}

ExecutorTimes Scheduler::times() const {
  std::lock_guard lock(mutex_);
  return times_;
}

}  // namespace galatea::runtime
