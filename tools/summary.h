// The summary at the end of `run --stats`: as text for people, as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "runtime/program.h"
#include "runtime/session.h"

namespace galatea::tools {

struct RunSummary {
  runtime::SessionStatistics statistics;          ///< of all sessions
  std::vector<runtime::SessionStatistics> parts;  ///< of several GPUs: each session's
  double startup_seconds = 0;
  int kernels_compiled = 0, kernels_cached = 0;
  int first_tier = 0, replaced = 0;  ///< kernels that began with quick code; those whose best code came
  double background_seconds = 0;     ///< making it, beside the run and at its end
  uint64_t seed = 0;
  std::string stopped;  ///< why it ended early, or empty
};

/// Sums; of times by the clock and of memory at once, what all of them took side by side.
runtime::SessionStatistics together(std::vector<runtime::SessionStatistics> parts);
std::string summary_text(const RunSummary& summary);
/// One line, with a line break.
std::string summary_json(const RunSummary& summary);

}  // namespace galatea::tools
