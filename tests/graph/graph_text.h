// Reading graphs in tests, and running one pass.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace galatea::testing {

/// The graph of a text over the sample operators; a failed expectation and an empty graph where it does not
/// read.
ir::Graph graph_of(const std::string& text);
/// The message of the error that reading the text gives, with "line:column: " before it; "" if it reads.
std::string error_of(const std::string& text);
std::string read_file(const std::string& path);

}  // namespace galatea::testing
