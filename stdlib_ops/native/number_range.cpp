#include "stdlib_ops/native/number_range.h"

#include <algorithm>

namespace galatea::native {
namespace {

Status number_range(runtime::NativeContext& context) {
  const runtime::Tensor& numbers = context.inputs[0];
  const int64_t size = size_of(numbers.dtype);
  int64_t least = 0, largest = 0;
  for (int64_t n = 0; n < numbers.extents[0]; ++n) {
    const uint8_t* address = numbers.data + n * numbers.strides[0] * size;
    const int64_t number = cell_to_int(numbers.dtype, load_cell(numbers.dtype, address));
    least = n == 0 ? number : std::min(least, number);
    largest = n == 0 ? number : std::max(largest, number);
  }
  context.scalar_results[0] = cell_from_int(DType::kI64, least);
  context.scalar_results[1] = cell_from_int(DType::kI64, largest);
  return {};
}

}  // namespace

runtime::NativeFunction number_range_function() {
  runtime::NativeFunction made;
  made.name = kNumberRange;
  made.category = "compute";
  made.call = number_range;
  return made;
}

}  // namespace galatea::native
