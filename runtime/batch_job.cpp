#include "runtime/batch_job.h"

#include <algorithm>
#include <cstring>

#include "runtime/messages.h"

namespace galatea::runtime {

BatchJob::BatchJob(std::shared_ptr<const LoadedProgram> loaded, BufferPool& pool, int num_samples,
                   DeviceSession* device)
    : loaded_(std::move(loaded)), pool_(pool), num_samples_(num_samples), device_session_(device) {
  const auto count = static_cast<size_t>(num_samples);
  states_.assign(count, State::kLive);
  attempts_.assign(count, 0);
  expected_.resize(count);
  errors_.reserve(count);
  outputs_.resize(loaded_->program->outputs.size());
  for (size_t k = 0; k < outputs_.size(); ++k) {
    outputs_[k].samples.resize(count);
    outputs_[k].sample_bytes = fixed_bytes(loaded_->program->outputs[k]);
  }
  num_pending = num_samples;
  if (device) records_.resize(count);
}

SampleInput BatchJob::input(int slot) {
  const auto at = static_cast<size_t>(slot);
  SampleInput input;
  input.slot = slot;
  input.number = numbers[at];
  input.epoch = epoch;
  input.batch_bytes = fixed_output_bytes();
  input.expected = expected_[at];
  if (device_session_) {
    std::lock_guard lock(mutex_);
    // Not before: how many samples outputs have room for depends on what the planner sets.
    if (!device_) device_ = device_session_->make_batch(num_samples_, num_slots());
    device_->forget(slot);
    input.device = device_.get();
  }
  if (!places.empty()) input.reads = &places[at * loaded_->sources.size()];
  if (!feeds.empty()) {
    std::lock_guard lock(mutex_);
    if (feed_tensors_.empty()) {
      for (size_t sample = 0; sample < static_cast<size_t>(num_samples_); ++sample) {
        for (const auto& feed : feeds) {
          feed_tensors_.push_back(&feed->samples[sample]);
          feed_parts_.push_back(feed->parts.empty() ? nullptr : &feed->parts[sample]);
        }
      }
      note_feed_failures();
    }
    input.feeds = &feed_tensors_[at * feeds.size()];
    input.feed_parts = &feed_parts_[at * feeds.size()];
    if (!feed_failures_.empty()) input.feed_failures = &feed_failures_[at * feeds.size()];
  }
  return input;
}

void BatchJob::note_feed_failures() {
  for (size_t k = 0; k < feeds.size(); ++k) {
    for (const auto& [sample, error] : feeds[k]->failures) {
      feed_failures_.resize(feed_tensors_.size());
      feed_failures_[sample * feeds.size() + k] = &error;
    }
  }
}

Result<Tensor> BatchJob::allocate_output(int output, int slot, DType dtype, std::span<const int64_t> extents,
                                         Memory writer) {
  Output& out = outputs_[static_cast<size_t>(output)];
  const OutputSpec& spec = loaded_->program->outputs[static_cast<size_t>(output)];
  if (dtype != spec.port.dtype() || static_cast<int>(extents.size()) != spec.port.rank()) {
    return make_error(message::kBadProgram, "an output has another type than was declared");
  }
  GALATEA_ASSIGN(int64_t bytes, dense_bytes(dtype, extents));
  Tensor tensor;
  tensor.set_dense(dtype, extents);
  if (out.sample_bytes >= 0 && !accepts(spec.port, dtype, extents))
    return make_error(message::kBadProgram, "an output has other extents than were declared");
  if (spec.on_device) {
    GALATEA_ASSIGN(const DeviceBatch::Staged room,
                   device_->take_output(output, slot, bytes, writer == Memory::kHost));
    tensor.memory = writer;
    tensor.data = writer == Memory::kHost ? room.host
                                          : reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(room.address));
    out.samples[static_cast<size_t>(slot)] = tensor;
    return tensor;
  }
  if (writer != Memory::kHost)
    return make_error(message::kBadProgram, "an output for the host is allocated on the device");
  if (out.sample_bytes >= 0) {
    std::lock_guard lock(mutex_);
    if (!out.contiguous) {
      GALATEA_ASSIGN(out.contiguous, pool_.acquire(fixed_size(out)));
    }
    tensor.buffer = out.contiguous;
    tensor.data = out.contiguous->data() + bytes * slot;
  } else {
    GALATEA_ASSIGN(tensor.buffer, pool_.acquire(bytes));
    tensor.data = tensor.buffer->data();
  }
  out.samples[static_cast<size_t>(slot)] = tensor;
  return tensor;
}

