#include "api/waiting_session.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fault.h"
#include "runtime/messages.h"

namespace galatea::api {

namespace message = runtime::message;
using runtime::Tensor;
using Clock = std::chrono::steady_clock;

namespace {

bool has_code(const Error& error, const runtime::Message& which) {
  return !error.diagnostics.empty() && error.diagnostics.front().code == which.code;
}

}  // namespace

WaitingSession::WaitingSession(std::unique_ptr<runtime::Session> session, Shape shape)
    : session_(std::move(session)), shape_(std::move(shape)), pulled_(shape_.inputs.size()) {}

WaitingSession::~WaitingSession() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

Status WaitingSession::pull_input(const std::string& name, std::unique_ptr<PulledInput> input) {
  const auto at = std::find(shape_.inputs.begin(), shape_.inputs.end(), name);
  if (at == shape_.inputs.end())
    return runtime::make_error(message::kUnknownInput, name,
                               fmt::format("{}", fmt::join(shape_.inputs, ", ")));
  if (has_begun_) return runtime::make_error(message::kPulledInput, name, "the session runs already");
  auto& place = pulled_[static_cast<size_t>(at - shape_.inputs.begin())];
  if (place) return runtime::make_error(message::kPulledInput, name, "it is pulled already");
  place = std::move(input);
  place->take();
  is_pulled_ = true;
  return {};
}

Status WaitingSession::begin() {
  has_begun_ = true;
  if (!is_pulled_) return {};
  const auto missing = std::find(pulled_.begin(), pulled_.end(), nullptr);
  if (missing != pulled_.end()) {
    has_begun_ = false;
    return runtime::make_error(
        message::kPulledInput, shape_.inputs[static_cast<size_t>(missing - pulled_.begin())],
        "nobody makes its samples, and others are pulled: either all inputs of a session are, or none");
  }
  at_ = session_->position();
  if (shape_.has_parts && (shape_.inputs.size() > 1 || at_.batch > 0)) {
    has_begun_ = false;
    return runtime::make_error(
        message::kPulledInput, shape_.inputs.front(),
        fmt::format(
            "a tensor is several samples, and {}: feed it (galatea_session_feed_within() waits for room)",
            at_.batch > 0 ? "a state does not say how many were pulled"
                          : "another input is pulled beside it"));
  }
  wanted_epoch_ = at_.epoch;
  if (shape_.synchronous) return {};
  try {
    thread_ = std::thread([this] { pull_ahead(); });
  } catch (const std::system_error& error) {
    has_begun_ = false;
    return runtime::make_error(message::kNoThread, error.what());
  }
  return {};
}

Result<std::optional<std::shared_ptr<runtime::Batch>>> WaitingSession::next(
    std::optional<std::chrono::milliseconds> timeout) {
  if (!has_begun_) GALATEA_TRY(begin());
  Clock::time_point deadline = Clock::time_point::max();
  if (timeout) deadline = Clock::now() + *timeout;
  if (at_epoch_end_) {
    std::lock_guard lock(mutex_);
    ++wanted_epoch_;
    changed_.notify_all();
  }
  at_epoch_end_ = false;
  for (;;) {
    uint64_t seen = 0;
    {
      std::lock_guard lock(mutex_);
      seen = num_rings_;
    }
    if (timeout)
      timeout = std::max(std::chrono::milliseconds(0),
                         std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()));
    auto given = session_->next(timeout);
    if (given || !has_code(given.error(), message::kNothingFed)) {
      at_epoch_end_ = given && !*given;
      return given;
    }
    if (shape_.synchronous && is_pulled_ && !cancelled_) pull_one();
    std::unique_lock lock(mutex_);
    if (error_) {
      Error error = std::move(*error_);
      error_.reset();
      changed_.notify_all();
      return std::unexpected(std::move(error));
    }
    // A synchronous session that another thread would have to feed says that nothing was.
    if (shape_.synchronous) {
      if (num_rings_ == seen) return given;
      continue;
    }
    const auto has_changed = [&] { return num_rings_ != seen; };
    if (!timeout)
      changed_.wait(lock, has_changed);
    else if (!changed_.wait_until(lock, deadline, has_changed))
      return runtime::make_error(message::kTimeout, timeout->count());
  }
}

void WaitingSession::ring() {
  std::lock_guard lock(mutex_);
  ++num_rings_;
  changed_.notify_all();
}

