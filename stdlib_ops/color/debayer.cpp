// debayer: colour images from what a sensor under a Bayer mosaic sees.
//
// Comes in: one number per pixel, and where blue lies in the mosaic. Goes out: three per pixel, or their grey.
#include <array>
#include <optional>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

enum class Algorithm : uint8_t { kBilinear, kEdgeAware, kGradients, kGrey };

/// VNG of images with a smaller side is bilinear.
constexpr int64_t kLeastGradients = 8;
/// Grey in units of 2^-14.
constexpr int64_t kRed = 4899, kGreen = 9617, kBlue = 1868;
constexpr int kGreyBits = 14;

std::optional<Algorithm> algorithm_of(std::string_view name) {
  if (name == "bilinear_ocv" || name == "default") return Algorithm::kBilinear;
  if (name == "edgeaware_ocv") return Algorithm::kEdgeAware;
  if (name == "vng_ocv") return Algorithm::kGradients;
  if (name == "gray_ocv") return Algorithm::kGrey;
  return std::nullopt;
}

Types debayer_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const std::string name = ctx.text("algorithm");
  const auto algorithm = algorithm_of(name);
  if (!algorithm)
    return ctx.error(name == "default_npp" ? "debayer: default_npp is the algorithm of a library for GPUs"
                                           : fmt::format("debayer: unknown algorithm \"{}\"", name),
                     "use \"bilinear_ocv\", \"edgeaware_ocv\", \"vng_ocv\" or \"gray_ocv\", on GPUs too",
                     "algorithm");
  if (*algorithm == Algorithm::kGradients && in.dtype != DType::kU8)
    return ctx.error("debayer: vng_ocv takes UINT8 alone",
                     "use algorithm=\"bilinear_ocv\" or \"edgeaware_ocv\"", "algorithm");
  GALATEA_TRY(check_length(ctx, "blue_position", 2));
  if (given_static(ctx, "blue_position"))
    for (const int64_t place : ctx.integers("blue_position"))
      if (place < 0 || place > 1)
        return ctx.error(fmt::format("debayer: blue_position {} is no place in a tile of 2 x 2", place),
                         "give its row and its column, each 0 or 1", "blue_position");
  const ImageAxes at = image_axes(ctx.input_layout(0));
  if (at.c >= 0 && in.extents[static_cast<size_t>(at.c)] > 1)
    return ctx.error(fmt::format("debayer: an image of {} channels has its colours already",
                                 in.extents[static_cast<size_t>(at.c)]),
                     "give the sensor's values, one per pixel");
  ir::Type out = in;
  out.ndim = 3;
  out.layout = Layout("HWC");
  out.extents = {in.extents[static_cast<size_t>(at.h)], in.extents[static_cast<size_t>(at.w)],
                 *algorithm == Algorithm::kGrey ? 1 : 3};
  return std::vector{out};
}

Expr int32_of(int64_t value) { return kernel::const_int(value, DType::kI32); }
Expr half_of(const Expr& e) { return kernel::binary(ScalarOp::kShr, e, kernel::const_int(1, e->type)); }
/// Means of two and of four, from their sums; halves round up.
Expr mean_of_two(const Expr& sum) { return half_of(sum + kernel::const_int(1, sum->type)); }
Expr mean_of_four(const Expr& sum) {
  const Expr two = kernel::const_int(2, sum->type);
  return kernel::binary(ScalarOp::kShr, sum + two, two);
}

/// A pixel's two neighbouring colours in the order of the row: its own besides green, and the other one.
struct Colours {
  Expr own, green, other;
};

class Debayer {
 public:
  explicit Debayer(RecipeBuilder& b)
      : b_(b),
        axes_(image_axes(b.input_layout(0))),
        algorithm_(*algorithm_of(b.text("algorithm"))),
        type_(b.input_type(0).dtype),
        sums_(sums_of(algorithm_, type_)),
        h_(b.extent(0, axes_.h)),
        w_(b.extent(0, axes_.w)) {
    const std::vector<Expr> blue = list_arg(b, "blue_position", 2, DType::kI64);
    for (const Expr& place : blue)
      b.check((place >= i64(0)) & (place <= i64(1)), "blue_position {} is no place in a tile of 2 x 2",
              {place}, "give its row and its column, each 0 or 1", "blue_position");
    blue_ = {blue[0], blue[1]};
    if (axes_.c >= 0)
      b.check(equal(b.extent(0, axes_.c), i64(1)), "an image of {} channels has its colours already",
              {b.extent(0, axes_.c)}, "give the sensor's values, one per pixel");
  }

