#include "runtime/constant_tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/result.h"

namespace galatea::runtime {

ConstantTensor::ConstantTensor(DType type, std::vector<int64_t> extents, std::span<const Cell> elements)
    : type_(type), extents_(std::move(extents)) {
  int64_t count = 1;
  for (const int64_t extent : extents_) count *= extent;
  GALATEA_CHECK(
      count == static_cast<int64_t>(elements.size()) && extents_.size() <= static_cast<size_t>(kMaxRank),
      "a constant has as many elements as its extents hold");
  size_ = count * size_of(type);
  const auto bytes = static_cast<size_t>(size_ + kBufferPadding);
  data_ = static_cast<uint8_t*>(::operator new(bytes, std::align_val_t{kBufferAlignment}));
  std::memset(data_, 0, bytes);
  for (int64_t n = 0; n < count; ++n)
    store_cell(type, data_ + n * size_of(type), elements[static_cast<size_t>(n)]);
}

ConstantTensor::~ConstantTensor() { ::operator delete(data_, std::align_val_t{kBufferAlignment}); }

bool same(const ConstantTensor& a, const ConstantTensor& b) {
  return a.type() == b.type() && a.extents() == b.extents() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size())) == 0;
}

Tensor view_of(const std::shared_ptr<const ConstantTensor>& constant) {
  Tensor view;
  view.set_dense(constant->type(), constant->extents());
  view.buffer = std::const_pointer_cast<ConstantTensor>(constant);
  view.data = constant->data();
  return view;
}

}  // namespace galatea::runtime
