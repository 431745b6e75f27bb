// Finding, keeping and dropping entries; see kernel_cache.h.
#include "compiler/codegen/kernel_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/cache_folder.h"
#include "base/fault.h"
#include "base/settings.h"
#include "compiler/codegen/kernel_key.h"

namespace galatea::codegen {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".kernel";
constexpr int64_t kMaxFileBytes = 64 << 20;
/// A hit renews the time of a file that is older than this: fine enough for an order of use.
constexpr time_t kRenewAfterSeconds = 60;

/// A descriptor that is closed at the end.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  bool close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result == 0;
  }

 private:
  int descriptor_;
};

struct Content {
  std::string bytes, problem;
  bool is_there = true;
};

/// Why code of this file may not be run, or "".
std::string distrust(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "it is no plain file";
  if (std::string why = why_distrusted(status); !why.empty()) return why;
  if (status.st_size > kMaxFileBytes) return "it is too large";
  return "";
}

Content read_trusted(const fs::path& path) {
  Content out;
  // Without blocking: a pipe under this name must not hold us up.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) {
    out.is_there = errno != ENOENT && errno != ENOTDIR;
    if (out.is_there) out.problem = errno == ELOOP ? "it is no plain file" : std::strerror(errno);
    return out;
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) {
    out.problem = std::strerror(errno);
    return out;
  }
  out.problem = distrust(status);
  if (!out.problem.empty()) return out;
  auto bytes = read_to_end(file.get(), static_cast<size_t>(kMaxFileBytes));
  if (bytes)
    out.bytes = std::move(*bytes);
  else
    out.problem = bytes.error().why;
  if (::time(nullptr) - status.st_mtime > kRenewAfterSeconds) ::futimens(file.get(), nullptr);
  return out;
}

}  // namespace

CacheOptions default_cache_options() {
  CacheOptions options;
  const fs::path root = cache_root();
  options.folder = root / "kernels";
  options.max_bytes = setting_int("GALATEA_CACHE_SIZE");
  options.enabled = setting_bool("GALATEA_CACHE") && !root.empty() && options.max_bytes > 0;
  return options;
}

fs::path KernelCache::file_of(const std::string& key) const {
  return options_.folder / (hash_name(key) + kSuffix);
}

std::optional<runtime::CodeObject> KernelCache::find(const std::string& key, std::string* facts) {
  if (!options_.enabled) return std::nullopt;
  const fs::path path = file_of(key);
  const Content content = read_trusted(path);
  if (!content.is_there) return std::nullopt;
  DecodedEntry entry;
  entry.problem = content.problem;
  if (entry.problem.empty()) entry = decode_entry(content.bytes, key);
  if (!entry.problem.empty()) cannot_use(key, entry.problem);
  if (facts) *facts = std::move(entry.facts);
  return std::move(entry.object);
}

void KernelCache::cannot_use(const std::string& key, const std::string& why) {
  const std::string name = file_of(key).filename().string();
  if (told_before_.contains(name)) return;
  if (unusable_.empty()) first_unusable_ = fmt::format("{}: {}", name, why);
  unusable_.insert(name);
}

void KernelCache::cannot_write(const std::string& why) {
  if (write_problem_.empty()) write_problem_ = why;
}

void KernelCache::store(const std::string& key, const runtime::CodeObject& object, const std::string& facts) {
  // After one failure no further one is tried: the folder is full, or not ours.
  if (!options_.enabled || !write_problem_.empty()) return;
  const std::string bytes = encode_entry(key, object, facts);
  if (static_cast<int64_t>(bytes.size()) > std::min(options_.max_bytes, kMaxFileBytes)) return;
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error) return cannot_write(error.message());
  static std::atomic<uint64_t> counter = 0;
  const fs::path unfinished =
      options_.folder / fmt::format("{}{}-{}", kUnfinishedFile, ::getpid(), counter.fetch_add(1));
  // A process of the same number may have left one.
  ::unlink(unfinished.c_str());
  File file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return cannot_write(std::strerror(errno));
  const int failure = write_all(file.get(), bytes);
  std::string problem = failure != 0 ? std::strerror(failure) : "";
  if (problem.empty() && !file.close()) problem = std::strerror(errno);
  if (problem.empty() && ::rename(unfinished.c_str(), file_of(key).c_str()) != 0)
    problem = std::strerror(errno);
  if (problem.empty()) return;
  ::unlink(unfinished.c_str());
  cannot_write(problem);
}

void KernelCache::trim() {
  if (!options_.enabled) return;
  trim_cache(options_.folder, 0, kSuffix, options_.max_bytes, options_.max_bytes);
}

std::vector<std::string> KernelCache::take_notes() {
  std::vector<std::string> out;
  if (const size_t count = unusable_.size(); count > 0)
    out.push_back(
        fmt::format("{} file{} of the program cache {} could not be used, and {} compiled anew ({})", count,
                    count == 1 ? "" : "s", options_.folder.string(),
                    count == 1 ? "its kernel was" : "their kernels were", first_unusable_));
  if (!write_problem_.empty() && !told_write_problem_)
    out.push_back(fmt::format("compiled kernels could not be kept in {}: {}", options_.folder.string(),
                              write_problem_));
  unusable_.clear();
  told_write_problem_ = !write_problem_.empty();
  return out;
}

KernelCache KernelCache::successor() const {
  KernelCache out = *this;
  out.told_before_.insert(unusable_.begin(), unusable_.end());
  out.take_notes();
  return out;
}

}  // namespace galatea::codegen
