// The kernel calls of a batch, as few launches as there are call sites.
//
// Comes in: the calls that each sample's program would make, in any order of samples, and the bytes that the
// host made for them. Goes out: one copy to the device (descriptors, parameters, those bytes) and one launch
// a call site, in the order of sites; nothing waits for the device. A sample that took another way through
// its program has no call at a site, and takes no block there.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/cuda/commands.h"
#include "runtime/cuda/memory_pool.h"
#include "runtime/cuda/streams.h"
#include "runtime/kernel_abi.h"
#include "runtime/program.h"

namespace galatea::runtime::cuda {

/// A byte that has to be `wanted` for a call to run, one past `largest` counting as that: `galatea_guard` of
/// the prelude.
struct DeviceGuard {
  uint64_t flag = 0;
  uint32_t wanted = 1, largest = 1;
};

/// A call as kernels see it: `galatea_call` of the prelude. Addresses are the device's.
struct DeviceCall {
  uint64_t tensors = 0, params = 0, scratch = 0, status = 0;
  uint32_t kernel = 0;  ///< where one function holds several: which
  uint32_t num_guards = 0;
  uint64_t guards = 0;    ///< blocks of a call one of whose guards does not hold leave at once
  uint64_t counters = 0;  ///< kCallCounters words, zero when the launch begins
};

/// What stands at a call site.
struct LaunchKernel {
  FunctionHandle function = nullptr;
  int inputs = 0;
  bool is_tiled = false;               ///< blocks may share a call (codegen::can_be_tiled)
  bool may_fail = false;               ///< it may raise flags, whatever its parameters are
  int32_t opcode = 0;                  ///< among the kernels of the function
  bool shares_phases = false;          ///< blocks that share a call have counters to wait for each other by
  std::vector<int32_t> divisors = {};  ///< parameters: a call where one is zero may raise flags, too
  int32_t threads = 0;                 ///< of a block; 0: BatchLaunch::kThreads
  bool has_grid = false;               ///< the first three parameters are blocks along x, y and z
};

/// A tensor of a call. In memory of the device, or in bytes of the host that go up with the batch.
struct LaunchTensor {
  KernelTensor view;  ///< with `upload`: `data` points into (or near, for a window) those bytes
  int32_t upload = -1;
};

/// What a batch gives its streams at once: uploads, behind them kernels and copies, behind those downloads.
struct BatchCommands {
  CommandList upload, compute, download;
};

/// A batch whose launches are written down, or on their way.
class LaunchedBatch {
 public:
  struct Failure {
    int32_t site = 0, sample = 0, location = -1;
    uint32_t flags = 0;
  };
  int num_launches() const { return num_launches_; }
  /// Once the stream has passed the batch: the first failed call, in the order of samples, then of sites.
  std::optional<Failure> first_failure() const;
  /// The same among the calls of one sample.
  std::optional<Failure> first_failure(int32_t sample) const;
  bool may_fail() const { return !may_fail_.empty(); }
  int64_t upload_bytes() const { return upload_bytes_; }
  /// What was uploaded, which kernels read. It may be let go at any time; the sooner, the sooner another
  /// batch's upload goes there, and waits for these kernels.
  MemoryBlock take_parameters() { return std::move(parameters_); }
  /// What only the streams' work needs: to be let go once that is enqueued, not before.
  std::vector<MemoryBlock> take_staged() { return std::move(staged_); }

 private:
  friend class BatchLaunch;
  Failure failure_at(size_t k) const;
  int num_launches_ = 0;
  int64_t upload_bytes_ = 0;
  MemoryBlock parameters_;
  std::vector<MemoryBlock> staged_;
  MemoryBlock status_;             ///< pinned; empty: no call can fail
  std::vector<Failure> may_fail_;  ///< a word each
};

class BatchLaunch {
 public:
  /// Threads of a block: what kernels are compiled for.
  static constexpr int kThreads = 256;
  /// Elements of the output for one thread, where calls are tiled.
  static constexpr int64_t kElementsPerThread = 8;
  /// Blocks of a call that wait for each other: no more than keep a large GPU busy with a batch.
  static constexpr int64_t kMostSharing = 128;

