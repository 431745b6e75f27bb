// What a device does in place of a native function, for samples that suit it.
//
// Comes in: a call of a native function whose call site names an alternative (NativeCallSpec::alternative).
// Goes out: a job that stands in the sample's record until its batch is enqueued, and where on the device the
// output will lie. Who does the work is a function of the arguments and of the program's options, never of
// load or time.
//
// Alternatives are registered by name beside the native functions (NativeTable). What they do on the device
// is theirs and the driver's (runtime/cuda/alternative.h); the rest of the runtime knows what stands here.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/scalar_op.h"
#include "runtime/tensor.h"

namespace galatea::runtime {

class NativeState;

/// A call for one sample.
struct NativeArguments {
  std::span<const Tensor> inputs;
  std::span<const Cell> scalars;
  const NativeState* state = nullptr;
  const Tensor& output;  ///< its type and extents
};

/// What the host's part of the work left behind.
class DeviceJob {
 public:
  virtual ~DeviceJob() = default;
};

/// What an alternative is going to do for one sample.
struct DeviceWork {
  std::unique_ptr<DeviceJob> job;
  int64_t bytes = 0;                        ///< that it writes, one behind the other
  int64_t first = 0;                        ///< which of them the output begins with
  std::array<int64_t, kMaxRank> strides{};  ///< of the output there, in elements
};

/// An alternative in a session, and what the session lends it: runtime/cuda/alternative.h.
class DeviceAlternative;
struct DeviceMeans;

/// What an alternative needs of the machine, and has found there.
class DeviceLibrary {
 public:
  virtual ~DeviceLibrary() = default;
  virtual std::string describe() const = 0;  ///< "nvJPEG 12.4"
  virtual std::string path() const = 0;
  /// An error is the machine's: a library that is here and fails is not passed over.
  virtual Result<std::shared_ptr<DeviceAlternative>> open(const DeviceMeans& means) const = 0;
};

struct DeviceAlternativeFactory {
  std::string name;  ///< "nvJPEG"
  /// An error says what is missing on this machine. `newest_major` is the driver's, which runs nothing of a
  /// later major version of CUDA; 0: any will do.
  std::function<Result<std::shared_ptr<const DeviceLibrary>>(int newest_major)> find;
};

}  // namespace galatea::runtime
