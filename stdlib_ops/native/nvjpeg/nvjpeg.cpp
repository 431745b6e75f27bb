// Opening nvJPEG, and the wording of its failures.
#include "stdlib_ops/native/nvjpeg/nvjpeg.h"

#include <dlfcn.h>

#include <optional>

#include "base/library_search.h"
#include "runtime/messages.h"

namespace galatea::native {

namespace {

/// The first that interpolates chroma; without that, edges of colours differ from the CPU's by far more than
/// rounding.
constexpr int kOldestMajor = 12, kOldestMinor = 1;

const char* name_of(jpeg::Status result) {
  constexpr const char* kNames[] = {"NVJPEG_STATUS_SUCCESS",
                                    "NVJPEG_STATUS_NOT_INITIALIZED",
                                    "NVJPEG_STATUS_INVALID_PARAMETER",
                                    "NVJPEG_STATUS_BAD_JPEG",
                                    "NVJPEG_STATUS_JPEG_NOT_SUPPORTED",
                                    "NVJPEG_STATUS_ALLOCATOR_FAILURE",
                                    "NVJPEG_STATUS_EXECUTION_FAILED",
                                    "NVJPEG_STATUS_ARCH_MISMATCH",
                                    "NVJPEG_STATUS_INTERNAL_ERROR",
                                    "NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED",
                                    "NVJPEG_STATUS_INCOMPLETE_BITSTREAM"};
  const auto at = static_cast<size_t>(result);
  return result >= 0 && at < std::size(kNames) ? kNames[at] : "a code that galatea does not know";
}

}  // namespace

std::string Nvjpeg::version_text() const { return fmt::format("{}.{}", major_, minor_); }

Result<std::shared_ptr<const Nvjpeg>> Nvjpeg::open(int newest_major) {
  const LibrarySearch search =
      search_cuda_library({"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so"}, "nvidia/nvjpeg/lib");
  std::optional<Error> too_new;
  for (const std::string& candidate : search.candidates) {
    // Never unloaded: it has what the driver does not forget.
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) continue;
    auto found = open_at(library, candidate, newest_major);
    if (found || found.error().diagnostics.front().code != runtime::message::kNewNvjpeg.code) return found;
    // One of the driver's age may lie beside it.
    if (!too_new) too_new = std::move(found.error());
  }
  if (too_new) return std::unexpected(std::move(*too_new));
  return runtime::make_error(runtime::message::kNoNvjpeg, search.places);
}

Result<std::shared_ptr<const Nvjpeg>> Nvjpeg::open_at(void* library, const std::string& path,
                                                      int newest_major) {
  std::shared_ptr<Nvjpeg> found(new Nvjpeg);
  GALATEA_TRY(found->load(library, path, newest_major));
  return found;
}

Status Nvjpeg::load(void* library, const std::string& path, int newest_major) {
  path_ = path;
  const char* missing = nullptr;
  const auto find = [&]<typename Signature>(cuda::Entry<Signature>& entry) {
    entry.function = reinterpret_cast<decltype(entry.function)>(dlsym(library, entry.name));
    if (!entry.function && !missing) missing = entry.name;
  };
#define GALATEA_NVJPEG_FIND(member, symbol, parameters) find(api_.member);
  GALATEA_NVJPEG_ENTRIES(GALATEA_NVJPEG_FIND)
#undef GALATEA_NVJPEG_FIND
  // An old library is better told by its version than by what it lacks.
  const bool answers = api_.property.function &&
                       api_.property.function(jpeg::kMajorVersion, &major_) == jpeg::status::kSuccess &&
                       api_.property.function(jpeg::kMinorVersion, &minor_) == jpeg::status::kSuccess;
  if (answers && std::pair(major_, minor_) < std::pair(kOldestMajor, kOldestMinor))
    return runtime::make_error(runtime::message::kOldNvjpeg, path_,
                               fmt::format("it is version {}", version_text()));
  if (missing)
    return runtime::make_error(runtime::message::kOldNvjpeg, path_, fmt::format("it has no {}", missing));
  if (!answers)
    return runtime::make_error(runtime::message::kOldNvjpeg, path_, "it does not tell its version");
  if (newest_major > 0 && major_ > newest_major)
    return runtime::make_error(runtime::message::kNewNvjpeg, path_, version_text(), newest_major);
  return {};
}

std::unexpected<Error> Nvjpeg::failure(jpeg::Status result, const char* entry,
                                       std::string_view device) const {
  return runtime::make_error(runtime::message::kNvjpegCall, device, entry, name_of(result));
}

}  // namespace galatea::native
