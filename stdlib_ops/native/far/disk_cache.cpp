#include "stdlib_ops/native/far/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

#include "base/cache_folder.h"
#include "base/checksum.h"
#include "base/fault.h"
#include "base/settings.h"

namespace galatea::native::far {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".part";
constexpr char kMagic[8] = {'G', 'A', 'L', 'F', 'A', 'R', '1', '\n'};
/// A hit renews the time of a file that is older than this: fine enough for an order of use.
constexpr time_t kRenewAfterSeconds = 60;

struct EntryHead {
  char magic[8];
  uint64_t bytes;
  Digest name;
  uint64_t checksum;  ///< of the content, from that of what stands before
};
static_assert(sizeof(EntryHead) == 56 && offsetof(EntryHead, checksum) == 48);

std::string_view text_of_bytes(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

EntryHead head_of(const Digest& name, std::span<const uint8_t> bytes) {
  EntryHead head{};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.bytes = bytes.size();
  head.name = name;
  const std::string_view before(reinterpret_cast<const char*>(&head), offsetof(EntryHead, checksum));
  head.checksum = checksum(text_of_bytes(bytes), checksum(before));
  return head;
}

class EntryFile {
 public:
  EntryFile(const fs::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~EntryFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  EntryFile(const EntryFile&) = delete;
  EntryFile& operator=(const EntryFile&) = delete;
  int get() const { return fd_; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool read_all(int file, void* to, size_t bytes) {
  auto* at = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const ssize_t count = ::read(file, at, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

DiskCacheOptions disk_cache_options() {
  DiskCacheOptions options;
  options.max_bytes = setting_int("GALATEA_FAR_CACHE_SIZE");
  const fs::path root = cache_root();
  if (!root.empty() && options.max_bytes > 0) options.folder = root / "far";
  return options;
}

fs::path DiskCache::file_of(const Digest& name) const {
  const std::string digits = hex(name);
  // Some folders rather than one of a million files.
  return options_.folder / digits.substr(0, 2) / (digits.substr(2) + kSuffix);
}

std::optional<std::vector<uint8_t>> DiskCache::find(const Digest& name) const {
  if (!is_on()) return std::nullopt;
  const fs::path path = file_of(name);
  // Without blocking: a pipe under this name must not hold us up.
  const EntryFile file(path, O_RDONLY | O_NONBLOCK);
  struct stat status = {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || !why_distrusted(status).empty()) return std::nullopt;
  EntryHead head{};
  const bool is_whole = status.st_size >= static_cast<off_t>(sizeof head) &&
                        read_all(file.get(), &head, sizeof head) &&
                        head.bytes == static_cast<uint64_t>(status.st_size) - sizeof head;
  std::vector<uint8_t> bytes;
  if (is_whole) {
    bytes.resize(head.bytes);
    const EntryHead expected =
        read_all(file.get(), bytes.data(), bytes.size()) ? head_of(name, bytes) : EntryHead{};
    if (std::memcmp(&head, &expected, sizeof head) == 0) {
      if (::time(nullptr) - status.st_mtime > kRenewAfterSeconds) ::futimens(file.get(), nullptr);
      return bytes;
    }
  }
  // It would be damaged tomorrow as well.
  ::unlink(path.c_str());
  return std::nullopt;
}

void DiskCache::store(const Digest& name, std::span<const uint8_t> bytes) {
  if (!is_on() || static_cast<int64_t>(bytes.size()) > options_.max_bytes / 2) return;
  const fs::path path = file_of(name);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  static std::atomic<uint64_t> counter = 0;
  const fs::path unfinished =
      path.parent_path() / fmt::format("{}{}-{}", kUnfinishedFile, ::getpid(), counter.fetch_add(1));
  ::unlink(unfinished.c_str());  // a process of the same number may have left one
  EntryFile file(unfinished, O_WRONLY | O_CREAT | O_EXCL);
  if (file.get() < 0) {
    has_failed_ = true;
    return;
  }
  const EntryHead head = head_of(name, bytes);
  const bool is_written = write_all(file.get(), {reinterpret_cast<const char*>(&head), sizeof head}) == 0 &&
                          write_all(file.get(), text_of_bytes(bytes)) == 0 && file.close() &&
                          ::rename(unfinished.c_str(), path.c_str()) == 0;
  if (!is_written) {
    ::unlink(unfinished.c_str());
    has_failed_ = true;
    return;
  }
  const int64_t written = static_cast<int64_t>(sizeof head + bytes.size());
  const int64_t before = since_trim_.fetch_add(written);
  if (before < 0 || before + written > options_.max_bytes / 16) trim();
}

void DiskCache::trim() {
  const std::unique_lock lock(trimming_, std::try_to_lock);
  if (!lock || options_.folder.empty()) return;
  since_trim_ = 0;
  // With some room, so that the next part is not the next reason.
  trim_cache(options_.folder, 1, kSuffix, options_.max_bytes, options_.max_bytes - options_.max_bytes / 8);
}

}  // namespace galatea::native::far
