#include "stdlib_ops/native/npy_functions.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/scalar_op.h"
#include "stdlib_ops/native/convert_elements.h"
#include "stdlib_ops/native/fed_file.h"
#include "stdlib_ops/native/npy.h"

namespace galatea::native {
namespace {

constexpr const char* kInput = "the input";

class NumpyState final : public runtime::NativeState {
 public:
  size_t rank = 0;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_numpy(const std::string& config) {
  auto state = std::make_shared<NumpyState>();
  const char* end = config.data() + config.size();
  const auto parsed = std::from_chars(config.data(), end, state->rank);
  GALATEA_CHECK(parsed.ec == std::errc() && parsed.ptr == end, "numpy.peek: the number of axes is no number");
  return state;
}

Result<NpyHeader> header_of(const runtime::NativeContext& context, const ByteSource& bytes) {
  GALATEA_ASSIGN(NpyHeader header, read_npy_header(bytes));
  if (const size_t rank = static_cast<const NumpyState*>(context.state)->rank; header.shape.size() != rank)
    return make_error(ErrorKind::kUser, "G0802",
                      fmt::format("the array has {} axes, not {}", header.shape.size(), rank),
                      "ndim= says how many all of them have; on_error=\"skip\" goes on without the others");
  return header;
}

Status numpy_peek(runtime::NativeContext& context) {
  std::vector<uint8_t> copy;
  const auto bytes = bytes_elsewhere(kInput, bytes_of_input(context.inputs[0], copy));
  GALATEA_ASSIGN(const NpyHeader header, header_of(context, *bytes));
  for (size_t d = 0; d < header.shape.size(); ++d)
    context.scalar_results[d] = cell_from_int(DType::kI64, header.shape[d]);
  return {};
}

Status numpy_decode(runtime::NativeContext& context) {
  std::vector<uint8_t> copy;
  const auto bytes = bytes_elsewhere(kInput, bytes_of_input(context.inputs[0], copy));
  GALATEA_ASSIGN(const NpyHeader header, header_of(context, *bytes));
  const runtime::Tensor& out = *context.output;
  GALATEA_CHECK(std::ranges::equal(header.shape, std::span(out.extents, static_cast<size_t>(out.ndim))),
                "numpy.decode: the output has other extents than the array");
  const std::vector<int64_t> start(header.shape.size());
  if (header.dtype == out.dtype) return read_npy_part(*bytes, header, start, header.shape, out.data);
  GALATEA_ASSIGN(uint8_t* const elements, context.scratch(out.volume() * size_of(header.dtype)));
  GALATEA_TRY(read_npy_part(*bytes, header, start, header.shape, elements));
  convert_elements(header.dtype, elements, out.dtype, out.data, out.volume());
  return {};
}

/// A copy of the input where it has gaps, the elements before they are converted, and columns that are turned.
int64_t numpy_working_bytes(std::span<const runtime::Tensor> inputs, std::span<const Cell>,
                            const runtime::NativeState*) {
  return 3 * inputs[0].num_bytes();
}

}  // namespace

std::vector<runtime::NativeFunction> numpy_functions() {
  return {{.name = kNumpyPeek, .category = "decode", .prepare = prepare_numpy, .call = numpy_peek},
          {.name = kNumpyDecode,
           .category = "decode",
           .prepare = prepare_numpy,
           .call = numpy_decode,
           .working_bytes = numpy_working_bytes}};
}

}  // namespace galatea::native
