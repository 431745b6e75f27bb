#include "tools/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/fault.h"
#include "tools/command.h"
#include "tools/messages.h"

namespace galatea::tools {
namespace fs = std::filesystem;

Status replace_file(const std::string& name, const std::string& text) {
  auto cannot = [&](int number) {
    return tool_error(kind_of_errno(number), Message::kCannotWrite, name, std::strerror(number));
  };
  std::error_code error;
  const fs::path target = fs::canonical(name, error);
  if (error) return cannot(error.value());
  // Renaming over a file asks only for a writable folder; who may not write the file means it.
  if (::access(target.c_str(), W_OK) != 0) return cannot(errno);
  struct stat before{};
  if (::stat(target.c_str(), &before) != 0) return cannot(errno);
  std::string partial = (target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string();
  const int descriptor = ::mkstemp(partial.data());
  if (descriptor < 0) return cannot(errno);
  int failure = write_all(descriptor, text);
  if (failure == 0 && ::fchmod(descriptor, before.st_mode & 07777) != 0) failure = errno;
  // Its owner stays where that is allowed (for root).
  if (failure == 0 && ::geteuid() == 0 && ::fchown(descriptor, before.st_uid, before.st_gid) != 0)
    failure = errno;
  if (::close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure == 0 && ::rename(partial.c_str(), target.c_str()) != 0) failure = errno;
  if (failure == 0) return {};
  ::unlink(partial.c_str());
  return cannot(failure);
}

}  // namespace galatea::tools
