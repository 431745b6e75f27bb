// clahe: contrast limited adaptive histogram equalisation.
//
// Comes in: an image of bytes. Goes out: each channel, or the lightness of RGB, through tables that its tiles make
// of their histograms, blended between the four nearest tiles. OpenCV's numbers, those of L*a*b* included.
#include <array>
#include <functional>
#include <memory>

#include "stdlib_ops/color/lab_tables.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kClaheBins = 256;
constexpr int64_t kMostTiles = 256;

Types clahe_types(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  for (const char* name : {"tiles_x", "tiles_y"})
    if (const int64_t tiles = ctx.integer(name); tiles < 1 || tiles > kMostTiles)
      return ctx.error(fmt::format("clahe: {} is {}, not 1 to {}", name, tiles, kMostTiles), {}, name);
  if (ctx.integer("bins") != kClaheBins)
    return ctx.error(
        fmt::format("clahe: there are {} bins, one for each level, not {}", kClaheBins, ctx.integer("bins")),
        "leave bins out", "bins");
  const int channels = out.layout.find('C');
  const int64_t count = channels < 0 ? 1 : out.extents[static_cast<size_t>(channels)];
  if (ctx.flag("luma_only") && count >= 0 && count != 1 && count != 3)
    return ctx.error(fmt::format("clahe: an image of {} channels has no lightness", count),
                     "give RGB or one channel, or write luma_only=False for each channel by itself",
                     "luma_only");
  return std::vector{out};
}

/// Along rows or columns: tiles of `size`, the last ones reaching past the image, and the two whose centres are
/// nearest to a place, with the share of the second one.
struct TilesAlong {
  int64_t count = 1;
  Expr size;
  StageRef first, share;
  StageRef mirrored;  ///< of each place in a tile the one in the image: a remainder each, so made once
};

class Clahe {
 public:
  explicit Clahe(RecipeBuilder& b) : b_(b), image_(image_axes(b.input_layout(0))), extents_(b.extents(0)) {
    const Expr h = extents_[at_h()], w = extents_[at_w()];
    const Expr rows = i64(b.integer("tiles_y")), columns = i64(b.integer("tiles_x"));
    // Where the tiles do not fit, OpenCV makes both extents larger: one that they fit by a whole row of them.
    const Expr fits = equal(h % rows, i64(0)) & equal(w % columns, i64(0));
    tiles_[0] = along("row", rows, h, select(fits, h, h + rows - h % rows) / rows);
    tiles_[1] = along("column", columns, w, select(fits, w, w + columns - w % columns) / columns);
  }

  void define() {
    const Expr channels = image_.c < 0 ? i64(1) : extents_[at_c()];
    const bool is_luma = b_.flag("luma_only");
    if (is_luma)
      b_.check(equal(channels, i64(1)) | equal(channels, i64(3)), "an image of {} channels has no lightness",
               {channels}, "give RGB or one channel, or write luma_only=False");
    const bool is_known = kernel::is_const(channels);
    if (!is_luma || (is_known && kernel::const_value(channels) == 1)) {
      b_.output_stage(0, each_channel());
    } else {
      b_.output_stage(0, of_lightness(is_known ? Expr() : equal(channels, i64(1))));
    }
  }

 private:
  using Value = std::function<Expr(const Expr& channel, const Expr& y, const Expr& x)>;

  size_t at_h() const { return static_cast<size_t>(image_.h); }
  size_t at_w() const { return static_cast<size_t>(image_.w); }
  size_t at_c() const { return static_cast<size_t>(image_.c); }
  static Expr i32(int64_t value) { return kernel::const_int(value, DType::kI32); }
  static Expr to_i32(const Expr& e) { return kernel::convert(e, DType::kI32); }

  TilesAlong along(const std::string& name, const Expr& count, const Expr& extent, const Expr& size) {
    TilesAlong tiles{.count = kernel::const_value(count), .size = size};
    const auto place = [&](const Axes& at) { return to_f32(at[0]) * (f32(1) / to_f32(size)) - f32(0.5); };
    tiles.first = b_.map("first_" + name, DType::kI32, {extent},
                         [&](const Axes& at) { return to_i32(kernel::unary(ScalarOp::kFloor, place(at))); });
    tiles.share = b_.map("share_" + name, DType::kF32, {extent}, [&](const Axes& at) {
      return place(at) - kernel::unary(ScalarOp::kFloor, place(at));
    });
    tiles.mirrored = b_.map("mirrored_" + name, DType::kI32, {count * size}, [&](const Axes& at) {
      const Expr period = max((extent - i64(1)) * i64(2), i64(1)), i = at[0] % period;
      return to_i32(min(i, period - i));
    });
    return tiles;
  }

