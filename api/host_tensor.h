// A host's tensors as ours, and ours as the host's.
#pragma once

#include <vector>

#include "base/layout.h"
#include "include/galatea.h"
#include "runtime/tensor.h"

namespace galatea::api {

/// Tensors that borrow the host's memory for the length of a call.
struct HostTensors {
  std::vector<runtime::Tensor> tensors;
  Layout layout;  ///< of the first; empty: not said
};
galatea_error* read_tensors(const galatea_tensor* given, int32_t count, size_t tensor_size, HostTensors& out);

/// `device`: the number of the GPU, where the tensor lies on one. `out` may be of a host that is older or
/// newer.
galatea_error* give_tensor(const runtime::Tensor& tensor, const char* layout, int device, galatea_tensor* out,
                           size_t tensor_size);

}  // namespace galatea::api
