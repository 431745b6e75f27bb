// Samples that wait for memory, in the order of their tickets; nobody overtakes the first of them.
//
// Comes in: tickets whose frames want bytes; the gate. Goes out: the first, once the gate gives it what it
// wants. While nothing runs that could give memory back, younger work gives up its own and starts over later,
// which changes no result; so the oldest sample can always have all that its own batch and the consumer
// leave.
//
// Not thread-safe: the scheduler's lock guards it.
#pragma once

#include <optional>
#include <vector>

#include "runtime/executor.h"
#include "runtime/prefetch_queue.h"

namespace galatea::runtime {

/// One sample's turn.
struct Ticket {
  std::shared_ptr<BatchJob> job;
  int slot = 0;
  std::unique_ptr<Frame> frame;
  Start start = Start::kFresh;
};

class WaitingSamples {
 public:
  explicit WaitingSamples(MemoryGate* gate) : gate_(gate) {}
  bool empty() const { return waiting_.empty(); }
  const BatchJob& first_job() const { return *waiting_.front().job; }
  void add(Ticket ticket);
  /// The first, if it can go on; `idle_frames` and the pool give back what they keep for that.
  std::optional<Ticket> grant_first(std::vector<std::unique_ptr<Frame>>& idle_frames, BufferPool& pool);
  /// Nothing runs: the youngest sample or batch behind the first that has memory lets go of it. False: there
  /// is none.
  bool give_up_youngest(PrefetchQueue& queue);
  /// The first, to fail where it waits.
  Ticket refuse_first();

 private:
  Ticket take_first();
  bool claim_for(Ticket& ticket);
  void shrink_others();

  MemoryGate* gate_;
  std::vector<Ticket> waiting_;  ///< in order
};

}  // namespace galatea::runtime