  void define() {
    const StageRef near = framed(inside());
    b_.output_stage(0, algorithm_ == Algorithm::kGradients ? by_gradients(near) : near);
  }

 private:
  /// Means need the sums of four pixels alone: twice as many lanes for bytes.
  static DType sums_of(Algorithm algorithm, DType type) {
    const bool is_mean = algorithm == Algorithm::kBilinear || algorithm == Algorithm::kEdgeAware;
    return is_mean && type == DType::kU8 ? DType::kI16 : DType::kI32;
  }

  Axes extents() const { return {h_, w_, i64(algorithm_ == Algorithm::kGrey ? 1 : 3)}; }

  /// A pixel of the input.
  Expr pixel(const Expr& y, const Expr& x, Border border) const {
    Axes index(axes_.c < 0 ? 2 : 3, i64(0));
    index[static_cast<size_t>(axes_.h)] = y;
    index[static_cast<size_t>(axes_.w)] = x;
    return kernel::convert(b_.load(0, std::move(index), border), sums_);
  }

  /// Whether it is in a row with blue pixels, and whether it is green; of the tiles that begin at (1, 1).
  std::array<Expr, 2> site(const Expr& y, const Expr& x) const {
    const auto is_blue = [&](const Expr& place, const Expr& blue) {
      const Expr one = kernel::const_int(1, sums_);
      return equal(kernel::convert(place, sums_) & one, kernel::convert(blue, sums_));
    };
    const Expr blue_row = is_blue(y, blue_[0]);
    return {blue_row, not_equal(blue_row, is_blue(x, blue_[1]))};
  }

  /// As the channel of an element.
  Expr channel(const Expr& number, const Expr& blue_row, const Colours& of) const {
    return choose(number, {select(blue_row, of.other, of.own), of.green, select(blue_row, of.own, of.other)});
  }

  // ---- from eight neighbours

  /// All pixels that have them.
  StageRef inside() {
    Axes inner = extents();
    for (const size_t d : {size_t{0}, size_t{1}}) inner[d] = max(inner[d] - i64(2), i64(0));
    return b_.map("inside", type_, inner, [&](const Axes& at) {
      const auto [blue_row, is_green] = site(at[0], at[1]);
      const auto p = [&](int64_t dy, int64_t dx) {
        return pixel(at[0] + i64(dy + 1), at[1] + i64(dx + 1), Border::kClamp);
      };
      const Expr value = algorithm_ == Algorithm::kGrey ? grey(blue_row, is_green, p)
                                                        : channel(at[2], blue_row, near(is_green, p));
      return kernel::convert(value, type_);
    });
  }

  template <typename Pixel>
  Colours near(const Expr& is_green, const Pixel& p) const {
    const Expr left = p(0, -1), right = p(0, 1), up = p(-1, 0), down = p(1, 0), centre = p(0, 0);
    const Expr across = mean_of_two(left + right), along = mean_of_two(up + down);
    const Expr corners = mean_of_four(p(-1, -1) + p(-1, 1) + p(1, -1) + p(1, 1));
    const Expr green = algorithm_ == Algorithm::kEdgeAware
                           ? select(absolute(left - right) > absolute(up - down), along, across)
                           : mean_of_four(left + right + up + down);
    return {select(is_green, across, centre), select(is_green, centre, green),
            select(is_green, along, corners)};
  }

  /// The same sums of grey, in 2^-16 of units; u32 holds them.
  template <typename Pixel>
  Expr grey(const Expr& blue_row, const Expr& is_green, const Pixel& p) const {
    const auto u32 = [](const Expr& e) { return kernel::convert(e, DType::kU32); };
    const auto weight = [](int64_t value) { return kernel::const_int(value, DType::kU32); };
    const Expr own = select(blue_row, weight(kBlue), weight(kRed)),
               other = select(blue_row, weight(kRed), weight(kBlue)), green = weight(kGreen);
    const Expr across = u32(p(0, -1) + p(0, 1)), along = u32(p(-1, 0) + p(1, 0)), centre = u32(p(0, 0));
    const Expr corners = u32(p(-1, -1) + p(-1, 1) + p(1, -1) + p(1, 1));
    const Expr of_green = (centre * green * weight(2) + across * own + along * other) * weight(2);
    const Expr of_others = centre * own * weight(4) + (across + along) * green + corners * other;
    const Expr sum = select(is_green, of_green, of_others);
    return kernel::binary(ScalarOp::kShr, sum + weight(int64_t{1} << (kGreyBits + 1)), weight(kGreyBits + 2));
  }

