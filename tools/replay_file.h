// A pipeline file that makes one sample again, with its draws as numbers: what `galatea trace --replay` prints.
//
// Comes in: the text of the pipeline, what was traced, what the command line set. Goes out: that text with
// `replay.only_sample` around the reader, `replay.with_draws` around what drew, and the seed.
#pragma once

#include <string>

#include "base/result.h"
#include "tools/pipeline_host.h"
#include "tools/sample_trace.h"

namespace galatea::tools {

/// `file` is the one that was traced, as reporter.sources() names it. An error: the pipeline has no reader, or
/// several.
Result<std::string> replay_file(const SourceMap& sources, const std::string& file, const SampleTrace& trace,
                                const PipelineOptions& options);

}  // namespace galatea::tools
