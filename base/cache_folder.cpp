#include "base/cache_folder.h"

#include <unistd.h>

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

}  // namespace galatea