  /// What is inside, and around it what is nearest; zeros where nothing is.
  StageRef framed(StageRef inner) {
    return b_.map(
        algorithm_ == Algorithm::kGradients ? "bilinear" : "debayer", type_, extents(), [&](const Axes& at) {
          const Expr value = b_.load(inner, {at[0] - i64(1), at[1] - i64(1), at[2]}, Border::kClamp);
          return select((h_ > i64(2)) & (w_ > i64(2)), value, kernel::const_int(0, type_));
        });
  }

  // ---- variable number of gradients

  /// Differences around each pixel, one pixel beyond the image too: pixel (y, x) is at (y + 1, x + 1).
  template <typename Body>
  StageRef around(const char* name, const Body& body) {
    return b_.map(name, DType::kI32, {h_ + i64(2), w_ + i64(2)}, [&](const Axes& at) {
      return body([&](int64_t dy, int64_t dx) {
        return pixel(at[0] + i64(dy - 1), at[1] + i64(dx - 1), Border::kReflect101);
      });
    });
  }

  StageRef by_gradients(StageRef small) {
    const auto apart = [](const Expr& a, const Expr& b) { return absolute(a - b); };
    const StageRef down = around("down", [&](const auto& p) {
      return apart(p(-1, -1), p(1, -1)) + apart(p(-1, 0), p(1, 0)) * int32_of(2) + apart(p(-1, 1), p(1, 1));
    });
    const StageRef across = around("across", [&](const auto& p) {
      return apart(p(-1, -1), p(-1, 1)) + apart(p(0, -1), p(0, 1)) * int32_of(2) + apart(p(1, -1), p(1, 1));
    });
    const StageRef rising =
        around("rising", [&](const auto& p) { return apart(p(-1, 1), p(1, -1)) * int32_of(2); });
    const StageRef falling =
        around("falling", [&](const auto& p) { return apart(p(-1, -1), p(1, 1)) * int32_of(2); });
    const StageRef rising_more = around("rising_more", [&](const auto& p) {
      return apart(p(-1, 1), p(1, -1)) * int32_of(2) + apart(p(-1, 0), p(0, -1)) + apart(p(1, 0), p(0, 1));
    });
    const StageRef falling_more = around("falling_more", [&](const auto& p) {
      return apart(p(-1, -1), p(1, 1)) * int32_of(2) + apart(p(-1, 0), p(0, 1)) + apart(p(1, 0), p(0, -1));
    });
    const StageRef cross =
        around("cross", [&](const auto& p) { return half_of(p(-1, 0) + p(0, -1) + p(0, 1) + p(1, 0)); });
    /// Rows and columns of the neighbours: north, south, west, east, and between.
    constexpr std::array<std::array<int64_t, 2>, 8> kWays = {
        {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, 1}, {1, -1}, {-1, -1}, {1, 1}}};
    const StageRef many = b_.map("gradients", type_, extents(), [&](const Axes& at) {
      const auto [blue_row, is_green] = site(at[0] + i64(1), at[1] + i64(1));
      const auto p = [&](int64_t dy, int64_t dx) {
        return pixel(at[0] + i64(dy), at[1] + i64(dx), Border::kReflect101);
      };
      const auto of = [&](StageRef stage, int64_t dy, int64_t dx) {
        return b_.load(stage, {at[0] + i64(dy + 1), at[1] + i64(dx + 1)});
      };
      std::array<Expr, 8> gradient;
      std::array<Colours, 8> colours;
      for (size_t n = 0; n < kWays.size(); ++n) {
        const auto [dy, dx] = kWays[n];
        Expr at_green, elsewhere;
        Colours g, e;
        if (dy != 0 && dx != 0) {
          const StageRef plain = dy == dx ? falling : rising, more = dy == dx ? falling_more : rising_more;
          at_green = of(plain, 0, 0) + of(plain, dy, 0) + of(plain, 0, dx) + of(plain, dy, dx);
          elsewhere = of(more, dy, dx) + of(more, 0, 0);
          g = {p(2 * dy, dx) + p(0, dx), p(dy, dx) * int32_of(2), p(dy, 0) + p(dy, 2 * dx)};
          e = {p(2 * dy, 2 * dx) + p(0, 0), of(cross, dy, dx), p(dy, dx) * int32_of(2)};
        } else {
          const StageRef stage = dy != 0 ? down : across;
          at_green = elsewhere = of(stage, dy, dx) + of(stage, 0, 0);
          g = dy != 0 ? Colours{p(2 * dy, -1) + p(2 * dy, 1), p(2 * dy, 0) + p(0, 0), p(dy, 0) * int32_of(2)}
                      : Colours{p(0, dx) * int32_of(2), p(0, 2 * dx) + p(0, 0), p(-1, 2 * dx) + p(1, 2 * dx)};
          e = {p(2 * dy, 2 * dx) + p(0, 0), p(dy, dx) * int32_of(2),
               dy != 0 ? p(dy, -1) + p(dy, 1) : p(-1, dx) + p(1, dx)};
        }
        gradient[n] = select(is_green, at_green, elsewhere);
        colours[n] = {select(is_green, g.own, e.own), select(is_green, g.green, e.green),
                      select(is_green, g.other, e.other)};
      }
      Expr least = gradient[0], most = gradient[0];
      for (const Expr& g : gradient) {
        least = kernel::min(least, g);
        most = max(most, g);
      }
      const Expr limit = least + max(half_of(most), int32_of(1));
      Colours sum{int32_of(0), int32_of(0), int32_of(0)};
      Expr count = int32_of(0);
      for (size_t n = 0; n < kWays.size(); ++n) {
        const Expr is_taken = gradient[n] < limit;
        const auto add = [&](Expr& to, const Expr& e) { to = to + select(is_taken, e, int32_of(0)); };
        add(sum.own, colours[n].own);
        add(sum.green, colours[n].green);
        add(sum.other, colours[n].other);
        add(count, int32_of(1));
      }
      const Expr share = f32(0.5) / to_f32(count), centre = p(0, 0);
      const Expr base = select(is_green, sum.green, sum.own);
      const auto moved = [&](const Expr& e) {
        return centre + kernel::saturate(to_f32(e - base) * share, DType::kI32);
      };
      const Colours found{select(is_green, moved(sum.own), centre),
                          select(is_green, centre, moved(sum.green)), moved(sum.other)};
      return kernel::saturate(channel(at[2], blue_row, found), type_);
    });
    return b_.map("debayer", type_, extents(), [&](const Axes& at) {
      return select(kernel::min(h_, w_) < i64(kLeastGradients), b_.load(small, at), b_.load(many, at));
    });
  }

  RecipeBuilder& b_;
  const ImageAxes axes_;
  const Algorithm algorithm_;
  const DType type_;
  const DType sums_;  ///< of what is summed
  const Expr h_, w_;
  std::array<Expr, 2> blue_;  ///< row and column, i64
};

}  // namespace

