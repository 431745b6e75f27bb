// coord_transform: an affine map of points.
//
// Comes in: points, and a matrix M, an offset T, or both in one matrix MT. Goes out: M p + T.
#include "stdlib_ops/common/matrix.h"
#include "stdlib_ops/common/points.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Each output coordinate is a sum over so many at most.
constexpr int64_t kMaxTransformed = 16;
/// Coordinates that it makes: each is an expression of its own.
constexpr int64_t kMaxMade = 64;
/// Numbers of the text whose rows only the run tells.
constexpr int64_t kMaxUnknownRows = 36;

template <typename Context>
const char* matrix_argument(const Context& c) {
  return c.given("MT") ? "MT" : c.given("M") ? "M" : nullptr;
}

/// What a matrix argument says: its rows and columns, where it has any.
struct Shape {
  int64_t rows = -1, columns = -1;
  bool scalar = true;  ///< a multiple of the identity; also where there is no matrix
};

/// Numbers of the text are rows of `columns`; a matrix per sample must have known extents.
Result<Shape> matrix_shape(const TypeContext& ctx, int64_t coordinates) {
  const char* name = matrix_argument(ctx);
  if (name == nullptr) return Shape{};
  const std::string_view arg = name;
  const int64_t offset = arg == "MT" ? 1 : 0, columns = coordinates + offset;
  if (ctx.is_per_sample(arg)) {
    const ir::Type& type = ctx.arg_type(arg);
    if (type.ndim == 0) return Shape{};
    if (type.ndim != 2)
      return ctx.error(fmt::format("coord_transform: {} is {}, a matrix is needed", arg, describe(type)),
                       "a matrix has two axes, rows and columns; fn.reshape(x, shape=[…]) makes them", arg);
    if (type.static_volume() < 0) {
      ctx.want_extents(arg);
      return ctx.error(
          fmt::format("coord_transform: how many rows and columns {} has must be known while compiling", arg),
          fmt::format("say them with fn.reshape(x, shape=[{}, {}])", std::max<int64_t>(coordinates, 2),
                      std::max<int64_t>(columns, 2 + offset)),
          arg);
    }
    if (type.extents[1] <= offset || (coordinates >= 0 && type.extents[1] != columns))
      return ctx.error(fmt::format("coord_transform: {} is {} for points of {} coordinates", arg,
                                   describe(type), coordinates),
                       arg == "MT" ? "it has one column per coordinate, and one for the offset"
                                   : "it has one column per coordinate",
                       arg);
    return Shape{type.extents[0], type.extents[1], false};
  }
  GALATEA_TRY(check_numbers(ctx, arg));
  const auto count = static_cast<int64_t>(ctx.numbers(arg).size());
  if (count == 0)
    return ctx.error(fmt::format("coord_transform: {} is an empty list", arg), "write its rows", arg);
  if (count == 1) return Shape{};
  if (coordinates < 0 && count > kMaxUnknownRows) {
    ctx.want_extents(0);
    return ctx.error(
        fmt::format("coord_transform: how many coordinates points of {} have must be known while compiling",
                    describe(ctx.input(0))),
        "say it with fn.reshape(points, shape=[-1, …])");
  }
  if (coordinates < 0) return Shape{-1, -1, false};  // the run tells how the numbers are rows
  if (count % columns != 0)
    return ctx.error(fmt::format("coord_transform: {} numbers of {} are no rows of {}", count, arg, columns),
                     arg == "MT" ? "a row has one number per coordinate, and the offset"
                                 : "a row has one number per coordinate",
                     arg);
  return Shape{count / columns, columns, false};
}

