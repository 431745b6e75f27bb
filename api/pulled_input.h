// An input of a pipeline whose samples a host makes when they are wanted.
//
// Comes in: the host's function, what is wanted. Goes out: a batch, copied into memory of ours; samples that
// the host could not make with the reason; whether the epoch is over.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "include/galatea.h"
#include "runtime/buffer_pool.h"
#include "runtime/session.h"

namespace galatea::api {

struct PulledBatch {
  std::vector<runtime::Tensor> samples;
  std::vector<int64_t> ids;
  runtime::FeedFailures failures;
  Layout layout;
  bool ended = false;  ///< the epoch, behind these
};

class PulledInput {
 public:
  PulledInput(std::string name, const galatea_pulled_input& host) : name_(std::move(name)), host_(host) {}
  ~PulledInput() {
    if (is_taken_ && host_.destroy) host_.destroy(host_.context);
  }
  PulledInput(const PulledInput&) = delete;
  PulledInput& operator=(const PulledInput&) = delete;

  /// The session has it; until then the context is the host's.
  void take() { is_taken_ = true; }
  /// The batch at `at`, of as many samples at most.
  PulledBatch pull(const runtime::ResumePoint& at, int num_samples, runtime::BufferPool& pool,
                   const std::atomic<bool>& cancelled) const;

 private:
  std::string name_;
  galatea_pulled_input host_;
  bool is_taken_ = false;
};

}  // namespace galatea::api

/// One call of the host's function.
struct galatea_pull {
  int64_t epoch = 0, batch_index = 0, sample = 0;
  int32_t num_samples = 1;
  const std::atomic<bool>* cancelled = nullptr;
  galatea::runtime::BufferPool* pool = nullptr;
  const std::string* input = nullptr;
  galatea::api::PulledBatch* batch = nullptr;
  size_t first = 0;  ///< of this call, in the batch
};
