#include "base/cache_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include "base/folder.h"
#include "base/settings.h"

namespace galatea {

std::filesystem::path cache_root() {
  namespace fs = std::filesystem;
  if (const std::string own = setting("GALATEA_CACHE_DIR"); !own.empty()) return own;
  if (const std::string xdg = setting("XDG_CACHE_HOME"); !xdg.empty() && fs::path(xdg).is_absolute())
    return fs::path(xdg) / "galatea";
  if (const std::string home = setting("HOME"); !home.empty()) return fs::path(home) / ".cache" / "galatea";
  return {};
}

std::string why_distrusted(const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
  return "";
}

namespace {

/// A process that was killed leaves its file behind.
constexpr time_t kAbandonedAfterSeconds = 600;

struct KeptFile {
  std::filesystem::path path;
  int64_t bytes = 0;
  timespec used = {};
};

/// What is kept in a folder, and so many levels below; their bytes are added to `total`.
void find_kept(const std::filesystem::path& folder, int depth, const char* suffix,
               std::vector<KeptFile>& files, int64_t& total) {
  const time_t now = ::time(nullptr);
  for (const NameInFolder& entry : names_if_readable(folder.string())) {
    const std::filesystem::path path = folder / entry.name;
    if (entry.is_folder && !entry.is_link) {
      if (depth > 0) find_kept(path, depth - 1, suffix, files, total);
      continue;
    }
    const bool is_unfinished = entry.name.starts_with(kUnfinishedFile);
    // Whatever else lies there is not ours to count or to remove.
    if (!is_unfinished && path.extension() != suffix) continue;
    struct stat status = {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (is_unfinished && now - status.st_mtime > kAbandonedAfterSeconds) {
      ::unlink(path.c_str());
      continue;
    }
    total += status.st_size;
    if (!is_unfinished) files.push_back({path, status.st_size, status.st_mtim});
  }
}

}  // namespace

void trim_cache(const std::filesystem::path& folder, int depth, const char* suffix, int64_t most,
                int64_t goal) {
  std::vector<KeptFile> files;
  int64_t total = 0;
  find_kept(folder, depth, suffix, files, total);
  if (total <= most) return;
  std::ranges::sort(files, [](const KeptFile& a, const KeptFile& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
  });
  for (const KeptFile& file : files) {
    if (total <= goal) break;
    // Another process may have been faster; its bytes are gone either way.
    if (::unlink(file.path.c_str()) == 0 || errno == ENOENT) total -= file.bytes;
  }
}

}  // namespace galatea
