// median_blur: the median of the elements under a window.
//
// Comes in: an image and the size of the window. Goes out: an image of the same extents and type.
//
// Small windows of known size are sorted by a network of comparisons, written out, of which what the median
// does not depend on falls away. The others find the median bit by bit: it is at least t if no more than half
// of the elements are below t.
#include <array>

#include "stdlib_ops/common/window.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kLongestWindow = 255;
constexpr int64_t kMostSorted = 49;

Types median_types(const TypeContext& ctx) {
  GALATEA_TRY(check_length(ctx, "window_size", 2));
  if (!ctx.is_per_sample("window_size"))
    for (int64_t size : ctx.integers("window_size"))
      if (size < 1 || size > kLongestWindow || size % 2 == 0)
        return ctx.error(
            fmt::format("median_blur: window_size must be odd, from 1 to {}; got {}", kLongestWindow, size),
            {}, "window_size");
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  return std::vector{out};
}

/// Sorts by merge exchange (Batcher, "Sorting networks and their applications", 1968; algorithm M of Knuth,
/// The Art of Computer Programming, volume 3, 5.2.2).
void sort_network(std::vector<Expr>& values) {
  const auto n = static_cast<int64_t>(values.size());
  int64_t half = 1;
  while (half * 2 < n) half *= 2;
  for (int64_t p = n > 1 ? half : 0; p > 0; p /= 2) {
    for (int64_t q = half, r = 0, d = p;; d = q - p, q /= 2, r = p) {
      for (int64_t i = 0; i + d < n; ++i) {
        if ((i & p) != r) continue;
        Expr &a = values[static_cast<size_t>(i)], &b = values[static_cast<size_t>(i + d)];
        const Expr least = min(a, b);
        b = max(a, b);
        a = least;
      }
      if (q == p) break;
    }
  }
}

class MedianBlur {
 public:
  explicit MedianBlur(RecipeBuilder& b)
      : b_(b), image_(image_axes(b.input_layout(0))), type_(b.input_type(0).dtype) {
    sizes_ = list_arg(b, "window_size", 2, DType::kI64);
    for (const Expr& size : sizes_)
      b.check((size >= i64(1)) & (size <= i64(kLongestWindow)) & equal(size & i64(1), i64(1)),
              fmt::format("window_size must be odd, from 1 to {}, got {{}}", kLongestWindow), {size}, {},
              "window_size");
  }

  void define() {
    const bool is_known = kernel::is_const(sizes_[0]) && kernel::is_const(sizes_[1]);
    const int64_t rows = is_known ? kernel::const_value(sizes_[0]) : 0,
                  columns = is_known ? kernel::const_value(sizes_[1]) : 0;
    b_.output_stage(0, is_known && rows * columns <= kMostSorted ? sorted(rows, columns) : searched());
  }

 private:
  /// The element under the window, from its corner.
  Expr under(Axes at, const Expr& row, const Expr& column, const std::array<Expr, 2>& radius) const {
    Expr &y = at[static_cast<size_t>(image_.h)], &x = at[static_cast<size_t>(image_.w)];
    y = y + (row - radius[0]);
    x = x + (column - radius[1]);
    return load_with_border(b_, {}, std::move(at), {image_.h, image_.w}, BoundsPolicy::kEdge);
  }

  StageRef sorted(int64_t rows, int64_t columns) {
    const DType wide = type_ == DType::kF16 ? DType::kF32 : type_;
    return b_.map("median_blur", type_, b_.extents(0), [&](const Axes& at) {
      std::vector<Expr> values;
      for (int64_t j = 0; j < rows; ++j)
        for (int64_t i = 0; i < columns; ++i)
          values.push_back(
              kernel::convert(under(at, i64(j), i64(i), {i64(rows / 2), i64(columns / 2)}), wide));
      sort_network(values);
      return kernel::convert(values[values.size() / 2], type_);
    });
  }

  // ---- bit by bit, of numbers in the order of the elements
  static Expr u32(uint32_t value) { return kernel::const_int(value, DType::kU32); }

