// segmentation.select_masks: the polygons of some masks.
//
// Comes in: ids of masks, polygons, vertices. Goes out: the polygons of these masks, and their vertices. The
// numbers are stdlib_ops/native/select_masks.h.
#include "stdlib_ops/native/select_masks.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types select_masks_types(const TypeContext& ctx) {
  const ir::Type& polygons = ctx.input(1);
  if (polygons.extents[1] >= 0 && polygons.extents[1] != 3)
    return ctx.error(fmt::format("segmentation.select_masks: {} are no polygons", describe(polygons)),
                     "rows hold mask id, first vertex, and the one behind the last: INT32 [n, 3]");
  ir::Type selected = polygons, vertices = ctx.input(2);
  selected.extents = {-1, 3};
  vertices.extents[0] = -1;
  selected.layout = vertices.layout = {};
  return std::vector{selected, vertices};
}

void define_select_masks(RecipeBuilder& b) {
  b.check(equal(b.extent(1, 1), i64(3)), "a polygon has 3 numbers, not {}", {b.extent(1, 1)});
  const std::string config = fmt::format("{{\"reindex\": {}}}", b.flag("reindex_masks"));
  const std::vector<Expr> counted =
      b.native_scalars(native::kMasksCount, {0, 1, 2}, {}, config, {DType::kI64, DType::kI64});
  const auto make = [&](const char* function, std::vector<int> inputs, const char* makes) {
    op::NativeOutput native;
    native.function = function;
    native.inputs = std::move(inputs);
    native.config = config;
    native.makes = makes;
    return native;
  };
  b.output_native(0, make(native::kMasksPolygons, {0, 1}, "polygons"), {counted[0], i64(3)});
  b.output_native(1, make(native::kMasksVertices, {0, 1, 2}, "vertices"), {counted[1], b.extent(2, 1)});
}

}  // namespace

Operator make_segmentation_select_masks() {
  Operator op;
  op.name = "segmentation.select_masks";
  op.summary = "The polygons of some masks, and their vertices.";
  op.documentation =
      "A polygon is a row of mask id, first vertex, and the one behind its last; a mask may have several. The "
      "polygons of the masks come in the order of mask_ids, those of one mask as they were given. Vertices "
      "follow polygon by polygon, and are numbered from 0. An id that is given twice, or of which there is no "
      "polygon, and vertices that are not there, are the sample's error; polygons of other masks are not "
      "looked at.";
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "mask_ids",
                .documentation = "INT32 [k], the masks that are selected, each once",
                .dtypes = {DType::kI32},
                .ndim = 1},
               {.name = "polygons",
                .documentation = "INT32 [p, 3]: mask id, first vertex, and the one behind the last",
                .dtypes = {DType::kI32},
                .ndim = 2},
               {.name = "vertices", .documentation = "[v, n] of any type: n coordinates each", .ndim = 2}};
  op.min_inputs = op.max_inputs = 3;
  op.output_needs = {"", ""};
  op.args = {{.name = "reindex_masks",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether a mask's id becomes its place in mask_ids."}};
  op.example =
      "ids = fn.constant(idata=[2, 0], shape=[2])\n"
      "polygons = fn.constant(idata=[0, 0, 3, 1, 3, 6, 2, 6, 9], shape=[3, 3])\n"
      "vertices = fn.random.uniform(range=[0.0, 1.0], shape=[9, 2])\n"
      "selected, corners = fn.segmentation.select_masks(ids, polygons, vertices, reindex_masks=True)\n"
      "return selected, corners\n";
  op.type_rule = select_masks_types;
  op.define = define_select_masks;
  return op;
}

}  // namespace galatea::ops
