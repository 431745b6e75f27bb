// The bytecode interpreter: runs a program for one sample, in a frame that can be put aside and taken up
// again by another thread.
//
// Comes in: a loaded program, what the sample is (SampleInput), where outputs go (OutputSink), a worker. Goes
// out: outputs in the sink, or an error that says where in the text it arose.
//
// A frame holds registers, slots and the arena of the sample's intermediates; it is used again for sample
// after sample, so that running an instruction allocates nothing. Slots own references to arena blocks; a
// view shares its input's block.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/trace.h"
#include "runtime/arena.h"
#include "runtime/device_session.h"
#include "runtime/loaded_program.h"
#include "runtime/sample_claim.h"

namespace galatea::runtime {

/// What one place of the program (LoadedProgram::sites) took.
struct SiteTime {
  int64_t ns = 0, calls = 0;
  void add(SiteTime other) {
    ns += other.ns;
    calls += other.calls;
  }
};

/// What a thread keeps between samples.
struct Worker {
  const std::atomic<bool>* cancelled = nullptr;
  Trace* trace = nullptr;
  std::unordered_map<const void*, std::shared_ptr<void>> thread_objects;
  std::vector<SiteTime> site_times;  ///< per LoadedProgram::sites, since they were last taken
};

/// Which sample a frame runs for. Pointers stay valid until the sample is done.
struct SampleInput {
  int slot = 0;                                 ///< place in the batch
  int64_t number = 0;                           ///< running number, or the id that the host gave
  int64_t epoch = 0;                            ///< of the session
  const ReaderLoop::Place* reads = nullptr;     ///< per source
  const Tensor* const* feeds = nullptr;         ///< per external input
  const Error* const* feed_failures = nullptr;  ///< per external input: why it has no tensor, or null
  const int64_t* const* feed_parts = nullptr;   ///< per external input: which part of its tensor, or null
  int64_t batch_bytes = 0;                      ///< of the batch's own outputs, which come on top
  MemoryNeed expected;                          ///< as learned() gave it before the sample started over
  DeviceBatch* device = nullptr;                ///< of a program for a GPU
};

/// The batch's side of outputs.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  /// Room for output `output` of the sample in `slot`, dense, for who runs on the host or on the device.
  virtual Result<Tensor> allocate_output(int output, int slot, DType dtype, std::span<const int64_t> extents,
                                         Memory writer) = 0;
  /// Output `output` of the sample in `slot`, of extents that vary, is this very tensor, whose memory nobody
  /// else writes or hands on.
  virtual void hand_on(int output, int slot, const Tensor& tensor) = 0;
  /// Memory for a tensor that several samples may hold.
  virtual Result<std::shared_ptr<Buffer>> allocate_shared(int64_t bytes) = 0;
};

class Frame {
 public:
  enum class Outcome { kDone, kBarrier, kWaits };

