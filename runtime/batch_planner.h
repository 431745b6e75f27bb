// Decides which samples make the next batch: readers' order, what the host fed, where epochs end.
//
// Comes in: reader loops, feeds. Goes out: jobs in order. Thread-safe: hosts feed while threads plan.
//
// Invariant: the sequence of jobs depends on readers, feeds and calls of start_epoch() only, never on time or
// threads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "runtime/batch_job.h"
#include "runtime/buffer_pool.h"

namespace galatea::runtime {

class BatchPlanner {
 public:
  struct EpochEnd {};
  struct Paused {};  ///< the epoch is over, start_epoch() has not been called
  struct Starved {
    std::string input;
  };  ///< nothing was fed
  using Plan = std::variant<std::shared_ptr<BatchJob>, EpochEnd, Paused, Starved>;

  BatchPlanner(std::shared_ptr<const LoadedProgram> loaded, Allocator& allocator, BufferPool& pool,
               MemoryGate* gate, DeviceSession* device = nullptr);
  Plan plan();
  /// Goes on behind an epoch's end.
  void start_epoch();
  /// Dense samples that have a buffer are read where they lie, which keeps it; others are copied.
  Status feed(const std::string& input, const std::vector<Tensor>& samples, const std::vector<int64_t>& ids,
              const FeedFailures& failures);
  using Deadline = std::chrono::steady_clock::time_point;
  /// Waits until fewer batches wait in the input than are made ahead, or until close(); false: the deadline
  /// has passed. An input that there is not has room.
  bool wait_for_room(const std::string& input, Deadline deadline);
  size_t num_waiting(const std::string& input) const;
  /// Whether memory of what was fed is in use, in queues or in work.
  bool holds_fed() const { return fed_bytes_->load() > 0; }
  /// Nobody waits any more.
  void close();
  /// Before the first plan(): goes on there. False: there is no such place.
  bool move_to(const ResumePoint& point);
  Status end_of_feed();
  int64_t epoch_size() const;
  std::map<std::string, ReaderMeta> reader_meta() const;

 private:
  struct EndMark {};
  using FeedEntry = std::variant<std::shared_ptr<const FedBatch>, EndMark>;
  static constexpr size_t kMaxQueuedFeeds = 256;
  /// A batch of what was fed: `num_samples` parts of a tensor, from `first` on; or all tensors, one sample each.
  struct FeedPart {
    size_t tensor = 0;
    int64_t first = 0;
    size_t num_samples = 0;
    int64_t num_parts = 0;  ///< of the tensor
  };

  Plan plan_read();
  Plan plan_fed();
  /// Ends with the epoch of the first reader, if it is to.
  std::shared_ptr<BatchJob> make_job(int most_samples, bool ends_with_epoch);
  Plan end_epoch();
  ResumePoint point() const;
  const std::deque<FeedEntry>* find_feed(const std::string& input) const;
  Status check_feed(size_t input, const std::vector<Tensor>& samples, const std::vector<int64_t>& ids,
                    const FeedFailures& failures) const;
  Result<std::vector<FeedPart>> batches_of(size_t input, const FedBatch& fed, int64_t given) const;
  static std::shared_ptr<const FedBatch> batch_of(const FedBatch& fed, const FeedPart& part);
  Status check_sizes(size_t input, const std::vector<FeedPart>& batches) const;
  Status take_fed(const std::vector<Tensor>& samples, FedBatch& batch);
  Result<std::shared_ptr<Buffer>> take_memory_for_feed(int64_t bytes);
  int64_t fed_in_epoch(size_t input) const;

  std::shared_ptr<const LoadedProgram> loaded_;
  Allocator& allocator_;
  BufferPool& pool_;
  BufferPool fed_pool_;  ///< apart from the outputs', of which few go round and stay in the cache
  MemoryGate* gate_;
  DeviceSession* device_;
  mutable std::mutex mutex_;
  std::vector<ReaderLoop> readers_;
  std::vector<std::deque<FeedEntry>> feeds_;
  std::shared_ptr<std::atomic<int64_t>> fed_bytes_ = std::make_shared<std::atomic<int64_t>>(0);
  std::vector<int64_t> num_fed_;      ///< batches and end marks ever queued, per input
  std::vector<int64_t> given_parts_;  ///< per input, of the tensor whose parts are planned
  std::vector<int64_t> skip_parts_;   ///< per input, of the next tensor: a state says that they were given
  int64_t epoch_ = 0, batch_index_ = 0, position_ = 0, running_number_ = 0, num_jobs_ = 0;
  bool paused_ = false, closed_ = false;
  std::condition_variable room_;  ///< a batch was taken out of a queue
};

}  // namespace galatea::runtime
