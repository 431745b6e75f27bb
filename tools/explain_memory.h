// What explain says of the memory that a run takes.
#pragma once

#include <string>

#include "compiler/compile.h"

namespace galatea::tools {

/// Bytes of one sample of an output, -1 if its extents vary.
int64_t output_bytes(const runtime::OutputSpec& output);

/// The section "memory": delivered batches, what a sample takes, and bounds of all together for pictures of
/// common sizes. Empty without a graph.
std::string describe_memory(const runtime::Program& program, const CompileReport& report);

}  // namespace galatea::tools
