// Runs a recorded pipeline text through galatea, with kernels in the loop interpreter.
#pragma once

#include <string>

#include "tests/oracle/oracle_cases.h"

namespace galatea::testing {

/// What became of a case: empty if all is as recorded.
std::string run_case(const OracleCase& oracle_case);

}  // namespace galatea::testing
