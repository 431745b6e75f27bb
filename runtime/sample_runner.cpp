// One sample through its program, with what on_error says; the step between segments. Shared by the
// executors.
#include <algorithm>

#include "runtime/executor.h"
#include "runtime/fault.h"
#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

constexpr int64_t kMaxSubstitutes = 16;

/// Runs the frame; what a native or a kernel throws is this sample's error.
Result<Frame::Outcome> run_frame(Frame& frame, Worker& worker) {
  try {
    return frame.run(worker);
  } catch (...) {
    return std::unexpected(error_in_flight());
  }
}

/// Whether on_error may forgive it: what the sample's data caused, or the disk that holds it, not what we or
/// the rest of the machine did.
bool is_forgivable(const Error& error) {
  if (error.diagnostics.empty()) return false;
  const std::string& code = error.diagnostics.front().code;
  return error.kind == ErrorKind::kUser ? code != message::kCancelled.code
                                        : code == message::kSampleFault.code;
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

namespace {

Progress run_sample(SessionCore& core, BatchJob& job, int slot, Frame& frame, Worker& worker, Start start) {
  const OnErrorPolicy policy = core.loaded->program->on_error;
  for (;; start = Start::kFresh) {
    if (start == Start::kFresh) frame.begin(job.input(slot), job);
    auto outcome = run_frame(frame, worker);
    if (outcome && *outcome == Frame::Outcome::kBarrier) return Progress::kParked;
    if (outcome && *outcome == Frame::Outcome::kWaits) return Progress::kWaits;
    const bool is_bound = frame.past_barrier(), is_of_all = frame.failed_together();
    const MemoryNeed learned = frame.learned();
    if (outcome && job.device()) job.keep_record(slot, frame.record());
    frame.end();
    if (outcome) return Progress::kDone;
    Error& error = outcome.error();
    if (learned.total() > 0 && is_lack_of_memory(error)) {
      job.expect(slot, learned);
      if (!is_bound) return Progress::kStartsOver;
      // Others have used what the sample handed over: all begin again.
      job.will_begin_again();
      return Progress::kDone;
    }
    const bool is_forgiven = is_forgivable(error) && !is_of_all;
    if (is_forgiven && policy == OnErrorPolicy::kSkip) {
      job.skip(slot, std::move(error.diagnostics.front()));
      return Progress::kDone;
    }
    if (!is_forgiven || policy != OnErrorPolicy::kReplace) {
      job.fail(slot, std::move(error));
      return Progress::kDone;
    }
    const int64_t attempt = job.next_attempt(slot);
    if (attempt > kMaxSubstitutes) {
      error.diagnostics.front().notes.push_back(
          fmt::format(fmt::runtime(message::kSubstitutesFailed.text), kMaxSubstitutes));
      job.fail(slot, std::move(error));
      return Progress::kDone;
    }
    job.substitute(slot, attempt, error.diagnostics.front());
    if (!is_bound) continue;
    // As above, with its substitute.
    job.will_begin_again();
    return Progress::kDone;
  }
}

}  // namespace

Progress advance_sample(SessionCore& core, BatchJob& job, int slot, Frame& frame, Worker& worker,
                        Start start) {
  try {
    return run_sample(core, job, slot, frame, worker, start);
  } catch (...) {
    Error error = error_in_flight();
    frame.end();
    job.fail(slot, std::move(error));
    return Progress::kDone;
  }
}

Parked run_batch_step(SessionCore& core, BatchJob& job) {
  std::sort(job.parked.begin(), job.parked.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t first = job.parked.front().second->barrier();
  for (const auto& [slot, frame] : job.parked) first = std::min(first, frame->barrier());
  const auto here = std::stable_partition(job.parked.begin(), job.parked.end(), [&](const auto& entry) {
    return entry.second->barrier() != first;
  });
  Parked meeting(std::make_move_iterator(here), std::make_move_iterator(job.parked.end()));
  job.parked.erase(here, job.parked.end());
  std::vector<Frame*> frames;
  for (const auto& [slot, frame] : meeting) frames.push_back(frame.get());
  const auto step = static_cast<size_t>(frames.front()->batch_step());
  Frame::meet(core.loaded->program->batch_steps[step], frames);
  return meeting;
}

std::string holders_of_memory(const BatchJob& job) {
  int64_t bytes = 0;
  for (const auto& [slot, frame] : job.parked) bytes += frame->bytes_held();
  if (job.parked.empty()) return {};
  return fmt::format(
      "{} sample{} of its batch wait{} for it and hold{} {} bytes: where samples meet, a batch has to fit",
      job.parked.size(), job.parked.size() == 1 ? "" : "s", job.parked.size() == 1 ? "s" : "",
      job.parked.size() == 1 ? "s" : "", bytes);
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

Parked leave_device_barrier(BatchJob& job) {
  const auto first = std::stable_partition(job.parked.begin(), job.parked.end(), [](const auto& entry) {
    return !entry.second->at_device_barrier();
  });
  Parked out(std::make_move_iterator(first), std::make_move_iterator(job.parked.end()));
  job.parked.erase(first, job.parked.end());
  return out;
}

}  // namespace galatea::runtime
