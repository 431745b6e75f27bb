// peek_image_shape: the extents of an encoded image, without decoding it.
//
// Comes in: encoded bytes. Goes out: (H, W, C) as a 1-D tensor of scalars.
#include "stdlib_ops/decoders/decoder.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_peek_image_shape() {
  Operator op;
  op.name = "peek_image_shape";
  op.summary = "The extents of encoded images, from their headers.";
  op.documentation =
      "(H, W, C) of the image that decoding would give: the EXIF orientation swaps H and W, image_type "
      "decides C.";
  op.kind = OperatorKind::kNative;
  op.inputs = {encoded_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "adjust_orientation",
              .kind = ArgKind::kBool,
              .default_value = true,
              .documentation = "Whether the EXIF orientation is applied."},
             {.name = "image_type",
              .kind = ArgKind::kImageType,
              .default_value = int64_t{0},
              .documentation = "Colour space, which decides the channels."},
             {.name = "dtype",
              .kind = ArgKind::kDType,
              .default_value = DType::kI64,
              .documentation = "INT32, UINT32, INT64, UINT64, FLOAT or FLOAT64."},
             page_arg()};
  op.aliases = {"experimental.peek_image_shape"};
  op.example = image_example("fn.peek_image_shape(encoded), label");
  op.presets = decoder_presets();
  op.type_rule = [](const TypeContext& ctx) -> Types {
    const DType dtype = ctx.dtype("dtype", DType::kI64);
    if (size_of(dtype) < 4)
      return ctx.error(fmt::format("peek_image_shape: dtype {} cannot hold extents", types_name(dtype)),
                       "use INT32, UINT32, INT64, UINT64, FLOAT or FLOAT64", "dtype");
    return std::vector{
        ir::Type{.dtype = dtype, .ndim = 1, .layout = {}, .device = ir::Device::kCpu, .extents = {3}}};
  };
  op.define = [](RecipeBuilder& b) {
    const EncodedExtents e = peek(b, "image_type");
    const DType dtype = b.output_type(0).dtype;
    b.output_scalars(0,
                     {kernel::convert(e.h, dtype), kernel::convert(e.w, dtype), kernel::convert(e.c, dtype)});
  };
  return op;
}

}  // namespace galatea::ops
