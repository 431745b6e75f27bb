#include "stdlib_ops/native/folder.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/fault.h"
#include "runtime/messages.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/far_store.h"

namespace galatea::native {
namespace {

/// What the system refused of a folder: the user's, or the machine's.
std::unexpected<Error> refused_folder(const std::string& path, int number) {
  if (kind_of_errno(number) == ErrorKind::kSystem)
    return runtime::make_error(runtime::message::kSourceFault, fmt::format("the folder {}", path),
                               std::strerror(number));
  return unreadable(fmt::format("the folder {}", path), path, number, "check the path and its permissions");
}

/// "*.jpg" asks for an ending, which is found without a pattern's machinery: a folder may hold a million names.
std::optional<std::string_view> ending_of(std::string_view glob) {
  if (!glob.starts_with('*') || glob.find_first_of("*?[\\", 1) != std::string_view::npos) return std::nullopt;
  return glob.substr(1);
}

bool has_ending(std::string_view name, std::string_view ending, bool case_sensitive) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (case_sensitive || name.size() < ending.size()) return name.ends_with(ending);
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, lower, lower);
}

}  // namespace

Result<std::vector<FolderEntry>> entries_of(const std::string& folder) {
  if (far::is_far(folder)) {
    GALATEA_ASSIGN(const far::FarFolder there, far::FarStore::of_process().list(folder));
    std::vector<FolderEntry> out;
    for (const std::string& name : there.files) out.push_back({name, false});
    for (const std::string& name : there.folders) out.push_back({name, true});
    std::ranges::sort(out, {}, &FolderEntry::name);
    return out;
  }
  auto out = names_in_folder(folder);
  if (!out) return refused_folder(folder, out.error().value());
  std::ranges::sort(*out, {}, &FolderEntry::name);
  return std::move(*out);
}

Status visit_folders(const std::vector<std::string>& folders,
                     const std::function<Status(size_t, const std::vector<FolderEntry>&)>& take) {
  constexpr size_t kAtOnce = 16;
  std::deque<std::future<Result<std::vector<FolderEntry>>>> coming;
  for (size_t visited = 0, asked = 0; visited < folders.size(); ++visited) {
    for (; asked < std::min(folders.size(), visited + kAtOnce); ++asked) {
      // A folder of this machine is read when its turn comes; so is one far away if there are no more threads.
      const auto policy =
          far::is_far(folders[asked]) ? std::launch::async | std::launch::deferred : std::launch::deferred;
      coming.push_back(std::async(policy, entries_of, folders[asked]));
    }
    const auto entries = coming.front().get();
    coming.pop_front();
    if (!entries) return std::unexpected(entries.error());
    GALATEA_TRY(take(visited, *entries));
  }
  return {};
}

bool matches(const std::string& name, const std::vector<std::string>& globs, bool case_sensitive) {
  const int flags = case_sensitive ? 0 : FNM_CASEFOLD;
  return std::ranges::any_of(globs, [&](const std::string& glob) {
    if (const auto ending = ending_of(glob)) return has_ending(name, *ending, case_sensitive);
    return ::fnmatch(glob.c_str(), name.c_str(), flags) == 0;
  });
}

std::vector<std::string> image_file_filters() {
  return {"*.jpg", "*.jpeg", "*.png", "*.bmp", "*.tif", "*.tiff",
          "*.pnm", "*.ppm",  "*.pgm", "*.pbm", "*.jp2", "*.webp"};
}

std::vector<std::string> default_file_filters() {
  std::vector<std::string> filters = image_file_filters();
  for (const char* sound : {"*.flac", "*.ogg", "*.wav"}) filters.emplace_back(sound);
  return filters;
}

}  // namespace galatea::native
