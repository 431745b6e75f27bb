// decoders.image: decodes whole images.
//
// Comes in: encoded bytes. Goes out: an image HWC. Marked as a region decoder: the compiler may ask for the
// window that its consumers read.
#include "stdlib_ops/decoders/decoder.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_decoders_image() {
  Operator op;
  op.name = "decoders.image";
  op.summary = "Decodes images.";
  op.documentation =
      "Decodes images, recognised by their content, to [H, W, C]. Grey sources are replicated to three "
      "channels, alpha is dropped, inks (CMYK) become RGB; GRAY of a JPEG is its luma plane. ANY_DATA keeps "
      "the channels of the file. Samples of any width are scaled to dtype: white is its largest number, or 1 "
      "of floats; the floats of a TIFF stay what they are. Colour profiles are not applied. Only the part of "
      "the image that later operators read is decoded.";
  op.kind = OperatorKind::kNative;
  op.inputs = {encoded_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = decoder_args();
  append(op.args,
         {ignored("cache_size", ArgKind::kInt, int64_t{0}, "A cache of GPU decoding; not needed here."),
          ignored("cache_type", ArgKind::kString, std::string(), "A cache of GPU decoding; not needed here."),
          ignored("cache_threshold", ArgKind::kInt, int64_t{0}, "A cache of GPU decoding; not needed here."),
          ignored("cache_debug", ArgKind::kBool, false, "A cache of GPU decoding; not needed here."),
          ignored("cache_batch_copy", ArgKind::kBool, true, "A cache of GPU decoding; not needed here.")});
  op.devices = {"cpu", "mixed"};
  op.aliases = {"image_decoder", "experimental.decoders.image"};
  op.example = image_example("image, label");
  op.presets = decoder_presets();
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_ASSIGN(ir::Type out, decoded_type(ctx));
    return std::vector{out};
  };
  op.define = [](RecipeBuilder& b) { output_decoded(b, peek(b, "output_type")); };
  return op;
}

}  // namespace galatea::ops