Status WaitingSession::feed(const std::string& input, const std::vector<Tensor>& samples,
                            const std::vector<int64_t>& ids, const runtime::FeedOptions& options) {
  if (is_pulled_)
    return runtime::make_error(message::kPulledInput, input, "it is pulled, and cannot be fed as well");
  auto status = session_->feed(input, samples, ids, options);
  if (status) ring();
  return status;
}

Status WaitingSession::end_of_feed() {
  if (is_pulled_)
    return runtime::make_error(message::kPulledInput, shape_.inputs.front(),
                               "it is pulled, and says itself where an epoch ends");
  auto status = session_->end_of_feed();
  if (status) ring();
  return status;
}

void WaitingSession::cancel() {
  cancelled_ = true;
  session_->cancel();
  ring();
}

void WaitingSession::pull_ahead() {
  make_ready_for_exceptions();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return cancelled_ || (!error_ && at_.epoch <= wanted_epoch_); });
      if (cancelled_) return;
    }
    pull_one();
  }
}

/// Asks for the next batch and feeds it, or ends the epoch.
void WaitingSession::pull_one() {
  Status status;
  try {
    std::vector<PulledBatch> batches;
    size_t count = static_cast<size_t>(shape_.batch_size), least = count;
    bool ended = false;
    for (const auto& input : pulled_) {
      batches.push_back(input->pull(at_, shape_.batch_size, pool_, cancelled_));
      if (cancelled_) return;
      count = std::min(count, batches.back().samples.size());
      if (batches.back().ended) least = std::min(least, batches.back().samples.size());
      ended |= batches.back().ended;
      // The first input that ends ends the epoch for all, and none behind it is asked.
      if (ended && count == 0) break;
    }
    // What others made beyond the end of the first is not in the epoch.
    for (PulledBatch& batch : batches) {
      if (!ended || batch.samples.size() <= least) continue;
      batch.samples.resize(least);
      batch.failures.erase(batch.failures.lower_bound(least), batch.failures.end());
      if (!batch.ids.empty()) batch.ids.resize(least);
    }
    if (count > 0) status = feed_pulled(batches);
    if (status && ended) {
      status = session_->end_of_feed();
      if (status) {
        ++at_.epoch;
        at_.batch = at_.sample = 0;
      }
    }
  } catch (const std::bad_alloc&) {
    status = runtime::make_error(message::kOutOfMemory, "some");
  } catch (const std::exception& exception) {
    status = runtime::make_error(message::kUnexpected, exception.what());
  }
  std::lock_guard lock(mutex_);
  if (!status && !has_code(status.error(), message::kCancelled)) error_ = std::move(status.error());
  ++num_rings_;
  changed_.notify_all();
}

Status WaitingSession::feed_pulled(std::vector<PulledBatch>& batches) {
  const size_t count = batches.front().samples.size();
  ++at_.batch;
  at_.sample += static_cast<int64_t>(count);
  for (size_t k = 0; k < batches.size(); ++k) {
    PulledBatch& batch = batches[k];
    runtime::FeedOptions options;
    // As good as forever, and cannot overflow a clock.
    options.patience = std::chrono::hours(24 * 366);
    options.failures = std::move(batch.failures);
    options.layout = batch.layout;
    if (batch.samples.size() != count) {
      const Error error =
          runtime::make_error(message::kPulledInput, shape_.inputs[k],
                              fmt::format("{} samples were given, but '{}' has {} in this batch",
                                          batch.samples.size(), shape_.inputs[0], count))
              .error();
      batch.samples.assign(count, Tensor{});
      batch.ids.clear();
      options.failures.clear();
      for (size_t sample = 0; sample < count; ++sample) options.failures.emplace(sample, error);
    }
    // A buffer of its own would not count towards the limit; a copy does.
    std::vector<Tensor> samples = batch.samples;
    if (shape_.limits_memory)
      for (Tensor& sample : samples) sample.buffer.reset();
    auto fed = session_->feed(shape_.inputs[k], samples, batch.ids, options);
    if (!fed && !has_code(fed.error(), message::kCancelled) && k > 0) {
      // The other inputs have this batch already.
      for (size_t sample = 0; sample < count; ++sample)
        options.failures.insert_or_assign(sample, fed.error());
      fed = session_->feed(shape_.inputs[k], std::vector<Tensor>(count), {}, options);
    }
    GALATEA_TRY(fed);
  }
  return {};
}

}  // namespace galatea::api
