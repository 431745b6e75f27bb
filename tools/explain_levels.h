// The levels that explain prints, from a compiled program and the compiler's report.
#pragma once

#include <string>

#include "compiler/compile.h"

namespace galatea::tools {

/// `level`: "graph" (after the passes), "plan", "kernel", "loops", "llvm", "asm", "cuda", "ptx", or "" for
/// the page for people.
Result<std::string> emit_level(const std::string& level, const runtime::Program& program,
                               const CompileReport& report, const std::string& arch, bool fuse);

}  // namespace galatea::tools