  /// With a gate, the frame asks it for memory before it takes any.
  Frame(std::shared_ptr<const LoadedProgram> loaded, Allocator& allocator, MemoryGate* gate = nullptr);
  ~Frame() { end(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  /// Starts a sample, of a frame that is new or has ended the one before.
  void begin(const SampleInput& input, OutputSink& sink);
  /// Runs to the end, to the next barrier, or to where it needs more memory than is free now; run() goes on
  /// behind that.
  Result<Outcome> run(Worker& worker);
  /// Lets everything go that the sample held.
  void end();

  // Valid after kWaits, until the next run(); one of grant() and refuse() comes before that.
  int64_t wanted_bytes() const { return claim_.wanted(); }
  /// The gate has given wanted_bytes() to this frame.
  void grant() { claim_.grant(); }
  /// run() will fail where the sample waits: nobody can give it that much. `note`: who has it, or empty.
  void refuse(std::string note = {}) {
    refused_ = true;
    refusal_note_ = std::move(note);
  }
  /// After an error of code G0924: what to expect when the sample starts over.
  MemoryNeed learned() const { return claim_.learned(); }
  /// For the next begin(): what the sample takes at least.

  /// After end(): gives back what it keeps for the next sample.
  void shrink() { arena_.shrink_idle(); }

  bool past_barrier() const { return batch_step_ >= 0; }
  /// The error of the last run() was that of all samples that met, whoever is to blame.
  bool failed_together() const { return failed_together_; }

  /// Valid after kBarrier. Barriers of a program are passed in the order of their numbers.
  size_t barrier() const { return pc_; }
  int32_t batch_step() const { return batch_step_; }
  bool at_device_barrier() const { return at_device_barrier_; }
  bool waits_for_device() const { return waits_for_device_; }
  int64_t bytes_held() const { return arena_.budget(); }
  const SampleInput& input() const { return input_; }
  /// What a batch does with frames that wait at one barrier of it, in the order of their places. Errors are
  /// those of frames: their next run() gives them.
  static void meet(const BatchStep& step, std::span<Frame* const> frames);

  /// What the sample asks of the device, valid after kBarrier and kDone. Behind a barrier of the device,
  /// run() takes it for granted that it was enqueued, and waited for where the barrier waits.
  DeviceRecord& record() { return record_; }

 private:
  friend class FrameNativeContext;
  class Reading;

  /// Bytes of the host that a slot's tensor lies in; null: those that its extents say.
  struct HostBytes {
    uint8_t* begin = nullptr;
    int64_t size = 0;
  };
  static HostBytes host_bytes(const Tensor& tensor);

  /// Whether the sample has the memory that the instruction is about to take.
  Result<bool> admit(const Instruction& i);
  int64_t working_bytes(const Instruction& i);
  void gather_operands(const NativeCallSpec& spec);
  enum class Maker : uint8_t { kProgram, kReader };
  Result<Tensor> give_output(int output, DType dtype, std::span<const int64_t> extents,
                             Memory writer = Memory::kHost, Maker maker = Maker::kProgram);
  Status step(const Instruction& i, Worker& worker);
  bool evaluate_scalar(const Instruction& i);
  Status check(const Instruction& i);
  Status switch_to(const Instruction& i);
  Status allocate(const Instruction& i);
  Status allocate_output(const Instruction& i);
  Result<Tensor> allocate_shared(DType dtype, std::span<const int64_t> extents);
  Status lend(const Instruction& i);
  Status view(const Instruction& i);
  Status strided_view(const Instruction& i, const ViewSpec& spec);
  Status reshape(const Instruction& i, const ViewSpec& spec);
  void window_view(const Instruction& i, const ViewSpec& spec);
  Status make_dense(int32_t dst, int32_t src);
  Status store_elements(const Instruction& i);
  Status load(const Instruction& i);
  Tensor part_of_feed(int32_t input) const;
  Status read(const Instruction& i, Worker& worker);
  Status call_native(const Instruction& i, Worker& worker);
  Status call_kernel(const Instruction& i, Worker& worker);
  Status finish_outputs(const Instruction& i);
  bool can_be_handed_on(int output, const Tensor& tensor) const;
  Status finish_output(int output, int32_t slot);

  // Where samples meet: sample_meeting.cpp.
  static void meet_scalar(const BatchStep::Scalar& part, std::span<Frame* const> frames);
  static Status meet_total(const BatchStep::Total& part, std::span<Frame* const> frames);
  static Status meet_take(const BatchStep::Take& part, std::span<Frame* const> frames);
  void fail_at_meeting(Error error, bool together);

  // Programs for a GPU: sample_device.cpp.
  void allocate_on_device(int32_t slot, DType dtype, std::span<const int64_t> extents, int64_t bytes);
  Status record_call(const Instruction& i, Worker& worker);
  Result<Tensor> on_device(int32_t slot);
  Result<Tensor> upload(int32_t slot);
  /// False: the host calls the function.
  Result<bool> make_on_device(int32_t call);
  Status to_host(const Instruction& i);
  Status finish_device_output(int output, const Tensor& tensor);
  Status leave_device_barrier();
  void forget_device();
  // Errors in arms that the device may leave out: sample_arms.cpp.
  /// The sample's error, or a stop at a barrier behind which it is known whether it is one.
  Result<Outcome> fail_at(const Instruction& i, Error error);
  Status settle_doubt();
  void retain_block(int32_t block);
  void release_block(int32_t block);

  static constexpr int32_t kDeviceBlock = 1 << 30;
  /// slot ← tensor that lives in `block` (-1: memory of its own); takes over one reference to the block.
  void set_slot(int32_t slot, Tensor tensor, int32_t block);
  void copy_slot(int32_t dst, int32_t src);
  void set_view(int32_t dst, Tensor tensor, int32_t src, HostBytes held);
  /// A dense tensor in a new block.
  Result<int32_t> allocate_slot(int32_t slot, DType dtype, std::span<const int64_t> extents);
  std::span<const int64_t> extents_of_registers(int32_t first, int32_t count);
  int64_t int_register(int32_t index) const {
    return static_cast<int64_t>(registers_[static_cast<size_t>(index)].bits);
  }
  int32_t list(int32_t index) const { return program_.lists[static_cast<size_t>(index)]; }
  std::string trace_detail() const;
  std::unexpected<Error> refuse_delivery(const std::string& who, const std::string& sample,
                                         const std::string& why) const;

  std::shared_ptr<const LoadedProgram> loaded_;
  const Program& program_;
  Arena arena_;
  std::vector<Cell> registers_;
  std::vector<Tensor> slots_;
  std::vector<int32_t> blocks_;  ///< arena block of each slot, -1: none; the device's from kDeviceBlock on
  std::vector<Tensor> outputs_;  ///< given out by the sink; data null: not yet
  std::vector<KernelTensor> kernel_tensors_;
  std::vector<uint64_t> kernel_params_;
  std::vector<Tensor> native_inputs_;
  std::vector<Cell> native_scalars_, native_results_;
  Delivery delivery_;
  std::vector<Tensor> delivered_;  ///< by a source: what it was given
  int64_t extents_[kMaxRank] = {};
  SampleInput input_;
  OutputSink* sink_ = nullptr;
  size_t pc_ = 0;

  SampleClaim claim_;
  bool admitted_ = false;  ///< the instruction at pc_ has what it needs
  bool refused_ = false;   ///< it will not get it

  std::string refusal_note_;

  int32_t batch_step_ = -1;
  int32_t barrier_location_ = -1;
  std::unique_ptr<Error> meeting_error_;
  bool failed_together_ = false;

  // Of programs for a GPU only.
  DeviceRecord record_;
  DeviceArena device_arena_;
  std::vector<Tensor> twins_;  ///< per slot: what was uploaded of a tensor of the host; data null: nothing
  std::vector<HostBytes> windows_;    ///< per slot
  std::vector<int32_t> downloads_;    ///< slots, to be made dense behind the barrier
  std::vector<int32_t> downloading_;  ///< blocks of the device's arena
  bool at_device_barrier_ = false, waits_for_device_ = false;
  /// An error that is one if the sample takes all of these arms, outer ones first.
  struct Doubt {
    struct Arm {
      const uint8_t* flag = nullptr;  ///< there behind the barrier
      uint32_t wanted = 1, largest = 1;
      size_t end = 0;  ///< where a sample goes on that does not take it
    };
    Error error;
    std::vector<Arm> arms;
  };
  std::unique_ptr<Doubt> doubt_;
};

}  // namespace galatea::runtime