Types coord_transform_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  if (in.ndim == 0)
    return ctx.error("coord_transform: a number is no point",
                     "points have their coordinates along the last axis");
  if (ctx.given("MT") && (ctx.given("M") || ctx.given("T")))
    return ctx.error("coord_transform: MT excludes M and T", "keep MT, or M and T", "MT");
  const int64_t coordinates = coordinates_of(in);
  GALATEA_ASSIGN(const Shape matrix, matrix_shape(ctx, coordinates));
  if (!matrix.scalar && matrix.columns > kMaxTransformed + 1)
    return ctx.error(fmt::format("coord_transform: points of {} coordinates are not supported", coordinates),
                     fmt::format("there may be up to {}", kMaxTransformed));
  if (matrix.rows > kMaxMade)
    return ctx.error(fmt::format("coord_transform: {} has {} rows, up to {} are taken", matrix_argument(ctx),
                                 matrix.rows, kMaxMade),
                     "a row makes one coordinate of each point", matrix_argument(ctx));
  ir::Type out = with_dtype(in, ctx.dtype("dtype", DType::kF32));
  if (is_bool(out.dtype) || size_of(out.dtype) > 4)
    return ctx.error(fmt::format("coord_transform: no points of {}", types_name(out.dtype)),
                     "use FLOAT, or an integer type of up to 32 bits", "dtype");
  if (!matrix.scalar) out.extents.back() = matrix.rows;
  if (!ctx.given("T")) return std::vector{out};
  const int64_t offsets = length_of(ctx, "T"), rows = out.extents.back();
  if (offsets < 0)
    return ctx.error("coord_transform: how many numbers T has must be known while compiling",
                     "say it with fn.reshape(x, shape=[2])", "T");
  if (offsets != 1 && rows >= 0 && offsets != rows)
    return ctx.error(
        fmt::format("coord_transform: T has {} numbers, the result has {} coordinates", offsets, rows),
        "give one number per coordinate, or one for all", "T");
  return std::vector{out};
}

/// The elements of M or MT, in f32, row by row.
std::vector<Expr> elements_of(RecipeBuilder& b, const char* name, int rows, int columns) {
  const auto value = value_of_arg(b, name);
  std::vector<Expr> elements = value ? matrix_elements(b, *value, rows, columns, name, name)
                                     : b.arg_list(name, rows * columns, DType::kF32);
  for (Expr& e : elements) e = to_f32(e);
  return elements;
}

/// Numbers of the text as rows of as many columns as the points turn out to need; the same sums.
void transform_by_rows(RecipeBuilder& b, const char* name, const Expr& own, std::vector<Expr> offsets) {
  const DType dtype = b.output_type(0).dtype;
  const int count = b.arg_length(name), offset = std::string_view(name) == "MT" ? 1 : 0;
  const std::vector<Expr> elements = b.arg_list(name, count, DType::kF32);
  const Expr columns = own + i64(offset), rows = i64(count) / max(columns, i64(1));
  b.check((own >= i64(1)) & equal(rows * columns, i64(count)),
          fmt::format("{} numbers of {} are no rows for points of {{}} coordinates", count, name), {own},
          offset == 0 ? "a row has one number per coordinate"
                      : "a row has one number per coordinate, and the offset",
          name);
  if (offsets.size() > 1)
    b.check(equal(rows, i64(static_cast<int64_t>(offsets.size()))),
            fmt::format("T has {} numbers, the result has {{}} coordinates", offsets.size()), {rows},
            "give one number per coordinate, or one for all", "T");
  output_points(b, "coord_transform", rows, [&](const Expr& k, const Coordinate& of) {
    const Expr row = k * columns;
    Expr sum = to_f32(of(i64(0))) * choose(row, elements);
    for (int j = 1; j < count - offset; ++j) {
      const Expr x = to_f32(of(min(i64(j), own - i64(1))));
      sum = select(i64(j) < own, kernel::fma(choose(row + i64(j), elements), x, sum), sum);
    }
    if (offset > 0) sum = sum + choose(row + own, elements);
    return kernel::saturate(offsets.empty() ? sum : sum + choose(k, offsets), dtype);
  });
}

