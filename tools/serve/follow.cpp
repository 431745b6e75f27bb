#include "tools/serve/follow.h"

#include <sys/stat.h>

#include <algorithm>

namespace galatea::tools::serve {

FollowedFiles::Stamp FollowedFiles::stamp_of(const std::string& file) {
  struct stat s = {};
  if (::stat(file.c_str(), &s) != 0) return {};
  return {s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_size, s.st_ino};
}

void FollowedFiles::follow(const std::vector<std::string>& files) {
  const std::lock_guard lock(mutex_);
  std::vector<Followed> followed;
  for (const std::string& file : files) {
    const auto known = std::ranges::find(files_, file, &Followed::file);
    followed.push_back({file, known == files_.end() ? stamp_of(file) : known->stamp});
  }
  files_ = std::move(followed);
}

bool FollowedFiles::have_changed() {
  const std::lock_guard lock(mutex_);
  bool changed = false;
  for (Followed& one : files_) {
    const Stamp now = stamp_of(one.file);
    const bool is_empty = now.bytes == 0;
    const bool counts = now != one.stamp && (!is_empty || one.was_empty);
    one.was_empty = is_empty;
    if (counts) one.stamp = now;
    changed = changed || counts;
  }
  return changed;
}

}  // namespace galatea::tools::serve
