// The GPU as the rest of the runtime sees it: batches that are recorded by many threads and enqueued at once.
//
// Comes in: a loaded program and options; then, for each batch, bytes that the host made and the records of
// its samples. Goes out: outputs in memory of the device, with the event behind which they may be used.
// runtime/cuda implements it; nothing else knows a driver, but alternatives (device_alternative.h).
//
// A batch on its way:
//
//   worker threads: stage(), take_output() … ─▶ records ─▶ last sample of the batch: enqueue()
//     ├─ a barrier that waits: is_done() or wait(), then resolve() and failure() a sample, and on
//     └─ all samples done: finish() ─▶ DeviceOutputs ─▶ consumer
//
// Invariant: between stage() and finish() nothing waits for the device but wait().
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/device_record.h"
#include "runtime/tensor.h"

namespace galatea::runtime {

struct LoadedProgram;

/// kLow lets a host's own kernels (training) go first.
enum class DevicePriority : uint8_t { kLow, kDefault, kHigh };

struct DeviceOptions {
  int number = -1;  ///< as in --device gpu:N; -1: the program's
  DevicePriority priority = DevicePriority::kDefault;
  int64_t memory_limit = 0;     ///< bytes of the device; 0: as much as the driver gives
  bool graphs = true;           ///< what a stream is given again goes to the driver as a CUDA graph
  bool times_commands = false;  ///< each copy and launch stands between two events; there are no graphs then
};

/// Copies of one kind, or launches of one kernel, on the device.
struct CommandTime {
  std::string what;  ///< "upload", "launch of resize"
  int64_t count = 0;
  double seconds = 0;  ///< all together
  int64_t bytes = 0;   ///< that were copied, or of the tensors that kernels read and write
};

/// What one session did on its device.
struct DeviceStatistics {
  std::string device;  ///< "GPU 0 (NVIDIA H200)"; empty: the program needs none
  int64_t enqueues = 0, launches = 0, calls = 0;
  int64_t uploads = 0, upload_bytes = 0;  ///< of what the host made
  int64_t parameter_uploads = 0;          ///< of descriptors, parameters and flags: one an enqueue
  int64_t downloads = 0, download_bytes = 0, device_copies = 0;
  int64_t waits = 0;    ///< for barriers
  std::string decoder;  ///< "nvJPEG 12.4", the alternatives that are here; empty: the CPU decodes
  int64_t decodes = 0;  ///< calls of native functions that they took over
  std::string storage;  ///< "cuFile 1.14", which reads parts of files by itself; empty: the host reads
  int64_t storage_reads = 0, storage_bytes = 0;
  /// Why the host reads: all ("cuFile … was not found"), or so many ("3: shorter than …"). Empty: it does not,
  /// or nothing in the program could be read otherwise.
  std::string host_reads_because;
  /// Runs of three copies and launches of one stream or more, by whether they were one call of the driver.
  int64_t graph_launches = 0, plain_runs = 0;
  int64_t graph_commands = 0;  ///< copies and launches of the former
  int64_t graphs_made = 0;
  std::string graphs_off;                  ///< why there are no graphs; empty: there are
  std::vector<CommandTime> command_times;  ///< DeviceOptions::times_commands; of what is done
  double enqueue_seconds = 0;
  int64_t peak_bytes = 0, peak_pinned_bytes = 0;
};

/// The outputs of a batch that lie on the device. Their memory is theirs until the last reference to its
/// buffers is gone.
class DeviceOutputs {
 public:
  virtual ~DeviceOutputs() = default;
  virtual int device() const = 0;  ///< its number
  virtual Result<bool> is_ready() const = 0;
  virtual Status wait() const = 0;
  /// What the host gives `stream` from now on runs when the outputs are there, and their memory is used
  /// again only behind what the stream was given until it was let go. The host does not wait. `stream` is a
  /// CUstream of the device, which lives as long as the outputs.
  virtual Status make_wait(uintptr_t stream) = 0;
  /// A dense copy on the host; waits.
  virtual Status download(const Tensor& from, uint8_t* to) const = 0;
};

/// Thread-safe where it says so; the others are called while no sample of the batch runs.
class DeviceBatch {
 public:
  struct Staged {
    uint8_t* host = nullptr;  ///< to be filled before the sample parks or is done
    uint64_t address = 0;     ///< of the device, virtual
  };
  /// Room for host bytes that go up with the next enqueue. Thread-safe, as are the next four.
  virtual Result<Staged> stage(int64_t bytes) = 0;
  /// Room for an output of the sample in `slot`: memory of the host where the host makes it, else an address.
  /// A second call replaces the first.
  virtual Result<Staged> take_output(int output, int slot, int64_t bytes, bool on_host) = 0;
  /// Room for a download, until the batch is gone.
  virtual Result<uint8_t*> stage_download(int64_t bytes) = 0;
  /// The sample in `slot` begins: what was done for another one in its place is forgotten.
  virtual void forget(int slot) = 0;
  /// Where a constant of the program lies.
  virtual uint64_t constant(const Buffer& constant) const = 0;
  /// Begins the work of a native function (LoadedProgram::alternatives); the rest is done with the next
  /// enqueue, for the record that gets it. Nothing: the device does not do it, which depends on the call
  /// alone. Thread-safe.
  virtual Result<std::optional<DeviceWork>> begin(int32_t alternative, const NativeArguments& call) = 0;

