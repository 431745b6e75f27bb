// decoders.image_random_crop: decodes a random window.
//
// Comes in: encoded bytes. Goes out: the window of the oriented image that fn.random_resized_crop would
// choose.
#include "stdlib_ops/common/random_window.h"
#include "stdlib_ops/decoders/decoder.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_decoders_image_random_crop() {
  Operator op;
  op.name = "decoders.image_random_crop";
  op.summary = "Decodes a random window of images.";
  op.documentation =
      "The window covers a random fraction of the image with a random aspect ratio, chosen as "
      "fn.random_resized_crop chooses it; only it is decoded.";
  op.kind = OperatorKind::kNative;
  op.inputs = {encoded_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = random_window_args();
  append(op.args, decoder_args());
  op.random = true;
  op.devices = {"cpu", "mixed"};
  op.aliases = {"image_decoder_random_crop", "experimental.decoders.image_random_crop"};
  op.example = image_example("fn.decoders.image_random_crop(encoded, random_area=[0.3, 0.6]), label");
  op.presets = decoder_presets();
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_TRY(check_random_window(ctx));
    GALATEA_ASSIGN(ir::Type out, decoded_type(ctx));
    return std::vector{out};
  };
  op.define = [](RecipeBuilder& b) {
    const EncodedExtents image = peek(b, "output_type");
    const auto [rows, columns] = random_window(b, image.h, image.w);
    output_decoded_window(b, image, rows, columns);
  };
  return op;
}

}  // namespace galatea::ops
