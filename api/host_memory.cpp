#include "api/host_memory.h"

#include <cstdint>
#include <utility>

#include "include/galatea.h"

namespace galatea::api {
namespace {

using runtime::kBufferPadding;
using runtime::Tensor;

static_assert(GALATEA_PADDING == kBufferPadding, "hosts are told how much is read behind their memory");

/// No page of any system is smaller, and its size divides those of all others.
constexpr uintptr_t kPage = 4096;

class HostBuffer final : public runtime::Buffer {
 public:
  HostBuffer(const Tensor& tensor, std::shared_ptr<HostLoan> loan) : loan_(std::move(loan)) {
    data_ = tensor.data;
    size_ = tensor.num_bytes();
  }

 private:
  std::shared_ptr<HostLoan> loan_;
};

uintptr_t begin_of(const Tensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.data); }

/// Bytes of a row-major tensor without gaps; 0 where it is none, or nothing.
int64_t bytes_in_a_row(const Tensor& tensor) {
  const auto bytes = runtime::dense_bytes(tensor.dtype, {tensor.extents, static_cast<size_t>(tensor.ndim)});
  return bytes && tensor.is_dense() ? *bytes : 0;
}

/// Can the bytes behind the end be read, as every buffer promises? `next` may be null.
bool is_padded(uintptr_t end, const Tensor* next) {
  if ((end - 1) / kPage == (end - 1 + kBufferPadding) / kPage) return true;
  return next && begin_of(*next) == end && bytes_in_a_row(*next) >= kBufferPadding;
}

bool can_be_lent(const Tensor& tensor, const Tensor* next) {
  const auto bytes = static_cast<uintptr_t>(bytes_in_a_row(tensor));
  return bytes > 0 && begin_of(tensor) % static_cast<uintptr_t>(size_of(tensor.dtype)) == 0 &&
         is_padded(begin_of(tensor) + bytes, next);
}

}  // namespace

void lend(std::vector<Tensor>& samples, const std::shared_ptr<HostLoan>& loan) {
  for (size_t k = 0; k < samples.size(); ++k) {
    const Tensor* next = k + 1 < samples.size() ? &samples[k + 1] : nullptr;
    if (can_be_lent(samples[k], next)) samples[k].buffer = std::make_shared<HostBuffer>(samples[k], loan);
  }
}

}  // namespace galatea::api
