// Tensors with storage, and a call made of them, for tests that run kernels.
//
// Comes in: dtypes, extents, values. Goes out: a runtime::KernelCall that stays valid as long as the object
// lives.
#pragma once

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/scalar_op.h"
#include "compiler/kernel/reader.h"
#include "runtime/kernel_abi.h"

namespace galatea::testing {

/// A dense tensor with its own, padded bytes.
struct TestTensor {
  DType type = DType::kU8;
  std::vector<int64_t> extents;
  std::vector<uint8_t> bytes;

  TestTensor(DType element, std::vector<int64_t> sizes) : type(element), extents(std::move(sizes)) {
    bytes.assign(static_cast<size_t>(count() * size_of(type) + runtime::kBufferPadding), 0xCD);
  }
  template <typename T>
  static TestTensor of(DType element, std::vector<int64_t> sizes, const std::vector<T>& values) {
    TestTensor out(element, std::move(sizes));
    // An empty vector may have no address, which memcpy may not be given.
    if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), values.size() * sizeof(T));
    return out;
  }
  int64_t count() const {
    return std::accumulate(extents.begin(), extents.end(), int64_t{1},
                           [](int64_t a, int64_t b) { return a * b; });
  }
  template <typename T>
  std::vector<T> values() const {
    std::vector<T> out(static_cast<size_t>(count()));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
    return out;
  }
  runtime::KernelTensor view() {
    runtime::KernelTensor out;
    out.data = bytes.data();
    int64_t stride = 1;
    for (size_t d = extents.size(); d-- > 0;) {
      out.extents[d] = extents[d];
      out.strides[d] = stride;
      stride *= extents[d];
    }
    return out;
  }
};

/// A call over tensors that the caller keeps.
struct TestCall {
  std::vector<runtime::KernelTensor> tensors;
  std::vector<uint64_t> params;
  std::vector<uint64_t> scratch;
  uint32_t status = 0;
  runtime::KernelCall call() {
    return {tensors.data(), params.data(), reinterpret_cast<uint8_t*>(scratch.data()), &status};
  }
};

/// A kernel from text; a mistake in the text fails loudly.
inline kernel::Kernel kernel_from(const std::string& text) {
  SourceMap sources;
  auto out = kernel::read_kernel(text, sources);
  if (!out)
    throw std::runtime_error(sources.describe(out.error().diagnostics[0].span) + ": " +
                             out.error().message());
  if (auto status = kernel::verify(*out); !status) throw std::runtime_error(status.error().message());
  return *out;
}

}  // namespace galatea::testing
