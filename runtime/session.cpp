#include "runtime/session.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "runtime/code_upgrade.h"
#include "runtime/executor.h"
#include "runtime/fault.h"
#include "runtime/messages.h"
#include "runtime/session_state.h"

namespace galatea::runtime {
namespace {

bool has_code(const Error& error, const Message& which) {
  return !error.diagnostics.empty() && error.diagnostics.front().code == which.code;
}

class SessionImpl final : public Session {
 public:
  SessionImpl(std::shared_ptr<const LoadedProgram> loaded, const SessionOptions& options,
              std::shared_ptr<Allocator> allocator, std::shared_ptr<DeviceSession> device)
      : options_(options), core_(std::move(loaded), std::move(allocator), std::move(device)) {
    core_.trace = options.trace;
  }

  Status start() {
    GALATEA_TRY(check_limit());
    if (!options_.state.empty()) {
      GALATEA_ASSIGN(const SessionState state, parse_session_state(options_.state));
      GALATEA_TRY(check_fits(state, *core_.loaded, data()));
      if (!core_.planner.move_to(state.point))
        return make_error(message::kStateDamaged, "its position does not exist");
      point_ = state.point;
    } else {
      point_.readers.resize(core_.loaded->sources.size());
    }
    upgrades_ = upgrades_of(*core_.loaded->program);
    const int threads =
        options_.num_threads > 0 ? options_.num_threads : std::max(1, core_.loaded->program->num_threads);
    if (threads > 4096)
      return make_error(message::kBadOptions,
                        fmt::format("{} threads are too many; 4096 is the most", threads));
    if (options_.executor == ExecutorKind::kInline) {
      executor_ = make_inline_executor(core_);
      return {};
    }
    GALATEA_ASSIGN(executor_, make_cpu_executor(core_, threads));
    return {};
  }

  Result<std::optional<std::shared_ptr<Batch>>> next(
      std::optional<std::chrono::milliseconds> timeout) override;
  Status feed(const std::string& input, const std::vector<Tensor>& samples, const std::vector<int64_t>& ids,
              const FeedOptions& options) override;
  Status end_of_feed() override {
    GALATEA_TRY(core_.planner.end_of_feed());
    executor_->wake();
    return {};
  }
  int64_t epoch_size() const override { return core_.planner.epoch_size(); }
  std::map<std::string, ReaderMeta> reader_meta() const override { return core_.planner.reader_meta(); }
  ResumePoint position() const override { return point_; }
  Result<std::string> state() const override {
    const Program& program = *core_.loaded->program;
    return to_text(SessionState{point_, program.fingerprint, data(), program.seed, program.batch_size});
  }
  void cancel() override {
    core_.cancelled = true;
    core_.planner.close();
    executor_->cancel();
  }
  SessionStatistics statistics() const override;
  const SourceMap& sources() const override { return *core_.loaded->source_map; }
  const Program* program() const override { return core_.loaded->program.get(); }

 private:
  Status check_limit() const;
  void end_epoch();
  uint64_t data() const;
  Result<std::optional<std::shared_ptr<Batch>>> take_next(std::optional<std::chrono::milliseconds> timeout);
  Result<std::shared_ptr<Batch>> finish(BatchJob& job);
  std::shared_ptr<Batch> deliver(std::unique_ptr<Batch> batch);
  void list(BatchJob::Finished& finished);

