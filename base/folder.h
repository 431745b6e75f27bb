// What is in a folder of this machine.
//
// Comes in: a path. Goes out: names, or the errno that says why not. In place of std::filesystem's iterators,
// which end the process where memory runs out: those of libstdc++ build paths in functions that may not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <system_error>
#include <vector>

namespace galatea {

struct NameInFolder {
  std::string name;
  bool is_folder = false;  ///< or a link to one
  bool is_link = false;
};

/// All but "." and "..", in no order; of more than `most`, some.
std::expected<std::vector<NameInFolder>, std::error_code> names_in_folder(const std::string& folder,
                                                                          size_t most = SIZE_MAX);
/// None where it cannot be read.
std::vector<NameInFolder> names_if_readable(const std::string& folder, size_t most = SIZE_MAX);

}  // namespace galatea
