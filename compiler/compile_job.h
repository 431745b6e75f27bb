// What one call of compile() is about. Its steps share it; they change nothing of it but the report.
#pragma once

#include "compiler/compile.h"

namespace galatea {

struct CompileJob {
  const ir::Graph& input;
  const SourceMap& sources;
  const CompileOptions& options;
  CompileReport* report;  ///< may be nullptr

  bool shows_forms() const { return report != nullptr && options.report_forms; }
  TraceScope trace(const char* step) const { return TraceScope(options.trace, step, "compile"); }
};

}  // namespace galatea
