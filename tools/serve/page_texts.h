// The page: its files as they lie in page/, part of the program.
#pragma once

#include <string_view>

namespace galatea::tools::serve {

/// By name, "page.js"; empty: there is none of this name.
std::string_view page_text(std::string_view name);

}  // namespace galatea::tools::serve
