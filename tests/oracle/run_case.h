// Runs a recorded pipeline text through galatea, with kernels in the loop interpreter.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tests/oracle/oracle_cases.h"

namespace galatea::testing {

/// Layouts, then samples, by output: those of `batches` batches one behind the other, each fed the case's inputs.
struct CaseOutputs {
  std::vector<std::string> layouts;
  std::vector<std::vector<RecordedArray>> samples;
};
/// The error says at which step it arose.
std::expected<CaseOutputs, std::string> outputs_of(const OracleCase& oracle_case, int batches = 1);

/// What became of a case: empty if all is as recorded.
std::string run_case(const OracleCase& oracle_case);

}  // namespace galatea::testing