void define_coord_transform(RecipeBuilder& b) {
  const char* name = matrix_argument(b);
  const ir::Type& out = b.output_type(0);
  const int last = b.input_type(0).ndim - 1;
  const Expr own = b.extent(0, last);
  bool scalar = name == nullptr;
  if (!scalar) {
    const auto value = value_of_arg(b, name);
    scalar = value ? b.type_of(*value).ndim == 0 : b.arg_length(name) == 1;
  }
  const bool joined = name != nullptr && std::string_view(name) == "MT";
  std::vector<Expr> offsets;
  if (b.given("T")) offsets = b.arg_list("T", b.arg_length("T"), DType::kF32);
  if (scalar) {
    if (offsets.size() > 1)
      b.check(equal(own, i64(static_cast<int64_t>(offsets.size()))),
              fmt::format("T has {} numbers, points have {{}} coordinates", offsets.size()), {own},
              "give one number per coordinate, or one for all", "T");
    const Expr factor = name == nullptr ? f32(1) : b.arg_list(name, 1, DType::kF32)[0];
    return output_points(b, "coord_transform", own, [&](const Expr& k, const Coordinate& of) {
      const Expr x = to_f32(of(k));
      const Expr scaled = name == nullptr ? x : x * factor;
      return kernel::saturate(offsets.empty() ? scaled : scaled + choose(k, offsets), out.dtype);
    });
  }
  const auto value = value_of_arg(b, name);
  if (!value && !kernel::is_const(own)) return transform_by_rows(b, name, own, offsets);
  const auto rows = static_cast<int>(out.extents.back());
  const int columns = value ? static_cast<int>(b.type_of(*value).extents[1]) : b.arg_length(name) / rows;
  const int n = columns - (joined ? 1 : 0);
  b.check(equal(own, i64(n)), fmt::format("points have {{}} coordinates, {} takes {}", name, n), {own}, {},
          name);
  const std::vector<Expr> elements = elements_of(b, name, rows, columns);
  std::vector<std::vector<Expr>> column(static_cast<size_t>(columns));
  for (size_t e = 0; e < elements.size(); ++e)
    column[e % static_cast<size_t>(columns)].push_back(elements[e]);
  if (joined) offsets = column.back();
  output_points(b, "coord_transform", i64(rows), [&](const Expr& k, const Coordinate& of) {
    Expr sum;
    for (int j = 0; j < n; ++j) {
      const Expr x = to_f32(of(i64(j))), factor = choose(k, column[static_cast<size_t>(j)]);
      sum = sum ? kernel::fma(factor, x, sum) : factor * x;
    }
    return kernel::saturate(offsets.empty() ? sum : sum + choose(k, offsets), out.dtype);
  });
}

ArgSpec matrix_arg(const char* name, const char* documentation) {
  return {.name = name, .kind = ArgKind::kAny, .per_sample = true, .documentation = documentation};
}

}  // namespace

Operator make_coord_transform() {
  Operator op;
  op.name = "coord_transform";
  op.summary = "Maps points by a matrix and an offset.";
  op.documentation =
      "out = M in + T for each point, whose coordinates lie along the last axis; computed in f32. M has a row "
      "per coordinate of the output and a column per coordinate of the input; MT holds T as one more column, "
      "as the matrices of fn.transforms do. Of images (HWC) the channels are the coordinates: M mixes "
      "colours. Integers round half to even and are clamped.";
  op.inputs = {points_input("data", "points: their coordinates lie along the last axis",
                            {DType::kU8, DType::kU16, DType::kU32, DType::kI8, DType::kI16, DType::kI32,
                             DType::kF16, DType::kF32})};
  op.min_inputs = op.max_inputs = 1;
  op.args = {matrix_arg("M",
                        "The matrix: its numbers row by row, a tensor [rows, columns], or one number, which "
                        "scales every coordinate. The identity if not given."),
             {.name = "T",
              .kind = ArgKind::kFloatList,
              .per_sample = true,
              .documentation = "The offset: one number per coordinate of the output, or one for all; 0 if "
                               "not given."},
             matrix_arg("MT", "M and T in one matrix, T its last column; or one number, as for M."),
             dtype_arg("Element type of the output; FLOAT if not given.")};
  op.devices = {"cpu", "gpu"};
  op.example =
      "points = fn.random.uniform(range=[0, 32], shape=[5, 2])\n"
      "turn = fn.transforms.rotation(angle=fn.random.uniform(range=[-15, 15]), center=[16, 16])\n"
      "return fn.coord_transform(points, MT=turn)\n";
  op.type_rule = coord_transform_types;
  op.define = define_coord_transform;
  return op;
}

}  // namespace galatea::ops
