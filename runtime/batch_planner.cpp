#include "runtime/batch_planner.h"

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "runtime/feed_parts.h"
#include "runtime/messages.h"

namespace galatea::runtime {

BatchPlanner::BatchPlanner(std::shared_ptr<const LoadedProgram> loaded, Allocator& allocator,
                           BufferPool& pool, MemoryGate* gate, DeviceSession* device)
    : loaded_(std::move(loaded)),
      allocator_(allocator),
      pool_(pool),
      fed_pool_(allocator),
      gate_(gate),
      device_(device) {
  for (const LoadedProgram::Source& source : loaded_->sources) {
    readers_.emplace_back(source.options, *source.samples, loaded_->program->batch_size, source.name);
  }
  feeds_.resize(loaded_->program->external_inputs.size());
  num_fed_.resize(feeds_.size());
  skip_parts_.resize(feeds_.size());
  const auto is_many = [](const ExternalInput& input) { return input.parts >= 0; };
  if (std::ranges::any_of(loaded_->program->external_inputs, is_many)) given_parts_.resize(feeds_.size());
}

BatchPlanner::Plan BatchPlanner::plan() {
  std::lock_guard lock(mutex_);
  if (paused_) return Paused{};
  return feeds_.empty() ? plan_read() : plan_fed();
}

void BatchPlanner::start_epoch() {
  std::lock_guard lock(mutex_);
  paused_ = false;
}

BatchPlanner::Plan BatchPlanner::end_epoch() {
  ++epoch_;
  batch_index_ = 0;
  position_ = 0;
  return EpochEnd{};
}

BatchPlanner::Plan BatchPlanner::plan_read() {
  // An epoch has at least one sample, so an exhausted order means that its batches are all out.
  if (!readers_.empty() && readers_[0].at_end()) {
    readers_[0].start_next_epoch();
    paused_ = true;
    return end_epoch();
  }
  return make_job(loaded_->program->batch_size, true);
}

BatchPlanner::Plan BatchPlanner::plan_fed() {
  for (size_t i = 0; i < feeds_.size(); ++i) {
    if (feeds_[i].empty()) return Starved{loaded_->program->external_inputs[i].port.name};
  }
  // end_of_feed() puts its mark into all queues at once, so they carry it at the same place.
  if (std::holds_alternative<EndMark>(feeds_[0].front())) {
    for (auto& queue : feeds_) queue.pop_front();
    room_.notify_all();
    return end_epoch();
  }
  std::vector<std::shared_ptr<const FedBatch>> batches;
  for (auto& queue : feeds_) {
    batches.push_back(std::get<std::shared_ptr<const FedBatch>>(queue.front()));
    queue.pop_front();
  }
  room_.notify_all();
  for (size_t i = 0; i < given_parts_.size(); ++i) {
    const FedBatch& batch = *batches[i];
    const int64_t given = batch.parts.empty() ? 0 : batch.parts.back() + 1;
    given_parts_[i] = given < batch.num_parts ? given : 0;
  }
  auto job = make_job(static_cast<int>(batches[0]->samples.size()), false);
  for (const auto& batch : batches) {
    if (batch->ids.empty()) continue;
    job->numbers = batch->ids;
    break;
  }
  job->feeds = std::move(batches);
  return job;
}

std::shared_ptr<BatchJob> BatchPlanner::make_job(int most_samples, bool ends_with_epoch) {
  std::vector<ReaderLoop::Place> places;
  places.reserve(static_cast<size_t>(most_samples) * readers_.size());
  int num_samples = 0;
  for (; num_samples < most_samples; ++num_samples) {
    if (ends_with_epoch && !readers_.empty() && num_samples > 0 && readers_[0].at_end()) break;
    for (ReaderLoop& reader : readers_) places.push_back(reader.next());
  }
  auto job = std::make_shared<BatchJob>(loaded_, pool_, num_samples, device_);
  job->epoch = epoch_;
  job->index = batch_index_++;
  job->serial = num_jobs_++;
  for (int k = 0; k < num_samples; ++k) {
    job->numbers.push_back(running_number_++);
    job->positions.push_back(position_++);
  }
  job->places = std::move(places);
  job->after = point();
  return job;
}

ResumePoint BatchPlanner::point() const {
  ResumePoint point{epoch_, batch_index_, position_, running_number_, {}, given_parts_};
  for (const ReaderLoop& reader : readers_) point.readers.emplace_back(reader.epoch(), reader.position());
  return point;
}

bool BatchPlanner::move_to(const ResumePoint& point) {
  std::lock_guard lock(mutex_);
  if (point.readers.size() != readers_.size()) return false;
  if (!point.parts.empty()) {
    if (point.parts.size() != given_parts_.size()) return false;
    given_parts_ = skip_parts_ = point.parts;
  }
  for (size_t k = 0; k < readers_.size(); ++k)
    if (!readers_[k].seek(point.readers[k].first, point.readers[k].second)) return false;
  epoch_ = point.epoch;
  batch_index_ = point.batch;
  position_ = point.sample;
  running_number_ = point.number;
  return true;
}

const std::deque<BatchPlanner::FeedEntry>* BatchPlanner::find_feed(const std::string& input) const {
  const auto& inputs = loaded_->program->external_inputs;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].port.name == input) return &feeds_[k];
  return nullptr;
}

