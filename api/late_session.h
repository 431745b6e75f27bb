// A session of a pipeline whose input types only the data tells: it starts when every input was fed once.
//
// Comes in: what the host feeds. Goes out: what any session gives. The first batch of an input states its
// type, and its extents where the pipeline depends on them; when all are stated, the pipeline is compiled for
// them (or taken from those compiled before), a session is started, and what was fed is handed on. From then
// on a batch of another type is an error, as it is for a declared input.
#pragma once

#include <atomic>
#include <deque>

#include "api/program_maker.h"
#include "runtime/session.h"

namespace galatea::api {

class LateSession final : public runtime::Session {
 public:
  /// `sources` outlives the session.
  LateSession(std::shared_ptr<ProgramMaker> maker, dsl::LatePipeline pipeline,
              runtime::SessionOptions options, SourceMap& sources);

  Result<std::optional<std::shared_ptr<runtime::Batch>>> next(
      std::optional<std::chrono::milliseconds> timeout) override;
  Status feed(const std::string& input, const std::vector<runtime::Tensor>& samples,
              const std::vector<int64_t>& ids, const runtime::FeedOptions& options) override;
  Status end_of_feed() override;
  int64_t epoch_size() const override;
  std::map<std::string, runtime::ReaderMeta> reader_meta() const override;
  runtime::ResumePoint position() const override;
  Result<std::string> state() const override;
  void cancel() override;
  runtime::SessionStatistics statistics() const override;
  const SourceMap& sources() const override { return sources_; }
  const runtime::Program* program() const override;

 private:
  struct Fed {
    size_t input = 0;
    std::vector<runtime::Tensor> samples;
    std::vector<int64_t> ids;
    runtime::FeedOptions options;
  };
  Status check(const dsl::LatePipeline::Input& input, const std::vector<runtime::Tensor>& samples,
               const std::vector<int64_t>& ids, const runtime::FeedFailures& failures) const;
  Status start();
  Status begin(const std::shared_ptr<const runtime::Program>& program);
  Status adopt(dsl::LatePipeline late);
  void tell_extents();
  runtime::Session* started() const;

  std::shared_ptr<ProgramMaker> maker_;
  dsl::LatePipeline pipeline_;
  runtime::SessionOptions options_;
  SourceMap& sources_;
  // Until it starts. One thread may feed while another asks for batches.
  std::mutex feed_mutex_;
  std::vector<Fed> waiting_;
  int64_t epochs_ended_ = 0;  ///< without a batch
  mutable std::mutex mutex_;  ///< of what cancel() meets
  std::unique_ptr<runtime::Session> session_;
  bool cancelled_ = false;
};

}  // namespace galatea::api
