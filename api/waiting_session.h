// A session whose consumer waits for what another thread feeds, be it the host's or our own.
//
// Comes in: a session, and how its inputs are made: fed by threads of the host, or pulled. Goes out: what the
// session gives; where it has nothing to work on, next() waits instead of saying so.
//
// Pulled inputs are fed by one thread of ours, which asks the host for batch after batch and stays as many
// ahead as the session does. Without threads (a synchronous session) next() asks itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "api/pulled_input.h"
#include "runtime/session.h"

namespace galatea::api {

class WaitingSession final : public runtime::Session {
 public:
  /// `inputs`: the names of all; `copies`: what is pulled counts towards a limit of memory.
  struct Shape {
    std::vector<std::string> inputs;
    int batch_size = 1;
    bool synchronous = false;
    bool limits_memory = false;
    bool has_parts = false;  ///< an input whose tensors are several samples each
  };
  WaitingSession(std::unique_ptr<runtime::Session> session, Shape shape);
  ~WaitingSession() override;

  /// Before the first next().
  Status pull_input(const std::string& name, std::unique_ptr<PulledInput> input);

  Result<std::optional<std::shared_ptr<runtime::Batch>>> next(
      std::optional<std::chrono::milliseconds> timeout) override;
  Status feed(const std::string& input, const std::vector<runtime::Tensor>& samples,
              const std::vector<int64_t>& ids, const runtime::FeedOptions& options) override;
  Status end_of_feed() override;
  int64_t epoch_size() const override { return session_->epoch_size(); }
  std::map<std::string, runtime::ReaderMeta> reader_meta() const override { return session_->reader_meta(); }
  const runtime::Program* program() const override { return session_->program(); }
  runtime::ResumePoint position() const override { return session_->position(); }
  Result<std::string> state() const override { return session_->state(); }
  void cancel() override;
  runtime::SessionStatistics statistics() const override { return session_->statistics(); }
  const SourceMap& sources() const override { return session_->sources(); }

 private:
  Status begin();
  void pull_ahead();
  void pull_one();
  Status feed_pulled(std::vector<PulledBatch>& batches);
  void ring();

  std::unique_ptr<runtime::Session> session_;
  Shape shape_;
  std::vector<std::unique_ptr<PulledInput>> pulled_;  ///< per input; all or none
  bool is_pulled_ = false;                            ///< set before anything runs
  bool has_begun_ = false, at_epoch_end_ = false;     ///< the consumer's

  // Of who pulls: the thread, or in a synchronous session the consumer.
  runtime::ResumePoint at_;
  runtime::Allocator allocator_;
  runtime::BufferPool pool_{allocator_};

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t num_rings_ = 0;      ///< something was fed, or failed, or was cancelled
  int64_t wanted_epoch_ = 0;    ///< the consumer's: nothing beyond is pulled
  std::optional<Error> error_;  ///< of pulling, for the consumer; nothing is pulled until it has it
  std::atomic<bool> cancelled_{false};
  std::thread thread_;
};

}  // namespace galatea::api
