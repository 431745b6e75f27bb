// Worker threads that take tickets until the session ends, and one that looks ahead of them where something is
// read.
#include <system_error>
#include <thread>

#include "base/fault.h"
#include "runtime/fault.h"
#include "runtime/messages.h"
#include "runtime/scheduler.h"

namespace galatea::runtime {
namespace {

class CpuExecutor final : public Executor {
 public:
  CpuExecutor(SessionCore& core, int num_threads) : core_(core), scheduler_(core, num_threads) {}
  ~CpuExecutor() override {
    core_.cancelled = true;
    scheduler_.wake();
    for (std::thread& thread : threads_) thread.join();
  }
  CpuExecutor(const CpuExecutor&) = delete;
  CpuExecutor& operator=(const CpuExecutor&) = delete;

  Status start(int num_threads) {
    try {
      for (int i = 0; i < num_threads; ++i)
        threads_.emplace_back([this] { run(&CpuExecutor::take_tickets); });
      if (!core_.loaded->sources.empty()) threads_.emplace_back([this] { run(&CpuExecutor::read_ahead); });
    } catch (const std::system_error& error) {
      return make_error(message::kNoThread, error.what());
    }
    return {};
  }
  Result<std::shared_ptr<BatchJob>> next(Deadline deadline) override { return scheduler_.next(deadline); }
  void wake() override { scheduler_.wake(); }
  void cancel() override { scheduler_.wake(); }
  void shrink() override { scheduler_.shrink(); }
  ExecutorTimes times() const override { return scheduler_.times(); }

 private:
  void run(void (CpuExecutor::*work)()) {
    make_ready_for_exceptions();
    try {
      (this->*work)();
    } catch (...) {
      scheduler_.stop(error_in_flight(kSessionIsOver));
    }
  }
  void read_ahead() { scheduler_.read_ahead(); }
  void take_tickets() {
    Worker worker = core_.make_worker();
    while (auto ticket = scheduler_.take()) {
      Progress progress =
          advance_sample(core_, *ticket->job, ticket->slot, *ticket->frame, worker, ticket->start);
      scheduler_.give_back(std::move(*ticket), progress, worker);
    }
  }

  SessionCore& core_;
  Scheduler scheduler_;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_cpu_executor(SessionCore& core, int num_threads) {
  auto executor = std::make_unique<CpuExecutor>(core, num_threads);
  GALATEA_TRY(executor->start(num_threads));
  return std::unique_ptr<Executor>(std::move(executor));
}

}  // namespace galatea::runtime
