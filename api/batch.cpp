#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"

using galatea::api::guard;
using galatea::api::misuse;
using galatea::runtime::Batch;
using galatea::runtime::Tensor;

namespace {

void fill(galatea_tensor& out, const Tensor& tensor, const char* layout) {
  out = galatea_tensor{};
  out.data = tensor.data;
  out.dtype = static_cast<galatea_dtype>(tensor.dtype);
  out.ndim = tensor.ndim;
  out.layout = layout;
  for (int d = 0; d < tensor.ndim; ++d) {
    out.extents[d] = tensor.extents[d];
    out.strides[d] = tensor.strides[d];
  }
}

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

/// A DLPack tensor with what it points to and what it keeps alive.
struct ManagedTensor {
  galatea_dl_managed_tensor managed{};
  std::shared_ptr<const Batch> batch;
  int64_t shape[GALATEA_MAX_RANK] = {}, strides[GALATEA_MAX_RANK] = {};
};

galatea_dl_managed_tensor* make_managed(std::shared_ptr<const Batch> batch, const Tensor& tensor) {
  auto owner = std::make_unique<ManagedTensor>();
  owner->batch = std::move(batch);
  for (int d = 0; d < tensor.ndim; ++d) {
    owner->shape[d] = tensor.extents[d];
    owner->strides[d] = tensor.strides[d];
  }
  galatea_dl_tensor& out = owner->managed.dl_tensor;
  out.data = tensor.data;
  out.device = {1, 0};
  out.ndim = tensor.ndim;
  out.dtype = dl_dtype(tensor.dtype);
  out.shape = owner->shape;
  out.strides = owner->strides;
  owner->managed.manager_ctx = owner.get();
  owner->managed.deleter = [](galatea_dl_managed_tensor* self) {
    if (self) delete static_cast<ManagedTensor*>(self->manager_ctx);
  };
  return &owner.release()->managed;
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

galatea_error* galatea_batch_tensor_borrow(const galatea_batch* batch, int32_t output, int32_t sample,
                                           galatea_tensor* tensor) {
  return guard([&]() -> galatea_error* {
    if (!batch || !tensor) return misuse("batch or tensor is NULL");
    if (!has_output(*batch, output)) return no_output(*batch, output);
    const Batch::Output& out = batch->batch->outputs[static_cast<size_t>(output)];
    if (sample < 0 || static_cast<size_t>(sample) >= out.samples.size())
      return misuse(fmt::format("sample {} does not exist; there are {}", sample, out.samples.size()));
    fill(*tensor, out.samples[static_cast<size_t>(sample)], out.spec.layout.str().c_str());
    return nullptr;
  });
}

int galatea_batch_is_dense(const galatea_batch* batch, int32_t output) {
  if (!batch || !has_output(*batch, output)) return 0;
  const Batch::Output& out = batch->batch->outputs[static_cast<size_t>(output)];
  return out.contiguous && !out.samples.empty() && out.spec.ndim < GALATEA_MAX_RANK;
}

galatea_error* galatea_batch_dense_borrow(const galatea_batch* batch, int32_t output,
                                          galatea_tensor* tensor) {
  return guard([&]() -> galatea_error* {
    if (!batch || !tensor) return misuse("batch or tensor is NULL");
    if (!has_output(*batch, output)) return no_output(*batch, output);
    if (!galatea_batch_is_dense(batch, output))
      return misuse(
          fmt::format("output {} has samples of different extents, so it is not one tensor", output));
    fill(*tensor, stacked(batch->batch->outputs[static_cast<size_t>(output)]),
         batch->dense_layouts[static_cast<size_t>(output)].c_str());
    return nullptr;
  });
}

galatea_error* galatea_batch_dlpack_take(const galatea_batch* batch, int32_t output, int32_t sample,
                                         galatea_dl_managed_tensor** tensor) {
  if (tensor) *tensor = nullptr;
  return guard([&]() -> galatea_error* {
    if (!batch || !tensor) return misuse("batch or tensor is NULL");
    if (!has_output(*batch, output)) return no_output(*batch, output);
    const Batch::Output& out = batch->batch->outputs[static_cast<size_t>(output)];
    if (sample == -1) {
      if (!galatea_batch_is_dense(batch, output))
        return misuse(
            fmt::format("output {} has samples of different extents, so it is not one tensor", output));
      *tensor = make_managed(batch->batch, stacked(out));
      return nullptr;
    }
    if (sample < 0 || static_cast<size_t>(sample) >= out.samples.size())
      return misuse(fmt::format("sample {} does not exist; there are {}", sample, out.samples.size()));
    *tensor = make_managed(batch->batch, out.samples[static_cast<size_t>(sample)]);
    return nullptr;
  });
}

void galatea_batch_destroy(galatea_batch* batch) { delete batch; }

}  // extern "C"