void BatchJob::hand_on(int output, int slot, const Tensor& tensor) {
  outputs_[static_cast<size_t>(output)].samples[static_cast<size_t>(slot)] = tensor;
}

/// Room for a full batch, also for an epoch's smaller last one: a buffer of another size would drive the full
/// ones out of the pool, and fresh pages cost more than the idle ones. What a host feeds may be small for
/// good.
int BatchJob::num_slots() const {
  return places.empty() ? num_samples_ : std::max(num_samples_, loaded_->program->batch_size);
}

int64_t BatchJob::fixed_size(const Output& output) const { return output.sample_bytes * num_slots(); }

/// Memory of the host.
bool BatchJob::is_fixed(size_t output) const {
  return outputs_[output].sample_bytes >= 0 && !loaded_->program->outputs[output].on_device;
}

int64_t BatchJob::fixed_output_bytes() const {
  int64_t bytes = 0;
  for (size_t k = 0; k < outputs_.size(); ++k)
    bytes += is_fixed(k) ? claimed_bytes(fixed_size(outputs_[k])) : 0;
  return bytes;
}

int64_t BatchJob::take_fixed_outputs(MemoryGate& gate) {
  for (size_t k = 0; k < outputs_.size(); ++k) {
    Output& out = outputs_[k];
    if (!is_fixed(k) || out.contiguous) continue;
    out.contiguous = pool_.recycle(fixed_size(out));
    if (out.contiguous) continue;
    const int64_t cost = claimed_bytes(fixed_size(out));
    if (!gate.claim_in_turn(cost)) return cost;
    // Where the system has none, the sample that needs it says so.
    if (auto buffer = pool_.acquire(fixed_size(out))) out.contiguous = std::move(*buffer);
    gate.release(cost);
  }
  return 0;
}

/// Nobody will have them, and where memory is limited others may need it.
void BatchJob::drop_outputs(int slot) {
  for (Output& out : outputs_) out.samples[static_cast<size_t>(slot)] = Tensor{};
}

void BatchJob::restart(int slot) {
  drop_outputs(slot);
  std::lock_guard lock(mutex_);
  const size_t num_sources = loaded_->sources.size();
  std::erase_if(original_places_, [&](const auto& entry) {
    if (entry.first / num_sources != static_cast<size_t>(slot)) return false;
    places[entry.first] = entry.second;
    return true;
  });
  std::erase_if(replaced_, [&](const auto& entry) { return entry.first == slot; });
  attempts_[static_cast<size_t>(slot)] = 0;
  if (!records_.empty()) records_[static_cast<size_t>(slot)].clear();
}

void BatchJob::reset() {
  forget_work();
  for (const auto& [at, place] : original_places_) places[at] = place;
  original_places_.clear();
  replaced_.clear();
  std::fill(attempts_.begin(), attempts_.end(), 0);
}

void BatchJob::begin_again() { forget_work(); }

void BatchJob::forget_work() {
  for (Output& out : outputs_) {
    out.contiguous.reset();
    for (Tensor& sample : out.samples) sample = Tensor{};
  }
  std::fill(states_.begin(), states_.end(), State::kLive);
  errors_.clear();
  skipped_.clear();
  parked.clear();
  device_.reset();
  device_outputs_.reset();
  is_deferred_ = false;
  for (DeviceRecord& record : records_) record.clear();
  num_taken = 0;
  num_pending = num_samples_;
  complete = has_fixed_outputs = begins_again_ = false;
}

std::string BatchJob::describe(int slot) const {
  const auto at = static_cast<size_t>(slot);
  for (size_t input = 0; input < feeds.size(); ++input)
    if (!feeds[input]->parts.empty())
      return fmt::format("part {} of what was fed to '{}'", feeds[input]->parts[at],
                         loaded_->program->external_inputs[input].port.name);
  if (places.empty()) return fmt::format("sample {}", numbers[at]);
  return loaded_->sources[0].describe(places[at * loaded_->sources.size()]);
}

void BatchJob::fail(int slot, Error error) {
  try {
    // An error for want of memory may have no words yet, and there is memory now.
    if (error.diagnostics.empty() && error.kind == ErrorKind::kSystem)
      error = make_error(message::kNoMemory).error();
    if (!error.diagnostics.empty())
      error.diagnostics.front().notes.push_back(
          fmt::format("sample {} of batch {} in epoch {}: {}", slot, index, epoch, describe(slot)));
  } catch (const std::bad_alloc&) {  // it fails without its name
  }
  // There is room for one error a sample: none is lost for want of memory.
  std::lock_guard lock(mutex_);
  states_[static_cast<size_t>(slot)] = State::kFailed;
  errors_.emplace_back(slot, std::move(error));
}

