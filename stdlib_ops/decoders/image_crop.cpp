// decoders.image_crop: decodes a window placed as fn.crop places it.
//
// Comes in: encoded bytes. Goes out: the window of the oriented image, equal to decoding and cropping.
#include "stdlib_ops/decoders/decoder.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_decoders_image_crop() {
  Operator op;
  op.name = "decoders.image_crop";
  op.summary = "Decodes a window of images, placed as fn.crop does.";
  op.documentation =
      "Equal to fn.decoders.image followed by fn.crop; a window larger than the image is an error.";
  op.kind = OperatorKind::kNative;
  op.inputs = {encoded_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = crop_args();
  append(op.args, decoder_args());
  op.devices = {"cpu", "mixed"};
  op.aliases = {"image_decoder_crop", "experimental.decoders.image_crop"};
  op.example = image_example("fn.decoders.image_crop(encoded, crop=(32, 32)), label");
  op.presets = decoder_presets();
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_ASSIGN(ir::Type out, decoded_type(ctx));
    GALATEA_ASSIGN(const auto window, crop_types(ctx, "HW", {-1, -1}, false));
    out.extents[0] = window[0];
    out.extents[1] = window[1];
    return std::vector{out};
  };
  op.define = [](RecipeBuilder& b) {
    const EncodedExtents image = peek(b, "output_type");
    const auto window = crop_window(b, "HW", {image.h, image.w});
    output_decoded_window(b, image, apply_bounds(b, window[0], image.h, BoundsPolicy::kError, 'H'),
                          apply_bounds(b, window[1], image.w, BoundsPolicy::kError, 'W'));
  };
  return op;
}

}  // namespace galatea::ops
