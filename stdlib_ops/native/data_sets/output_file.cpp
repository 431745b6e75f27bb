#include "stdlib_ops/native/data_sets/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/fault.h"

namespace galatea::native {
namespace {

constexpr size_t kOutputBuffer = size_t{1} << 20;

std::string partial_name(const std::string& path) { return path + ".partial"; }

}  // namespace

std::unexpected<Error> cannot_write(const std::string& path, int number) {
  return make_error(kind_of_errno(number), "G0854",
                    fmt::format("cannot write `{}`: {}", path, std::strerror(number)),
                    "name a place that exists, has room, and that you may write to");
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  // A link in its place is not followed: nothing is written outside of the folder.
  file.fd_ = ::open(partial_name(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file.fd_ < 0) return cannot_write(path, errno);
  return file;
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(partial_name(path_).c_str());
}

OutputFile::OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

Status OutputFile::write(std::string_view bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  if (buffer_.size() + bytes.size() > kOutputBuffer) GALATEA_TRY(flush());
  if (bytes.size() > kOutputBuffer) {
    if (const int number = write_all(fd_, bytes)) return cannot_write(path_, number);
  } else {
    buffer_ += bytes;
  }
  return {};
}

Status OutputFile::flush() {
  if (const int number = write_all(fd_, buffer_)) return cannot_write(path_, number);
  buffer_.clear();
  return {};
}

Status OutputFile::finish() {
  GALATEA_TRY(flush());
  if (::fsync(fd_) != 0) return cannot_write(path_, errno);
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0 || ::rename(partial_name(path_).c_str(), path_.c_str()) != 0) {
    const int number = errno;
    ::unlink(partial_name(path_).c_str());
    return cannot_write(path_, number);
  }
  return {};
}

}  // namespace galatea::native
