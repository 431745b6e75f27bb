#include "base/library_search.h"

#include <filesystem>

#include "base/folder.h"
#include "base/settings.h"

namespace galatea {
namespace {

namespace fs = std::filesystem;

/// Where this library was installed as part of a Python package: the folder of all packages.
fs::path own_packages() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&search_packaged_library), &here) == 0 || !here.dli_fname)
    return {};
  for (fs::path folder = fs::path(here.dli_fname).parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (folder.filename() == "site-packages" || folder.filename() == "dist-packages") return folder;
  return {};
}

/// Of the library or program that holds `code`, and of the program that runs.
std::vector<fs::path> own_folders(const void* code) {
  std::vector<fs::path> folders;
  std::error_code failed;
  Dl_info info = {};
  if (::dladdr(code, &info) != 0 && info.dli_fname != nullptr) {
    const fs::path file = fs::canonical(info.dli_fname, failed);
    if (!failed) folders.push_back(file.parent_path());
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) folders.push_back(program.parent_path());
  return folders;
}

/// Those of the wheels' folders, below site-packages, that are on this machine.
std::vector<fs::path> package_folders(const std::vector<std::string>& wheels) {
  std::vector<fs::path> out;
  std::error_code ignored;
  const auto add = [&](const fs::path& packages) {
    for (const std::string& wheel : wheels)
      if (fs::path folder = packages / wheel; fs::is_directory(folder, ignored))
        out.push_back(std::move(folder));
  };
  if (const fs::path own = own_packages(); !own.empty()) add(own);
  std::vector<fs::path> roots;
  if (const std::string env = setting("VIRTUAL_ENV"); !env.empty()) roots.emplace_back(fs::path(env) / "lib");
  if (const std::string home = setting("HOME"); !home.empty())
    roots.emplace_back(fs::path(home) / ".local/lib");
  roots.emplace_back("/usr/local/lib");
  roots.emplace_back("/usr/lib");
  for (const fs::path& root : roots) {
    for (const NameInFolder& entry : names_if_readable(root.string())) {
      if (!entry.name.starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) add(root / entry.name / packages);
    }
  }
  return out;
}

/// Folders that may hold a library of CUDA, besides those that the loader knows.
std::vector<fs::path> cuda_folders(const std::string& package) {
  std::vector<fs::path> out;
  const fs::path usual = "/usr/local/cuda/lib64";
  if (const std::string home = setting("CUDA_HOME"); !home.empty() && fs::path(home) / "lib64" != usual)
    out.emplace_back(fs::path(home) / "lib64");
  out.push_back(usual);
  for (fs::path& folder : package_folders({"nvidia/cu13/lib", package})) out.push_back(std::move(folder));
  return out;
}

}  // namespace

LibrarySearch search_packaged_library(const std::string& name, const std::string& package,
                                      const std::string& in_package) {
  LibrarySearch out{.candidates = {name}, .places = "the loader's folders"};
  for (const fs::path& folder : package_folders({package})) {
    out.candidates.push_back((folder / in_package).string());
    out.places += ", " + folder.string();
  }
  return out;
}

LibrarySearch search_cuda_library(const std::vector<std::string>& names, const std::string& package) {
  LibrarySearch out;
  const std::string own = setting("GALATEA_CUDA_LIBRARY_PATH");
  if (!own.empty())
    for (const std::string& name : names) out.candidates.push_back((fs::path(own) / name).string());
  out.candidates.insert(out.candidates.end(), names.begin(), names.end());
  out.places = own.empty() ? "the loader's folders" : own + ", the loader's folders";
  for (const fs::path& folder : cuda_folders(package)) {
    for (const std::string& name : names) out.candidates.push_back((folder / name).string());
    out.places += ", " + folder.string();
  }
  return out;
}

std::vector<fs::path> module_places(const std::string& file_name, const void* code,
                                    const std::string& folder_from_bin) {
  std::vector<fs::path> places;
  for (const fs::path& folder : own_folders(code))
    for (const std::string& place :
         {std::string("."), std::string("galatea"), std::string("../lib"), folder_from_bin})
      places.push_back((folder / place / file_name).lexically_normal());
  return places;
}

}  // namespace galatea
