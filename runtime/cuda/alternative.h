// An alternative to a native function on this device, in a session.
//
// Comes in: calls, each on the thread of its sample; then places on the device for a batch of them. Goes out:
// what a stream of the alternative's own has written, in front of which nobody waits but that stream.
//
//   worker threads  begin(): the host's part                    ─▶ job, in the sample's record
//   who enqueues    run(): the device's part, job after job, then finish()
//
// All memory comes from the session's pools, so that limits hold and nothing is returned while the device
// works on it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/cuda/memory_pool.h"
#include "runtime/device_alternative.h"
#include "runtime/device_session.h"

namespace galatea::runtime {

struct DeviceMeans {
  std::shared_ptr<const cuda::Context> context;
  DevicePriority priority = DevicePriority::kDefault;
  std::shared_ptr<cuda::MemoryPool> device, pinned;
};

class DeviceAlternative {
 public:
  virtual ~DeviceAlternative() = default;
  /// What of the device it uses beside its multiprocessors, behind the library's name: " with …", or nothing.
  virtual std::string uses() const { return {}; }
  /// Whether what it does is decoding; else it reads.
  virtual bool decodes() const { return true; }
  /// Adds what it counts itself. Thread-safe.
  virtual void count(DeviceStatistics& /*into*/) const {}
  /// Device work is given to this one.
  virtual const std::shared_ptr<const cuda::Stream>& stream() const = 0;
  /// The host's part. Nothing: the host does it all, whoever asks and whenever, unless both make the same
  /// bits. Thread-safe.
  virtual Result<std::optional<DeviceWork>> begin(const NativeArguments& call) = 0;
  /// The device's part, to DeviceWork::bytes from there; ends the job. One thread at a time, between whose
  /// calls and finish() the jobs' memory is kept.
  virtual Status run(std::unique_ptr<DeviceJob>& job, cuda::DevicePointer to) = 0;
  /// Behind the last run() of a batch.
  virtual Status finish() = 0;
};

}  // namespace galatea::runtime