  int bits() const { return type_ == DType::kF16 ? 32 : static_cast<int>(size_of(type_)) * 8; }

  /// Floats are in the order of their bits, those below zero backwards.
  Expr key(const Expr& e) const {
    if (is_float(type_)) {
      const Expr as_bits = kernel::make_op(ScalarOp::kBitcast, DType::kU32, {to_f32(e)});
      return as_bits ^ select(as_bits >= u32(0x80000000U), u32(0xFFFFFFFFU), u32(0x80000000U));
    }
    if (!is_signed_int(type_)) return kernel::convert(e, DType::kU32);
    return kernel::convert(kernel::convert(e, DType::kI64) - i64(min_int(type_)), DType::kU32);
  }
  Expr element(const Expr& key) const {
    if (is_float(type_)) {
      const Expr as_bits = key ^ select(key >= u32(0x80000000U), u32(0x80000000U), u32(0xFFFFFFFFU));
      return kernel::convert(kernel::make_op(ScalarOp::kBitcast, DType::kF32, {as_bits}), type_);
    }
    if (!is_signed_int(type_)) return kernel::convert(key, type_);
    return kernel::convert(kernel::convert(key, DType::kI64) + i64(min_int(type_)), type_);
  }

  StageRef searched() {
    const std::array<Expr, 2> radius{sizes_[0] / i64(2), sizes_[1] / i64(2)};
    const Expr half = kernel::convert(sizes_[0] * sizes_[1] / i64(2), DType::kI32);
    StageRef found;
    for (int bit = bits(); bit-- > 0;) {
      const auto so_far = [&](const Axes& at) { return found.index < 0 ? u32(0) : b_.load(found, at); };
      const StageRef below = b_.reduce(
          {.name = "below",
           .type = DType::kI32,
           .extents = b_.extents(0),
           .reduce_extents = {sizes_[0], sizes_[1]},
           .accumulator = DType::kI32,
           .body = [&](const Axes& at, const Axes& over) {
             const Expr is_below = key(under(at, over[0], over[1], radius)) < (so_far(at) | u32(1U << bit));
             return select(is_below, kernel::const_int(1, DType::kI32), kernel::const_int(0, DType::kI32));
           }});
      found = b_.map(bit > 0 ? "found" : "median_key", DType::kU32, b_.extents(0), [&](const Axes& at) {
        return select(b_.load(below, at) <= half, so_far(at) | u32(1U << bit), so_far(at));
      });
    }
    return b_.map("median_blur", type_, b_.extents(0),
                  [&](const Axes& at) { return element(b_.load(found, at)); });
  }

  RecipeBuilder& b_;
  const ImageAxes image_;
  const DType type_;
  std::vector<Expr> sizes_;  ///< rows, columns
};

}  // namespace

Operator make_median_blur() {
  Operator op;
  op.name = "median_blur";
  op.aliases = {"experimental.median_blur"};
  op.summary = "The median of the elements under a window, of each channel.";
  op.documentation =
      "out(y, x) is the median of in(y + j, x + i) with j and i over a window centred on the pixel; past the "
      "edge the image repeats its edge: OpenCV's medianBlur, with windows that need not be square. Windows of "
      "up to 49 elements whose size is static are quick; others take time for each bit of an element. Of "
      "NaNs nothing is said.";
  op.inputs = {{.name = "input",
                .documentation = "image",
                .layouts = {"HWC", "CHW", "HW"},
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kI8, DType::kI16, DType::kI32,
                           DType::kF16, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "window_size",
       .kind = ArgKind::kIntList,
       .default_value = std::vector<int64_t>{3, 3},
       .per_sample = true,
       .documentation = "Rows and columns of the window, or one number for both; odd, from 1 to 255."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.median_blur(image, window_size=[3, 5]), label");
  op.places = op::Places::kKept;
  op.type_rule = median_types;
  op.define = [](RecipeBuilder& b) { MedianBlur(b).define(); };
  return op;
}

}  // namespace galatea::ops
