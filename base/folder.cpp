// Reading of folders: opendir() and readdir(), which give errors and throw nothing.
#include "base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

namespace galatea {

std::expected<std::vector<NameInFolder>, std::error_code> names_in_folder(const std::string& folder,
                                                                          size_t most) {
  const auto refused = [] { return std::unexpected(std::error_code(errno, std::generic_category())); };
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.empty() ? "." : folder.c_str()),
                                                   ::closedir);
  if (!stream) return refused();
  std::vector<NameInFolder> out;
  while (out.size() < most) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (!entry && errno != 0) return refused();
    if (!entry) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_folder = entry->d_type == DT_DIR, is_link = entry->d_type == DT_LNK;
    if (is_link || entry->d_type == DT_UNKNOWN) {
      // A link to nothing counts as a file: opening it says what is wrong.
      struct stat status = {};
      const int descriptor = ::dirfd(stream.get());
      is_folder = ::fstatat(descriptor, entry->d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
      is_link =
          ::fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    }
    out.push_back({std::string(name), is_folder, is_link});
  }
  return out;
}

std::vector<NameInFolder> names_if_readable(const std::string& folder, size_t most) {
  auto names = names_in_folder(folder, most);
  return names ? std::move(*names) : std::vector<NameInFolder>();
}

}  // namespace galatea
