#include "api/late_session.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "runtime/messages.h"
#include "runtime/session_state.h"

namespace galatea::api {

namespace message = runtime::message;
using runtime::Tensor;

namespace {

/// An error about an input points at its call.
std::unexpected<Error> at(Span span, std::unexpected<Error> error) {
  if (!error.error().diagnostics.empty()) error.error().diagnostics.front().span = span;
  return error;
}

constexpr size_t kMaxWaiting = 256;

}  // namespace

LateSession::LateSession(std::shared_ptr<ProgramMaker> maker, dsl::LatePipeline pipeline,
                         runtime::SessionOptions options, SourceMap& sources)
    : maker_(std::move(maker)),
      pipeline_(std::move(pipeline)),
      options_(std::move(options)),
      sources_(sources) {
  if (!options_.allocator)
    options_.allocator = std::make_shared<runtime::Allocator>(pipeline_.options.memory_limit);
}

runtime::Session* LateSession::started() const {
  std::lock_guard lock(mutex_);
  return session_.get();
}

/// The first sample that there is; the others are like it.
const Tensor* first_made(const std::vector<Tensor>& samples, const runtime::FeedFailures& failures) {
  for (size_t k = 0; k < samples.size(); ++k)
    if (!failures.contains(k)) return &samples[k];
  return nullptr;
}

Status LateSession::check(const dsl::LatePipeline::Input& input, const std::vector<Tensor>& samples,
                          const std::vector<int64_t>& ids, const runtime::FeedFailures& failures) const {
  auto refuse = [&](const std::string& why) {
    return at(input.span, runtime::make_error(message::kBadFeed, input.name, why));
  };
  const auto batch_size = static_cast<size_t>(pipeline_.options.batch_size);
  if (samples.empty() || samples.size() > batch_size)
    return refuse(fmt::format("{} samples were fed; a batch has 1 to {}", samples.size(), batch_size));
  if (!ids.empty() && ids.size() != samples.size())
    return refuse(fmt::format("{} ids were given for {} samples", ids.size(), samples.size()));
  if (waiting_.size() >= kMaxWaiting)
    return refuse(fmt::format("{} batches wait already; feed the other inputs first", waiting_.size()));
  const Tensor* const first = first_made(samples, failures);
  // Nothing says the type: the session cannot begin with it.
  if (!first) return std::unexpected(failures.begin()->second);
  for (size_t k = 0; k < samples.size(); ++k) {
    if (failures.contains(k)) continue;
    const Tensor& sample = samples[k];
    const DType dtype = input.type ? input.type->dtype : first->dtype;
    const int ndim = input.type ? input.type->ndim : first->ndim;
    if (sample.dtype != dtype)
      return refuse(
          fmt::format("sample {} has type {}, not {}", k, types_name(sample.dtype), types_name(dtype)));
    if (sample.ndim != ndim)
      return refuse(fmt::format("sample {} has {} dimensions, not {}", k, sample.ndim, ndim));
    GALATEA_ASSIGN(const int64_t bytes,
                   runtime::dense_bytes(sample.dtype, {sample.extents, static_cast<size_t>(sample.ndim)}));
    if (bytes > 0 && !sample.data) return refuse(fmt::format("sample {} has no memory", k));
  }
  return {};
}

Status LateSession::feed(const std::string& name, const std::vector<Tensor>& samples,
                         const std::vector<int64_t>& ids, const runtime::FeedOptions& options) {
  std::unique_lock lock(feed_mutex_);
  if (runtime::Session* session = started()) {
    // From here on it waits for itself.
    lock.unlock();
    auto fed = session->feed(name, samples, ids, options);
    if (fed) return fed;
    for (const auto& input : pipeline_.inputs)
      if (input.name == name) return at(input.span, std::unexpected(std::move(fed.error())));
    return fed;
  }
  auto found = std::find_if(pipeline_.inputs.begin(), pipeline_.inputs.end(),
                            [&](const auto& input) { return input.name == name; });
  if (found == pipeline_.inputs.end()) {
    std::vector<std::string> names;
    for (const auto& input : pipeline_.inputs) names.push_back("'" + input.name + "'");
    return runtime::make_error(message::kUnknownInput, name, fmt::format("{}", fmt::join(names, ", ")));
  }
  GALATEA_TRY(check(*found, samples, ids, options.failures));
  const Layout& layout = options.layout;
  const Tensor& first = *first_made(samples, options.failures);
  if (!layout.empty() && layout.size() != first.ndim)
    return at(found->span, runtime::make_error(message::kBadFeed, name,
                                               fmt::format("the layout {} does not have {} letters",
                                                           layout.str(), first.ndim)));
  Fed fed{static_cast<size_t>(found - pipeline_.inputs.begin()), {}, ids, {{}, options.failures, layout}};
  for (size_t k = 0; k < samples.size(); ++k) {
    const Tensor& sample = samples[k];
    if (sample.buffer || options.failures.contains(k)) {
      fed.samples.push_back(sample);
      continue;
    }
    GALATEA_ASSIGN(
        Tensor copy,
        runtime::allocate_tensor(*options_.allocator, sample.dtype,
                                 std::span<const int64_t>(sample.extents, static_cast<size_t>(sample.ndim))));
    runtime::copy_dense(sample, copy.data);
    fed.samples.push_back(std::move(copy));
  }
  // Where the session cannot start, for an error or an exception, it is as if nothing had been fed: another
  // type may fit.
  struct Undo {
    LateSession& session;
    std::optional<dsl::LatePipeline> before;
    const size_t num_waiting = session.waiting_.size();
    ~Undo() {
      if (!before) return;
      session.pipeline_ = std::move(*before);
      session.waiting_.resize(num_waiting);
    }
  } undo{*this, pipeline_};
  waiting_.push_back(std::move(fed));
  if (!found->type) found->type = dsl::InputType{first.dtype, first.ndim, layout, {}};
  GALATEA_TRY(start());
  undo.before.reset();
  return {};
}

// Where an input stands behind what the type of another one decides, it comes to light with that type.
Status LateSession::adopt(dsl::LatePipeline late) {
  std::vector<size_t> places;
  for (const Fed& fed : waiting_) {
    const std::string& name = pipeline_.inputs[fed.input].name;
    const auto found = std::ranges::find(late.inputs, name, &dsl::LatePipeline::Input::name);
    if (found == late.inputs.end())
      return runtime::make_error(message::kBadFeed, name,
                                 "with the types that were fed, the pipeline has no such input");
    places.push_back(static_cast<size_t>(found - late.inputs.begin()));
  }
  for (size_t k = 0; k < waiting_.size(); ++k) waiting_[k].input = places[k];
  pipeline_ = std::move(late);
  return {};
}

/// Extents that are wanted, from the first batch of their input: -1 where its samples differ.
void LateSession::tell_extents() {
  for (const Fed& fed : waiting_) {
    dsl::LatePipeline::Input& input = pipeline_.inputs[fed.input];
    if (!input.type || !input.is_open()) continue;
    for (size_t k = 0; k < fed.samples.size(); ++k) {
      if (fed.options.failures.contains(k)) continue;
      const std::span<const int64_t> extents{fed.samples[k].extents, static_cast<size_t>(input.type->ndim)};
      std::vector<int64_t>& told = input.type->extents;
      if (told.empty()) told.assign(extents.begin(), extents.end());
      for (size_t d = 0; d < told.size(); ++d)
        if (told[d] != extents[d] || (d == 0 && input.counts_frames)) told[d] = -1;
    }
  }
}

/// Compiles and starts, once everything is known that what is staged so far asks for.
Status LateSession::start() {
  for (;;) {
    tell_extents();
    if (std::ranges::any_of(pipeline_.inputs, &dsl::LatePipeline::Input::is_open)) return {};
    InputTypes types;
    for (const auto& input : pipeline_.inputs) types.emplace(input.name, *input.type);
    GALATEA_ASSIGN(auto made, maker_->make(types, sources_));
    if (!made.late) return begin(made.program);
    GALATEA_TRY(adopt(std::move(*made.late)));
  }
}

Status LateSession::begin(const std::shared_ptr<const runtime::Program>& program) {
  GALATEA_ASSIGN(auto session, runtime::Session::create(program, maker_->library().natives, options_));
  for (int64_t k = 0; k < epochs_ended_; ++k) GALATEA_TRY(session->end_of_feed());
  for (const Fed& fed : waiting_)
    GALATEA_TRY(session->feed(pipeline_.inputs[fed.input].name, fed.samples, fed.ids, fed.options));
  waiting_.clear();
  epochs_ended_ = 0;
  std::lock_guard lock(mutex_);
  session_ = std::move(session);
  if (cancelled_) session_->cancel();
  return {};
}

Result<std::optional<std::shared_ptr<runtime::Batch>>> LateSession::next(
    std::optional<std::chrono::milliseconds> timeout) {
  if (runtime::Session* session = started()) return session->next(timeout);
  {
    std::lock_guard lock(mutex_);
    if (cancelled_) return runtime::make_error(message::kCancelled);
  }
  // A thread that feeds may be compiling.
  const std::unique_lock lock(feed_mutex_, std::try_to_lock);
  if (!lock) return runtime::make_error(message::kNothingFed, pipeline_.inputs.front().name);
  if (runtime::Session* session = started()) return session->next(timeout);
  if (epochs_ended_ > 0) {
    --epochs_ended_;
    return std::nullopt;
  }
  for (const auto& input : pipeline_.inputs)
    if (input.is_open()) return at(input.span, runtime::make_error(message::kNothingFed, input.name));
  return runtime::make_error(message::kNothingFed, pipeline_.inputs.front().name);
}

Status LateSession::end_of_feed() {
  const std::lock_guard lock(feed_mutex_);
  if (runtime::Session* session = started()) return session->end_of_feed();
  if (waiting_.empty()) {
    ++epochs_ended_;
    return {};
  }
  for (const auto& input : pipeline_.inputs)
    if (input.is_open())
      return at(input.span, runtime::make_error(message::kBadFeed, input.name,
                                                "no batch waits in it; feed every input equally often"));
  return {};
}

int64_t LateSession::epoch_size() const {
  const runtime::Session* session = started();
  return session ? session->epoch_size() : -1;
}

std::map<std::string, runtime::ReaderMeta> LateSession::reader_meta() const {
  const runtime::Session* session = started();
  return session ? session->reader_meta() : std::map<std::string, runtime::ReaderMeta>();
}

const runtime::Program* LateSession::program() const {
  const runtime::Session* session = started();
  return session ? session->program() : nullptr;
}

runtime::ResumePoint LateSession::position() const {
  if (const runtime::Session* session = started()) return session->position();
  const auto state = runtime::parse_session_state(options_.state);
  return state ? state->point : runtime::ResumePoint();
}

Result<std::string> LateSession::state() const {
  if (const runtime::Session* session = started()) return session->state();
  if (!options_.state.empty()) return options_.state;
  return runtime::make_error(message::kNoState);
}

void LateSession::cancel() {
  std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (session_) session_->cancel();
}

runtime::SessionStatistics LateSession::statistics() const {
  const runtime::Session* session = started();
  return session ? session->statistics() : runtime::SessionStatistics();
}

}  // namespace galatea::api
