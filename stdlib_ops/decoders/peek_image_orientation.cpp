// galatea.peek_image_orientation: the EXIF orientation that an encoded image states.
//
// Comes in: encoded bytes. Goes out: a number from 1 to 8, a scalar.
#include "stdlib_ops/decoders/decoder.h"
#include "stdlib_ops/native/image_functions.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_galatea_peek_image_orientation() {
  Operator op;
  op.name = "galatea.peek_image_orientation";
  op.summary = "The EXIF orientation of encoded images, from their headers.";
  op.documentation =
      "INT32, 1 to 8: how the stored picture must be turned to stand upright (tag 0x0112 of EXIF 2.3, section "
      "4.6.4), of JPEG, PNG, WebP and TIFF. 1, as it is, where the file states none or another number. Decoders turn "
      "pictures themselves unless adjust_orientation=False; then fn.galatea.auto_orient does.";
  op.kind = OperatorKind::kNative;
  op.inputs = {encoded_input()};
  op.min_inputs = op.max_inputs = 1;
  op.example = image_example("fn.galatea.peek_image_orientation(encoded), label");
  op.type_rule = [](const TypeContext&) -> Types {
    return std::vector{
        ir::Type{.dtype = DType::kI32, .ndim = 0, .layout = {}, .device = ir::Device::kCpu, .extents = {}}};
  };
  op.define = [](RecipeBuilder& b) {
    const std::vector<Expr> stated =
        b.native_scalars(native::kImageOrientation, {0}, {}, {}, {DType::kI64}, {{1, 8}});
    b.output_scalars(0, {kernel::convert(stated[0], DType::kI32)});
  };
  return op;
}

}  // namespace galatea::ops