  BatchLaunch(std::shared_ptr<const Stream> stream, std::shared_ptr<MemoryPool> device,
              std::shared_ptr<MemoryPool> pinned)
      : own_streams_(Streams::one(std::move(stream))),
        streams_(&own_streams_),
        device_(std::move(device)),
        pinned_(std::move(pinned)) {}
  /// `streams` outlive the object; nobody else uses them during enqueue().
  BatchLaunch(Streams& streams, std::shared_ptr<MemoryPool> device, std::shared_ptr<MemoryPool> pinned)
      : streams_(&streams), device_(std::move(device)), pinned_(std::move(pinned)) {}
  BatchLaunch(const BatchLaunch&) = delete;
  BatchLaunch& operator=(const BatchLaunch&) = delete;

  /// Bytes that go up with the batch; they are read by enqueue(). The number is for LaunchTensor::upload.
  int32_t add_upload(const void* data, int64_t bytes);
  /// `location` is given back with a failure. `kernel`: which of enqueue()'s; -1: the site's number. Kernels
  /// of one site have one function. `blocks`: how many have work; 0: as many as its output is worth.
  /// `bytes`: of its tensors, where launches are timed.
  void add_call(int32_t site, int32_t sample, std::span<const LaunchTensor> tensors,
                std::span<const uint64_t> params, int64_t scratch_bytes, int32_t location = -1,
                int32_t kernel = -1, std::span<const DeviceGuard> guards = {}, int64_t blocks = 0,
                int64_t bytes = 0);
  /// Writes copies and launches down. Afterwards the object is as new.
  Result<LaunchedBatch> record(std::span<const LaunchKernel> kernels, BatchCommands& commands);
  /// The same, and enqueues them.
  Result<LaunchedBatch> enqueue(std::span<const LaunchKernel> kernels);

 private:
  struct Upload {
    const void* data = nullptr;
    int64_t bytes = 0, offset = 0;
  };
  struct Call {
    int32_t site = 0, sample = 0, location = -1, kernel = 0;
    size_t first_tensor = 0, num_tensors = 0, first_param = 0, num_params = 0;
    size_t first_guard = 0, num_guards = 0;
    int64_t scratch_bytes = 0, blocks = 0, bytes = 0;
  };
  /// The calls of one site: [begin, end) of calls_.
  struct Group {
    size_t begin = 0, end = 0;
    int64_t blocks_offset = 0;
    uint32_t num_blocks = 0;
  };
  /// Where everything lies in the copy.
  struct Plan {
    std::vector<Group> groups;
    int64_t calls = 0, tensors = 0, params = 0, guards = 0, status = 0, counters = 0, bytes = 0;
    int64_t scratch_bytes = 0;  ///< sites follow each other, so that the largest need serves all
    size_t num_status = 0, num_counters = 0;
  };

  Plan plan(std::span<const LaunchKernel> kernels);
  LaunchedBatch fill(Plan& plan, std::span<const LaunchKernel> kernels, uint8_t* host, DevicePointer device,
                     DevicePointer scratch) const;
  uint32_t count_tiles(const Call& call, const LaunchKernel& kernel) const;
  bool may_fail(const Call& call, const LaunchKernel& kernel) const;
  Result<LaunchedBatch> record_calls(std::span<const LaunchKernel> kernels, BatchCommands& commands);

  Streams own_streams_;
  Streams* streams_;
  std::shared_ptr<MemoryPool> device_, pinned_;
  std::vector<Upload> uploads_;
  std::vector<Call> calls_;
  std::vector<LaunchTensor> tensors_;
  std::vector<uint64_t> params_;
  std::vector<DeviceGuard> guards_;
};

}  // namespace galatea::runtime::cuda
