#include "stdlib_ops/native/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <list>
#include <mutex>

#include <fmt/format.h>

#include "base/fault.h"
#include "runtime/messages.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/far_store.h"

namespace galatea::native {
namespace {

std::unexpected<Error> refused_file(const std::string& path, int number) {
  if (kind_of_errno(number) == ErrorKind::kSystem)
    return runtime::make_error(runtime::message::kSampleFault, path, std::strerror(number));
  return unreadable(path, path, number, "check that the file exists and may be read");
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// The files that are open, the last used first.
class OpenFiles {
 public:
  /// The file of a source (its key); null where it cannot be opened (errno says why).
  std::shared_ptr<OpenFile> take(const void* key, const std::string& path) {
    const std::lock_guard lock(mutex_);
    auto at = std::ranges::find(files_, key, &Entry::key);
    if (at != files_.end()) {
      files_.splice(files_.begin(), files_, at);
      return at->file;
    }
    // One goes before another comes: the limit also holds while threads still read what went.
    if (files_.size() >= kMaxOpenFiles) files_.pop_back();
    auto file = std::make_shared<OpenFile>(path);
    if (file->get() < 0) return nullptr;
    files_.push_front({key, file});
    return file;
  }
  void forget(const void* key) {
    const std::lock_guard lock(mutex_);
    std::erase_if(files_, [key](const Entry& entry) { return entry.key == key; });
  }

 private:
  struct Entry {
    const void* key;
    std::shared_ptr<OpenFile> file;
  };
  std::mutex mutex_;
  std::list<Entry> files_;
};

OpenFiles& open_files() {
  static OpenFiles files;
  return files;
}

constexpr size_t kMostNeighbours = 16;

/// How many parts, from the first, lie one behind the other with little between them.
size_t count_neighbours(std::span<const BytesPart> parts) {
  size_t count = 1;
  for (; count < std::min(parts.size(), kMostNeighbours); ++count) {
    const BytesPart& before = parts[count - 1];
    const int64_t between = parts[count].offset - before.offset - static_cast<int64_t>(before.to.size());
    if (between < 0 || between > kMostBetween) break;
  }
  return count;
}

/// What the page cache has of neighbours, and of what lies between them, from the first part's start: how many
/// bytes.
int64_t read_cached(int file, std::span<const BytesPart> neighbours) {
  std::array<uint8_t, kMostBetween> between;  // read over, and used by nobody
  std::array<iovec, 2 * kMostNeighbours> places;
  size_t count = 0;
  int64_t at = neighbours.front().offset;
  for (const BytesPart& part : neighbours) {
    if (part.offset > at) places[count++] = {between.data(), static_cast<size_t>(part.offset - at)};
    places[count++] = {part.to.data(), part.to.size()};
    at = part.offset + static_cast<int64_t>(part.to.size());
  }
  return DiskWatch::of_process().read_cached(file, neighbours.front().offset, std::span(places).first(count));
}

class LocalFile final : public ByteSource {
 public:
  explicit LocalFile(const std::string& path) : ByteSource(path) {}
  ~LocalFile() override { open_files().forget(this); }

  Status look() {
    const std::shared_ptr<OpenFile> file = open_files().take(this, name());
    struct stat status = {};
    if (!file || ::fstat(file->get(), &status) != 0) return refused_file(name(), errno);
    if (!S_ISREG(status.st_mode))
      return unusable(fmt::format("{} is not a regular file", name()), "name a file");
    size_ = status.st_size;
    return {};
  }

  Status read(int64_t offset, std::span<uint8_t> to) const override {
    const BytesPart part{offset, to};
    return read_parts({&part, 1});
  }

  Status read_parts(std::span<const BytesPart> parts) const override {
    const std::shared_ptr<OpenFile> file = open_files().take(this, name());
    if (!file) return refused_file(name(), errno);
    while (!parts.empty()) {
      const auto neighbours = parts.first(count_neighbours(parts));
      const int64_t cached_end = neighbours.front().offset + read_cached(file->get(), neighbours);
      for (const BytesPart& part : neighbours) {
        const auto size = static_cast<int64_t>(part.to.size());
        GALATEA_TRY(read_rest(*file, part, std::clamp<int64_t>(cached_end - part.offset, 0, size)));
      }
      parts = parts.subspan(neighbours.size());
    }
    return {};
  }

  void will_read(int64_t offset, int64_t bytes) const override {
    const bool asks = order_.asks_for(offset, bytes);
    if (!asks || !DiskWatch::of_process().waits()) return;
    if (const std::shared_ptr<OpenFile> file = open_files().take(this, name()))
      ask_ahead(file->get(), offset, bytes);
  }

 private:
  /// Reads a part but for its first `at` bytes, which are there.
  Status read_rest(const OpenFile& file, const BytesPart& part, int64_t at) const {
    const auto size = static_cast<int64_t>(part.to.size());
    if (at >= size) return {};
    const auto begin = std::chrono::steady_clock::now();
    while (at < size) {
      const ssize_t count =
          ::pread(file.get(), part.to.data() + at, static_cast<size_t>(size - at), part.offset + at);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return refused_file(name(), errno);
      if (count == 0)
        return damaged(name(), part.offset + at, fmt::format("{} bytes are missing", size - at));
      at += count;
    }
    order_.note_wait(part.offset, std::chrono::steady_clock::now() - begin);
    return {};
  }

  mutable ReadOrder order_;
};

class Memory : public ByteSource {
 public:
  Memory(std::string name, std::span<const uint8_t> bytes) : ByteSource(std::move(name)), bytes_(bytes) {
    size_ = static_cast<int64_t>(bytes_.size());
  }
  Status read(int64_t offset, std::span<uint8_t> to) const override {
    const int64_t there = std::max<int64_t>(0, size_ - offset);
    if (offset < 0 || static_cast<int64_t>(to.size()) > there)
      return damaged(name(), offset,
                     fmt::format("{} bytes are missing", static_cast<int64_t>(to.size()) - there));
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return {};
  }

 private:
  std::span<const uint8_t> bytes_;
};

struct OwnBytes {
  std::string own;
};

class OwnMemory final : private OwnBytes, public Memory {
 public:
  OwnMemory(std::string name, std::string bytes)
      : OwnBytes{std::move(bytes)},
        Memory(std::move(name), {reinterpret_cast<const uint8_t*>(own.data()), own.size()}) {}
};

}  // namespace

DiskWatch& DiskWatch::of_process() {
  static DiskWatch watch;
  return watch;
}

int64_t DiskWatch::read_cached(int file, int64_t offset, std::span<const iovec> to) {
  size_t wanted = 0;
  for (const iovec& place : to) wanted += place.iov_len;
  const ssize_t count = ::preadv2(file, to.data(), static_cast<int>(to.size()), offset, RWF_NOWAIT);
  // Not every file system can tell: then reads may have to wait.
  if (count < 0 && errno != EAGAIN) return 0;
  if (count < static_cast<ssize_t>(wanted)) {
    left_.store(kReadsAfterMiss, std::memory_order_relaxed);
  } else if (waits()) {
    left_.fetch_sub(1, std::memory_order_relaxed);
  }
  return std::max<int64_t>(0, count);
}

bool ReadOrder::asks_for(int64_t offset, int64_t bytes) {
  const int64_t between = offset - told_end_.exchange(offset + bytes, std::memory_order_relaxed);
  const bool is_next = between >= 0 && between <= std::max(kMostBetween, bytes);
  return !is_next || is_slow_.load(std::memory_order_relaxed);
}

void ReadOrder::note_wait(int64_t offset, std::chrono::nanoseconds waited) {
  const std::lock_guard lock(mutex_);
  // Where reads jump, what lies between two waits was not all read.
  if (!has_begun_ || std::abs(offset - last_wait_) > kMostAsked) {
    has_begun_ = true;
    first_wait_ = offset;
    waited_ = {};
  }
  last_wait_ = offset;
  waited_ += waited;
  const int64_t bytes = offset - first_wait_;
  if (bytes < kBytesToJudge && waited_ < kWaitToJudge) return;
  const double seconds = std::chrono::duration<double>(waited_).count();
  is_slow_.store(static_cast<double>(bytes) < seconds * kQuickBytesPerSecond, std::memory_order_relaxed);
  has_begun_ = false;
}

void ask_ahead(int file, int64_t offset, int64_t bytes) {
  // Of a longer part the system takes the beginning alone: no more than the device takes at once.
  constexpr int64_t kAtOnce = int64_t{512} << 10;
  for (const int64_t end = offset + std::min(bytes, kMostAsked); offset < end; offset += kAtOnce)
    ::posix_fadvise(file, offset, std::min(kAtOnce, end - offset), POSIX_FADV_WILLNEED);
}

Result<std::shared_ptr<const ByteSource>> open_file(const std::string& path) {
  if (far::is_far(path)) return far::FarStore::of_process().open(path);
  auto file = std::make_shared<LocalFile>(path);
  GALATEA_TRY(file->look());
  return file;
}

void will_open(const std::string& path) {
  if (far::is_far(path)) return far::FarStore::of_process().will_open(path);
  if (!DiskWatch::of_process().waits()) return;
  const OpenFile file(path);
  struct stat status = {};
  if (file.get() >= 0 && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode))
    ask_ahead(file.get(), 0, status.st_size);
}

std::unexpected<Error> unreadable(const std::string& what, const std::string& path, int number,
                                  const char* help) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(path, error);
  if (number == ENOENT && !error)
    return unusable(
        fmt::format("cannot read {}: it is a link to {}, which is not there", what, target.string()), help);
  const std::string_view scheme = number == ENOENT ? far::other_scheme(path) : "";
  if (scheme.empty()) return unusable(fmt::format("cannot read {}: {}", what, std::strerror(number)), help);
  if (scheme == "file")
    return unusable(fmt::format("cannot read {}: a path is wanted, not an address", what),
                    "leave file:// out");
  return unusable(fmt::format("cannot read {}: nothing here reads {}://", what, scheme),
                  "addresses begin with http://, https://, s3:// or gs://, in small letters; a path of this "
                  "machine has nothing before it");
}

