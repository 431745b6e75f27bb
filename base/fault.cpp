#include "base/fault.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace galatea {
namespace {

std::unexpected<ReadFault> read_fault(int number) {
  if (number == ENOENT) return std::unexpected(ReadFault{ErrorKind::kUser, "there is no such file"});
  if (number == EISDIR) return std::unexpected(ReadFault{ErrorKind::kUser, "it is a folder"});
  return std::unexpected(ReadFault{kind_of_errno(number), std::strerror(number)});
}

}  // namespace

ErrorKind kind_of_errno(int number) {
  switch (number) {
    // The path that was named, or what it stands for.
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENXIO:
    case ENODEV:
    case ELOOP:
    case ENAMETOOLONG:
    case EEXIST:
    case ENOTEMPTY:
    case EINVAL:
    case ESPIPE:
    // What this user may do there.
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY:
    // A reader that went away.
    case EPIPE:
      return ErrorKind::kUser;
    default:
      return ErrorKind::kSystem;
  }
}

ErrorKind kind_of_errno(const std::error_code& error) {
  const std::error_condition condition = error.default_error_condition();
  return condition.category() == std::generic_category() ? kind_of_errno(condition.value())
                                                         : ErrorKind::kSystem;
}

std::expected<std::string, ReadFault> read_to_end(int descriptor, size_t most) {
  constexpr size_t kBlock = size_t{1} << 16, kLeast = 4096;
  std::string text;
  struct stat status = {};
  size_t expected = kBlock;
  // Files of the kernel's own have no size.
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    expected = std::max(static_cast<size_t>(status.st_size), kLeast);
  // With room for the last read(), which finds the end.
  text.reserve(std::min(expected, most) + 1);
  while (text.size() <= most) {
    const size_t have = text.size();
    text.resize(std::min(text.capacity() > have ? text.capacity() : have + kBlock, most + 1));
    const ssize_t count = ::read(descriptor, text.data() + have, text.size() - have);
    const int number = errno;
    text.resize(have + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count < 0 && number == EINTR) continue;
    if (count < 0) return read_fault(number);
    if (count == 0) break;
  }
  return text;
}

std::expected<std::string, ReadFault> read_whole_file(const std::string& path, size_t most) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return read_fault(errno);
  const struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};
  return read_to_end(descriptor, most);
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

int write_whole_file(const std::string& path, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  const int failure = write_all(descriptor, bytes);
  if (::close(descriptor) != 0 && failure == 0) return errno;
  return failure;
}

bool is_disk_full(const std::string& folder) {
  constexpr uint64_t kLeastRoom = uint64_t{1} << 20;
  struct statvfs room = {};
  return ::statvfs(folder.c_str(), &room) == 0 && room.f_bavail * room.f_frsize < kLeastRoom;
}

bool is_fault(const Diagnostic& diagnostic) { return diagnostic.code.starts_with("G099"); }

ErrorKind kind_of(const std::vector<Diagnostic>& diagnostics) {
  const bool has_fault =
      std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
        return diagnostic.severity == Severity::kError && is_fault(diagnostic);
      });
  return has_fault ? ErrorKind::kSystem : ErrorKind::kUser;
}

void need_room(size_t bytes) {
  // Nothing is read or written there, and a compiler may leave out what only comes and goes.
  void* volatile memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::free(memory);
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "a file cannot be opened");
  ::close(file);
}

void make_ready_for_exceptions() {
  // To a compiler the function has no effect: who needs its result calls it.
  const volatile int number = std::uncaught_exceptions();
  static_cast<void>(number);
}

int64_t memory_of_machine() {
  int64_t bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  if (bytes <= 0) bytes = INT64_MAX;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(bytes))
    bytes = static_cast<int64_t>(limit.rlim_cur);
  // "max" where there is no limit, and no file outside a group that has one.
  if (const auto text = read_whole_file("/sys/fs/cgroup/memory.max", 64)) {
    int64_t most = 0;
    if (std::from_chars(text->data(), text->data() + text->size(), most).ec == std::errc() && most > 0)
      bytes = std::min(bytes, most);
  }
  return bytes;
}

}  // namespace galatea
