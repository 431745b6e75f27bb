// One batch on the device: what its samples recorded becomes copies and launches.
//
// Comes in: records with virtual addresses, host bytes in pinned chunks. Goes out: at each enqueue() one
// upload a chunk, one of parameters, one launch a call site, in streams of the session; at the end, outputs.
//
//   upload    │ chunks, parameters ─┐                    outputs that the host made ─┐
//   compute   │                     └─▶ launches, copies ─┐                          └─▶ ready
//   download  │                                           └─▶ what the host waits for, flags
//
// A batch keeps its memory until finish(): frames that go on behind a barrier hold addresses of it.
#pragma once

#include <vector>

#include "runtime/cuda/batch_launch.h"
#include "runtime/cuda/device_outputs.h"
#include "runtime/cuda/session.h"
#include "runtime/cuda/staging.h"

namespace galatea::runtime::cuda {

class CudaBatch final : public DeviceBatch {
 public:
  CudaBatch(std::shared_ptr<CudaSession> session, int num_samples, int num_slots);
  ~CudaBatch() override;
  CudaBatch(const CudaBatch&) = delete;
  CudaBatch& operator=(const CudaBatch&) = delete;

  Result<Staged> stage(int64_t bytes) override;
  Result<Staged> take_output(int output, int slot, int64_t bytes, bool on_host) override;
  Result<uint8_t*> stage_download(int64_t bytes) override;
  void forget(int slot) override;
  uint64_t constant(const Buffer& constant) const override { return session_->constant(constant); }
  Result<std::optional<DeviceWork>> begin(int32_t alternative, const NativeArguments& call) override;

  Status enqueue(std::span<const Part> parts) override;
  Result<bool> is_done() const override;
  Status wait() const override;
  uint64_t resolve(int slot, uint64_t address) const override;
  std::optional<Failure> failure(int slot) const override;
  bool may_fail() const override;

  Result<std::shared_ptr<DeviceOutputs>> finish(std::span<const int> live) override;
  uint64_t output_address(int output, int place) const override;
  std::shared_ptr<Buffer> output_buffer(int output) const override {
    return outputs_[static_cast<size_t>(output)].buffer;
  }

 private:
  /// Where one sample's part of an output is made, and lies.
  struct Room {
    enum class Maker : uint8_t { kNone, kHost, kDevice };
    Maker maker = Maker::kNone;
    int64_t bytes = 0;
    Staging::Place staged;     ///< of the host's
    DevicePointer device = 0;  ///< 0: not yet
  };
  struct Output {
    bool on_device = false;
    int64_t sample_bytes = -1;  ///< known-equal extents: all samples in one block
    std::vector<Room> rooms;    ///< per slot
    std::unique_ptr<Staging> staging;
    std::shared_ptr<DeviceBuffer> buffer;
  };
  using Timer = CudaSession::EnqueueTimer;

  Status enqueue_parts(std::span<const Part> parts);
  Status take_arena(std::span<const Part> parts);
  // batch_alternatives.cpp
  Status run_alternatives(std::span<const Part> parts);
  Status run_alternative(std::span<const Part> parts, int32_t number);
  Status take_made(std::span<const Part> parts, const std::vector<bool>& has_work);
  // device_batch.cpp
  Status record_chunks(BatchCommands& commands);
  Result<LaunchedBatch> record_calls(std::span<const Part> parts, BatchCommands& commands);
  void record_copies(std::span<const Part> parts, BatchCommands& commands) const;
  void record_downloads(std::span<const Part> parts, BatchCommands& commands);
  Status submit(BatchCommands& commands);
  void let_staged_go(LaunchedBatch& launched);
  // batch_outputs.cpp
  Result<Staging::Place> stage_output(Output& output, int slot, int64_t bytes);
  static void give(Output& output, MemoryBlock block);
  Status take_fixed(Output& output, const std::shared_ptr<const Stream>& stream);
  Status take_room(Output& output, std::span<const Part> parts);
  Status upload_fixed(Output& output, std::span<const int> live, CommandList& commands);
  Status upload_varying(Output& output, std::span<const int> live, CommandList& commands);
  void compact(Output& output, std::span<const int> live, CommandList& commands);
  DevicePointer fixed_address(const Output& output, int64_t place) const;
  DevicePointer address_of(int slot, uint64_t address) const;
  Streams& streams() const { return session_->streams(); }

  std::shared_ptr<CudaSession> session_;
  int num_slots_;
  Staging uploads_, downloads_;
  std::vector<Output> outputs_;
  std::vector<DevicePointer> arenas_;  ///< per slot, of the last enqueue
  std::vector<DevicePointer> made_;    ///< per slot, likewise
  std::vector<MemoryBlock> blocks_;    ///< arenas of all enqueues
  std::vector<MemoryBlock> uploaded_;  ///< chunks, parameters and what alternatives made
  /// What alternatives make in the round that is being enqueued, which it keeps when it fails for want of
  /// other memory.
  std::vector<MemoryBlock> made_blocks_;
  std::vector<LaunchedBatch> launched_;  ///< that can fail
  size_t num_uploaded_ = 0;              ///< chunks
  bool has_downloads_ = false;
  std::mutex mutex_;                   ///< of the outputs' staging
  std::vector<size_t> launched_from_;  ///< per slot: what counts of launched_
  std::shared_ptr<Event> done_;        ///< null: nothing was enqueued
  std::vector<int> live_;              ///< after finish()
};

}  // namespace galatea::runtime::cuda
