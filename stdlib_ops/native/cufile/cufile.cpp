// Opening cuFile, and the names of its failures.
#include "stdlib_ops/native/cufile/cufile.h"

#include <dlfcn.h>

#include "base/library_search.h"
#include "runtime/messages.h"

namespace galatea::native {

std::string Cufile::name_of(int error) {
  constexpr struct {
    int error;
    const char* name;
  } kNames[] = {{5001, "CU_FILE_DRIVER_NOT_INITIALIZED"},
                {5004, "CU_FILE_DRIVER_VERSION_MISMATCH"},
                {5007, "CU_FILE_PLATFORM_NOT_SUPPORTED"},
                {5008, "CU_FILE_IO_NOT_SUPPORTED"},
                {5009, "CU_FILE_DEVICE_NOT_SUPPORTED"},
                {5010, "CU_FILE_NVFS_DRIVER_ERROR"},
                {5011, "CU_FILE_CUDA_DRIVER_ERROR"},
                {5018, "CU_FILE_INVALID_FILE_TYPE"},
                {5019, "CU_FILE_INVALID_FILE_OPEN_FLAG"},
                {5020, "CU_FILE_DIO_NOT_SET"},
                {5022, "CU_FILE_INVALID_VALUE"},
                {5025, "CU_FILE_PERMISSION_DENIED"},
                {5030, "CU_FILE_INTERNAL_ERROR"},
                {5033, "CU_FILE_NVFS_SETUP_ERROR"},
                {5034, "CU_FILE_IO_DISABLED"},
                {5036, "CU_FILE_GPU_MEMORY_PINNING_FAILED"}};
  for (const auto& known : kNames)
    if (known.error == error) return known.name;
  return fmt::format("cuFile's error {}", error);
}

Result<std::shared_ptr<const Cufile>> Cufile::open(bool any_storage) {
  const LibrarySearch search = search_cuda_library({"libcufile.so.0", "libcufile.so"}, "nvidia/cufile/lib");
  for (const std::string& candidate : search.candidates) {
    // Never unloaded: it has threads of its own.
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) continue;
    std::shared_ptr<Cufile> found(new Cufile);
    GALATEA_TRY(found->load(library, candidate, any_storage));
    return found;
  }
  return runtime::make_error(runtime::message::kNoCufile, search.places);
}

Status Cufile::load(void* library, const std::string& path, bool any_storage) {
  path_ = path;
  FunctionSearch find{.library = library, .missing = {}};
#define GALATEA_CUFILE_FIND(member, symbol, result, parameters) find(#symbol, api_.member);
  GALATEA_CUFILE_ENTRIES(GALATEA_CUFILE_FIND)
#undef GALATEA_CUFILE_FIND
  const auto unfit = [&](const std::string& why) {
    return runtime::make_error(runtime::message::kUnfitCufile, path_, why);
  };
  if (!find.missing.empty()) return unfit(fmt::format("it has no {}", find.missing));
  api_.version = reinterpret_cast<decltype(api_.version)>(dlsym(library, "cuFileGetVersion"));
  if (int version = 0; api_.version && api_.version(&version).error == cufile::error::kSuccess)
    version_ = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  const cufile::Answer opened = api_.open_driver();
  if (opened.error != cufile::error::kSuccess && opened.error != cufile::error::kAlreadyOpen)
    return unfit(fmt::format("cuFileDriverOpen failed with {}", name_of(opened.error)));
  if (any_storage) return {};
  cufile::Properties properties;
  const cufile::Answer told = api_.properties(&properties);
  if (told.error != cufile::error::kSuccess)
    return unfit(fmt::format("cuFileDriverGetProperties failed with {}", name_of(told.error)));
  if (properties.direct_storages == 0)
    return unfit(
        "it reads no storage of this machine directly (is NVIDIA's kernel module nvidia-fs loaded?), and "
        "what it copies through the host the host reads as well");
  return {};
}

}  // namespace galatea::native
