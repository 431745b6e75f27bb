// The nvJitLink library behind device_linker.h. Its functions are declared here as its documentation states
// them. Each has a name without a version from 12.3 on, by which libraries of all versions are called alike.
#include "compiler/codegen/cuda/device_linker.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <vector>

#include "base/library_search.h"

namespace galatea::codegen {

namespace {

using Handle = void*;  ///< nvJitLinkHandle
using Code = int;      ///< nvJitLinkResult; 0 is success
using InputType = int;

constexpr InputType kCubin = 1;
/// The first major version that there is; NVRTC is older.
constexpr int kFirstMajor = 12;

}  // namespace

struct DeviceLinker::Functions {
  Code (*version)(unsigned*, unsigned*) = nullptr;
  Code (*create)(Handle*, uint32_t, const char**) = nullptr;
  Code (*destroy)(Handle*) = nullptr;
  Code (*add)(Handle, InputType, const void*, size_t, const char*) = nullptr;
  Code (*complete)(Handle) = nullptr;
  Code (*cubin_size)(Handle, size_t*) = nullptr;
  Code (*cubin)(Handle, void*) = nullptr;
  Code (*log_size)(Handle, size_t*) = nullptr;
  Code (*log)(Handle, char*) = nullptr;
};

DeviceLinker::~DeviceLinker() = default;

std::string DeviceLinker::load(void* library, const std::string& path) {
  path_ = path;
  functions_ = std::make_unique<Functions>();
  FunctionSearch find{library, {}};
  find("nvJitLinkVersion", functions_->version);
  find("nvJitLinkCreate", functions_->create);
  find("nvJitLinkDestroy", functions_->destroy);
  find("nvJitLinkAddData", functions_->add);
  find("nvJitLinkComplete", functions_->complete);
  find("nvJitLinkGetLinkedCubinSize", functions_->cubin_size);
  find("nvJitLinkGetLinkedCubin", functions_->cubin);
  find("nvJitLinkGetErrorLogSize", functions_->log_size);
  find("nvJitLinkGetErrorLog", functions_->log);
  if (!find.missing.empty())
    return fmt::format("{} is too old for galatea: it has no {}", path, find.missing);
  if (functions_->version(&major_, &minor_) != 0) return fmt::format("{} does not answer", path);
  return {};
}

Result<std::shared_ptr<const DeviceLinker>> DeviceLinker::open(int major, int minor) {
  if (major < kFirstMajor)
    return make_error(ErrorKind::kSystem, "",
                      fmt::format("there is no nvJitLink for NVRTC {}.{}", major, minor),
                      "install CUDA 12.3 or newer");
  const LibrarySearch search =
      search_cuda_library({fmt::format("libnvJitLink.so.{}", major)}, "nvidia/nvjitlink/lib");
  std::string unfit;
  for (const std::string& candidate : search.candidates) {
    // Never unloaded, as NVRTC: it keeps threads and allocations of its own.
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) continue;
    std::shared_ptr<DeviceLinker> found(new DeviceLinker);
    std::string problem = found->load(library, candidate);
    if (problem.empty() &&
        (found->major_ != static_cast<unsigned>(major) || found->minor_ < static_cast<unsigned>(minor)))
      problem = fmt::format("{} is version {}.{}, older than NVRTC {}.{}", candidate, found->major_,
                            found->minor_, major, minor);
    if (problem.empty()) return found;
    if (unfit.empty()) unfit = std::move(problem);
  }
  const std::string help = fmt::format("install the package nvidia-nvjitlink{}, of NVRTC's version or newer",
                                       major < 13 ? fmt::format("-cu{}", major) : "");
  if (!unfit.empty()) return make_error(ErrorKind::kSystem, "", unfit, help);
  return make_error(
      ErrorKind::kSystem, "",
      fmt::format("nvJitLink (libnvJitLink.so.{}) was not found; looked in {}", major, search.places), help);
}

Result<std::string> DeviceLinker::link(std::span<const std::shared_ptr<const std::string>> objects,
                                       const std::string& name, int architecture) const {
  const std::string target = fmt::format("-arch=sm_{}", architecture);
  const char* options[] = {target.c_str()};
  Handle handle = nullptr;
  Code code = functions_->create(&handle, static_cast<uint32_t>(std::size(options)), options);
  if (code != 0)
    return make_error(
        ErrorKind::kInternal, "",
        fmt::format("nvJitLink {}.{} does not link for sm_{}: code {}", major_, minor_, architecture, code));
  // Names are read again where the objects are linked.
  std::vector<std::string> names;
  for (size_t k = 0; k < objects.size(); ++k) names.push_back(fmt::format("{}.{}", name, k));
  for (size_t k = 0; k < objects.size() && code == 0; ++k)
    code = functions_->add(handle, kCubin, objects[k]->data(), objects[k]->size(), names[k].c_str());
  if (code == 0) code = functions_->complete(handle);
  std::string out;
  size_t size = 0;
  if (code == 0) code = functions_->cubin_size(handle, &size);
  if (code == 0) {
    out.resize(size);
    code = functions_->cubin(handle, out.data());
  }
  std::string log;
  if (code != 0 && functions_->log_size(handle, &size) == 0 && size > 0) {
    log.resize(size);
    functions_->log(handle, log.data());
  }
  functions_->destroy(&handle);
  if (code != 0)
    return make_error(ErrorKind::kInternal, "",
                      fmt::format("nvJitLink {}.{} does not link {}: code {}\n{}", major_, minor_, name, code,
                                  log.c_str()));
  return out;
}

}  // namespace galatea::codegen