  /// u8[rows, columns, channels, 256]: what each tile makes of each level.
  StageRef tables(const Expr& channels, const Value& value) {
    const Axes per_tile{i64(tiles_[0].count), i64(tiles_[1].count), channels};
    Axes per_bin = per_tile;
    per_bin.push_back(i64(kClaheBins));
    const auto bin_of = [](Axes tile, const Expr& bin) {
      tile.push_back(bin);
      return tile;
    };
    const StageRef counts =
        b_.histogram({.name = "histogram",
                      .extents = per_tile,
                      .bins = i64(kClaheBins),
                      .reduce_extents = {tiles_[0].size, tiles_[1].size},
                      .body = [&](const Axes& tile, const Axes& pixel) {
                        const auto mirrored = [&](size_t n) {
                          return to_i64(b_.load(tiles_[n].mirrored, {tile[n] * tiles_[n].size + pixel[n]}));
                        };
                        return to_i64(value(tile[2], mirrored(0), mirrored(1)));
                      }});
    const Expr area = tiles_[0].size * tiles_[1].size;
    const Expr clip = to_f64(finite_arg(b_, "clip_limit"));
    // No count is larger than the area.
    const Expr limit =
        select(clip > f64(0), to_i32(clamp(clip * to_f64(area) / f64(kClaheBins), f64(1), to_f64(area))),
               to_i32(area));
    const StageRef excess = b_.reduce({.name = "excess",
                                       .type = DType::kI32,
                                       .extents = per_tile,
                                       .reduce_extents = {i64(kClaheBins)},
                                       .accumulator = DType::kI32,
                                       .body = [&](const Axes& tile, const Axes& bin) {
                                         return max(b_.load(counts, bin_of(tile, bin[0])) - limit, i32(0));
                                       }});
    const StageRef sums = b_.scan({.name = "cumulated",
                                   .type = DType::kI32,
                                   .extents = per_bin,
                                   .axis = 3,
                                   .accumulator = DType::kI32,
                                   .body = [&](const Axes& at) { return min(b_.load(counts, at), limit); }});
    const Expr scale = f32(255) / to_f32(to_i32(area));
    return b_.map("clahe_tables", DType::kU8, per_bin, [&](const Axes& at) {
      // The excess goes to all bins evenly; what is left, one by one to bins that are equally far apart.
      // Here are the sums of both. A quotient of integers below 2^12 has the right whole part in f32.
      const Expr over = b_.load(excess, {at[0], at[1], at[2]}), bin = to_i32(at[3]);
      const Expr each = over / i32(kClaheBins), left = over % i32(kClaheBins);
      const Expr apart = i32(kClaheBins) / max(left, i32(1));
      const Expr have_one = min(to_i32(to_f32(bin) / to_f32(apart)) + i32(1), left);
      return kernel::saturate(to_f32(b_.load(sums, at) + each * (bin + i32(1)) + have_one) * scale,
                              DType::kU8);
    });
  }

  /// A level through the tables of the four nearest tiles.
  Expr equalized(StageRef table, const Expr& channel, const Expr& level, const Expr& y, const Expr& x) const {
    struct Pair {
      Expr first, second, share;
    };
    const auto pair = [&](const TilesAlong& tiles, const Expr& i) -> Pair {
      const Expr first = to_i64(b_.load(tiles.first, {i}));
      return {max(first, i64(0)), min(first + i64(1), i64(tiles.count - 1)), b_.load(tiles.share, {i})};
    };
    const Pair row = pair(tiles_[0], y), column = pair(tiles_[1], x);
    const auto between = [&](const Expr& tile_row) {
      const auto of = [&](const Expr& tile) {
        return to_f32(b_.load(table, {tile_row, tile, channel, to_i64(level)}));
      };
      return of(column.first) * (f32(1) - column.share) + of(column.second) * column.share;
    };
    return kernel::saturate(between(row.first) * (f32(1) - row.share) + between(row.second) * row.share,
                            DType::kU8);
  }