  SessionOptions options_;
  SessionCore core_;
  std::unique_ptr<Executor> executor_;  ///< behind the core: its threads end first
  SessionStatistics statistics_;
  ResumePoint point_;                     ///< behind what next() gave last
  mutable std::optional<uint64_t> data_;  ///< data_fingerprint(), which looks at every sample's name
  std::vector<std::shared_ptr<CodeUpgrade>> upgrades_;  ///< that have not been asked to begin
  std::optional<Error> over_;                           ///< what ended the session between two batches
  std::chrono::steady_clock::time_point last_batch_{};
};

/// Outputs of known extents are taken by whole batches.
Status SessionImpl::check_limit() const {
  const Program& program = *core_.loaded->program;
  if (!core_.gate || !program.external_inputs.empty()) return {};
  int64_t bytes = 0;
  for (const OutputSpec& output : program.outputs) {
    const int64_t sample = fixed_bytes(output);
    if (sample >= 0 && !output.on_device) bytes += claimed_bytes(sample * program.batch_size);
  }
  if (bytes <= core_.gate->limit()) return {};
  return make_error(message::kBatchTooLarge, bytes, core_.gate->limit());
}

uint64_t SessionImpl::data() const {
  if (!data_) data_ = data_fingerprint(*core_.loaded);
  return *data_;
}

/// In step with BatchPlanner::end_epoch().
void SessionImpl::end_epoch() {
  ++point_.epoch;
  point_.batch = point_.sample = 0;
  if (core_.loaded->program->external_inputs.empty() && !point_.readers.empty())
    point_.readers[0] = {point_.readers[0].first + 1, 0};
}

Status SessionImpl::feed(const std::string& input, const std::vector<Tensor>& samples,
                         const std::vector<int64_t>& ids, const FeedOptions& options) {
  // Memory that batches give back rings no bell.
  constexpr std::chrono::milliseconds kLook{10};
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto begin = now();
  const auto full = [&] {
    return make_error(message::kQueueFull, input, core_.planner.num_waiting(input),
                      options.patience->count());
  };
  if (options.patience && !core_.planner.wait_for_room(input, begin + *options.patience)) return full();
  for (;;) {
    if (core_.cancelled) return make_error(message::kCancelled);
    auto status = core_.planner.feed(input, samples, ids, options.failures);
    const auto lacks_room = [&] { return !status && has_code(status.error(), message::kNoRoom); };
    if (lacks_room()) {
      executor_->shrink();
      status = core_.planner.feed(input, samples, ids, options.failures);
    }
    // With nothing in work and nothing held, there will never be more.
    const bool may_change = core_.planner.holds_fed() || core_.num_held->load() > 0;
    if (lacks_room() && options.patience && may_change && now() - begin < *options.patience) {
      std::this_thread::sleep_for(kLook);
      continue;
    }
    GALATEA_TRY(status);
    executor_->wake();
    return {};
  }
}

/// Counts the batch as held until its last reference is gone, which may be after the session's end.
std::shared_ptr<Batch> SessionImpl::deliver(std::unique_ptr<Batch> batch) {
  const int num_samples = batch->num_samples();
  std::shared_ptr<Batch> out(batch.release(), [held = core_.num_held](Batch* gone) {
    delete gone;
    held->fetch_sub(1);
  });
  ++statistics_.batches;
  statistics_.samples += num_samples;
  last_batch_ = std::chrono::steady_clock::now();
  return out;
}

void SessionImpl::list(BatchJob::Finished& finished) {
  auto add = [&](std::vector<SampleFailure>& to, int64_t& count, std::vector<SampleFailure>& from) {
    count += static_cast<int64_t>(from.size());
    for (SampleFailure& failure : from) {
      if (options_.on_failure) options_.on_failure(failure, &from == &finished.replaced);
      if (to.size() < kMaxListedFailures) to.push_back(std::move(failure));
    }
  };
  add(statistics_.skipped, statistics_.num_skipped, finished.skipped);
  add(statistics_.replaced, statistics_.num_replaced, finished.replaced);
}

/// The batch of a job that is done, as held by the consumer; null if all of its samples were skipped.
Result<std::shared_ptr<Batch>> SessionImpl::finish(BatchJob& job) {
  // The executor has counted it; a batch that is none, or fails, is not held.
  struct Held {
    std::atomic<int>* count;
    ~Held() {
      if (count) count->fetch_sub(1);
    }
  } held{core_.num_held.get()};
  try {
    BatchJob::Finished finished = job.finish();
    list(finished);
    if (!finished.batch) return std::unexpected(std::move(finished.error));
    if (finished.batch->num_samples() == 0) return nullptr;
    if (finished.batch->device) GALATEA_TRY(core_.device->pace(finished.batch->device));
    held.count = nullptr;
    return deliver(std::move(finished.batch));
  } catch (...) {
    return std::unexpected(error_in_flight("a batch is lost; the next one may be asked for"));
  }
}

Result<std::optional<std::shared_ptr<Batch>>> SessionImpl::take_next(
    std::optional<std::chrono::milliseconds> timeout) {
  // One batch may be all that is wanted; whoever asks for the next goes on.
  if (statistics_.batches > 0)
    for (const auto& upgrade : std::exchange(upgrades_, {})) upgrade->begin();
  Executor::Deadline deadline;
  if (timeout) deadline = std::chrono::steady_clock::now() + *timeout;
  for (;;) {
    if (const int held = core_.num_held->load(); held >= options_.max_held_batches)
      return make_error(message::kTooManyHeld, held, options_.max_held_batches);
    auto job = executor_->next(deadline);
    if (!job) {
      Error& error = job.error();
      if (timeout && has_code(error, message::kTimeout))
        return make_error(message::kTimeout, timeout->count());
      return std::unexpected(std::move(error));
    }
    if (!*job) {
      end_epoch();
      return std::nullopt;
    }
    // Whatever becomes of the batch: the consumer hears of it now.
    point_ = std::move((*job)->after);
    GALATEA_ASSIGN(std::shared_ptr<Batch> batch, finish(**job));
    // A batch whose samples were all skipped is none.
    if (batch) return batch;
  }
}

/// What throws between batches leaves nobody who knows which comes next: the session is over, and says so.
Result<std::optional<std::shared_ptr<Batch>>> SessionImpl::next(
    std::optional<std::chrono::milliseconds> timeout) {
  if (over_) return std::unexpected(*over_);
  try {
    return take_next(timeout);
  } catch (...) {
    over_ = error_in_flight(kSessionIsOver);
  }
  core_.cancelled = true;
  executor_->cancel();
  return std::unexpected(*over_);
}

SessionStatistics SessionImpl::statistics() const {
  SessionStatistics result = statistics_;
  const ExecutorTimes times = executor_->times();
  auto seconds = [](int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  for (size_t i = 0; i < core_.loaded->sites.size(); ++i) {
    const LoadedProgram::Site& site = core_.loaded->sites[i];
    const double spent = seconds(times.sites[i].ns);
    (site.category == Category::kRead     ? result.read_seconds
     : site.category == Category::kDecode ? result.decode_seconds
                                          : result.compute_seconds) += spent;
    auto same = std::find_if(result.operators.begin(), result.operators.end(), [&](const OperatorTime& time) {
      return time.name == site.name && time.line == site.line;
    });
    if (same == result.operators.end())
      same = result.operators.insert(same, {site.name, site.line, 0, 0, site.kind});
    same->seconds += spent;
    same->calls += times.sites[i].calls;
  }
  result.wait_seconds = seconds(times.wait_ns);
  result.peak_memory_bytes = core_.allocator->peak_bytes();
  if (core_.device) result.device = core_.device->statistics();
  if (result.batches > 0 && last_batch_ > times.first_read)
    result.seconds = std::chrono::duration<double>(last_batch_ - times.first_read).count();
  return result;
}

/// The error for a host without a source map: places in words.
Error without_places(Error error, const Program& program) {
  SourceMap sources;
  location_spans(program, sources);
  for (Diagnostic& diagnostic : error.diagnostics) {
    if (!diagnostic.span.valid()) continue;
    diagnostic.notes.push_back("at " + sources.describe(diagnostic.span));
    for (const CallSite& call : diagnostic.calls)
      diagnostic.notes.push_back("called at " + sources.describe(call.span) + ", in `" + call.function + "`");
    diagnostic.span = {};
    diagnostic.calls.clear();
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const Program> program,
                                                 const NativeTable& natives, SessionOptions options) {
  if (!program) return make_error(message::kBadProgram, "there is none");
  if (options.max_held_batches < 1)
    return make_error(message::kBadOptions, "max_held_batches must be at least 1");
  const SessionShard& shard = options.shard;
  if (shard.count < 1 || shard.count > SessionShard::kMost || shard.number < 0 || shard.number >= shard.count)
    return make_error(
        message::kBadOptions,
        fmt::format("the session is to have shard {} of {}; there can be 1 to {}, numbered from 0",
                    shard.number, shard.count, SessionShard::kMost));
  auto allocator = options.allocator ? options.allocator : std::make_shared<Allocator>(program->memory_limit);
  if (shard.count > 1 && program->sources.empty() && program->external_inputs.empty())
    return make_error(message::kBadOptions,
                      fmt::format("a pipeline without a reader has no data to divide among {} sessions: each "
                                  "would make the same samples; use one, or another seed in each",
                                  shard.count));
  auto opened = load_program(program, natives, options.sources, shard);
  if (!opened)
    return std::unexpected(options.sources ? std::move(opened.error())
                                           : without_places(std::move(opened.error()), *program));
  auto loaded = std::move(*opened);
  if (loaded->program->on_error == OnErrorPolicy::kReplace && loaded->sources.empty())
    return make_error(message::kReplaceNeedsReader);
  if (loaded->program->on_error == OnErrorPolicy::kReplace && !loaded->program->external_inputs.empty())
    return make_error(message::kReplaceNeedsReader);
  for (const LoadedProgram::Source& source : loaded->sources)
    if (loaded->program->on_error == OnErrorPolicy::kReplace && source.is_stream())
      return make_error(message::kStreamNeedsSize, source.name, "on_error=\"replace\"");
  GALATEA_ASSIGN(auto device, open_device_session(*loaded, options.device));
  auto session =
      std::make_unique<SessionImpl>(std::move(loaded), options, std::move(allocator), std::move(device));
  GALATEA_TRY(session->start());
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace galatea::runtime
