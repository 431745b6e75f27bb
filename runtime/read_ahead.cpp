#include "runtime/read_ahead.h"

#include <algorithm>

namespace galatea::runtime {

template <typename Visit>
void ReadAhead::each_job(const PrefetchQueue& queue, Visit visit) const {
  for (const auto* const jobs : {&queue.entries(), &planned_})
    for (const auto& job : *jobs)
      if (job && !visit(*job)) return;
}

bool ReadAhead::wants_plan(const PrefetchQueue& queue) const {
  int untaken = 0;
  each_job(queue, [&](const BatchJob& job) {
    untaken += job.num_samples() - job.num_taken;
    return untaken < kMost;
  });
  return untaken < kMost;
}

std::vector<ReadAhead::Sample> ReadAhead::take_untold(const PrefetchQueue& queue) {
  int told = 0;
  each_job(queue, [&](const BatchJob& job) {
    told += std::max(0, job.num_told - job.num_taken);
    return true;
  });
  std::vector<Sample> samples;
  if (told > kMost - kAtATime) return samples;
  each_job(queue, [&](BatchJob& job) {
    // Only of samples that no thread has yet: places change with substitutes.
    for (job.num_told = std::max(job.num_told, job.num_taken);
         job.num_told < job.num_samples() && told < kMost; ++job.num_told, ++told)
      add_places(job, job.num_told, samples);
    return told < kMost;
  });
  return samples;
}

/// A sample of a stream was told of when it was found.
void ReadAhead::add_places(const BatchJob& job, int slot, std::vector<Sample>& to) const {
  for (size_t source = 0; source < num_sources_; ++source) {
    const ReaderLoop::Place& place = job.places[static_cast<size_t>(slot) * num_sources_ + source];
    if (!place.sample) to.emplace_back(source, place.index);
  }
}

}  // namespace galatea::runtime
