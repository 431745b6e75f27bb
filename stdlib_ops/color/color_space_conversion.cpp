// color_space_conversion: between RGB, BGR, grey and YCbCr.
//
// Comes in: an image in one colour space. Goes out: out = M in + offset with constants of ITU-R BT.601
// (studio range YCbCr), by fma in f32; or the same bytes in another order where no arithmetic is needed.
#include <array>
#include <cmath>

#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/compat/checks.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

enum class Space : uint8_t { kRgb, kBgr, kGray, kYcbcr, kAnyData };

constexpr int channels_of(Space space) { return space == Space::kGray ? 1 : 3; }
constexpr const char* name_of(Space space) {
  constexpr const char* kNames[] = {"RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"};
  return kNames[static_cast<size_t>(space)];
}

/// out[r] = m[r][0] in[0] + m[r][1] in[1] + m[r][2] in[2] + m[r][3]; missing channels have factor 0.
using Map = std::array<std::array<double, 4>, 3>;

// BT.601: weights of R, G, B in the luma; 219 and 224 of 255 levels carry luma and chroma.
constexpr double kR = 0.299, kG = 0.587, kB = 0.114;
constexpr double kLuma = 219.0 / 255, kChroma = 112.0 / 255;

Map to_rgb(Space from) {
  switch (from) {
    case Space::kBgr:
      return {{{0, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}}};
    case Space::kGray:
      return {{{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}}};
    case Space::kYcbcr: {
      const double y = 1 / kLuma, cr = (1 - kR) / kChroma, cb = (1 - kB) / kChroma;
      const std::array<std::array<double, 3>, 3> rows = {
          {{y, 0, cr}, {y, -cb * kB / kG, -cr * kR / kG}, {y, cb, 0}}};
      Map map{};
      for (size_t r = 0; r < 3; ++r)
        map[r] = {rows[r][0], rows[r][1], rows[r][2], -16 * rows[r][0] - 128 * (rows[r][1] + rows[r][2])};
      return map;
    }
    default:
      return {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  }
}

Map from_rgb(Space to) {
  switch (to) {
    case Space::kBgr:
      return to_rgb(Space::kBgr);
    case Space::kGray:
      return {{{kR, kG, kB, 0}, {}, {}}};
    case Space::kYcbcr: {
      const double cb = kChroma / (1 - kB), cr = kChroma / (1 - kR);
      return {{{kLuma * kR, kLuma * kG, kLuma * kB, 16},
               {-cb * kR, -cb * kG, kChroma, 128},
               {kChroma, -cr * kG, -cr * kB, 128}}};
    }
    default:
      return to_rgb(Space::kRgb);
  }
}

/// First `inner`, then `outer`; what cancels is exactly 0 or 1.
Map compose(const Map& outer, const Map& inner) {
  constexpr double kCancelled = 1e-12;
  Map out{};
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 4; ++c) {
      double sum = c == 3 ? outer[r][3] : 0;
      for (size_t k = 0; k < 3; ++k) sum += outer[r][k] * inner[k][c];
      out[r][c] = std::abs(sum - std::round(sum)) < kCancelled ? std::round(sum) : sum;
    }
  return out;
}

Types conversion_types(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  for (const char* name : {"image_type", "output_type"})
    if (static_cast<Space>(ctx.integer(name)) == Space::kAnyData)
      return ctx.error(fmt::format("{}: {} must name a colour space", ctx.op().name, name),
                       "write types.RGB, types.BGR, types.GRAY or types.YCbCr", name);
  const auto from = static_cast<Space>(ctx.integer("image_type")),
             to = static_cast<Space>(ctx.integer("output_type"));
  int64_t& channels = out.extents.back();
  if (channels >= 0 && channels != channels_of(from))
    return ctx.error(
        fmt::format("{}: image_type {} has {} channel{}, the input is {}", ctx.op().name, name_of(from),
                    channels_of(from), channels_of(from) == 1 ? "" : "s", describe(ctx.input(0))),
        "name the colour space that the image is in", "image_type");
  if (ctx.compat() != Compat::kDali && from != to && (from == Space::kYcbcr || to == Space::kYcbcr))
    return preset_error(ctx, " has no YCbCr: the library's is not DALI's studio range, and is not here yet",
                        "", to == Space::kYcbcr ? "output_type" : "image_type");
  channels = channels_of(to);
  return std::vector{out};
}

