#include "runtime/waiting_samples.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace galatea::runtime {

void WaitingSamples::add(Ticket ticket) {
  auto place = [](const Ticket& one) { return std::pair{one.job->serial, one.slot}; };
  auto at = std::find_if(waiting_.begin(), waiting_.end(),
                         [&](const Ticket& other) { return place(ticket) < place(other); });
  waiting_.insert(at, std::move(ticket));
  gate_->set_waiting(true);
}

Ticket WaitingSamples::take_first() {
  Ticket first = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  gate_->set_waiting(!waiting_.empty());
  return first;
}

bool WaitingSamples::claim_for(Ticket& ticket) {
  BatchJob& job = *ticket.job;
  if (!job.has_fixed_outputs && job.take_fixed_outputs(*gate_) > 0) return false;
  job.has_fixed_outputs = true;
  if (ticket.start == Start::kFresh) return true;
  if (!gate_->claim_in_turn(ticket.frame->wanted_bytes())) return false;
  ticket.frame->grant();
  return true;
}

/// Frames of samples that have yet to begin keep what the sample before them had.
void WaitingSamples::shrink_others() {
  for (Ticket& ticket : waiting_ | std::views::drop(1))
    if (ticket.start == Start::kFresh) ticket.frame->shrink();
}

std::optional<Ticket> WaitingSamples::grant_first(std::vector<std::unique_ptr<Frame>>& idle_frames,
                                                  BufferPool& pool) {
  bool has_shrunk = false;
  while (!claim_for(waiting_.front())) {
    if (!idle_frames.empty()) {
      idle_frames.pop_back();
    } else if (!std::exchange(has_shrunk, true)) {
      shrink_others();
    } else if (!pool.drop_free()) {
      return std::nullopt;
    }
  }
  return take_first();
}

bool WaitingSamples::give_up_youngest(PrefetchQueue& queue) {
  const int64_t first = first_job().serial;
  for (const auto& job : queue.entries() | std::views::reverse) {
    if (!job || job->serial <= first || !job->has_begun()) continue;
    std::erase_if(waiting_, [&](const Ticket& ticket) { return ticket.job == job; });
    job->reset();
    return true;
  }
  for (Ticket& ticket : waiting_ | std::views::drop(1) | std::views::reverse) {
    // What has met others at a barrier cannot begin again.
    if (ticket.start == Start::kFresh || ticket.frame->past_barrier()) continue;
    ticket.frame->end();
    ticket.frame->shrink();
    ticket.job->restart(ticket.slot);
    ticket.start = Start::kFresh;
    return true;
  }
  return false;
}

Ticket WaitingSamples::refuse_first() {
  Ticket first = take_first();
  if (first.start == Start::kGoesOn) first.frame->refuse(holders_of_memory(*first.job));
  return first;
}

}  // namespace galatea::runtime
