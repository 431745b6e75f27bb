#include "stdlib_ops/native/image_functions.h"

#include <fmt/format.h>

#include "base/json.h"
#include "runtime/fault.h"
#include "stdlib_ops/native/image.h"

namespace galatea::native {
namespace {

class ImageState final : public runtime::NativeState {
 public:
  DecodeOptions options;
  bool paged = false;  ///< the first scalar is the page
};

Result<std::shared_ptr<runtime::NativeState>> prepare(const std::string& config) {
  auto state = std::make_shared<ImageState>();
  const nlohmann::json json = parse_json(config.empty() ? "{}" : config);
  GALATEA_CHECK(json.is_object(), "image function: configuration is not a JSON object");
  state->options.type = static_cast<ImageType>(json.value("output_type", 0));
  state->options.adjust_orientation = json.value("adjust_orientation", true);
  state->options.fast_idct = json.value("use_fast_idct", false);
  state->options.hybrid_huffman_threshold =
      json.value("hybrid_huffman_threshold", state->options.hybrid_huffman_threshold);
  if (json.contains("jpeg_engine"))
    state->options.engine =
        json["jpeg_engine"].get<bool>() ? JpegEngineUse::kWherever : JpegEngineUse::kNever;
  state->paged = json.value("paged", false);
  auto dtype = dtype_from_short_name(json.value("dtype", std::string("u8")));
  GALATEA_CHECK(dtype.has_value(), "image function: unknown dtype in the configuration");
  state->options.dtype = *dtype;
  return state;
}

class ContextScratch final : public Scratch {
 public:
  explicit ContextScratch(runtime::NativeContext& context) : context_(context) {}
  Result<uint8_t*> bytes(int64_t size) override { return context_.scratch(size); }

 private:
  runtime::NativeContext& context_;
};

Bytes encoded(const runtime::Tensor& tensor) { return {tensor.data, static_cast<size_t>(tensor.extents[0])}; }

Status peek(runtime::NativeContext& context) {
  const auto* state = static_cast<const ImageState*>(context.state);
  const DecodeOptions& options = state->options;
  const int64_t page = state->paged ? cell_to_int(DType::kI64, context.scalars[0]) : 0;
  GALATEA_ASSIGN(ImageHeader header, read_header(encoded(context.inputs[0]), page));
  bool swap = options.adjust_orientation && swaps_axes(header.orientation);
  context.scalar_results[0] = cell_from_int(DType::kI64, swap ? header.width : header.height);
  context.scalar_results[1] = cell_from_int(DType::kI64, swap ? header.height : header.width);
  context.scalar_results[2] = cell_from_int(DType::kI64, decoded_channels(header, options.type));
  const int orientation = options.adjust_orientation ? header.orientation : 1;
  context.scalar_results[3] = cell_from_int(DType::kI64, least_eighths(header, orientation));
  context.scalar_results[4] = cell_from_int(DType::kI64, header.is_low_pass ? 1 : 0);
  return {};
}

Status tell_orientation(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const ImageHeader header, read_header(encoded(context.inputs[0])));
  context.scalar_results[0] = cell_from_int(DType::kI64, header.orientation);
  return {};
}

Status decode(runtime::NativeContext& context) {
  const DecodeCall call = decode_call(context.inputs, context.scalars, context.state);
  GALATEA_ASSIGN(ImageHeader header, read_header(call.bytes, call.options.page));
  ContextScratch scratch(context);
  return decode_window(call.bytes, header, call.window, call.options, scratch, context.output->data);
}

}  // namespace

DecodeCall decode_call(std::span<const runtime::Tensor> inputs, std::span<const Cell> scalars,
                       const runtime::NativeState* state) {
  const auto* image = static_cast<const ImageState*>(state);
  DecodeCall out{encoded(inputs[0]), {}, image->options};
  // The page and the scale, where the call has them, and the window.
  auto scalar = [&](size_t i) { return cell_to_int(DType::kI64, scalars[i]); };
  size_t next = 0;
  if (image->paged) out.options.page = scalar(next++);
  if (scalars.size() == next + 5) out.options.eighths = static_cast<int>(scalar(next++));
  out.window = {scalar(next), scalar(next + 1), scalar(next + 2), scalar(next + 3)};
  return out;
}

uint8_t* scratch_or_null(Scratch& scratch, int64_t size, Error* error) {
  try {
    Result<uint8_t*> memory = scratch.bytes(size);
    if (memory) return *memory;
    *error = std::move(memory.error());
  } catch (const std::bad_alloc&) {
    *error = runtime::error_in_flight();
  }
  return nullptr;
}

namespace {

std::vector<Port> encoded_ports() {
  return {{.name = "data", .documentation = "the bytes of an image file", .dtypes = {DType::kU8}, .ndim = 1}};
}

}  // namespace

runtime::NativeFunction image_peek_function() {
  return {
      .name = kImagePeek, .category = "decode", .prepare = prepare, .call = peek, .inputs = encoded_ports()};
}

runtime::NativeFunction image_orientation_function() {
  return {
      .name = kImageOrientation, .category = "decode", .call = tell_orientation, .inputs = encoded_ports()};
}

runtime::NativeFunction image_decode_function(std::string name) {
  auto working_bytes = [](std::span<const runtime::Tensor> inputs, std::span<const Cell> scalars,
                          const runtime::NativeState* state) {
    const DecodeCall call = decode_call(inputs, scalars, state);
    return decode_working_bytes(call.bytes, call.options.page);
  };
  return {std::move(name), "decode", prepare, decode, working_bytes, encoded_ports()};
}

bool decodes_images(std::string_view name) { return name == kImageDecode || name == kImageDecodeWindow; }

}  // namespace galatea::native