/// Greys as the library of the preset has them: weights of 16 bits (Pillow), f32 without the fraction
/// (torchvision), weights of 15 bits (OpenCV).
Expr grey_of_preset(Compat compat, const std::array<Expr, 3>& rgb) {
  const auto fixed = [&](int64_t r, int64_t g, int64_t bl, int64_t bits) {
    const Expr sum = to_i32(rgb[0]) * i32(r) + to_i32(rgb[1]) * i32(g) + to_i32(rgb[2]) * i32(bl);
    return kernel::saturate(shift_right(sum + i32(int64_t{1} << (bits - 1)), bits), DType::kU8);
  };
  if (compat == Compat::kPil) return fixed(19595, 38470, 7471, 16);
  if (compat == Compat::kOpenCv) return fixed(9798, 19235, 3735, 15);
  const Expr sum = kernel::fma(to_f32(rgb[2]), f32(0.114),
                               kernel::fma(to_f32(rgb[1]), f32(0.587), to_f32(rgb[0]) * f32(0.2989)));
  return kernel::convert(sum, DType::kU8);
}

void define_conversion(RecipeBuilder& b) {
  const auto from = static_cast<Space>(b.integer("image_type")),
             to = static_cast<Space>(b.integer("output_type"));
  const int last = b.input_type(0).ndim - 1;
  b.check(equal(b.extent(0, last), i64(channels_of(from))),
          fmt::format("image_type {} has {} channels, the image has {{}}", name_of(from), channels_of(from)),
          {b.extent(0, last)}, "name the colour space that the image is in", "image_type");
  if (from == to) return copy_view(b, 0, 0);
  const bool reorders = from != Space::kYcbcr && to != Space::kYcbcr && to != Space::kGray;
  const Map map = compose(from_rgb(to), to_rgb(from));
  auto extents = b.extents(0);
  extents.back() = i64(channels_of(to));
  const StageRef stage = b.map("color_space", DType::kU8, extents, [&](const Axes& at) {
    auto channel = [&](const Expr& c) {
      Axes index = at;
      index.back() = c;
      return b.load(0, index);
    };
    const Expr& row = at.back();
    if (b.compat() != Compat::kDali && to == Space::kGray) {
      const int64_t red = from == Space::kBgr ? 2 : 0;
      return grey_of_preset(b.compat(), {channel(i64(red)), channel(i64(1)), channel(i64(2 - red))});
    }
    if (reorders) return channel(from == Space::kGray ? i64(0) : i64(2) - row);
    auto factor = [&](size_t c) { return choose(row, {f32(map[0][c]), f32(map[1][c]), f32(map[2][c])}); };
    Expr sum = to == Space::kGray ? f32(map[0][3]) : factor(3);
    for (size_t c = 0; c < static_cast<size_t>(channels_of(from)); ++c)
      sum = kernel::fma(to == Space::kGray ? f32(map[0][c]) : factor(c),
                        to_f32(channel(i64(static_cast<int64_t>(c)))), sum);
    return kernel::saturate(sum, DType::kU8);
  });
  b.output_stage(0, stage);
}

}  // namespace

Operator make_color_space_conversion() {
  Operator op;
  op.name = "color_space_conversion";
  op.summary = "Converts images between RGB, BGR, grey and YCbCr.";
  op.documentation =
      "Grey is 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601); YCbCr is its studio range: Y = 16 + 219/255 grey, "
      "Cb = 128 + 112/255 (B - grey) / 0.886, Cr = 128 + 112/255 (R - grey) / 0.701. Evaluated in f32, "
      "rounded half to even and clamped. The image gets the number of channels of output_type.";
  op.inputs = {{.name = "images",
                .documentation = "image whose last axis are the channels",
                .layouts = {"HWC"},
                .dtypes = {DType::kU8}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "image_type",
              .kind = ArgKind::kImageType,
              .required = true,
              .documentation = "The colour space of the input: types.RGB, BGR, GRAY or YCbCr."},
             {.name = "output_type",
              .kind = ArgKind::kImageType,
              .required = true,
              .documentation = "The colour space of the output: types.RGB, BGR, GRAY or YCbCr."}};
  op.devices = {"cpu", "gpu"};
  op.effect = effect("fn.color_space_conversion(image, image_type=types.RGB, output_type=types.{})",
                     {"BGR", "YCbCr", "GRAY"});
  op.example =
      image_example("fn.color_space_conversion(image, image_type=types.RGB, output_type=types.YCbCr), label");
  op.presets = {
      {.peer = Compat::kPil, .differs = "Image.convert(\"L\"): greys of 16-bit weights"},
      {.peer = Compat::kTorchvision,
       .differs = "rgb_to_grayscale of a u8 tensor: 0.2989 R + 0.587 G + 0.114 B without its fraction"},
      {.peer = Compat::kOpenCv, .differs = "cv2.cvtColor: greys of 15-bit weights"}};
  op.type_rule = conversion_types;
  op.places = op::Places::kKept;
  op.define = define_conversion;
  return op;
}

}  // namespace galatea::ops
