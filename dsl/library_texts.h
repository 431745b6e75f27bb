// The files of the library that are written in the language (stdlib_ops/**/*.dali-dsl), as the build found
// them: (path in stdlib_ops without extension, text).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace galatea::dsl {

std::vector<std::pair<std::string_view, std::string_view>> library_texts();

}  // namespace galatea::dsl
