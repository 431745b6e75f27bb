#include "policy/search/trial_files.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/fault.h"
#include "policy/messages.h"
#include "policy/writer.h"

namespace galatea::policy {
namespace fs = std::filesystem;
namespace {

std::unexpected<Error> cannot_write(const std::string& path, const std::error_code& why) {
  return make_error(kind_of_errno(why), diagnose(Message::kJournal, {},
                                                 {fmt::format("cannot write `{}`: {}", path, why.message()),
                                                  "make room, or name another folder"}));
}

}  // namespace

std::string TrialFiles::path_of(const char* what, int64_t trial, const char* ending) const {
  return fmt::format("{}/{}-{:05}{}", folder_, what, trial, ending);
}

std::string TrialFiles::copy_imports(const Document& document) {
  for (const Import& import : document.imports) {
    const fs::path path = fs::path(import.path).lexically_normal();
    if (path.is_absolute() || *path.begin() == "..")
      return fmt::format("the import \"{}\" is not beside the space or below", import.path);
    if (!copied_.insert(import.path).second) continue;
    std::error_code error;
    const fs::path from = fs::path(imports_from_) / path, to = fs::path(folder_) / path,
                   partial = to.string() + ".partial";
    fs::create_directories(to.parent_path(), error);
    fs::copy_file(from, partial, fs::copy_options::overwrite_existing, error);
    if (!error) fs::rename(partial, to, error);
    if (!error) continue;
    copied_.erase(import.path);
    return fmt::format("cannot copy the import \"{}\": {}", import.path, error.message());
  }
  return "";
}

Status TrialFiles::write_policy(int64_t trial, const Document& document) const {
  const std::string path = policy_of(trial);
  const int failure = write_whole_file(path, to_json(document));
  if (failure != 0) return cannot_write(path, {failure, std::generic_category()});
  return {};
}

Status TrialFiles::empty_state(int64_t trial) const {
  std::error_code error;
  const std::string path = state_of(trial);
  fs::remove_all(path, error);
  if (!error) fs::create_directories(path, error);
  if (error) return cannot_write(path, error);
  return {};
}

}  // namespace galatea::policy