size_t BatchPlanner::num_waiting(const std::string& input) const {
  std::lock_guard lock(mutex_);
  const auto* feed = find_feed(input);
  return feed ? feed->size() : 0;
}

bool BatchPlanner::wait_for_room(const std::string& input, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto* feed = find_feed(input);
  const auto most = static_cast<size_t>(std::max(1, loaded_->program->prefetch_depth));
  return room_.wait_until(lock, deadline, [&] { return closed_ || !feed || feed->size() < most; });
}

void BatchPlanner::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

int64_t BatchPlanner::fed_in_epoch(size_t input) const {
  int64_t count = 0;
  for (auto entry = feeds_[input].rbegin();
       entry != feeds_[input].rend() && !std::holds_alternative<EndMark>(*entry); ++entry)
    ++count;
  return count;
}

Status BatchPlanner::check_feed(size_t input, const std::vector<Tensor>& samples,
                                const std::vector<int64_t>& ids, const FeedFailures& failures) const {
  const Port& port = loaded_->program->external_inputs[input].port;
  auto refuse = [&](std::string why) { return make_error(message::kBadFeed, port.name, why); };
  const auto batch_size = static_cast<size_t>(loaded_->program->batch_size);
  if (samples.empty() || samples.size() > batch_size)
    return refuse(fmt::format("{} samples were fed; a batch has 1 to {}", samples.size(), batch_size));
  if (!ids.empty() && ids.size() != samples.size())
    return refuse(fmt::format("{} ids were given for {} samples", ids.size(), samples.size()));
  for (size_t k = 0; k < samples.size(); ++k) {
    if (failures.contains(k)) continue;
    const Tensor& sample = samples[k];
    const std::span<const int64_t> extents{sample.extents, static_cast<size_t>(sample.ndim)};
    if (sample.dtype != port.dtype())
      return refuse(fmt::format("sample {} has type {}, not {}", k, types_name(sample.dtype),
                                types_name(port.dtype())));
    if (sample.ndim != port.rank())
      return refuse(fmt::format("sample {} has {} dimensions, not {}", k, sample.ndim, port.rank()));
    if (!accepts(port, sample.dtype, extents))
      return refuse(
          fmt::format("sample {} is {}, not {}", k, type_text(sample.dtype, extents), to_text(port)));
    auto bytes = dense_bytes(sample.dtype, extents);
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    if (*bytes > 0 && !sample.data) return refuse(fmt::format("sample {} has no memory", k));
  }
  // A film may be any number of batches: one more is taken while fewer than these wait.
  if (feeds_[input].size() >= kMaxQueuedFeeds)
    return refuse(
        fmt::format("{} batches wait already; take some before feeding more", feeds_[input].size()));
  return {};
}