std::shared_ptr<const ByteSource> bytes_in_memory(std::string name, std::string bytes) {
  return std::make_shared<OwnMemory>(std::move(name), std::move(bytes));
}

std::shared_ptr<const ByteSource> bytes_elsewhere(std::string name, std::span<const uint8_t> bytes) {
  return std::make_shared<Memory>(std::move(name), bytes);
}

Result<std::string> text_of(const std::string& path, const char* what, size_t most) {
  if (far::is_far(path)) {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(path));
    if (static_cast<size_t>(file->size()) > most)
      return unusable(fmt::format("the {} {} has more than {} bytes", what, file->name(), most));
    std::string text(static_cast<size_t>(file->size()), '\0');
    GALATEA_TRY(file->read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
    return text;
  }
  auto text = read_whole_file(path, most);
  if (!text && text.error().kind == ErrorKind::kSystem)
    return runtime::make_error(runtime::message::kSourceFault, fmt::format("the {} {}", what, path),
                               text.error().why);
  if (!text && !far::other_scheme(path).empty())
    return unreadable(fmt::format("the {} {}", what, path), path, ENOENT, "");
  if (!text)
    return unusable(fmt::format("cannot open the {} {}: {}", what, path, text.error().why),
                    "check the path and its permissions");
  if (text->size() > most) return unusable(fmt::format("the {} {} has more than {} bytes", what, path, most));
  return std::move(*text);
}

}  // namespace galatea::native
