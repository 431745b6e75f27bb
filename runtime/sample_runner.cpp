// One sample through its program, with what on_error says; the step between segments. Shared by the
// executors.
#include <algorithm>

#include "runtime/executor.h"
#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

constexpr int64_t kMaxSubstitutes = 16;

/// Runs the frame; what a native or a kernel throws is a bug, and this sample's error.
Result<Frame::Outcome> run_frame(Frame& frame, Worker& worker) {
  try {
    return frame.run(worker);
  } catch (const std::bad_alloc&) {
    return make_error(message::kOutOfMemory, "an unknown number of");
  } catch (const std::exception& exception) {
    return make_error(message::kUnexpected, exception.what());
  }
}

/// Whether on_error may forgive it: what the sample's data caused, not what we or the machine did.
bool is_forgivable(const Error& error) {
  return error.kind == ErrorKind::kUser && !error.diagnostics.empty() &&
         error.diagnostics.front().code != message::kCancelled.code;
}

bool is_lack_of_memory(const Error& error) {
  return !error.diagnostics.empty() && error.diagnostics.front().code == message::kNoRoom.code;
}

}  // namespace

Worker SessionCore::make_worker() const {
  Worker worker;
  worker.cancelled = &cancelled;
  worker.trace = trace;
  worker.site_times.resize(loaded->sites.size());
  return worker;
}

Progress advance_sample(SessionCore& core, BatchJob& job, int slot, Frame& frame, Worker& worker,
                        Start start) {
  const OnErrorPolicy policy = core.loaded->program->on_error;
  if (start == Start::kFresh) frame.attempt = 1;
  for (;; start = Start::kFresh) {
    if (start == Start::kFresh) frame.begin(job.input(slot), job);
    auto outcome = run_frame(frame, worker);
    if (outcome && *outcome == Frame::Outcome::kBarrier) return Progress::kParked;
    if (outcome && *outcome == Frame::Outcome::kWaits) return Progress::kWaits;
    const bool is_bound = frame.past_barrier();
    const MemoryNeed learned = frame.learned();
    if (outcome && job.device()) job.keep_record(slot, frame.record());
    frame.end();
    if (outcome) return Progress::kDone;
    Error& error = outcome.error();
    if (learned.total() > 0 && !is_bound && is_lack_of_memory(error)) {
      frame.expect(learned);
      return Progress::kStartsOver;
    }
    const int64_t attempt = frame.attempt++;
    if (is_forgivable(error) && policy == OnErrorPolicy::kSkip) {
      job.skip(slot, std::move(error.diagnostics.front()));
      return Progress::kDone;
    }
    // Behind a barrier others have used the sample already, so that nothing can stand in for it.
    if (!is_forgivable(error) || policy != OnErrorPolicy::kReplace || is_bound || attempt > kMaxSubstitutes) {
      if (attempt > kMaxSubstitutes)
        error.diagnostics.front().notes.push_back(
            fmt::format(fmt::runtime(message::kSubstitutesFailed.text), kMaxSubstitutes));
      job.fail(slot, std::move(error));
      return Progress::kDone;
    }
    job.substitute(slot, attempt, error.diagnostics.front());
  }
}

bool run_batch_step(SessionCore& core, BatchJob& job) {
  std::sort(job.parked.begin(), job.parked.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<StepSample> samples;
  const int32_t step = job.parked.front().second->batch_step();
  const int32_t location = job.parked.front().second->barrier_location();
  Status status;
  for (auto& [slot, frame] : job.parked) {
    if (frame->batch_step() != step)
      status = make_error(message::kBadProgram, "samples of one batch wait at different barriers");
    samples.push_back(frame->step_sample());
  }
  if (status) {
    try {
      status = core.loaded->program->batch_steps[static_cast<size_t>(step)]->run(samples);
    } catch (const std::exception& exception) {
      status = make_error(message::kUnexpected, exception.what());
    }
  }
  if (status) return true;
  Error error = core.loaded->located(std::move(status.error()), location);
  for (auto& [slot, frame] : job.parked) {
    frame->end();
    job.fail(slot, error);
  }
  return false;
}

bool is_at_device_barrier(const BatchJob& job) {
  return std::any_of(job.parked.begin(), job.parked.end(),
                     [](const auto& entry) { return entry.second->at_device_barrier(); });
}

DeviceStep run_device_step(BatchJob& job) {
  if (!job.enqueue_device()) {
    for (auto& [slot, frame] : job.parked) frame->end();
    return DeviceStep::kFailed;
  }
  const bool waits = std::any_of(job.parked.begin(), job.parked.end(),
                                 [](const auto& entry) { return entry.second->waits_for_device(); });
  return waits ? DeviceStep::kWaits : DeviceStep::kGoesOn;
}

std::vector<std::pair<int, std::unique_ptr<Frame>>> leave_device_barrier(BatchJob& job) {
  const auto first = std::stable_partition(job.parked.begin(), job.parked.end(), [](const auto& entry) {
    return !entry.second->at_device_barrier();
  });
  std::vector<std::pair<int, std::unique_ptr<Frame>>> out(std::make_move_iterator(first),
                                                          std::make_move_iterator(job.parked.end()));
  job.parked.erase(first, job.parked.end());
  return out;
}

}  // namespace galatea::runtime
