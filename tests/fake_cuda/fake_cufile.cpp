// The entry points of cuFile that galatea calls, by pread. See fake_cufile.h.
#include "tests/fake_cuda/fake_cufile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/cuda/driver_api.h"
#include "stdlib_ops/native/cufile/cufile_api.h"
#include "tests/fake_cuda/fake_cuda.h"

namespace galatea::fake_cuda {
namespace {

namespace cufile = native::cufile;

struct File {
  int plain = -1;  ///< the same file, open without rules for where reads begin
};

struct Shared {
  std::mutex mutex;
  FakeCufileCounters counters;
  std::set<File*> files;
  int64_t fail_read = 0, fail_answer = 0;
  int fail_number = 0;
  bool is_open = false;
};
Shared& shared() {
  static Shared* const kShared = new Shared;
  return *kShared;
}

int64_t asked(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

int write_there(void* to, const void* from, int64_t bytes) {
  static auto* const kWrite = [] {
    Dl_info own = {};
    dladdr(reinterpret_cast<const void*>(&write_there), &own);
    const std::string file = own.dli_fname ? own.dli_fname : "";
    void* driver = dlopen((file.substr(0, file.rfind('/') + 1) + "libcuda.so.1").c_str(),
                          RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return reinterpret_cast<FakeCudaWrite*>(driver ? dlsym(driver, "fake_cuda_write") : nullptr);
  }();
  return kWrite ? kWrite("cuFileRead", to, from, bytes) : -1;
}

}  // namespace
}  // namespace galatea::fake_cuda

using namespace galatea::fake_cuda;  // NOLINT(google-build-using-namespace): entry points have C names

#define ENTRY extern "C" __attribute__((visibility("default")))

ENTRY cufile::Answer cuFileGetVersion(int* version) {
  *version = 1140;
  return {};
}
ENTRY cufile::Answer cuFileDriverOpen() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (const int64_t refused = asked("FAKE_CUFILE_DRIVER", 0); refused != 0)
    return {static_cast<int>(refused), 0};
  if (s.is_open) return {cufile::error::kAlreadyOpen, 0};
  s.is_open = true;
  return {};
}
ENTRY cufile::Answer cuFileDriverGetProperties(cufile::Properties* out) {
  *out = {};
  out->direct_storages = asked("FAKE_CUFILE_STORAGE", 1) != 0 ? 1U << 4 : 0;
  return {};
}
ENTRY cufile::Answer cuFileHandleRegister(cufile::Handle* out, cufile::Descriptor* descriptor) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (!s.is_open) return {cufile::error::kNotInitialized, 0};
  if (const int64_t refused = asked("FAKE_CUFILE_REGISTER", 0); refused != 0)
    return {static_cast<int>(refused), 0};
  if (descriptor->type != 1 || descriptor->operations) return {5022, 0};
  auto* made = new File;
  made->plain = ::open(("/proc/self/fd/" + std::to_string(descriptor->handle.file)).c_str(), O_RDONLY);
  ++s.counters.registered;
  ++s.counters.live;
  s.files.insert(made);
  *out = made;
  return {};
}
ENTRY void cuFileHandleDeregister(cufile::Handle handle) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  auto* const file = static_cast<File*>(handle);
  if (s.files.erase(file) == 0) std::abort();
  --s.counters.live;
  ::close(file->plain);
  delete file;
}
ENTRY ssize_t cuFileRead(cufile::Handle handle, void* base, size_t size, off_t offset, off_t into) {
  int file = -1;
  {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    ++s.counters.reads;
    if (offset % 4096 != 0) ++s.counters.unaligned;
    if (s.fail_read > 0 && --s.fail_read == 0) {
      errno = s.fail_number;
      return s.fail_answer;
    }
    if (!s.files.contains(static_cast<File*>(handle))) return -cufile::error::kNotInitialized;
    file = static_cast<File*>(handle)->plain;
  }
  const int64_t most = asked("FAKE_CUFILE_AT_ONCE", static_cast<int64_t>(size));
  std::vector<uint8_t> bytes(std::min(size, static_cast<size_t>(most)));
  const ssize_t count = ::pread(file, bytes.data(), bytes.size(), offset);
  if (count <= 0) return count;
  if (write_there(static_cast<uint8_t*>(base) + into, bytes.data(), count) != 0) return -5012;
  const std::lock_guard lock(shared().mutex);
  shared().counters.bytes += count;
  return count;
}

ENTRY void fake_cufile_count(FakeCufileCounters* out) {
  const std::lock_guard lock(shared().mutex);
  *out = shared().counters;
}
ENTRY void fake_cufile_reset() {
  const std::lock_guard lock(shared().mutex);
  const int64_t live = shared().counters.live;
  shared().counters = {};
  shared().counters.live = live;
}
ENTRY void fake_cufile_fail(int64_t read, int64_t answer, int number) {
  const std::lock_guard lock(shared().mutex);
  shared().fail_read = read;
  shared().fail_answer = answer;
  shared().fail_number = number;
}