  StageRef each_channel() {
    const Expr channels = image_.c < 0 ? i64(1) : extents_[at_c()];
    const StageRef table = tables(channels, [&](const Expr& channel, const Expr& y, const Expr& x) {
      return b_.load(0, place(channel, y, x), Border::kClamp);
    });
    return b_.map("clahe", DType::kU8, extents_, [&](const Axes& at) {
      const Expr channel = image_.c < 0 ? i64(0) : at[at_c()];
      return equalized(table, channel, b_.load(0, at), at[at_h()], at[at_w()]);
    });
  }

  Axes place(const Expr& channel, const Expr& y, const Expr& x) const {
    Axes index(extents_.size());
    if (image_.c >= 0) index[at_c()] = channel;
    index[at_h()] = y;
    index[at_w()] = x;
    return index;
  }

  // ---- RGB

  static Expr descaled(const Expr& value, int bits) {
    return kernel::binary(ScalarOp::kShr, value + i32(int64_t{1} << (bits - 1)), i32(bits));
  }
  static Expr byte_of(const Expr& value) { return clamp(value, i32(0), i32(255)); }
  /// A row of a matrix, by the channel.
  static std::array<Expr, 3> row_of(const std::array<std::array<int64_t, 3>, 3>& matrix,
                                    const Expr& channel) {
    std::array<Expr, 3> row;
    for (size_t k = 0; k < 3; ++k)
      row[k] = choose(channel, {i32(matrix[0][k]), i32(matrix[1][k]), i32(matrix[2][k])});
    return row;
  }

  int table(const char* name, DType type, const std::vector<int64_t>& values) {
    std::vector<Cell> cells;
    for (const int64_t value : values) cells.push_back(cell_from_int(type, value));
    return b_.constant_input(name, std::make_shared<runtime::ConstantTensor>(
                                       type, std::vector{static_cast<int64_t>(values.size())}, cells));
  }
  Expr look_up(int table, const Expr& place) const { return to_i32(b_.load(table, {to_i64(place)})); }

  /// The lightness is equalised; the two colour axes stay, as the bytes that OpenCV rounds them to.
  /// `is_grey`, where only the run tells: the one channel is the lightness, and comes out as it is made.
  StageRef of_lightness(const Expr& is_grey) {
    const LabTables& lab = lab_tables();
    const int linear = table("linear", DType::kU16, lab.linear),
              roots = table("roots", DType::kU16, lab.roots),
              luminance = table("luminance", DType::kU16, lab.luminance),
              luma_root = table("luma_root", DType::kU16, lab.luma_root),
              cubes = table("cubes", DType::kI32, lab.cubes), gamma = table("gamma", DType::kU8, lab.gamma);
    const Expr h = extents_[at_h()], w = extents_[at_w()];
    // An image of one channel, where only the run tells: any values will do.
    const StageRef root = b_.map("roots", DType::kU16, {h, w, i64(3)}, [&](const Axes& at) {
      const std::array<Expr, 3> row = row_of(lab.to_xyz, at[2]);
      Expr sum = i32(0);
      for (int64_t k = 0; k < 3; ++k)
        sum = sum + row[static_cast<size_t>(k)] *
                        look_up(linear, b_.load(0, place(i64(k), at[0], at[1]), Border::kClamp));
      return kernel::convert(look_up(roots, descaled(sum, kMatrixBits)), DType::kU16);
    });
    const auto root_at = [&](const Expr& y, const Expr& x, int64_t k) {
      return to_i32(b_.load(root, {y, x, i64(k)}));
    };
    const StageRef lightness = b_.map("lightness", DType::kU8, {h, w}, [&](const Axes& at) {
      constexpr int64_t kScale = (116 * 255 + 50) / 100;
      constexpr int64_t kShift = -((16 * 255 * (int64_t{1} << kRootBits) + 50) / 100);
      const Expr level = descaled(i32(kScale) * root_at(at[0], at[1], 1) + i32(kShift), kRootBits);
      const Expr of_colour = kernel::convert(byte_of(level), DType::kU8);
      return is_grey ? select(is_grey, b_.load(0, place(i64(0), at[0], at[1])), of_colour) : of_colour;
    });
    const StageRef of_tiles = tables(i64(1), [&](const Expr&, const Expr& y, const Expr& x) {
      return b_.load(lightness, {y, x}, Border::kClamp);
    });
    const StageRef made = b_.map("equalized", DType::kU8, {h, w}, [&](const Axes& at) {
      return equalized(of_tiles, i64(0), b_.load(lightness, at), at[0], at[1]);
    });
    // X, Y and Z of the pixel.
    const StageRef light = b_.map("light", DType::kI32, {h, w, i64(3)}, [&](const Axes& at) {
      constexpr int64_t kMiddle = int64_t{128} << kRootBits;
      const auto colour = [&](int64_t scale, int64_t from, int64_t to) {
        const Expr apart = root_at(at[0], at[1], from) - root_at(at[0], at[1], to);
        return byte_of(descaled(i32(scale) * apart + i32(kMiddle), kRootBits));
      };
      const Expr level = to_i32(b_.load(made, {at[0], at[1]}));
      const Expr middle = look_up(luma_root, level);
      const auto shifted = [](const Expr& e, int bits) {
        return kernel::binary(ScalarOp::kShr, e, i32(bits));
      };
      const Expr da =
          shifted(i32(5 * 53687) * colour(500, 0, 1) + i32(1 << 7), 13) - i32(128 * kLabBase / 500);
      const Expr db =
          shifted(i32(41943) * colour(200, 1, 2) + i32(1 << 4), 9) - i32(128 * kLabBase / 200 - 1);
      const auto cube = [&](const Expr& f) {
        return look_up(cubes,
                       clamp(f - i32(kLeastCube), i32(0), i32(static_cast<int64_t>(lab.cubes.size()) - 1)));
      };
      return choose(at[2], {cube(middle + da), look_up(luminance, level), cube(middle - db)});
    });
    return b_.map("clahe", DType::kU8, extents_, [&](const Axes& at) {
      const std::array<Expr, 3> row = row_of(lab.from_xyz, at[at_c()]);
      Expr sum = i32(0);
      for (int64_t k = 0; k < 3; ++k)
        sum = sum + row[static_cast<size_t>(k)] * b_.load(light, {at[at_h()], at[at_w()], i64(k)});
      const Expr linear_light = descaled(sum, kMatrixBits + kBaseBits - 12);
      const Expr colour = kernel::convert(look_up(gamma, clamp(linear_light, i32(0), i32(4095))), DType::kU8);
      return is_grey ? select(is_grey, b_.load(made, {at[at_h()], at[at_w()]}), colour) : colour;
    });
  }

