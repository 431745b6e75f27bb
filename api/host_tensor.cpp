#include "api/host_tensor.h"

#include <fmt/format.h>

#include "api/sized.h"

namespace galatea::api {
namespace {

Result<runtime::Tensor> borrow(const galatea_tensor& given, int32_t number) {
  auto refuse = [&](std::string why) {
    return make_error(ErrorKind::kUser, "G0940", fmt::format("sample {}: {}", number, why),
                      "galatea_tensor_init() fills a tensor");
  };
  // The host may have written any number; an enumeration may not hold it.
  int32_t dtype = 0;
  static_assert(sizeof dtype == sizeof given.dtype);
  std::memcpy(&dtype, &given.dtype, sizeof dtype);
  if (dtype < 0 || dtype >= kNumDTypes) return refuse(fmt::format("{} is no element type", dtype));
  if (given.ndim < 0 || given.ndim > GALATEA_MAX_RANK)
    return refuse(fmt::format("{} dimensions are not within 0 … {}", given.ndim, GALATEA_MAX_RANK));
  constexpr int32_t kDlpackCpu = 1;
  if (given.device_type != GALATEA_HOST && given.device_type != kDlpackCpu)
    return refuse(given.device_type == GALATEA_CUDA
                      ? "it lies on a GPU, and only memory of the host can be fed"
                      : fmt::format("{} is no type of device", given.device_type));
  runtime::Tensor tensor;
  tensor.data = static_cast<uint8_t*>(given.data);
  tensor.dtype = static_cast<DType>(dtype);
  tensor.ndim = given.ndim;
  for (int d = 0; d < given.ndim; ++d) {
    tensor.extents[d] = given.extents[d];
    tensor.strides[d] = given.strides[d];
  }
  return tensor;
}

}  // namespace

galatea_error* read_tensors(const galatea_tensor* given, int32_t count, size_t tensor_size,
                            HostTensors& out) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (int32_t k = 0; k < count; ++k, bytes += tensor_size) {
    galatea_tensor known;
    if (galatea_error* error = read_struct("galatea_tensor", bytes, tensor_size, kFirstTensorSize, known))
      return error;
    auto tensor = borrow(known, k);
    if (!tensor) return make_api_error(tensor.error());
    out.tensors.push_back(std::move(*tensor));
    if (k == 0 && known.layout) out.layout = Layout(known.layout);
  }
  return nullptr;
}

galatea_error* give_tensor(const runtime::Tensor& tensor, const char* layout, int device, galatea_tensor* to,
                           size_t tensor_size) {
  if (galatea_error* error = check_struct_size("galatea_tensor", tensor_size, kFirstTensorSize)) return error;
  galatea_tensor out{};
  out.data = tensor.data;
  out.dtype = static_cast<galatea_dtype>(tensor.dtype);
  out.ndim = tensor.ndim;
  out.layout = layout;
  for (int d = 0; d < tensor.ndim; ++d) {
    out.extents[d] = tensor.extents[d];
    out.strides[d] = tensor.strides[d];
  }
  const bool is_on_gpu = tensor.memory == runtime::Memory::kDevice;
  out.device_type = is_on_gpu ? GALATEA_CUDA : GALATEA_HOST;
  out.device = is_on_gpu ? device : 0;
  write_struct(out, to, tensor_size);
  return nullptr;
}

}  // namespace galatea::api
