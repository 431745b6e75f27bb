// The folder of the build that a test program was linked for: the programs, libraries and samples in it.
//
// One compilation of a test serves several builds (galatea_test in cmake/options.cmake), so that no test has the path as
// a constant of its own: main.cpp, which each build compiles, has it.
#pragma once

#include <string>
#include <string_view>

namespace galatea::testing {

extern const char* const kBuildFolder;

/// The path of what lies `below` it: "/samples".
inline std::string build_folder(std::string_view below = {}) {
  return std::string(kBuildFolder).append(below);
}

}  // namespace galatea::testing
