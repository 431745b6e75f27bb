#include "api/pulled_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/guard.h"
#include "api/host_tensor.h"
#include "api/sized.h"
#include "runtime/messages.h"

namespace galatea::api {

namespace message = runtime::message;

Status SampleRow::place(int64_t bytes, runtime::Tensor& sample) {
  constexpr int64_t kAlignment = runtime::kBufferAlignment;
  const int64_t room = (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const bool is_first = !buffer_;
  is_of_one_size_ &= is_first || bytes == sample_bytes_;
  if (bytes != sample_bytes_ || capacity_ - used_ < room) {
    capacity_ = is_first ? room * std::max(expected_, 1) : room;
    GALATEA_ASSIGN(buffer_, pool_->acquire(capacity_));
    used_ = 0;
    sample_bytes_ = bytes;
  }
  sample.buffer = buffer_;
  sample.data = buffer_->data() + used_;
  used_ += room;
  ++num_placed_;
  return {};
}

PulledBatch PulledInput::pull(const runtime::ResumePoint& at, int num_samples, runtime::BufferPool& pool,
                              const std::atomic<bool>& cancelled) {
  PulledBatch batch{SampleRow(pool, std::min(row_length_, num_samples))};
  const int step = host_.per_batch ? num_samples : 1;
  while (static_cast<int>(batch.samples.size()) < num_samples && !batch.ended && !cancelled) {
    const size_t first = batch.samples.size();
    galatea_pull call{at.epoch, at.batch, at.sample + static_cast<int64_t>(first), step, &cancelled, &name_,
                      &batch,   first};
    host_.pull(host_.context, &call);
    if (batch.samples.size() == first && !batch.ended) {
      batch.failures.emplace(
          first, runtime::make_error(
                     message::kPulledInput, name_,
                     fmt::format("the call for sample {} of epoch {} gave nothing", call.sample, at.epoch))
                     .error());
      batch.samples.emplace_back();
    }
    if (host_.per_batch) break;
  }
  row_length_ = batch.row.length();
  return batch;
}

}  // namespace galatea::api

using galatea::api::guard;
using galatea::api::make_api_error;
using galatea::api::misuse;

namespace {

int32_t num_given(const galatea_pull& pull) {
  return static_cast<int32_t>(pull.batch->samples.size() - pull.first);
}

/// What may be given: nothing behind the last sample that is wanted, nor behind the end.
galatea_error* check_may_give(const galatea_pull& pull) {
  if (pull.batch->ended) return misuse("galatea_pull_end() was called; nothing can follow");
  if (num_given(pull) >= pull.num_samples)
    return misuse(fmt::format("{} samples are wanted, and were given", pull.num_samples));
  return nullptr;
}

}  // namespace

extern "C" {

void galatea_pulled_input_init_sized(galatea_pulled_input* input, size_t input_size) {
  if (!input) return;
  galatea_pulled_input defaults{};
  defaults.size = static_cast<int32_t>(input_size);
  galatea::api::write_struct(defaults, input, input_size);
}

int64_t galatea_pull_epoch(const galatea_pull* pull) { return pull->epoch; }
int64_t galatea_pull_batch(const galatea_pull* pull) { return pull->batch_index; }
int64_t galatea_pull_sample(const galatea_pull* pull) { return pull->sample; }
int32_t galatea_pull_num_samples(const galatea_pull* pull) { return pull->num_samples; }
int galatea_pull_is_cancelled(const galatea_pull* pull) { return pull->cancelled->load() ? 1 : 0; }

galatea_error* galatea_pull_give_sized(galatea_pull* pull, const galatea_tensor* sample, const int64_t* id,
                                       size_t tensor_size) {
  return guard([&]() -> galatea_error* {
    if (!pull || !sample) return misuse("pull or sample is NULL");
    if (galatea_error* error = check_may_give(*pull)) return error;
    galatea::api::PulledBatch& batch = *pull->batch;
    if (batch.samples.empty() ? false : batch.ids.empty() == (id != nullptr))
      return misuse("a batch has ids for all of its samples or for none");
    galatea::api::HostTensors given;
    if (galatea_error* error = galatea::api::read_tensors(sample, 1, tensor_size, given)) return error;
    galatea::runtime::Tensor tensor = given.tensors.front();
    auto bytes =
        galatea::runtime::dense_bytes(tensor.dtype, {tensor.extents, static_cast<size_t>(tensor.ndim)});
    if (!bytes) return make_api_error(bytes.error());
    if (*bytes > 0 && !tensor.data) return misuse("the sample has no memory");
    auto placed = batch.row.place(*bytes, tensor);
    if (!placed) return make_api_error(placed.error());
    if (*bytes > 0) copy_dense(given.tensors.front(), tensor.data);
    tensor.set_dense(tensor.dtype, {given.tensors.front().extents, static_cast<size_t>(tensor.ndim)});
    if (batch.layout.empty()) batch.layout = given.layout;
    batch.samples.push_back(std::move(tensor));
    if (id) batch.ids.push_back(*id);
    return nullptr;
  });
}

void galatea_pull_fail(galatea_pull* pull, const char* message) {
  galatea_error_destroy(guard([&]() -> galatea_error* {
    if (!pull) return nullptr;
    if (galatea_error* error = check_may_give(*pull)) return error;
    galatea::api::PulledBatch& batch = *pull->batch;
    batch.failures.emplace(
        batch.samples.size(),
        galatea::runtime::make_error(galatea::runtime::message::kPullFailed, *pull->input,
                                     message && *message ? message : "a sample could not be made")
            .error());
    batch.samples.emplace_back();
    if (!batch.ids.empty()) batch.ids.push_back(-1);
    return nullptr;
  }));
}

void galatea_pull_end(galatea_pull* pull) {
  if (pull) pull->batch->ended = true;
}

}  // extern "C"
