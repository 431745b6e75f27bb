#include <optional>

#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "api/host_tensor.h"
#include "api/sized.h"

using galatea::api::guard;
using galatea::api::misuse;
using galatea::runtime::Batch;
using galatea::runtime::DeviceOutputs;
using galatea::runtime::Tensor;

namespace {

bool has_output(const galatea_batch& batch, int32_t output) {
  return output >= 0 && static_cast<size_t>(output) < batch.batch->outputs.size();
}

galatea_error* no_output(const galatea_batch& batch, int32_t output) {
  return misuse(fmt::format("output {} does not exist; there are {}", output, batch.batch->outputs.size()));
}

/// One tensor over all samples of an output; requires galatea_batch_is_dense().
Tensor stacked(const Batch::Output& output) {
  Tensor tensor = output.samples.front();
  int64_t volume = tensor.volume();
  for (int d = tensor.ndim; d > 0; --d) {
    tensor.extents[d] = tensor.extents[d - 1];
    tensor.strides[d] = tensor.strides[d - 1];
  }
  ++tensor.ndim;
  tensor.extents[0] = static_cast<int64_t>(output.samples.size());
  tensor.strides[0] = volume;
  return tensor;
}

galatea_dl_dtype dl_dtype(galatea::DType dtype) {
  galatea_dl_dtype out{};
  out.code = galatea::is_bool(dtype)         ? 6
             : galatea::is_float(dtype)      ? 2
             : galatea::is_signed_int(dtype) ? 0
                                             : 1;
  out.bits = static_cast<uint8_t>(8 * galatea::size_of(dtype));
  out.lanes = 1;
  return out;
}

/// One sample of an output, or with sample = -1 all of it; null after `error`.
std::optional<Tensor> find_tensor(const galatea_batch& batch, int32_t output, int32_t sample,
                                  galatea_error*& error) {
  error = nullptr;
  if (!has_output(batch, output)) return error = no_output(batch, output), std::nullopt;
  const Batch::Output& out = batch.batch->outputs[static_cast<size_t>(output)];
  if (sample == -1) {
    if (galatea_batch_is_dense(&batch, output)) return stacked(out);
    error =
        misuse(fmt::format("output {} has samples of different extents, so it is not one tensor", output));
    return std::nullopt;
  }
  if (sample >= 0 && static_cast<size_t>(sample) < out.samples.size())
    return out.samples[static_cast<size_t>(sample)];
  error = misuse(fmt::format("sample {} does not exist; there are {}", sample, out.samples.size()));
  return std::nullopt;
}

bool is_on_device(const Tensor& tensor) { return tensor.memory == galatea::runtime::Memory::kDevice; }

galatea_error* to_error(const galatea::Status& status) {
  return status ? nullptr : galatea::api::make_api_error(status.error());
}

/// A DLPack tensor of either form with what it points to and what it keeps alive.
template <typename Managed>
struct ManagedTensor {
  Managed managed{};
  std::shared_ptr<const Batch> batch;
  int64_t shape[GALATEA_MAX_RANK] = {}, strides[GALATEA_MAX_RANK] = {};
};

template <typename Managed>
Managed* make_managed(std::shared_ptr<const Batch> batch, const Tensor& tensor) {
  auto owner = std::make_unique<ManagedTensor<Managed>>();
  const galatea_dl_device device =
      is_on_device(tensor) ? galatea_dl_device{2, batch->device->device()} : galatea_dl_device{1, 0};
  owner->batch = std::move(batch);
  for (int d = 0; d < tensor.ndim; ++d) {
    owner->shape[d] = tensor.extents[d];
    owner->strides[d] = tensor.strides[d];
  }
  galatea_dl_tensor& out = owner->managed.dl_tensor;
  out.data = tensor.data;
  out.device = device;
  out.ndim = tensor.ndim;
  out.dtype = dl_dtype(tensor.dtype);
  out.shape = owner->shape;
  out.strides = owner->strides;
  owner->managed.manager_ctx = owner.get();
  owner->managed.deleter = [](Managed* self) {
    if (self) delete static_cast<ManagedTensor<Managed>*>(self->manager_ctx);
  };
  return &owner.release()->managed;
}

/// A DLPack tensor; where it lies on a device, `order` sees to it that it is there in time.
template <typename Managed, typename Order>
galatea_error* take_managed(const galatea_batch* batch, int32_t output, int32_t sample, Managed** tensor,
                            Order order) {
  if (tensor) *tensor = nullptr;
  return guard([&]() -> galatea_error* {
    if (!batch || !tensor) return misuse("batch or tensor is NULL");
    galatea_error* error = nullptr;
    const auto found = find_tensor(*batch, output, sample, error);
    if (!found) return error;
    if (is_on_device(*found)) error = order(*batch->batch->device);
    if (!error) *tensor = make_managed<Managed>(batch->batch, *found);
    return error;
  });
}

galatea_error* make_stream_wait(DeviceOutputs& device, intptr_t stream) {
  if (stream == 0) return misuse("stream is 0, which DLPack does not allow; 1 is the default stream");
  return stream == -1 ? nullptr : to_error(device.make_wait(static_cast<uintptr_t>(stream)));
}

galatea_error* give(const galatea_batch& batch, const Tensor& tensor, const char* layout, galatea_tensor* out,
                    size_t size) {
  const int device = batch.batch->device ? batch.batch->device->device() : 0;
  return galatea::api::give_tensor(tensor, layout, device, out, size);
}

}  // namespace

