// composed_warp: what consecutive warps become under exact=False (compiler/passes/compose_warps.h).
//
// Comes in: the image of the first warp, values that the maps are made of, and the maps as texts
// (common/composed.h); one after the other from the output inwards. Goes out: one interpolation of the image,
// behind the canvases of the images that are not made.
#include "stdlib_ops/common/composed.h"
#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr size_t kMapElements = 6;
constexpr size_t kCanvasExtents = 2;  ///< of a canvas; its fill follows

/// Texts of one canvas, if there are `maps` maps; 0 if the canvases are not one fewer.
size_t canvas_texts(size_t maps, size_t canvases) {
  if (maps < 2) return maps == 1 && canvases == 0 ? kCanvasExtents + 1 : 0;
  const size_t each = canvases / (maps - 1);
  return each * (maps - 1) == canvases && each > kCanvasExtents ? each : 0;
}

Types composed_warp_types(const TypeContext& ctx) {
  GALATEA_TRY(check_composed_checks(ctx));
  const auto texts = [&](std::string_view arg) -> const std::vector<std::string>& {
    return std::get<std::vector<std::string>>(ctx.attr(arg));
  };
  const size_t maps = num_texts(ctx, "maps");
  if (maps % kMapElements != 0)
    return ctx.error(fmt::format("composed_warp: maps has {} expressions", maps), {}, "maps");
  for (const std::string& text : texts("maps")) GALATEA_TRY(check_text(ctx, "maps", text, DType::kF64));
  const size_t each = canvas_texts(maps / kMapElements, num_texts(ctx, "canvases"));
  if (each == 0 || num_texts(ctx, "extents") != 2)
    return ctx.error("composed_warp: there is a canvas between each two maps, and one more map");
  for (size_t i = 0; i < num_texts(ctx, "canvases"); ++i) {
    const bool fill = i % each >= kCanvasExtents;
    if (fill && texts("canvases")[i].empty()) continue;
    GALATEA_TRY(check_text(ctx, "canvases", texts("canvases")[i], fill ? DType::kF32 : DType::kI64));
  }
  for (const std::string& text : texts("extents")) GALATEA_TRY(check_text(ctx, "extents", text, DType::kI64));
  GALATEA_ASSIGN(const ir::Type out, warp_type(ctx));
  GALATEA_ASSIGN(const ir::Type known, with_known_extents(ctx, out));
  return std::vector{known};
}

/// First `inner`, then `outer`: what an output place of `inner` shows of what `outer` shows.
AffineMap after(const AffineMap& outer, const AffineMap& inner) {
  AffineMap out;
  for (size_t r = 0; r < 2; ++r)
    for (size_t c = 0; c < 3; ++c) {
      out[r][c] = outer[r][0] * inner[0][c] + outer[r][1] * inner[1][c];
      if (c == 2) out[r][c] = out[r][c] + outer[r][2];
    }
  return out;
}

void define_composed_warp(RecipeBuilder& b) {
  const ComposedTexts maps(b, "maps"), canvases(b, "canvases"), extents(b, "extents");
  const size_t count = maps.size() / kMapElements, each = canvas_texts(count, canvases.size());
  AffineMap whole;
  std::vector<Canvas> behind;
  for (size_t k = 0; k < count; ++k) {
    AffineMap map;
    for (size_t i = 0; i < kMapElements; ++i) map[i / 3][i % 3] = maps(k * kMapElements + i);
    whole = k == 0 ? map : after(map, whole);
    const size_t at = k * each;
    if (k + 1 == count || canvases.is_empty(at + kCanvasExtents)) continue;
    Canvas canvas{whole, canvases(at), canvases(at + 1), {}};
    for (size_t f = kCanvasExtents; f < each; ++f) canvas.fill.push_back(canvases(at + f));
    behind.push_back(std::move(canvas));
  }
  const Expr rows = extents(0), columns = extents(1);
  ask_composed_checks(b);
  b.check((rows >= i64(0)) & (columns >= i64(0)), "{} x {} are no extents of an image", {rows, columns});
  output_warp(b, whole, rows, columns, behind);
}

}  // namespace

Operator make_composed_warp() {
  Operator op;
  op.name = "composed_warp";
  op.summary = "Consecutive warps as one, under exact=False.";
  op.documentation =
      "The product of the maps, interpolated once. Places that fall outside of an image which is not made "
      "show that image's fill value.";
  op.internal = true;
  Port image = warp_input();
  image.layouts.clear();
  image.dtypes.clear();
  op.inputs = {image};
  op.min_inputs = 1;
  op.max_inputs = kMaxComposedInputs;
  op.args = warp_args("");
  append(op.args, {{.name = "maps",
                    .kind = ArgKind::kStringList,
                    .required = true,
                    .documentation = "Six expressions a map, rows of the matrix; from the output inwards."},
                   {.name = "canvases",
                    .kind = ArgKind::kStringList,
                    .required = true,
                    .documentation = "Rows, columns and fill (one, or one per channel) of each image between "
                                     "two maps; an empty fill where nothing outside is read."},
                   {.name = "extents",
                    .kind = ArgKind::kStringList,
                    .required = true,
                    .documentation = "Rows and columns of the output."}});
  append(op.args, composed_args());
  op.devices = {"cpu", "gpu"};
  op.type_rule = composed_warp_types;
  op.define = define_composed_warp;
  return op;
}

}  // namespace galatea::ops
