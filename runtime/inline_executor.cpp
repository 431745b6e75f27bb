// One thread, one sample after the other, nothing ahead of time: obvious enough to judge the other executor
// by.
#include <utility>

#include "runtime/executor.h"
#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

class InlineExecutor final : public Executor {
 public:
  explicit InlineExecutor(SessionCore& core) : core_(core), worker_(core.make_worker()) {}

  Result<std::shared_ptr<BatchJob>> next(Deadline) override {
    if (core_.cancelled) return make_error(message::kCancelled);
    auto job = std::exchange(planned_, nullptr);
    if (!job) {
      core_.planner.start_epoch();
      auto plan = core_.planner.plan();
      if (std::holds_alternative<BatchPlanner::EpochEnd>(plan)) return nullptr;
      if (auto* starved = std::get_if<BatchPlanner::Starved>(&plan))
        return make_error(message::kNothingFed, starved->input);
      job = std::get<std::shared_ptr<BatchJob>>(plan);
    }
    if (core_.gate && !make_room([&] { return job->take_fixed_outputs(*core_.gate) == 0; }) &&
        core_.num_held->load() > 0) {
      planned_ = std::move(job);
      return make_error(message::kHeldMemory, core_.num_held->load(), core_.gate->limit());
    }
    if (times_.first_read == std::chrono::steady_clock::time_point{})
      times_.first_read = std::chrono::steady_clock::now();
    run(*job);
    if (core_.cancelled) return make_error(message::kCancelled);
    core_.num_held->fetch_add(1);
    return job;
  }
  void wake() override {}
  void cancel() override {}
  void shrink() override {
    frames_.clear();
    core_.pool.drop_free();
    if (core_.device) core_.device->drop_idle();
  }
  ExecutorTimes times() const override {
    ExecutorTimes times = times_;
    times.sites = worker_.site_times;
    return times;
  }

 private:
  void run(BatchJob& job) {
    for (;;) {
      run_samples(job);
      if (!job.begins_again()) break;
      take_frames(std::exchange(job.parked, {}));
      job.begin_again();
    }
    if (core_.device) job.finish_device();
  }
  void run_samples(BatchJob& job) {
    for (int slot = 0; slot < job.num_samples(); ++slot) {
      auto frame = take_frame();
      settle(job, slot, std::move(frame), Start::kFresh);
    }
    while (!job.parked.empty() && !job.begins_again()) {
      const bool is_of_device = is_at_device_barrier(job);
      if (is_of_device && !pass_device_barrier(job)) return take_frames(std::exchange(job.parked, {}));
      for (auto& [slot, frame] : is_of_device ? leave_device_barrier(job) : run_batch_step(core_, job))
        settle(job, slot, std::move(frame), Start::kGoesOn);
    }
  }
  void take_frames(Parked parked) {
    for (auto& [slot, frame] : parked) {
      frame->end();
      frames_.push_back(std::move(frame));
    }
  }
  bool pass_device_barrier(BatchJob& job) {
    const DeviceStep step = run_device_step(job);
    return step == DeviceStep::kWaits ? job.wait_for_device() : step == DeviceStep::kGoesOn;
  }
  /// Gives back what is kept for reuse until `claim` succeeds.
  template <typename Claim>
  bool make_room(Claim claim) {
    while (!claim()) {
      if (!frames_.empty()) {
        frames_.pop_back();
      } else if (!core_.pool.drop_free()) {
        return false;
      }
    }
    return true;
  }
  /// Nothing else runs: what a sample cannot have at once, it never will.
  Progress advance(BatchJob& job, int slot, Frame& frame, Start start) {
    for (;;) {
      const Progress progress = advance_sample(core_, job, slot, frame, worker_, start);
      if (progress == Progress::kDone || progress == Progress::kParked) return progress;
      start = progress == Progress::kWaits ? Start::kGoesOn : Start::kFresh;
      if (start == Start::kFresh) {
        job.restart(slot);
      } else if (make_room([&] { return core_.gate->claim_in_turn(frame.wanted_bytes()); })) {
        frame.grant();
      } else {
        frame.refuse(holders_of_memory(job));
      }
    }
  }
  void settle(BatchJob& job, int slot, std::unique_ptr<Frame> frame, Start start) {
    if (advance(job, slot, *frame, start) == Progress::kParked) {
      job.parked.emplace_back(slot, std::move(frame));
    } else {
      frames_.push_back(std::move(frame));
    }
  }
  std::unique_ptr<Frame> take_frame() {
    if (frames_.empty()) return core_.make_frame();
    auto frame = std::move(frames_.back());
    frames_.pop_back();
    return frame;
  }

  SessionCore& core_;
  Worker worker_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::shared_ptr<BatchJob> planned_;  ///< what the consumer's memory kept from running
  ExecutorTimes times_;
};

}  // namespace

std::unique_ptr<Executor> make_inline_executor(SessionCore& core) {
  return std::make_unique<InlineExecutor>(core);
}

}  // namespace galatea::runtime
