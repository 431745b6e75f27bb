// See code_loader.h. The mapping ends with the last kernel that lies in it.
#include "runtime/code_loader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/settings.h"
#include "runtime/kernel_abi.h"
#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

class CodePages {
 public:
  static Result<std::shared_ptr<CodePages>> map(size_t size) {
    void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return make_error(message::kNoCodeMemory, std::strerror(errno));
    return std::shared_ptr<CodePages>(new CodePages(static_cast<uint8_t*>(start), size));
  }
  ~CodePages() { ::munmap(start_, size_); }
  CodePages(const CodePages&) = delete;
  CodePages& operator=(const CodePages&) = delete;

  uint8_t* start() const { return start_; }
  /// From here on nothing is written.
  Status make_executable() {
    if (::mprotect(start_, size_, PROT_READ | PROT_EXEC) != 0)
      return make_error(message::kNoCodeMemory, std::strerror(errno));
    __builtin___clear_cache(reinterpret_cast<char*>(start_), reinterpret_cast<char*>(start_ + size_));
#ifdef PR_SET_VMA
    // A name in /proc/self/maps; kernels before 5.17 refuse, which costs nothing.
    ::prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, start_, size_, "galatea kernels");
#endif
    return {};
  }

 private:
  CodePages(uint8_t* start, size_t size) : start_(start), size_(size) {}
  uint8_t* start_;
  size_t size_;
};

class LoadedCode final : public KernelCode {
 public:
  LoadedCode(std::shared_ptr<const CodePages> pages, const uint8_t* entry)
      : pages_(std::move(pages)),
        function_(reinterpret_cast<KernelFunction>(reinterpret_cast<uintptr_t>(entry))) {}
#if defined(__clang__)
  // The undefined-behaviour sanitizer looks for a type in front of a function; generated code has none there.
  __attribute__((no_sanitize("function")))
#endif
  void
  run(const KernelCall& call) const override {
    function_(&call);
  }

 private:
  std::shared_ptr<const CodePages> pages_;
  KernelFunction function_;
};

/// The file from which `perf` takes the names of code that no library holds.
void write_perf_map(std::span<const NamedCode> objects, const std::vector<const uint8_t*>& places) {
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  for (size_t i = 0; i < objects.size(); ++i) {
    const std::string line = fmt::format("{:x} {:x} galatea:{}\n", reinterpret_cast<uintptr_t>(places[i]),
                                         objects[i].object->bytes.size(), objects[i].name);
    if (::write(file, line.data(), line.size()) < 0) break;
  }
  ::close(file);
}

}  // namespace

Result<std::vector<std::shared_ptr<const KernelCode>>> load_code(std::span<const NamedCode> objects) {
  std::vector<std::shared_ptr<const KernelCode>> out;
  if (objects.empty()) return out;
#if defined(__x86_64__)
  constexpr int kTrap = 0xCC;  // what a jump into a gap finds: INT3
#else
  constexpr int kTrap = 0;  // UDF #0 of AArch64
#endif
  std::vector<size_t> offsets;
  // A gap comes before the first as well: tools may look in front of a function.
  size_t size = kCodeAlignment;
  for (const NamedCode& code : objects) {
    GALATEA_CHECK(code.object->entry < code.object->bytes.size(), "code without an entry: " + code.name);
    offsets.push_back(size);
    size = (size + code.object->bytes.size() + kCodeAlignment) & ~(kCodeAlignment - 1);
  }
  GALATEA_ASSIGN(const std::shared_ptr<CodePages> pages, CodePages::map(size));
  std::memset(pages->start(), kTrap, size);
  std::vector<const uint8_t*> places;
  for (size_t i = 0; i < objects.size(); ++i) {
    const CodeObject& object = *objects[i].object;
    std::memcpy(pages->start() + offsets[i], object.bytes.data(), object.bytes.size());
    places.push_back(pages->start() + offsets[i]);
    out.push_back(std::make_shared<LoadedCode>(pages, places[i] + object.entry));
  }
  GALATEA_TRY(pages->make_executable());
  if (setting_bool("GALATEA_PERF_MAP")) write_perf_map(objects, places);
  return out;
}

}  // namespace galatea::runtime
