// What one sample has claimed of the memory limit: asked for before it is taken, so that a sample that runs
// never fails for want of memory because of what runs beside it.
//
// Comes in: needs, as the sample program states them (kAdmit), as sources and natives know them. Goes out: go
// on, wait, or an error (more than there is).
//
// A need that nobody stated is claimed when it is met. If that fails, the sample starts over and asks for
// what it has learned at once.
#pragma once

#include "runtime/arena.h"

namespace galatea::runtime {

struct MemoryNeed {
  int64_t own = 0;      ///< intermediates, in the arena
  int64_t outputs = 0;  ///< of the sample, where their extents vary
  int64_t total() const { return own + outputs; }
};

class SampleClaim {
 public:
  /// Without a gate there is no limit, and nothing is ever asked.
  SampleClaim(MemoryGate* gate, Arena& arena) : gate_(gate), arena_(arena) {}
  bool is_limited() const { return gate_ != nullptr; }

  /// `batch_bytes`: the batch's own outputs. `expected`: as learned() gave it, or nothing.
  void begin(int64_t batch_bytes, MemoryNeed expected);
  /// After Arena::reset().
  void end();

  /// States a need on top of those before. False: wait; afterwards, grant() has given it. Error: it is more
  /// than the limit leaves.
  Result<bool> ask(MemoryNeed need);
  /// The same for what one call takes and gives back.
  Result<bool> ask_for_call(int64_t bytes);
  /// The same for a reader, whose outputs are among the bytes: what it leaves is stated by note_read() and
  /// before_output_of_read().
  Result<bool> ask_to_read(int64_t bytes, bool becomes_output);
  int64_t wanted() const { return wanted_.total(); }
  void grant();
  /// The error of a sample that nobody can give what it wants.
  std::unexpected<Error> refusal() const;

  /// Around the allocation of an output of the sample's own.
  Status before_output(int64_t bytes);
  void after_output(int64_t bytes);
  /// Around the same for an output of the sample's own that a reader fills: what was asked for it as an
  /// intermediate becomes an output.
  Status before_output_of_read(int64_t bytes);
  /// A reader has left this much in the arena.
  void note_read(int64_t bytes) { stated_.own += bytes; }

  /// After an error of code G0924: what the sample takes at least; nothing if that was not the reason.
  MemoryNeed learned() const;

 private:
  Result<bool> ask_total(MemoryNeed total);

  MemoryGate* gate_;
  Arena& arena_;
  MemoryNeed stated_, wanted_, expected_;
  int64_t batch_bytes_ = 0;
  int64_t granted_outputs_ = 0, unused_outputs_ = 0, lacking_output_ = 0;
};

}  // namespace galatea::runtime