/// An error that no sample caused.
void BatchJob::fail_all(Error error) {
  std::lock_guard lock(mutex_);
  if (errors_.empty()) errors_.emplace_back(0, std::move(error));
}

void BatchJob::keep_record(int slot, DeviceRecord& record) {
  std::swap(records_[static_cast<size_t>(slot)], record);
  record.clear();
}

Status BatchJob::enqueue_recorded() {
  std::vector<DeviceBatch::Part> parts;
  for (size_t slot = 0; slot < records_.size(); ++slot)
    if (!records_[slot].empty()) parts.push_back({static_cast<int>(slot), &records_[slot]});
  for (auto& [slot, frame] : parked)
    if (frame->at_device_barrier()) parts.push_back({slot, &frame->record()});
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.slot < b.slot; });
  GALATEA_TRY(device_->enqueue(parts));
  for (DeviceRecord& record : records_) record.clear();
  return {};
}

bool BatchJob::enqueue_device() {
  Status status = enqueue_recorded();
  if (!status) fail_all(std::move(status.error()));
  return status.has_value();
}

bool BatchJob::wait_for_device() {
  Status status = device_->wait();
  if (!status) fail_all(std::move(status.error()));
  return status.has_value();
}

Status BatchJob::take_outputs() {
  GALATEA_TRY(enqueue_recorded());
  std::vector<int> live;
  for (size_t slot = 0; slot < states_.size(); ++slot)
    if (states_[slot] == State::kLive) live.push_back(static_cast<int>(slot));
  GALATEA_ASSIGN(device_outputs_, device_->finish(live));
  return {};
}

namespace {

bool is_lack_of_device_memory(const Error& error) {
  if (error.diagnostics.empty()) return false;
  const std::string& code = error.diagnostics.front().code;
  return code == message::kDeviceMemoryLimit.code || code == message::kDeviceOutOfMemory.code;
}

}  // namespace

void BatchJob::finish_device() {
  // The outputs of a batch that failed are nobody's.
  if (!device_ || !errors_.empty()) return;
  is_deferred_ = !device_session_->is_turn_of(serial);
  if (is_deferred_) return;
  if (auto status = take_outputs(); status) {
    device_session_->settled(serial);
  } else if (is_lack_of_device_memory(status.error())) {
    device_session_->note_shortage();
    is_deferred_ = true;
  } else {
    fail_all(std::move(status.error()));
  }
}

/// The batch is the consumer's next.
void BatchJob::settle_device() {
  if (std::exchange(is_deferred_, false)) {
    auto status = take_outputs();
    if (!status && is_lack_of_device_memory(status.error())) {
      device_session_->drop_idle();
      status = take_outputs();
    }
    if (!status) fail_all(std::move(status.error()));
  }
  device_session_->settled(serial);
  check_device();
}

/// Flags that kernels raised which nobody waited for.
void BatchJob::check_device() {
  if (!device_outputs_ || !device_->may_fail()) return;
  if (auto status = device_outputs_->wait(); !status) return fail_all(std::move(status.error()));
  for (size_t slot = 0; slot < states_.size(); ++slot) {
    if (states_[slot] != State::kLive) continue;
    const auto failure = device_->failure(static_cast<int>(slot));
    if (!failure) continue;
    fail(static_cast<int>(slot), loaded_->flag_error(failure->flags, failure->location));
  }
}

void BatchJob::take_device_outputs(const DeviceBatch& device) {
  for (size_t k = 0; k < outputs_.size(); ++k) {
    if (!loaded_->program->outputs[k].on_device) continue;
    const std::shared_ptr<Buffer> buffer = device.output_buffer(static_cast<int>(k));
    for (size_t place = 0; place < outputs_[k].samples.size(); ++place) {
      Tensor& sample = outputs_[k].samples[place];
      sample.memory = Memory::kDevice;
      sample.buffer = buffer;
      sample.data = reinterpret_cast<uint8_t*>(
          static_cast<uintptr_t>(device.output_address(static_cast<int>(k), static_cast<int>(place))));
    }
    if (outputs_[k].sample_bytes >= 0) outputs_[k].contiguous = buffer;
  }
}

void BatchJob::skip(int slot, Diagnostic why) {
  drop_outputs(slot);
  SampleFailure failure{epoch, positions[static_cast<size_t>(slot)], describe(slot), std::move(why)};
  std::lock_guard lock(mutex_);
  states_[static_cast<size_t>(slot)] = State::kSkipped;
  skipped_.emplace_back(slot, std::move(failure));
}

