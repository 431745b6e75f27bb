// What the system's page cache holds of a file.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

namespace galatea::page_cache {

/// Whether it has all pages of a part of a file; nullopt where the system does not tell. By mincore: a read with
/// RWF_NOWAIT may itself start reading the file.
inline std::optional<bool> has(const std::filesystem::path& path, size_t begin, size_t end) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* pages = ::mmap(nullptr, end, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (pages == MAP_FAILED) return std::nullopt;
  const auto page_size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((end + page_size - 1) / page_size);
  const int status = ::mincore(pages, end, resident.data());
  ::munmap(pages, end);
  if (status != 0) return std::nullopt;
  return std::all_of(resident.begin() + static_cast<std::ptrdiff_t>(begin / page_size), resident.end(),
                     [](unsigned char page) { return (page & 1) != 0; });
}

/// Whether reads of the file system can be told not to wait; an overlay's cannot.
inline bool tells_of_waits(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  const iovec place{&byte, 1};
  const bool tells = ::preadv2(file, &place, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN;
  ::close(file);
  return tells;
}

/// False where the file system does not take a file out of it, or does not tell.
inline bool evict(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fsync(file);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
  return has(path, 0, static_cast<size_t>(std::filesystem::file_size(path))) == false;
}

}  // namespace galatea::page_cache
