#include "base/library_search.h"

#include <filesystem>

#include "base/settings.h"

namespace galatea {
namespace {

namespace fs = std::filesystem;

/// Folders that may hold the library, besides those that the loader knows.
std::vector<fs::path> folders(const std::string& package) {
  std::vector<fs::path> out;
  std::error_code ignored;
  const fs::path usual = "/usr/local/cuda/lib64";
  if (const std::string home = setting("CUDA_HOME"); !home.empty() && fs::path(home) / "lib64" != usual)
    out.emplace_back(fs::path(home) / "lib64");
  out.push_back(usual);
  std::vector<fs::path> roots;
  if (const std::string env = setting("VIRTUAL_ENV"); !env.empty()) roots.emplace_back(fs::path(env) / "lib");
  if (const std::string home = setting("HOME"); !home.empty())
    roots.emplace_back(fs::path(home) / ".local/lib");
  roots.emplace_back("/usr/local/lib");
  roots.emplace_back("/usr/lib");
  for (const fs::path& root : roots)
    for (const auto& entry :
         fs::directory_iterator(root, fs::directory_options::skip_permission_denied, ignored)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"})
        for (const std::string& wheel : {std::string("nvidia/cu13/lib"), package})
          if (fs::path folder = entry.path() / packages / wheel; fs::is_directory(folder, ignored))
            out.push_back(std::move(folder));
    }
  return out;
}

}  // namespace

LibrarySearch search_cuda_library(const std::vector<std::string>& names, const std::string& package) {
  LibrarySearch out;
  const std::string own = setting("GALATEA_CUDA_LIBRARY_PATH");
  if (!own.empty())
    for (const std::string& name : names) out.candidates.push_back((fs::path(own) / name).string());
  out.candidates.insert(out.candidates.end(), names.begin(), names.end());
  out.places = own.empty() ? "the loader's folders" : own + ", the loader's folders";
  for (const fs::path& folder : folders(package)) {
    for (const std::string& name : names) out.candidates.push_back((folder / name).string());
    out.places += ", " + folder.string();
  }
  return out;
}

}  // namespace galatea
