// The CUDA driver, found at run time.
//
// Comes in: the setting GALATEA_CUDA_LIBRARY_PATH, the loader's places. Goes out: the devices of this
// machine, and errors that say what to do. Nothing links CUDA; a machine without a GPU gives an error, never
// a crash.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/cuda/driver_api.h"

namespace galatea::runtime::cuda {

/// A driver of CUDA 11.2 or newer is what NVRTC of that age needs, and what is tested.
inline constexpr int kOldestDriver = 11020;

struct Device {
  int index = 0;  ///< as in --device gpu:N
  DeviceNumber number = 0;
  std::string name;      ///< "NVIDIA H200"
  int architecture = 0;  ///< 90 for sm_90
  int num_processors = 0;
  int64_t memory_bytes = 0;
  /// "GPU 0 (NVIDIA H200)".
  std::string describe() const;
};

class Driver {
 public:
  /// Opens the library and lists the devices. A driver that finds no device opens; device() then says so.
  static Result<std::shared_ptr<const Driver>> open();
  /// The one that others in this process use, as long as any does.
  static Result<std::shared_ptr<const Driver>> shared();

  const std::string& path() const { return path_; }
  int version() const { return version_; }  ///< 12080 for CUDA 12.8
  std::string version_text() const;         ///< "12.8"
  /// The newest CUDA whose libraries and code it takes: 12. Later minor versions of it do as well.
  int major_version() const { return version_ / 1000; }
  const std::vector<Device>& devices() const { return devices_; }
  Result<Device> device(int index) const;
  const DriverApi& api() const { return api_; }
  /// The first entry point of graphs that this driver has not; null: it has them all.
  const char* missing_for_graphs() const { return missing_for_graphs_; }

  /// The error of a call that returned `result`; `device` is what it was made for, if anything.
  std::unexpected<Error> failure(Code result, const char* entry, std::string_view device = {}) const;
  /// The driver's name of a code: "CUDA_ERROR_LAUNCH_FAILED".
  std::string name_of(Code result) const;

 private:
  Driver() = default;
  Status load(void* library, const std::string& path);
  Status list_devices();
  Result<Device> look_at(int index) const;
  template <typename... Parameters, typename... Arguments>
  Status call(const Entry<Code(Parameters...)>& entry, Arguments... arguments) const {
    const Code result = entry.function(arguments...);
    if (result != code::kSuccess) return failure(result, entry.name);
    return {};
  }

  std::string path_;
  int version_ = 0;
  std::vector<Device> devices_;
  std::string why_none_;  ///< no device: the driver's words
  DriverApi api_;
  const char* missing_for_graphs_ = nullptr;
};

/// Whether a device is of no more use to this process after this code: each later call gives it again.
bool is_device_lost(Code result);

}  // namespace galatea::runtime::cuda
