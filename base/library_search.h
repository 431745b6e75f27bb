// Where libraries that are opened at run time may lie, so that they are found without settings, and what
// functions they have.
//
// Comes in: a library's file names, newest first, and the folder of its Python package. Goes out: names for
// dlopen, in the order in which to try them.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

namespace galatea {

struct LibrarySearch {
  std::vector<std::string> candidates;  ///< for dlopen
  std::string places;                   ///< for the error when none opens: "the loader's folders, /usr/…"
};

/// GALATEA_CUDA_LIBRARY_PATH, then the loader's folders, the toolkit (CUDA_HOME, /usr/local/cuda), Python
/// packages. `package`: "nvidia/cuda_nvrtc/lib", below site-packages.
LibrarySearch search_cuda_library(const std::vector<std::string>& names, const std::string& package);

/// The loader's folders, then `package`, a folder of a Python package below site-packages, of which a library
/// there has the name `in_package`.
LibrarySearch search_packaged_library(const std::string& name, const std::string& package,
                                      const std::string& in_package);

/// Where a module of ours may lie, a library that is opened when it is needed: beside the library or program that holds
/// `code`, and beside the program that runs, each in its folder; installed, in a folder of our own, or in that of
/// libraries. `folder_from_bin`: where an installation puts modules, seen from bin/.
std::vector<std::filesystem::path> module_places(const std::string& file_name, const void* code,
                                                 const std::string& folder_from_bin);

/// Looks functions up in a library that dlopen() has opened: `find("nvrtcVersion", version)`.
struct FunctionSearch {
  void* library = nullptr;
  std::string missing;  ///< the name of the first that the library does not have

  template <typename Function>
  void operator()(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (!function && missing.empty()) missing = name;
  }
};

}  // namespace galatea
