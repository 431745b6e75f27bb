// roi_random_crop: where a window of a given shape begins that shows a region, or lies in it.
//
// Comes in: nothing, or the tensor that will be cropped, of which only the extents are taken. Goes out: the
// window's begin along each axis, for fn.slice.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Products with a draw of 32 bits stay far from 2^63.
constexpr int64_t kMostRoiPlace = int64_t{1} << 29;
constexpr std::array<const char*, 4> kRoiLists = {"roi_start", "roi_end", "roi_shape", "in_shape"};

Types roi_random_crop_types(const TypeContext& ctx) {
  if (ctx.given("roi_end") == ctx.given("roi_shape"))
    return ctx.error(fmt::format("roi_random_crop: {} of roi_end and roi_shape",
                                 ctx.given("roi_end") ? "there must be only one" : "there must be one"),
                     "the region begins at roi_start", ctx.given("roi_end") ? "roi_end" : "");
  if (ctx.given("in_shape") && ctx.num_inputs() > 0)
    return ctx.error("roi_random_crop: the input's extents and in_shape exclude each other",
                     "leave in_shape out", "in_shape");
  const int64_t axes = length_of(ctx, "crop_shape");
  if (axes < 0)
    return ctx.error("roi_random_crop: how many extents crop_shape has must be known while compiling",
                     "fix the length with fn.reshape(x, shape=[2]), or build it with fn.stack", "crop_shape");
  if (axes < 1 || axes > runtime::kMaxRank)
    return ctx.error(
        fmt::format("roi_random_crop: crop_shape has {} extents, 1 to {} can be", axes, runtime::kMaxRank),
        {}, "crop_shape");
  for (const char* name : kRoiLists) GALATEA_TRY(check_length(ctx, name, static_cast<int>(axes)));
  if (ctx.num_inputs() > 0 && ctx.input(0).ndim < axes)
    return ctx.error(fmt::format("roi_random_crop: crop_shape has {} extents, the input {}: {}", axes,
                                 ctx.input(0).ndim, describe(ctx.input(0))),
                     {}, "crop_shape");
  ir::Type out;
  out.dtype = DType::kI64;
  out.ndim = 1;
  out.extents = {axes};
  return std::vector{out};
}

void define_roi_random_crop(RecipeBuilder& b) {
  const int axes = b.arg_length("crop_shape");
  const auto list = [&](const char* name) {
    std::vector<Expr> places = list_arg(b, name, axes, DType::kI64);
    for (const Expr& place : places)
      b.check(absolute(place) <= i64(kMostRoiPlace), fmt::format("{} must lie within 2^29, not {{}}", name),
              {place}, {}, name);
    return places;
  };
  const bool by_shape = b.given("roi_shape"), bounded = b.num_inputs() > 0 || b.given("in_shape");
  const std::vector<Expr> crop = list("crop_shape"), starts = list("roi_start"),
                          other = list(by_shape ? "roi_shape" : "roi_end");
  const std::vector<Expr> whole = b.num_inputs() > 0 ? b.extents(0)
                                  : bounded          ? list("in_shape")
                                                     : std::vector<Expr>{};
  std::vector<Expr> begins;
  for (size_t d = 0; d < static_cast<size_t>(axes); ++d) {
    const Expr& start = starts[d];
    const Expr end = by_shape ? start + other[d] : other[d];
    b.check(crop[d] >= i64(0), "crop_shape has the negative extent {}", {crop[d]}, {}, "crop_shape");
    b.check(end >= start, fmt::format("along axis {} the region reaches from {{}} to {{}}", d), {start, end},
            "it must not end before its start", by_shape ? "roi_shape" : "roi_end");
    const Expr last = end - crop[d];
    Expr low = min(start, last), high = max(start, last);
    if (bounded) {
      b.check(crop[d] <= whole[d],
              fmt::format("along axis {} the window has {{}} elements, the input {{}}", d),
              {crop[d], whole[d]}, {}, "crop_shape");
      b.check(
          (start >= i64(0)) & (end <= whole[d]),
          fmt::format("along axis {} the region reaches from {{}} to {{}}, the input has {{}} elements", d),
          {start, end, whole[d]}, "the region must lie in the input", "roi_start");
      low = max(low, i64(0));
      high = min(high, whole[d] - crop[d]);
    }
    begins.push_back(low + b.random_below(i64(static_cast<int64_t>(d)), high - low + i64(1)));
  }
  b.output_scalars(0, std::move(begins));
}

std::vector<ArgSpec> roi_random_crop_args() {
  const auto places = [](const char* name, bool required, const char* documentation) {
    return ArgSpec{.name = name,
                   .kind = ArgKind::kIntList,
                   .required = required,
                   .per_sample = true,
                   .documentation = documentation};
  };
  return {
      places("crop_shape", true, "Extents of the window, one for each axis."),
      places("roi_start", true, "Where the region begins, one for each axis, or one for all."),
      places("roi_end", false, "Where the region ends, exclusive. Either this or roi_shape must be given."),
      places("roi_shape", false, "Extents of the region. Either this or roi_end must be given."),
      places("in_shape", false,
             "Extents of what will be cropped, in place of an input. If neither is given, windows may reach "
             "beyond it."),
  };
}

}  // namespace

Operator make_roi_random_crop() {
  Operator op;
  op.name = "roi_random_crop";
  op.summary = "Where a window begins that shows a region, by chance.";
  op.documentation =
      "Along each axis the window begins at a whole number that is drawn uniformly. Where the region is at "
      "least as large as the window, the window lies in it: from roi_start to roi_end - crop_shape, both "
      "inclusive. Where it is smaller, the window shows all of it: from roi_end - crop_shape to roi_start. "
      "Of an input, or of in_shape, the window never leaves the extents; then the region must lie in them, "
      "and the window fit. Axes of the input past those of crop_shape are not looked at. Output: INT64, one "
      "element for each axis of crop_shape.";
  op.inputs = {{.name = "data",
                .documentation = "what will be cropped; only its extents are taken",
                .optional = true,
                .any_device = true}};
  op.max_inputs = 1;
  op.args = roi_random_crop_args();
  op.random = true;
  op.example = image_example(
      "fn.slice(image, start=fn.roi_random_crop(image, crop_shape=[6, 6], roi_start=[2, 2], roi_shape=[8, 7]), "
      "shape=[6, 6], axes=[0, 1]), label");
  op.type_rule = roi_random_crop_types;
  op.define = define_roi_random_crop;
  return op;
}

}  // namespace galatea::ops
