// One thread, one sample after the other, nothing ahead of time: obvious enough to judge the other executor
// by.
#include "runtime/executor.h"
#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

class InlineExecutor final : public Executor {
 public:
  explicit InlineExecutor(SessionCore& core) : core_(core), worker_(core.make_worker()) {}

  Result<std::shared_ptr<BatchJob>> next(Deadline) override {
    if (core_.cancelled) return make_error(message::kCancelled);
    core_.planner.start_epoch();
    auto plan = core_.planner.plan();
    if (std::holds_alternative<BatchPlanner::EpochEnd>(plan)) return nullptr;
    if (auto* starved = std::get_if<BatchPlanner::Starved>(&plan))
      return make_error(message::kNothingFed, starved->input);
    if (times_.first_read == std::chrono::steady_clock::time_point{})
      times_.first_read = std::chrono::steady_clock::now();
    auto job = std::get<std::shared_ptr<BatchJob>>(plan);
    run(*job);
    if (core_.cancelled) return make_error(message::kCancelled);
    return job;
  }
  void wake() override {}
  void cancel() override {}
  ExecutorTimes times() const override {
    ExecutorTimes times = times_;
    times.site_ns = worker_.site_ns;
    return times;
  }

 private:
  void run(BatchJob& job) {
    for (int slot = 0; slot < job.num_samples(); ++slot) {
      auto frame = take_frame();
      settle(job, slot, std::move(frame), Start::kAlone);
    }
    while (!job.parked.empty()) {
      bool goes_on = run_batch_step(core_, job);
      auto parked = std::move(job.parked);
      job.parked.clear();
      for (auto& [slot, frame] : parked) {
        if (goes_on) {
          settle(job, slot, std::move(frame), Start::kResumed);
        } else {
          frames_.push_back(std::move(frame));
        }
      }
    }
  }
  void settle(BatchJob& job, int slot, std::unique_ptr<Frame> frame, Start start) {
    if (advance_sample(core_, job, slot, *frame, worker_, start) == Progress::kParked) {
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
  ExecutorTimes times_;
};

}  // namespace

std::unique_ptr<Executor> make_inline_executor(SessionCore& core) {
  return std::make_unique<InlineExecutor>(core);
}

}  // namespace galatea::runtime