/// Batch n of every input has one size: compares with the inputs that were fed these batches already.
Status BatchPlanner::check_sizes(size_t input, const std::vector<FeedPart>& batches) const {
  const auto& inputs = loaded_->program->external_inputs;
  for (size_t n = 0; n < batches.size(); ++n) {
    for (size_t other = 0; other < feeds_.size(); ++other) {
      const int64_t behind_end = num_fed_[other] - num_fed_[input] - static_cast<int64_t>(n);
      if (other == input || behind_end <= 0 || behind_end > static_cast<int64_t>(feeds_[other].size()))
        continue;
      const FeedEntry& entry = feeds_[other][feeds_[other].size() - static_cast<size_t>(behind_end)];
      if (const auto* batch = std::get_if<std::shared_ptr<const FedBatch>>(&entry);
          batch && (*batch)->samples.size() != batches[n].num_samples) {
        return make_error(
            message::kBadFeed, inputs[input].port.name,
            fmt::format("{} samples were fed, but '{}' was fed {} for the same batch", batches[n].num_samples,
                        inputs[other].port.name, (*batch)->samples.size()));
      }
    }
  }
  return {};
}

/// The batches that a feed is: one, or, of tensors that are several samples, as many as the samples of each fill.
/// `given`: samples of the first tensor that a run before this one has given.
Result<std::vector<BatchPlanner::FeedPart>> BatchPlanner::batches_of(size_t input, const FedBatch& fed,
                                                                     int64_t given) const {
  const ExternalInput& external = loaded_->program->external_inputs[input];
  if (external.parts < 0) return std::vector{FeedPart{.num_samples = fed.samples.size()}};
  if (!fed.ids.empty())
    return make_error(message::kBadFeed, external.port.name,
                      "ids were given, and what is fed is several samples each");
  std::vector<FeedPart> batches;
  const int64_t most = loaded_->program->batch_size;
  for (size_t k = 0; k < fed.samples.size(); ++k) {
    int64_t count = 1;
    if (!fed.failures.contains(k)) {
      GALATEA_ASSIGN(count, count_parts(*loaded_, external, fed.samples[k]));
    }
    const int64_t begin = k == 0 ? given : 0;
    if (begin > 0 && begin >= count)
      return make_error(
          message::kBadFeed, external.port.name,
          fmt::format("the state stands behind sample {} of what was at work there, and what is "
                      "fed is {} samples: feed first what was at work",
                      begin, count));
    for (int64_t first = begin; first < count; first += most)
      batches.push_back({k, first, static_cast<size_t>(std::min(most, count - first)), count});
  }
  return batches;
}

std::shared_ptr<const FedBatch> BatchPlanner::batch_of(const FedBatch& fed, const FeedPart& part) {
  auto batch = std::make_shared<FedBatch>();
  batch->counted = fed.counted;
  batch->samples.assign(part.num_samples, fed.samples[part.tensor]);
  batch->parts.resize(part.num_samples);
  batch->num_parts = part.num_parts;
  std::iota(batch->parts.begin(), batch->parts.end(), part.first);
  if (const auto failure = fed.failures.find(part.tensor); failure != fed.failures.end())
    batch->failures.emplace(0, failure->second);
  return batch;
}

Status BatchPlanner::take_fed(const std::vector<Tensor>& samples, FedBatch& batch) {
  const auto has_failed = [&](size_t k) { return batch.failures.contains(k); };
  const auto stays = [](const Tensor& sample) {
    return sample.buffer && sample.is_dense() && sample.volume() > 0;
  };
  // The copies in one buffer: a batch is large enough for large pages where a sample is not. They are padded
  // by each other, so that samples whose size allows it are one tensor to whom they are handed on.
  const auto room_of = [](const Tensor& sample) {
    const int64_t bytes = std::max<int64_t>(sample.num_bytes(), 1);
    return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  };
  int64_t bytes = 0;
  for (size_t k = 0; k < samples.size(); ++k)
    bytes += has_failed(k) || stays(samples[k]) ? 0 : room_of(samples[k]);
  std::shared_ptr<Buffer> copies;
  if (bytes > 0) {
    bytes += kBufferPadding;
    GALATEA_ASSIGN(copies, take_memory_for_feed(bytes));
    fed_bytes_->fetch_add(bytes);
    batch.counted =
        std::shared_ptr<void>(nullptr, [count = fed_bytes_, bytes](void*) { count->fetch_sub(bytes); });
  }
  uint8_t* at = copies ? copies->data() : nullptr;
  for (size_t k = 0; k < samples.size(); ++k) {
    const Tensor& sample = samples[k];
    if (has_failed(k)) {
      batch.samples.emplace_back();
      continue;
    }
    Tensor taken = sample;
    taken.set_dense(sample.dtype, {sample.extents, static_cast<size_t>(sample.ndim)});
    if (!stays(sample)) {
      taken.buffer = copies;
      taken.data = at;
      copy_dense(sample, at);
      at += room_of(sample);
    }
    batch.samples.push_back(std::move(taken));
  }
  return {};
}

