// One batch on its way: which samples it is made of, where their outputs go, what became of them.
//
// Comes in: the planner's choice of samples. Goes out: a Batch, or the error that travels in its stead.
// Samples of a job are worked on by several threads at once, each in a slot of its own; what they share is
// locked here.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/buffer_pool.h"
#include "runtime/sample_program.h"

namespace galatea::runtime {

/// One batch of one external input.
struct FedBatch {
  std::vector<Tensor> samples;
  std::vector<int64_t> ids;       ///< empty: running numbers
  FeedFailures failures;          ///< samples that could not be made; their tensors are none
  std::vector<int64_t> parts;     ///< which part of its tensor each sample is; empty: all of it
  int64_t num_parts = 0;          ///< of that tensor
  std::shared_ptr<void> counted;  ///< ends the count of its bytes
};

class BatchJob final : public OutputSink {
 public:
  /// `device`: of a program for a GPU.
  BatchJob(std::shared_ptr<const LoadedProgram> loaded, BufferPool& pool, int num_samples,
           DeviceSession* device = nullptr);

  // Set by the planner.
  int64_t epoch = 0, index = 0;
  int64_t serial = 0;                                  ///< of the session
  std::vector<int64_t> numbers;                        ///< per sample
  std::vector<int64_t> positions;                      ///< per sample, in the epoch
  std::vector<ReaderLoop::Place> places;               ///< sample-major: [sample][source]
  std::vector<std::shared_ptr<const FedBatch>> feeds;  ///< per external input
  ResumePoint after;                                   ///< what follows this batch

  /// Bytes of the outputs whose extents are known, with what buffers add.
  int64_t fixed_output_bytes() const;
  /// Takes the buffers for them, recycled where possible, else as the gate allows. Returns what it lacks for
  /// the next one; 0: all are there.
  int64_t take_fixed_outputs(MemoryGate& gate);
  /// The sample starts over: what was noted about it is forgotten.
  void restart(int slot);
  /// All samples start over. None of them may run.
  void reset();
  bool has_begun() const { return num_taken > 0 || has_fixed_outputs; }

  // Set by the scheduler, under its lock.
  int num_taken = 0;    ///< samples given to threads
  int num_told = 0;     ///< samples that sources have heard of, of those that no thread had
  int num_pending = 0;  ///< samples neither done nor parked
  bool complete = false;
  bool has_fixed_outputs = false;  ///< where memory is limited: take_fixed_outputs() took them all
  std::vector<std::pair<int, std::unique_ptr<Frame>>> parked;

  int num_samples() const { return num_samples_; }
  SampleInput input(int slot);
  Result<Tensor> allocate_output(int output, int slot, DType dtype, std::span<const int64_t> extents,
                                 Memory writer) override;
  void hand_on(int output, int slot, const Tensor& tensor) override;
  Result<std::shared_ptr<Buffer>> allocate_shared(int64_t bytes) override { return pool_.acquire(bytes); }
  /// File name of the sample, or "sample 17".
  std::string describe(int slot) const;

  /// The sample's error becomes the batch's.
  void fail(int slot, Error error);
  /// The sample leaves the batch.
  void skip(int slot, Diagnostic why);
  /// 1 when the sample itself has failed, then for each of its substitutes.
  int64_t next_attempt(int slot) { return ++attempts_[static_cast<size_t>(slot)]; }
  /// Gives the slot the samples that stand in for it at this attempt; `why` is listed at the first one.
  void substitute(int slot, int64_t attempt, const Diagnostic& why);
  /// The sample in `slot` starts over and asks for that much at once.
  void expect(int slot, MemoryNeed need) { expected_[static_cast<size_t>(slot)] = need; }
  /// A sample that has met others needs a substitute or more memory: once none runs, all samples start over.
  void will_begin_again() { begins_again_ = true; }
  bool begins_again() const { return begins_again_; }
  /// They do, with their substitutes and expectations so far. None of them may run.
  void begin_again();

  // Programs for a GPU. None of the samples may run.
  /// What the sample recorded last; it is done. The frame gets an empty record.
  void keep_record(int slot, DeviceRecord& record);
  /// Enqueues what the samples recorded that are done, or parked at a barrier of the device. False: it
  /// failed, and with it the batch.
  bool enqueue_device();
  /// For what was enqueued. False: the batch failed.
  bool wait_for_device();
  /// Every sample is done: enqueues the rest, unless the batch has failed. Without memory for it, finish()
  /// tries again: the batches before this one are the consumer's then, or gone.
  void finish_device();
  DeviceBatch* device() const { return device_.get(); }

  struct Finished {
    std::unique_ptr<Batch> batch;  ///< null: error
    Error error;
    std::vector<SampleFailure> skipped, replaced;
  };
  /// Once every sample is done: hands everything out.
  Finished finish();

 private:
  struct Output {
    std::shared_ptr<Buffer> contiguous;
    int64_t sample_bytes = -1;  ///< known-equal extents: bytes of each sample
    std::vector<Tensor> samples;
  };
  enum class State : uint8_t { kLive, kFailed, kSkipped };

  void note_feed_failures();
  Error first_error();
  void fail_all(Error error);
  void forget_work();
  void drop_outputs(int slot);
  Status enqueue_recorded();
  Status take_outputs();
  void settle_device();
  void take_device_outputs(const DeviceBatch& device);
  void check_device();
  void compact();
  int num_slots() const;
  int64_t fixed_size(const Output& output) const;
  bool is_fixed(size_t output) const;

  std::shared_ptr<const LoadedProgram> loaded_;
  BufferPool& pool_;
  int num_samples_;
  std::mutex mutex_;
  std::vector<Output> outputs_;
  std::vector<std::pair<size_t, ReaderLoop::Place>> original_places_;  ///< of samples with substitutes
  std::vector<State> states_;
  std::vector<int64_t> attempts_;     ///< per sample, of those that failed
  std::vector<MemoryNeed> expected_;  ///< per sample
  std::atomic<bool> begins_again_{false};
  std::vector<const Tensor*> feed_tensors_;  ///< sample-major
  std::vector<const Error*> feed_failures_;  ///< sample-major; empty: none failed
  std::vector<const int64_t*> feed_parts_;   ///< sample-major; null: the sample is all that was fed
  std::vector<std::pair<int, Error>> errors_;
  std::vector<std::pair<int, SampleFailure>> skipped_, replaced_;
  DeviceSession* device_session_;
  std::unique_ptr<DeviceBatch> device_;
  std::vector<DeviceRecord> records_;  ///< per sample, of those that are done
  std::shared_ptr<DeviceOutputs> device_outputs_;
  bool is_deferred_ = false;  ///< for want of memory
};

}  // namespace galatea::runtime
