// experimental.remap: looks pixels up where two maps say.
//
// Comes in: an image, and for each pixel of the output the place (x, y) in the image. Goes out: an image of
// the maps' extents.
#include "stdlib_ops/common/pixels.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// A map of layout HWC has one channel; what says so in the type, if anything.
Status check_map(const TypeContext& ctx, int k) {
  const ir::Type& type = ctx.input(k);
  if (type.ndim == 3 && type.extents[2] >= 0 && type.extents[2] != 1)
    return ctx.error(fmt::format("experimental.remap: {} is {}; a map has one channel",
                                 ctx.op().inputs[static_cast<size_t>(k)].name, describe(type)),
                     "give x and y of the places as two maps");
  return {};
}

Types remap_types(const TypeContext& ctx) {
  GALATEA_TRY(check_lookup_filter(ctx, "interp",
                                  {Filter::kNearest, Filter::kLinear, Filter::kCubic, Filter::kLanczos3}));
  const std::string origin = ctx.text("pixel_origin");
  if (origin != "corner" && origin != "center")
    return ctx.error(fmt::format("experimental.remap: unknown pixel_origin \"{}\"", origin),
                     "use \"corner\" or \"center\"", "pixel_origin");
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  const ImageAxes at = image_axes(out.layout);
  for (const int k : {1, 2}) GALATEA_TRY(check_map(ctx, k));
  for (const auto& [dim, axis] : {std::pair{at.h, size_t{0}}, std::pair{at.w, size_t{1}}}) {
    const int64_t x = ctx.input(1).extents[axis], y = ctx.input(2).extents[axis];
    if (x >= 0 && y >= 0 && x != y)
      return ctx.error(fmt::format("experimental.remap: mapx is {}, mapy {}", describe(ctx.input(1)),
                                   describe(ctx.input(2))),
                       "both maps have the extents of the output");
    out.extents[static_cast<size_t>(dim)] = x >= 0 ? x : y;
  }
  return std::vector{out};
}

void define_remap(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto h = static_cast<size_t>(at.h), w = static_cast<size_t>(at.w);
  Axes extents = b.extents(0);
  extents[h] = b.extent(1, 0);
  extents[w] = b.extent(1, 1);
  b.check(equal(b.extent(2, 0), extents[h]) & equal(b.extent(2, 1), extents[w]),
          "mapx is {} x {}, mapy {} x {}", {extents[h], extents[w], b.extent(2, 0), b.extent(2, 1)},
          "both maps have the extents of the output");
  for (const int k : {1, 2})
    if (b.input_type(k).ndim == 3)
      b.check(equal(b.extent(k, 2), i64(1)), "a map has {} channels instead of one", {b.extent(k, 2)},
              "give x and y of the places as two maps");
  const Lookup lookup{.b = b,
                      .at = at,
                      .filter = static_cast<Filter>(b.integer("interp")),
                      .outside = Outside::kFill,
                      .fill = {kernel::saturate(f32(0), b.input_type(0).dtype)}};
  const Expr shift = f32(b.text("pixel_origin") == "corner" ? 0.5 : 0);
  b.output_stage(0, b.map("remap", b.output_type(0).dtype, extents, [&](const Axes& index) {
    const auto place = [&](int k) {
      Axes cell = {index[h], index[w]};
      if (b.input_type(k).ndim == 3) cell.push_back(i64(0));
      return b.load(k, std::move(cell)) - shift;
    };
    return lookup(index, place(1), place(2));
  }));
}

Port map_input(const char* name, const char* documentation) {
  return {.name = name, .documentation = documentation, .layouts = {"HW", "HWC"}, .dtypes = {DType::kF32}};
}

}  // namespace

Operator make_experimental_remap() {
  Operator op;
  op.name = "experimental.remap";
  op.summary = "Looks pixels up where two maps say.";
  op.documentation =
      "Output pixel (x, y) shows the image at (mapx[y, x], mapy[y, x]). pixel_origin says what places are: of "
      "\"corner\", pixel k covers [k, k + 1) and has its centre at k + 1/2; of \"center\", it has its centre "
      "at k, as in OpenCV. The output has the extents of the maps. INTERP_LINEAR blends four pixels, "
      "INTERP_CUBIC sixteen (Keys' cubic convolution with a = -3/4), INTERP_LANCZOS3 36 (sinc(d) sinc(d / 3), "
      "weights divided by their sum), INTERP_NN takes the nearest, of two that are as near the even one. "
      "Outside the image is 0; a place that is not a number lies outside. Computed in f32; values round half "
      "to even.";
  op.inputs = {{.name = "input",
                .documentation = "image",
                .layouts = {"HWC", "CHW", "HW"},
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}},
               map_input("mapx", "x of the place of each pixel of the output, FLOAT [H, W]"),
               map_input("mapy", "y of the same")};
  op.min_inputs = op.max_inputs = 3;
  op.args = {{.name = "interp",
              .kind = ArgKind::kInterp,
              .default_value = static_cast<int64_t>(Filter::kLinear),
              .documentation = "INTERP_NN, INTERP_LINEAR, INTERP_CUBIC or INTERP_LANCZOS3."},
             {.name = "pixel_origin",
              .kind = ArgKind::kString,
              .default_value = std::string("corner"),
              .documentation = "\"corner\" or \"center\": what is at (0, 0), a corner of the first pixel or "
                               "its centre."}};
  op.devices = {"cpu", "gpu"};
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "image = fn.decoders.image(encoded)\n"
      "places = fn.random.uniform(range=[0.0, 96.0], shape=[64, 64])\n"
      "return fn.experimental.remap(image, places, places), label\n";
  op.type_rule = remap_types;
  op.define = define_remap;
  return op;
}

}  // namespace galatea::ops
