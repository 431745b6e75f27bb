// Lines that are too long become several.
#pragma once

#include <vector>

#include "dsl/formatter/line.h"

namespace galatea::dsl::formatter {

/// The lines that `line` is written as, in order, their blanks final.
std::vector<Line> split_line(NodeStore& store, Line line);

}  // namespace galatea::dsl::formatter
