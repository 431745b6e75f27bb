// Opening the driver, listing devices, and the wording of its failures.
#include "runtime/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "base/settings.h"
#include "runtime/messages.h"

namespace galatea::runtime::cuda {

namespace {

constexpr const char* kLibrary = "libcuda.so.1";
/// The system refuses what cuInit asks of it: device files that a container was not lent, say.
constexpr Code kOperatingSystem = 304;
/// Where the driver lies that Windows lends to its Linux.
constexpr const char* kWslFolder = "/usr/lib/wsl/lib";

std::string text_of(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace

bool is_device_lost(Code result) {
  constexpr Code kLost[] = {code::kEccUncorrectable,
                            code::kNvlinkUncorrectable,
                            code::kContained,
                            code::kIllegalAddress,
                            code::kLaunchTimeout,
                            code::kContextIsDestroyed,
                            code::kAssert,
                            code::kHardwareStackError,
                            code::kIllegalInstruction,
                            code::kMisalignedAddress,
                            code::kInvalidAddressSpace,
                            code::kInvalidPc,
                            code::kLaunchFailed,
                            code::kTensorMemoryLeak,
                            code::kMpsClientTerminated,
                            code::kUnknown};
  return std::find(std::begin(kLost), std::end(kLost), result) != std::end(kLost);
}

std::string Device::describe() const { return fmt::format("GPU {} ({})", index, name); }

std::string Driver::version_text() const { return text_of(version_); }

Result<std::shared_ptr<const Driver>> Driver::open() {
  std::vector<std::string> candidates;
  const std::string own = setting("GALATEA_CUDA_LIBRARY_PATH");
  if (!own.empty()) candidates.push_back((std::filesystem::path(own) / kLibrary).string());
  candidates.emplace_back(kLibrary);
  candidates.push_back((std::filesystem::path(kWslFolder) / kLibrary).string());
  for (const std::string& candidate : candidates) {
    // Never unloaded: the driver has threads and memory that outlive every handle.
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) continue;
    std::shared_ptr<Driver> found(new Driver);
    GALATEA_TRY(found->load(library, candidate));
    return found;
  }
  return make_error(message::kNoCudaDriver, kLibrary,
                    fmt::format("{}the loader's folders, {}", own.empty() ? "" : own + ", ", kWslFolder));
}

Result<std::shared_ptr<const Driver>> Driver::shared() {
  static std::mutex mutex;
  static std::weak_ptr<const Driver> known;
  std::lock_guard lock(mutex);
  if (auto driver = known.lock()) return driver;
  GALATEA_ASSIGN(auto driver, open());
  known = driver;
  return driver;
}

Status Driver::load(void* library, const std::string& path) {
  path_ = path;
  const auto find = [&]<typename Signature>(Entry<Signature>& entry, const char*& missing) {
    entry.function = reinterpret_cast<decltype(entry.function)>(dlsym(library, entry.name));
    if (!entry.function && !missing) missing = entry.name;
  };
  const char* missing = nullptr;
#define GALATEA_CUDA_FIND(member, symbol, parameters) find(api_.member, missing);
  GALATEA_CUDA_ENTRIES(GALATEA_CUDA_FIND)
#undef GALATEA_CUDA_FIND
#define GALATEA_CUDA_FIND(member, symbol, parameters) find(api_.member, missing_for_graphs_);
  GALATEA_CUDA_GRAPH_ENTRIES(GALATEA_CUDA_FIND)
#undef GALATEA_CUDA_FIND
  // An old driver is better told by its version than by what it lacks.
  if (api_.driver_version.function && api_.driver_version.function(&version_) == code::kSuccess &&
      version_ < kOldestDriver)
    return make_error(message::kOldCudaDriver, path_, fmt::format("it is for CUDA {}", version_text()));
  if (missing) return make_error(message::kOldCudaDriver, path_, fmt::format("it has no {}", missing));
  GALATEA_TRY(call(api_.driver_version, &version_));
  return list_devices();
}

Status Driver::list_devices() {
  const Code result = api_.init.function(0);
  if (result == code::kNoDevice) {
    why_none_ = "it finds none";
    return {};
  }
  if (result == code::kStubLibrary || result == code::kSystemDriverMismatch ||
      result == code::kCompatNotSupported || result == code::kSystemNotReady || result == kOperatingSystem)
    return make_error(message::kUnfitCudaDriver, path_, name_of(result));
  if (result != code::kSuccess) return failure(result, api_.init.name);
  int count = 0;
  GALATEA_TRY(call(api_.device_count, &count));
  if (count == 0) why_none_ = "it lists none";
  for (int index = 0; index < count; ++index) {
    GALATEA_ASSIGN(Device found, look_at(index));
    devices_.push_back(std::move(found));
  }
  return {};
}

Result<Device> Driver::look_at(int index) const {
  Device out;
  out.index = index;
  GALATEA_TRY(call(api_.device, &out.number, index));
  char name[256] = {};
  GALATEA_TRY(call(api_.device_name, name, static_cast<int>(sizeof(name)) - 1, out.number));
  out.name = name;
  size_t bytes = 0;
  GALATEA_TRY(call(api_.device_memory, &bytes, out.number));
  out.memory_bytes = static_cast<int64_t>(bytes);
  int major = 0, minor = 0;
  GALATEA_TRY(call(api_.device_attribute, &major, attribute::kMajor, out.number));
  GALATEA_TRY(call(api_.device_attribute, &minor, attribute::kMinor, out.number));
  out.architecture = 10 * major + minor;
  GALATEA_TRY(call(api_.device_attribute, &out.num_processors, attribute::kNumProcessors, out.number));
  return out;
}

Result<Device> Driver::device(int index) const {
  if (devices_.empty()) return make_error(message::kNoCudaDevice, index, path_, why_none_);
  if (index < 0 || index >= static_cast<int>(devices_.size())) {
    std::string list;
    for (const Device& each : devices_) list += (list.empty() ? "" : ", ") + each.describe();
    return make_error(message::kNoSuchDevice, index, devices_.size(), list);
  }
  return devices_[static_cast<size_t>(index)];
}

std::string Driver::name_of(Code result) const {
  const char* name = nullptr;
  if (api_.error_name.function(result, &name) != code::kSuccess || !name)
    return fmt::format("code {}", result);
  return name;
}

std::unexpected<Error> Driver::failure(Code result, const char* entry, std::string_view device) const {
  const char* text = nullptr;
  if (api_.error_text.function(result, &text) != code::kSuccess || !text) text = "the driver says no more";
  const std::string_view whose = device.empty() ? std::string_view("the CUDA driver") : device;
  if (is_device_lost(result)) return make_error(message::kDeviceLost, whose, name_of(result), text, entry);
  if (result == code::kDeviceUnavailable)
    return make_error(message::kDeviceBusy, whose, entry, name_of(result), text);
  // Contexts, streams, code and launches take memory as well.
  if (result == code::kOutOfMemory)
    return make_error(message::kDeviceHasNoRoom, whose, entry, name_of(result), text);
  return make_error(message::kDriverCall, whose, entry, name_of(result), text);
}

}  // namespace galatea::runtime::cuda
