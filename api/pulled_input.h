// An input of a pipeline whose samples a host makes when they are wanted.
//
// Comes in: the host's function, what is wanted. Goes out: a batch, copied into memory of ours; samples that
// the host could not make with the reason; whether the epoch is over.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "include/galatea.h"
#include "runtime/buffer_pool.h"
#include "runtime/session.h"

namespace galatea::api {

/// Memory for the samples of a batch. Those of one size lie in a row in one buffer, padded by each other, so that
/// they are one tensor to whom they are handed on where their size allows it.
class SampleRow {
 public:
  /// `expected`: how many samples of one size are; 0: of several sizes, or nobody knows.
  SampleRow(runtime::BufferPool& pool, int expected) : pool_(&pool), expected_(expected) {}
  /// Memory of `bytes` for the next sample.
  Status place(int64_t bytes, runtime::Tensor& sample);
  /// How many there were; 0: of several sizes.
  int length() const { return is_of_one_size_ ? num_placed_ : 0; }

 private:
  runtime::BufferPool* pool_;
  int expected_, num_placed_ = 0;
  bool is_of_one_size_ = true;
  std::shared_ptr<runtime::Buffer> buffer_;
  int64_t sample_bytes_ = 0, used_ = 0, capacity_ = 0;
};

struct PulledBatch {
  SampleRow row;
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
                   const std::atomic<bool>& cancelled);

 private:
  std::string name_;
  galatea_pulled_input host_;
  bool is_taken_ = false;
  int row_length_ = 0;  ///< of the last batch
};

}  // namespace galatea::api

/// One call of the host's function.
struct galatea_pull {
  int64_t epoch = 0, batch_index = 0, sample = 0;
  int32_t num_samples = 1;
  const std::atomic<bool>* cancelled = nullptr;
  const std::string* input = nullptr;
  galatea::api::PulledBatch* batch = nullptr;
  size_t first = 0;  ///< of this call, in the batch
};
