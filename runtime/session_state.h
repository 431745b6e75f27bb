// Where a run stands, as text that outlives the process: a few integers, because the order of samples and all
// draws are functions of counters.
//
// Comes in: a session's place between two batches, its program and data. Goes out: one line of JSON of a few
// hundred bytes; and the way back, where whatever does not fit is an error that says which.
//
// Invariant: a text that parse_session_state() takes is the one that to_text() wrote, whoever kept it and
// however it was spaced since: a checksum is part of it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/loaded_program.h"
#include "runtime/session.h"

namespace galatea::runtime {

struct SessionState {
  ResumePoint point;
  uint64_t program = 0;  ///< Program::fingerprint
  uint64_t data = 0;     ///< data_fingerprint()
  uint64_t seed = 0;
  int batch_size = 0;
  friend bool operator==(const SessionState&, const SessionState&) = default;
};

/// How many samples each source has, and their names in order. What is in the files is not looked at.
uint64_t data_fingerprint(const LoadedProgram& loaded);
std::string to_text(const SessionState& state);
Result<SessionState> parse_session_state(std::string_view text);
/// Seed, program, data; and the batch size where the batch is part of the result.
Status check_fits(const SessionState& state, const LoadedProgram& loaded, uint64_t data);

}  // namespace galatea::runtime
