#include "api/late_session.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "runtime/messages.h"

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

Status LateSession::check(const dsl::LatePipeline::Input& input, const std::vector<Tensor>& samples,
                          const std::vector<int64_t>& ids) const {
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
  for (size_t k = 0; k < samples.size(); ++k) {
    const Tensor& sample = samples[k];
    const DType dtype = input.type ? input.type->dtype : samples.front().dtype;
    const int ndim = input.type ? input.type->ndim : samples.front().ndim;
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

Status LateSession::feed_with_layout(const std::string& name, const std::vector<Tensor>& samples,
                                     const std::vector<int64_t>& ids, const Layout& layout) {
  if (runtime::Session* session = started()) {
    auto fed = session->feed(name, samples, ids);
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
  GALATEA_TRY(check(*found, samples, ids));
  if (!layout.empty() && layout.size() != samples.front().ndim)
    return at(found->span, runtime::make_error(message::kBadFeed, name,
                                               fmt::format("the layout {} does not have {} letters",
                                                           layout.str(), samples.front().ndim)));
  Fed fed{static_cast<size_t>(found - pipeline_.inputs.begin()), {}, ids};
  for (const Tensor& sample : samples) {
    if (sample.buffer) {
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
  const bool was_open = !found->type;
  if (was_open) found->type = dsl::InputType{samples.front().dtype, samples.front().ndim, layout};
  waiting_.push_back(std::move(fed));
  InputTypes types;
  for (const auto& input : pipeline_.inputs) {
    if (!input.type) return {};  // another input is open still
    types.emplace(input.name, *input.type);
  }
  auto status = start(types);
  if (!status) {
    // As if it had not been fed: another type may fit.
    waiting_.pop_back();
    if (was_open) found->type.reset();
  }
  return status;
}

Status LateSession::start(const InputTypes& types) {
  GALATEA_ASSIGN(auto made, maker_->make(types, sources_));
  GALATEA_CHECK(made.program != nullptr, "every input has a type now");
  GALATEA_ASSIGN(auto session, runtime::Session::create(made.program, maker_->library().natives, options_));
  for (int64_t k = 0; k < epochs_ended_; ++k) GALATEA_TRY(session->end_of_feed());
  for (const Fed& fed : waiting_)
    GALATEA_TRY(session->feed(pipeline_.inputs[fed.input].name, fed.samples, fed.ids));
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
  if (epochs_ended_ > 0) {
    --epochs_ended_;
    return std::nullopt;
  }
  for (const auto& input : pipeline_.inputs)
    if (!input.type) return at(input.span, runtime::make_error(message::kNothingFed, input.name));
  return runtime::make_error(message::kNothingFed, pipeline_.inputs.front().name);
}

Status LateSession::end_of_feed() {
  if (runtime::Session* session = started()) return session->end_of_feed();
  if (waiting_.empty()) {
    ++epochs_ended_;
    return {};
  }
  for (const auto& input : pipeline_.inputs)
    if (!input.type)
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