/// `bytes`: with padding.
Result<std::shared_ptr<Buffer>> BatchPlanner::take_memory_for_feed(int64_t bytes) {
  const int64_t fed = fed_bytes_->load();
  // Half of the limit stays free for the work on what was fed.
  if (gate_ && ((fed > 0 && fed + bytes > gate_->limit() / 2) || !gate_->try_claim(bytes)))
    return make_error(message::kNoRoom, bytes, gate_->limit(), gate_->limit() - gate_->bytes_free());
  // Fresh pages cost more than the copy. Where memory is limited, nothing lies idle.
  auto buffer = allocator_.limit() > 0 ? allocator_.allocate(bytes - kBufferPadding)
                                       : fed_pool_.acquire(bytes - kBufferPadding);
  if (gate_) gate_->release(bytes);
  return buffer;
}

Status BatchPlanner::feed(const std::string& input, const std::vector<Tensor>& samples,
                          const std::vector<int64_t>& ids, const FeedFailures& failures) {
  const auto& inputs = loaded_->program->external_inputs;
  auto at = std::find_if(inputs.begin(), inputs.end(),
                         [&](const ExternalInput& candidate) { return candidate.port.name == input; });
  if (at == inputs.end()) {
    std::vector<std::string> names;
    for (const ExternalInput& candidate : inputs) names.push_back("'" + candidate.port.name + "'");
    auto error = make_error(message::kUnknownInput, input,
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    return error;
  }
  const auto number = static_cast<size_t>(at - inputs.begin());
  int64_t given = 0;
  {
    std::lock_guard lock(mutex_);
    given = skip_parts_[number];
    GALATEA_TRY(check_feed(number, samples, ids, failures));
  }
  auto batch = std::make_shared<FedBatch>();
  batch->ids = ids;
  batch->failures = failures;
  GALATEA_TRY(take_fed(samples, *batch));
  GALATEA_ASSIGN(const std::vector<FeedPart> batches, batches_of(number, *batch, given));
  std::vector<FeedEntry> entries;
  if (at->parts < 0) {
    entries.emplace_back(std::move(batch));
  } else {
    for (const FeedPart& part : batches) entries.emplace_back(batch_of(*batch, part));
  }
  std::lock_guard lock(mutex_);
  GALATEA_TRY(check_sizes(number, batches));
  feeds_[number].insert(feeds_[number].end(), entries.begin(), entries.end());
  num_fed_[number] += static_cast<int64_t>(entries.size());
  skip_parts_[number] = 0;
  return {};
}

Status BatchPlanner::end_of_feed() {
  std::lock_guard lock(mutex_);
  const auto& inputs = loaded_->program->external_inputs;
  if (feeds_.empty())
    return make_error(message::kBadOptions, "this pipeline has no external input whose feed could end");
  for (size_t i = 1; i < feeds_.size(); ++i) {
    if (num_fed_[i] != num_fed_[0]) {
      return make_error(message::kBadFeed, inputs[i].port.name,
                        fmt::format("{} batches wait in it, but {} in '{}'; feed every input equally often",
                                    fed_in_epoch(i), fed_in_epoch(0), inputs[0].port.name));
    }
  }
  // In all queues or in none.
  size_t marked = 0;
  try {
    for (; marked < feeds_.size(); ++marked) feeds_[marked].emplace_back(EndMark{});
  } catch (...) {
    while (marked > 0) feeds_[--marked].pop_back();
    throw;
  }
  for (int64_t& count : num_fed_) ++count;
  return {};
}

int64_t BatchPlanner::epoch_size() const {
  std::lock_guard lock(mutex_);
  return readers_.empty() || !feeds_.empty() ? -1 : readers_[0].epoch_samples();
}

std::map<std::string, ReaderMeta> BatchPlanner::reader_meta() const {
  std::lock_guard lock(mutex_);
  std::map<std::string, ReaderMeta> all;
  for (size_t i = 0; i < readers_.size(); ++i) all.emplace(loaded_->sources[i].name, readers_[i].meta());
  return all;
}

}  // namespace galatea::runtime