Operator make_debayer() {
  Operator op;
  op.name = "debayer";
  op.aliases = {"experimental.debayer"};
  op.summary = "Makes colour images of what a sensor under a Bayer mosaic sees.";
  op.documentation =
      "Each pixel knows one of its colours; the others are means of its neighbours that know them, two or four, "
      "halves rounded up (bilinear_ocv). edgeaware_ocv takes of the two means of green the one along which the "
      "neighbours differ less. vng_ocv means over those of eight directions whose gradients are below min + max(max "
      "/ 2, 1) (Chang, Cheung and Pan, \"Color filter array recovery using a threshold-based variable number of "
      "gradients\", 1999), with the image mirrored about its outermost pixels; below 8 rows or columns it is "
      "bilinear. gray_ocv is 0.299 R + 0.587 G + 0.114 B of the bilinear sums, weights in 2^-14. But for vng_ocv "
      "the outermost pixels repeat their neighbours inside, and an image of less than 3 rows or columns gives "
      "zeros. All are OpenCV's numbers.";
  op.inputs = {{.name = "input",
                .documentation = "one value per pixel",
                .layouts = {"HW", "HWC"},
                .dtypes = {DType::kU8, DType::kU16}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "blue_position",
       .kind = ArgKind::kIntList,
       .required = true,
       .per_sample = true,
       .documentation =
           "Row and column of blue, each 0 or 1, in the tile of 2 x 2 pixels that begins at the second "
           "row and column: OpenCV's BayerBG is (0, 0), GB (0, 1), GR (1, 0), RG (1, 1)."},
      {.name = "algorithm",
       .kind = ArgKind::kString,
       .default_value = std::string("bilinear_ocv"),
       .documentation =
           "\"bilinear_ocv\", \"edgeaware_ocv\", \"vng_ocv\" (UINT8 alone) or \"gray_ocv\", which "
           "gives one channel."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example(
      "fn.debayer(fn.color_space_conversion(image, image_type=types.RGB, output_type=types.GRAY), "
      "blue_position=[0, 1]), label");
  op.places = op::Places::kKept;
  op.type_rule = debayer_types;
  op.define = [](RecipeBuilder& b) { Debayer(b).define(); };
  return op;
}

}  // namespace galatea::ops