extern "C" {

int32_t galatea_batch_num_samples(const galatea_batch* batch) { return batch->batch->num_samples(); }
int32_t galatea_batch_num_outputs(const galatea_batch* batch) {
  return static_cast<int32_t>(batch->batch->outputs.size());
}
int64_t galatea_batch_epoch(const galatea_batch* batch) { return batch->batch->epoch; }
int64_t galatea_batch_index(const galatea_batch* batch) { return batch->batch->index; }

int64_t galatea_batch_sample_id(const galatea_batch* batch, int32_t sample) {
  return sample >= 0 && sample < batch->batch->num_samples()
             ? batch->batch->sample_ids[static_cast<size_t>(sample)]
             : -1;
}

const char* galatea_batch_sample_name_borrow(const galatea_batch* batch, int32_t sample) {
  return sample >= 0 && sample < batch->batch->num_samples()
             ? batch->batch->sample_names[static_cast<size_t>(sample)].c_str()
             : "";
}

const char* galatea_batch_output_name_borrow(const galatea_batch* batch, int32_t output) {
  return has_output(*batch, output)
             ? batch->batch->outputs[static_cast<size_t>(output)].spec.port.name.c_str()
             : "";
}

galatea_error* galatea_batch_tensor_borrow_sized(const galatea_batch* batch, int32_t output, int32_t sample,
                                                 galatea_tensor* tensor, size_t tensor_size) {
  return guard([&]() -> galatea_error* {
    if (!batch || !tensor) return misuse("batch or tensor is NULL");
    if (!has_output(*batch, output)) return no_output(*batch, output);
    const Batch::Output& out = batch->batch->outputs[static_cast<size_t>(output)];
    if (sample < 0 || static_cast<size_t>(sample) >= out.samples.size())
      return misuse(fmt::format("sample {} does not exist; there are {}", sample, out.samples.size()));
    return give(*batch, out.samples[static_cast<size_t>(sample)], out.spec.port.layout_text().c_str(), tensor,
                tensor_size);
  });
}

galatea_error*(galatea_batch_tensor_borrow)(const galatea_batch* batch, int32_t output, int32_t sample,
                                            galatea_tensor* tensor) {
  return galatea_batch_tensor_borrow_sized(batch, output, sample, tensor, galatea::api::kFirstTensorSize);
}

int galatea_batch_is_dense(const galatea_batch* batch, int32_t output) {
  if (!batch || !has_output(*batch, output)) return 0;
  const Batch::Output& out = batch->batch->outputs[static_cast<size_t>(output)];
  return out.contiguous && !out.samples.empty() && out.spec.port.rank() < GALATEA_MAX_RANK;
}

galatea_error* galatea_batch_dense_borrow_sized(const galatea_batch* batch, int32_t output,
                                                galatea_tensor* tensor, size_t tensor_size) {
  return guard([&]() -> galatea_error* {
    if (!batch || !tensor) return misuse("batch or tensor is NULL");
    if (!has_output(*batch, output)) return no_output(*batch, output);
    if (!galatea_batch_is_dense(batch, output))
      return misuse(
          fmt::format("output {} has samples of different extents, so it is not one tensor", output));
    return give(*batch, stacked(batch->batch->outputs[static_cast<size_t>(output)]),
                batch->dense_layouts[static_cast<size_t>(output)].c_str(), tensor, tensor_size);
  });
}

galatea_error*(galatea_batch_dense_borrow)(const galatea_batch* batch, int32_t output,
                                           galatea_tensor* tensor) {
  return galatea_batch_dense_borrow_sized(batch, output, tensor, galatea::api::kFirstTensorSize);
}

int32_t galatea_batch_output_device(const galatea_batch* batch, int32_t output) {
  if (!batch || !has_output(*batch, output)) return -1;
  const bool is_there = batch->batch->outputs[static_cast<size_t>(output)].spec.on_device;
  return is_there && batch->batch->device ? batch->batch->device->device() : -1;
}

galatea_error* galatea_batch_wait(const galatea_batch* batch) {
  return guard([&]() -> galatea_error* {
    if (!batch) return misuse("batch is NULL");
    return batch->batch->device ? to_error(batch->batch->device->wait()) : nullptr;
  });
}

galatea_error* galatea_batch_make_stream_wait(const galatea_batch* batch, uintptr_t stream) {
  return guard([&]() -> galatea_error* {
    if (!batch) return misuse("batch is NULL");
    if (stream == 0) return misuse("stream is 0, which DLPack does not allow; 1 is the default stream");
    return batch->batch->device ? to_error(batch->batch->device->make_wait(stream)) : nullptr;
  });
}

galatea_error* galatea_batch_copy_to_host(const galatea_batch* batch, int32_t output, int32_t sample,
                                          void* data, int64_t num_bytes) {
  return guard([&]() -> galatea_error* {
    if (!batch) return misuse("batch is NULL");
    galatea_error* error = nullptr;
    const auto found = find_tensor(*batch, output, sample, error);
    if (!found) return error;
    if (num_bytes != found->num_bytes())
      return misuse(fmt::format("there are {} bytes to copy, not {}", found->num_bytes(), num_bytes));
    if (num_bytes == 0) return nullptr;
    if (!data) return misuse("data is NULL");
    auto* const to = static_cast<uint8_t*>(data);
    if (is_on_device(*found)) return to_error(batch->batch->device->download(*found, to));
    galatea::runtime::copy_dense(*found, to);
    return nullptr;
  });
}

galatea_error* galatea_batch_dlpack_take(const galatea_batch* batch, int32_t output, int32_t sample,
                                         galatea_dl_managed_tensor** tensor) {
  return take_managed(batch, output, sample, tensor,
                      [](DeviceOutputs& device) { return to_error(device.wait()); });
}

galatea_error* galatea_batch_dlpack_take_for_stream(const galatea_batch* batch, int32_t output,
                                                    int32_t sample, intptr_t stream,
                                                    galatea_dl_managed_tensor** tensor) {
  return take_managed(batch, output, sample, tensor,
                      [stream](DeviceOutputs& device) { return make_stream_wait(device, stream); });
}

galatea_error* galatea_batch_dlpack_versioned_take(const galatea_batch* batch, int32_t output, int32_t sample,
                                                   intptr_t stream, uint64_t flags,
                                                   galatea_dl_managed_tensor_versioned** tensor) {
  if (tensor) *tensor = nullptr;
  if ((flags & ~GALATEA_DL_READ_ONLY) != 0) return misuse("flags is neither 0 nor GALATEA_DL_READ_ONLY");
  galatea_error* error = take_managed(batch, output, sample, tensor, [stream](DeviceOutputs& device) {
    return stream == 0 ? to_error(device.wait()) : make_stream_wait(device, stream);
  });
  if (error) return error;
  (*tensor)->version = {1, 1};
  (*tensor)->flags = flags;
  return nullptr;
}

void galatea_batch_destroy(galatea_batch* batch) { delete batch; }

}  // extern "C"
