// Files that commands write.
#pragma once

#include <string>

#include "base/result.h"

namespace galatea::tools {

/// Replaces a file in one step: whoever reads it sees the old text or the new one, and its mode stays. A link
/// keeps pointing at what is replaced.
Status replace_file(const std::string& name, const std::string& text);

}  // namespace galatea::tools