void BatchJob::substitute(int slot, int64_t attempt, const Diagnostic& why) {
  const size_t num_sources = loaded_->sources.size();
  const auto at = static_cast<size_t>(slot);
  drop_outputs(slot);
  expected_[at] = {};
  if (attempt == 1) {
    SampleFailure failure{epoch, positions[at], describe(slot), why};
    std::lock_guard lock(mutex_);
    for (size_t s = at * num_sources; s < (at + 1) * num_sources; ++s)
      original_places_.emplace_back(s, places[s]);
    replaced_.emplace_back(slot, std::move(failure));
  }
  for (size_t s = 0; s < num_sources; ++s) {
    // Places keep the position of the sample that failed: the choice depends on it and the attempt alone.
    ReaderLoop::Place& place = places[at * num_sources + s];
    const LoadedProgram::Source& source = loaded_->sources[s];
    place.index =
        substitute_index(source.options, source.samples->size(), place.epoch, place.position, attempt);
  }
}

namespace {

/// A sample that wanted another's tensor may have missed it only because that other one failed.
bool misses_another(const Error& error) {
  return !error.diagnostics.empty() && error.diagnostics.front().code == message::kNobodyThere.code;
}

}  // namespace

/// Causes before consequences, then in the order of samples.
Error BatchJob::first_error() {
  std::sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) {
    return std::pair(misses_another(a.second), a.first) < std::pair(misses_another(b.second), b.first);
  });
  Error error = std::move(errors_.front().second);
  if (errors_.size() > 1 && !error.diagnostics.empty()) {
    error.diagnostics.front().notes.push_back(fmt::format(
        "{} more sample{} of this batch failed", errors_.size() - 1, errors_.size() == 2 ? "" : "s"));
  }
  return error;
}

/// Closes the gaps that skipped samples leave.
void BatchJob::compact() {
  const size_t num_sources = loaded_->sources.size();
  size_t to = 0;
  for (size_t from = 0; from < states_.size(); ++from) {
    if (states_[from] != State::kLive) continue;
    if (from != to) {
      for (Output& out : outputs_) {
        Tensor& target = out.samples[to];
        Tensor& source = out.samples[from];
        if (out.sample_bytes >= 0 && out.contiguous) {
          uint8_t* data = out.contiguous->data() + out.sample_bytes * static_cast<int64_t>(to);
          std::memmove(data, source.data, static_cast<size_t>(out.sample_bytes));
          source.data = data;
        }
        target = std::move(source);
      }
      numbers[to] = numbers[from];
      positions[to] = positions[from];
      std::copy_n(places.begin() + static_cast<int64_t>(from * num_sources), places.empty() ? 0 : num_sources,
                  places.begin() + static_cast<int64_t>(to * num_sources));
    }
    ++to;
  }
  num_samples_ = static_cast<int>(to);
  for (Output& out : outputs_) out.samples.resize(to);
}

BatchJob::Finished BatchJob::finish() {
  Finished finished;
  // A thread may hold on to the job a moment longer; what was fed shall not wait for that.
  feed_tensors_.clear();
  feed_failures_.clear();
  feeds.clear();
  if (device_) settle_device();
  // Nor shall memory of the device, which the next batch may need. Outputs that go to the consumer own
  // theirs.
  const std::unique_ptr<DeviceBatch> device = std::move(device_);
  auto by_slot = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(skipped_.begin(), skipped_.end(), by_slot);
  std::sort(replaced_.begin(), replaced_.end(), by_slot);
  for (auto& [slot, failure] : skipped_) finished.skipped.push_back(std::move(failure));
  for (auto& [slot, failure] : replaced_) finished.replaced.push_back(std::move(failure));
  if (!errors_.empty()) {
    device_outputs_.reset();
    finished.error = first_error();
    return finished;
  }
  if (!skipped_.empty()) compact();
  if (device_outputs_) take_device_outputs(*device);
  auto batch = std::make_unique<Batch>();
  batch->device = std::move(device_outputs_);
  batch->epoch = epoch;
  batch->index = index;
  const size_t num_sources = loaded_->sources.size();
  for (int slot = 0; slot < num_samples_; ++slot) {
    batch->sample_names.push_back(describe(slot));
    batch->sample_ids.push_back(num_sources > 0 ? places[static_cast<size_t>(slot) * num_sources].index
                                                : numbers[static_cast<size_t>(slot)]);
  }
  for (size_t k = 0; k < outputs_.size(); ++k) {
    batch->outputs.push_back(
        {loaded_->program->outputs[k], std::move(outputs_[k].samples), std::move(outputs_[k].contiguous)});
  }
  finished.batch = std::move(batch);
  return finished;
}

}  // namespace galatea::runtime
