// A session's device: context, streams, pools, kernels, constants.
//
// Comes in: a loaded program. Goes out: batches (device_batch.h), which share all this.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/cuda/alternative.h"
#include "runtime/cuda/batch_launch.h"
#include "runtime/cuda/event_pool.h"
#include "runtime/cuda/graph_cache.h"
#include "runtime/launch_order.h"
#include "runtime/loaded_program.h"

namespace galatea::runtime::cuda {

class CudaSession final : public DeviceSession, public std::enable_shared_from_this<CudaSession> {
 public:
  static Result<std::shared_ptr<DeviceSession>> open(const LoadedProgram& loaded,
                                                     const DeviceOptions& options);

  std::unique_ptr<DeviceBatch> make_batch(int num_samples, int num_slots) override;
  Status pace(const std::shared_ptr<DeviceOutputs>& taken) override;
  bool is_turn_of(int64_t serial) const override { return !takes_turns_ || turn_ >= serial; }
  void settled(int64_t serial) override;
  void note_shortage() override { takes_turns_ = true; }
  void drop_idle() override;
  DeviceStatistics statistics() const override;

  // For batches.
  const Program& program() const { return *program_; }
  const std::shared_ptr<const Context>& context() const { return context_; }
  const std::shared_ptr<MemoryPool>& device_pool() const { return device_; }
  const std::shared_ptr<MemoryPool>& pinned_pool() const { return pinned_; }
  const LaunchOrder& order() const { return order_; }
  std::span<const LaunchKernel> kernels() const { return kernels_; }
  /// The number in kernels() of a call of Program::kernel_calls.
  int32_t kernel_of(int32_t call) const { return program_->kernel_calls[static_cast<size_t>(call)].kernel; }
  uint64_t constant(const Buffer& constant) const;
  /// As LoadedProgram::alternatives; null: this machine has it not.
  std::span<const std::shared_ptr<DeviceAlternative>> alternatives() const { return alternatives_; }
  /// How large a batch's first chunk should be.
  int64_t chunk_bytes() const;
  void note_staged(int64_t bytes);

  /// One batch at a time enqueues. What follows is for the one that does.
  class EnqueueTimer {
   public:
    explicit EnqueueTimer(CudaSession& session);
    ~EnqueueTimer();
    EnqueueTimer(const EnqueueTimer&) = delete;
    EnqueueTimer& operator=(const EnqueueTimer&) = delete;

   private:
    CudaSession& session_;
    std::lock_guard<std::mutex> lock_;
    Context::Scope scope_;
    std::chrono::steady_clock::time_point begin_;
  };
  Streams& streams() { return streams_; }
  BatchLaunch& launch() { return *launch_; }
  GraphCache& graphs() { return *graphs_; }
  EventPool& events() { return *events_; }
  DeviceStatistics& counts() { return counts_; }
  bool times_commands() const { return times_ != nullptr; }
  /// Memory of the device for bytes that `stream` writes in front of the launches.
  Result<MemoryBlock> take_upload_block(int64_t bytes, const std::shared_ptr<const Stream>& stream);
  /// The blocks that a batch uploaded to, which the next one shall not use yet: its upload would have to wait
  /// for this batch's kernels.
  void keep_uploaded(std::vector<MemoryBlock> blocks);
  /// The next batch has its own blocks now. False: there were none.
  bool let_uploaded_go();
  void count_wait();

 private:
  CudaSession(std::shared_ptr<const Program> program, std::shared_ptr<const Context> context,
              const DeviceOptions& options);
  /// The kernel that a function is, by the name in the program; of a launch of several, all of them.
  std::string name_of(FunctionHandle function) const;
  Status prepare(const LoadedProgram& loaded, Priority priority);
  Status load_kernels();
  Status upload_constants();
  Status open_alternatives(const LoadedProgram& loaded, Priority priority);

  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Context> context_;
  Streams streams_;
  std::shared_ptr<MemoryPool> device_, pinned_;
  std::shared_ptr<EventPool> events_;
  LaunchOrder order_;
  std::vector<std::shared_ptr<const Module>> modules_;
  std::vector<LaunchKernel> kernels_;  ///< as Program::kernels
  std::unordered_map<const Buffer*, uint64_t> constants_;
  MemoryBlock constant_block_;
  std::unique_ptr<BatchLaunch> launch_;
  std::vector<std::shared_ptr<DeviceAlternative>> alternatives_;
  std::unique_ptr<CommandTimes> times_;  ///< null: nobody asks
  std::unique_ptr<GraphCache> graphs_;   ///< behind the modules, whose functions they name
  std::mutex enqueue_mutex_;
  std::vector<MemoryBlock> uploaded_;
  DeviceStatistics counts_;
  std::atomic<bool> takes_turns_;
  std::atomic<int64_t> turn_{0};
  mutable std::mutex mutex_;  ///< of what follows
  int64_t chunk_bytes_ = int64_t{64} << 10;
  int64_t num_waits_ = 0;
  std::deque<std::shared_ptr<const Event>> taken_;
};

}  // namespace galatea::runtime::cuda