  struct Part {
    int slot = 0;
    DeviceRecord* record = nullptr;
  };
  virtual ~DeviceBatch() = default;
  /// Copies, launches; each call site once, whatever samples reach it. Does not wait.
  virtual Status enqueue(std::span<const Part> parts) = 0;
  /// Whether everything that was enqueued is done.
  virtual Result<bool> is_done() const = 0;
  virtual Status wait() const = 0;
  /// Where a virtual address of a sample that was enqueued lies.
  virtual uint64_t resolve(int slot, uint64_t address) const = 0;

  struct Failure {
    int32_t location = -1;
    uint32_t flags = 0;
  };
  /// Once done: the first call of the sample that raised flags.
  virtual std::optional<Failure> failure(int slot) const = 0;
  /// Whether anything that was enqueued can fail so.
  virtual bool may_fail() const = 0;

  /// All is enqueued; outputs of the samples in `live` move together. Place n of output k is then at
  /// output_address(k, n), in output_buffer(k).
  virtual Result<std::shared_ptr<DeviceOutputs>> finish(std::span<const int> live) = 0;
  virtual uint64_t output_address(int output, int place) const = 0;
  virtual std::shared_ptr<Buffer> output_buffer(int output) const = 0;
};

class DeviceSession {
 public:
  virtual ~DeviceSession() = default;
  /// `num_slots`: samples that outputs of known extents have room for.
  virtual std::unique_ptr<DeviceBatch> make_batch(int num_samples, int num_slots) = 0;
  /// The consumer has taken these; waits for what it took long before, so that a consumer that waits for
  /// nothing does not run ahead of the device without bounds.
  virtual Status pace(const std::shared_ptr<DeviceOutputs>& taken) = 0;
  /// Whether batch `serial` may take memory now. Where memory was short, or has a limit, batches take it in
  /// order, so that the oldest has all that the consumer leaves.
  virtual bool is_turn_of(int64_t serial) const = 0;
  /// The batch has its memory, or needs none any more.
  virtual void settled(int64_t serial) = 0;
  /// Batches take turns from now on.
  virtual void note_shortage() = 0;
  /// Frees what is kept for use again.
  virtual void drop_idle() = 0;
  virtual DeviceStatistics statistics() const = 0;
};

/// Null where the program needs no device.
Result<std::shared_ptr<DeviceSession>> open_device_session(const LoadedProgram& loaded,
                                                           const DeviceOptions& options);

}  // namespace galatea::runtime