  RecipeBuilder& b_;
  const ImageAxes image_;
  const Axes extents_;
  std::array<TilesAlong, 2> tiles_;
};

}  // namespace

Operator make_clahe() {
  Operator op;
  op.name = "clahe";
  op.aliases = {"experimental.clahe"};
  op.summary = "Equalises histograms locally, with limited contrast.";
  op.documentation =
      "The image is divided into tiles (past its edge it is mirrored without repeating the edge pixel, where they "
      "do not fit). Of a tile of A pixels, counts above max(1, trunc(clip_limit * A / 256)) are cut off and spread "
      "over all bins; the cumulated counts times 255 / A are its table. A pixel is blended from the tables of the "
      "four nearest tiles, in f32, rounded half to even (Zuiderveld, \"Contrast limited adaptive histogram "
      "equalization\", Graphics Gems IV, 1994; OpenCV's numbers). Of RGB the lightness L* is equalised, in "
      "OpenCV's integer arithmetic, or each channel with luma_only=False.";
  op.inputs = {{.name = "input",
                .documentation = "image of bytes",
                .layouts = {"HWC", "CHW", "HW"},
                .dtypes = {DType::kU8}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "tiles_x",
       .kind = ArgKind::kInt,
       .required = true,
       .documentation = "Tiles along the width, 1 to 256."},
      {.name = "tiles_y",
       .kind = ArgKind::kInt,
       .required = true,
       .documentation = "Tiles along the height, 1 to 256."},
      {.name = "clip_limit",
       .kind = ArgKind::kFloat,
       .required = true,
       .per_sample = true,
       .documentation = "The largest count, in multiples of the mean count of a bin; 0 or less: no limit."},
      {.name = "luma_only",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether of RGB only the lightness is equalised."},
      {.name = "bins",
       .kind = ArgKind::kInt,
       .default_value = kClaheBins,
       .documentation = "Bins of a histogram: 256, one for each level."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.clahe(image, tiles_x=8, tiles_y=8, clip_limit=2.0), label");
  op.places = op::Places::kKept;
  op.type_rule = clahe_types;
  op.define = [](RecipeBuilder& b) { Clahe(b).define(); };
  return op;
}

}  // namespace galatea::ops
