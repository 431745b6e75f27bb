#include "tests/graph/sample_operators.h"

#include "compiler/ir/attr.h"
#include "compiler/op/recipe.h"

namespace galatea::testing {
namespace {

using namespace op;
using ir::Type;
using kernel::const_float;
using kernel::const_int;
using kernel::convert;
using Types = Result<std::vector<Type>>;

Expr i64(int64_t value) { return const_int(value); }

Operator named(std::string name, int num_inputs) {
  Operator op;
  op.name = std::move(name);
  op.min_inputs = op.max_inputs = num_inputs;
  for (int k = 0; k < num_inputs; ++k) op.inputs.push_back({"in" + std::to_string(k), "", {}, {}});
  return op;
}

Operator image_operator(std::string name) {
  Operator op = named(std::move(name), 1);
  op.inputs[0].layouts = {"HWC"};
  op.type_rule = [](const TypeContext& c) -> Types { return std::vector{c.input(0)}; };
  return op;
}

Operator files() {
  Operator op = named("files", 0);
  op.kind = OperatorKind::kNative;
  op.source = true;
  op.args = {{"root", ArgKind::kString, ir::None{}, true}};
  op.type_rule = [](const TypeContext&) -> Types {
    return std::vector{Type{DType::kU8, 1, {}, ir::Device::kCpu, {-1}},
                       Type{DType::kI32, 1, {}, ir::Device::kCpu, {1}}};
  };
  return op;
}

constexpr int64_t kGray = 2;

int64_t channels_of(const TypeContext& c) { return c.integer("output_type") == kGray ? 1 : 3; }

Operator decode() {
  Operator op = named("decode", 1);
  op.kind = OperatorKind::kNative;
  op.inputs[0].dtypes = {DType::kU8};
  op.args = {{"output_type", ArgKind::kImageType, int64_t{0}}};
  op.type_rule = [](const TypeContext& c) -> Types {
    return std::vector{Type{DType::kU8, 3, "HWC", ir::Device::kCpu, {-1, -1, channels_of(c)}}};
  };
  op.define = [](RecipeBuilder& b) {
    std::vector<Expr> size = b.native_scalars("image.peek", {0}, {}, "{}", {DType::kI64, DType::kI64});
    using Part = WindowScalar::Part;
    NativeOutput native;
    native.function = "image.decode";
    native.inputs = {0};
    native.makes = "image";
    native.window = {{'H', Part::kBegin}, {'W', Part::kBegin}, {'H', Part::kEnd}, {'W', Part::kEnd}};
    native.scale = {.whole = 8,
                    .parts = {1, 2, 4},
                    .axes = {{'H', size[0], i64(0), i64(0)}, {'W', size[1], i64(0), i64(0)}},
                    .least = {}};
    if (const int64_t type = b.integer("output_type"); type == 0 || type == 1)
      native.plane = {
          .name = "luma",
          .axis = 'C',
          .weights = type == 0 ? std::vector{0.299, 0.587, 0.114} : std::vector{0.114, 0.587, 0.299},
          .makes_plane = {"output_type", ir::Attr(kGray)},
          .spread = "color_space_conversion",
          .spread_args = {{"image_type", ir::Attr(kGray)}, {"output_type", ir::Attr(int64_t{0})}}};
    Expr eighths = b.scale(8);
    if (!kernel::is_const(eighths)) {
      native.scalars = {eighths};
      for (Expr& extent : size) extent = (extent * eighths + i64(7)) / i64(8);
    }
    b.output_native(0, native, {size[0], size[1], i64(b.integer("output_type") == kGray ? 1 : 3)});
  };
  return op;
}

/// A grey image of three channels, as the language's operator of this name makes it; nothing else.
Operator color_space_conversion() {
  Operator op = image_operator("color_space_conversion");
  op.args = {{"image_type", ArgKind::kImageType, ir::None{}, true},
             {"output_type", ArgKind::kImageType, ir::None{}, true}};
  op.type_rule = [](const TypeContext& c) -> Types {
    Type type = c.input(0);
    type.extents[2] = channels_of(c);
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    b.output_stage(
        0, b.map("spread", DType::kU8, {b.extent(0, 0), b.extent(0, 1), i64(3)},
                 [&](const std::vector<Expr>& axes) { return b.load(0, {axes[0], axes[1], i64(0)}); }));
  };
  return op;
}

/// One channel, or three equal ones: a mix of red, green and blue.
Operator grey() {
  Operator op = image_operator("grey");
  op.args = {{"channels", ArgKind::kInt, int64_t{1}}, {"red", ArgKind::kFloat, 0.299}};
  op.type_rule = [](const TypeContext& c) -> Types {
    Type type = c.input(0);
    type.extents[2] = c.integer("channels");
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    b.output_stage(0, b.map("grey", DType::kU8, {b.extent(0, 0), b.extent(0, 1), i64(b.integer("channels"))},
                            [&](const std::vector<Expr>& axes) {
                              Expr sum = const_float(0);
                              const double weights[] = {b.number("red"), 0.587, 0.114};
                              for (int64_t c = 0; c < 3; ++c)
                                sum = kernel::fma(const_float(weights[c]),
                                                  convert(b.load(0, {axes[0], axes[1], i64(c)}), DType::kF32),
                                                  sum);
                              return kernel::saturate(sum, DType::kU8);
                            }));
  };
  return op;
}

Operator constant() {
  Operator op = named("constant", 0);
  op.args = {{"value", ArgKind::kAny, ir::None{}, true},
             {"dtype", ArgKind::kDType, DType::kF32},
             {"shape", ArgKind::kIntList},
             {"layout", ArgKind::kLayout}};
  op.type_rule = [](const TypeContext& c) -> Types {
    std::vector<int64_t> shape = c.integers("shape");
    return std::vector{
        Type{c.dtype("dtype", DType::kF32), static_cast<int>(shape.size()), {}, ir::Device::kCpu, shape}};
  };
  op.define = [](RecipeBuilder& b) {
    std::vector<Expr> elements;
    for (double value : b.numbers("value"))
      elements.push_back(kernel::saturate(const_float(value, DType::kF64), b.output_type(0).dtype));
    b.output_scalars(0, elements);
  };
  return op;
}

Operator scalar_operator(std::string name, ScalarOp scalar, bool compares) {
  Operator op = named(std::move(name), 2);
  op.internal = true;
  op.type_rule = [compares](const TypeContext& c) -> Types {
    if (!c.input(0).is_scalar() || !c.input(1).is_scalar()) return c.error("takes scalars");
    return std::vector{Type{
        compares ? DType::kBool : promote(c.input(0).dtype, c.input(1).dtype), 0, {}, ir::Device::kCpu, {}}};
  };
  op.define = [scalar](RecipeBuilder& b) {
    DType type = promote(b.input_type(0).dtype, b.input_type(1).dtype);
    b.output_scalars(
        0, {kernel::binary(scalar, convert(b.element(0, 0), type), convert(b.element(1, 0), type))});
  };
  return op;
}

Operator convert_operator() {
  Operator op = named("convert", 1);
  op.args = {{"dtype", ArgKind::kDType, ir::None{}, true}, {"most", ArgKind::kFloat}};
  op.type_rule = [](const TypeContext& c) -> Types {
    Type type = c.input(0);
    type.dtype = c.dtype("dtype", type.dtype);
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    Expr value = b.element(0, 0);
    if (b.given("most"))
      b.check(convert(value, DType::kF64) <= b.arg("most", DType::kF64), "{} is too large", {value});
    b.output_scalars(0, {kernel::saturate(value, b.output_type(0).dtype)});
  };
  return op;
}

Operator uniform() {
  Operator op = named("uniform", 0);
  op.random = true;
  op.args = {{"range", ArgKind::kFloatList, std::vector<double>{0.0, 1.0}}};
  op.type_rule = [](const TypeContext&) -> Types {
    return std::vector{Type{DType::kF32, 0, {}, ir::Device::kCpu, {}}};
  };
  op.define = [](RecipeBuilder& b) {
    std::vector<Expr> range = b.arg_list("range", 2, DType::kF32);
    b.output_scalars(0, {range[0] + b.random_unit(i64(0)) * (range[1] - range[0])});
  };
  return op;
}

Operator shapes() {
  Operator op = named("shapes", 1);
  op.type_rule = [](const TypeContext& c) -> Types {
    return std::vector{Type{DType::kI64, 1, {}, ir::Device::kCpu, {c.input(0).ndim}}};
  };
  op.define = [](RecipeBuilder& b) { b.output_scalars(0, b.extents(0)); };
  return op;
}

/// Window of `size` at relative position (y, x) in [0, 1].
Operator crop() {
  Operator op = image_operator("crop");
  op.args = {{"size", ArgKind::kIntList, ir::None{}, true},
             {"y", ArgKind::kFloat, 0.5, false, true},
             {"x", ArgKind::kFloat, 0.5, false, true}};
  op.type_rule = [](const TypeContext& c) -> Types {
    std::vector<int64_t> size = c.integers("size");
    if (size.size() != 2) return c.error("size needs two numbers", "as in size=[224, 224]", "size");
    return std::vector{
        Type{c.input(0).dtype, 3, "HWC", ir::Device::kCpu, {size[0], size[1], c.input(0).extents[2]}}};
  };
  op.define = [](RecipeBuilder& b) {
    std::vector<int64_t> size = b.integers("size");
    std::vector<Expr> start;
    for (int d = 0; d < 2; ++d) {
      Expr room = b.extent(0, d) - i64(size[static_cast<size_t>(d)]);
      b.check(room >= i64(0), "the window of {} does not fit into {}",
              {i64(size[static_cast<size_t>(d)]), b.extent(0, d)});
      start.push_back(
          convert(b.arg(d == 0 ? "y" : "x", DType::kF32) * convert(room, DType::kF32), DType::kI64));
    }
    start.push_back(i64(0));
    b.output_view(0, 0, {i64(size[0]), i64(size[1]), b.extent(0, 2)}, {0, 1, 2}, start,
                  {i64(1), i64(1), i64(1)});
  };
  return op;
}

Operator flip() {
  Operator op = image_operator("flip");
  op.define = [](RecipeBuilder& b) {
    b.output_view(0, 0, b.extents(0), {0, 1, 2}, {i64(0), b.extent(0, 1) - i64(1), i64(0)},
                  {i64(1), i64(-1), i64(1)});
  };
  return op;
}

Operator brighten() {
  Operator op = image_operator("brighten");
  op.args = {{"by", ArgKind::kFloat, 1.0, false, true}};
  op.define = [](RecipeBuilder& b) {
    DType type = b.input_type(0).dtype;
    b.output_stage(0, b.map("brighten", type, b.extents(0), [&](const std::vector<Expr>& axes) {
      return kernel::saturate(convert(b.load(0, axes), DType::kF32) * b.arg("by", DType::kF32), type);
    }));
  };
  return op;
}

/// Mean of the rows first … first + window - 1 around each row, reflected at the borders; rows from `top` on
/// only.
Operator blur() {
  Operator op = image_operator("blur");
  op.args = {{"window", ArgKind::kInt, int64_t{3}, false, true},
             {"top", ArgKind::kInt, int64_t{0}},
             {"rows", ArgKind::kInt}};
  op.type_rule = [](const TypeContext& c) -> Types {
    Type type = c.input(0);
    if (c.given("rows")) type.extents[0] = c.integer("rows");
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    Expr window = b.arg("window", DType::kI64);
    Expr top = b.arg("top", DType::kI64);
    RecipeBuilder::Band band;
    band.name = "rows";
    band.type = DType::kU8;
    band.extents = b.extents(0);
    if (b.given("rows")) band.extents[0] = b.arg("rows", DType::kI64);
    band.taps = window;
    band.first = [&](const Expr& i) { return i + top - window / i64(2); };
    band.weight = [&](const Expr&, Expr) { return const_float(1.0) / convert(window, DType::kF32); };
    band.source = [&](const std::vector<Expr>& axes, const Expr& index) {
      return b.load(0, {index, axes[1], axes[2]}, kernel::Border::kReflect101);
    };
    band.finish = [&](const Expr& sum) { return kernel::saturate(sum, DType::kU8); };
    b.output_stage(0, b.band(band));
  };
  return op;
}

struct Axis {
  Expr begin, length;  ///< f32: the part of the input that is shown
  int64_t size;
};

/// Triangle filter over `axis`, the taps' positions in a table stage.
StageRef resample(RecipeBuilder& b, const std::string& name, int axis, const Axis& part,
                  std::vector<Expr> extents, DType type,
                  const std::function<Expr(const std::vector<Expr>&)>& source) {
  Expr scale = part.length / const_float(static_cast<double>(part.size));
  Expr radius = kernel::max(scale, const_float(1.0));
  StageRef first = b.map(
      name + "_first", DType::kI64, {extents[static_cast<size_t>(axis)]}, [&](const std::vector<Expr>& i) {
        Expr centre = (convert(i[0], DType::kF32) + const_float(0.5)) * scale + part.begin - const_float(0.5);
        return convert(kernel::unary(ScalarOp::kFloor, centre - radius), DType::kI64);
      });
  RecipeBuilder::Band band;
  band.name = name;
  band.type = type;
  band.extents = std::move(extents);
  band.axis = axis;
  band.taps = convert(kernel::unary(ScalarOp::kCeil, radius * const_float(2.0)), DType::kI64) + i64(1);
  band.first = [&](const Expr& i) { return b.load(first, {i}); };
  band.weight = [&](const Expr&, Expr) { return const_float(1.0) / convert(band.taps, DType::kF32); };
  band.source = [&](const std::vector<Expr>& axes, const Expr& index) {
    std::vector<Expr> at = axes;
    at[static_cast<size_t>(axis)] = index;
    return source(at);
  };
  band.finish = [&](const Expr& sum) { return kernel::saturate(sum, type); };
  return b.band(band);
}

void resize_part(RecipeBuilder& b, const Axis& y, const Axis& x) {
  StageRef wide =
      resample(b, "horizontal", 1, x, {b.extent(0, 0), i64(x.size), b.extent(0, 2)}, DType::kF32,
               [&](const std::vector<Expr>& at) { return b.load(0, at, kernel::Border::kClamp); });
  b.output_stage(
      0, resample(b, "vertical", 0, y, {i64(y.size), i64(x.size), b.extent(0, 2)}, DType::kU8,
                  [&](const std::vector<Expr>& at) { return b.load(wide, at, kernel::Border::kClamp); }));
}

Operator resize() {
  Operator op = image_operator("resize");
  op.args = {{"size", ArgKind::kIntList, ir::None{}, true},
             {"start", ArgKind::kFloatList, std::vector<double>{0.0}, false, true},
             {"end", ArgKind::kFloatList, std::vector<double>{1.0}, false, true}};
  op.type_rule = [](const TypeContext& c) -> Types {
    std::vector<int64_t> size = c.integers("size");
    if (size.size() != 2) return c.error("size needs two numbers", "as in size=[224, 224]", "size");
    return std::vector{
        Type{DType::kU8, 3, "HWC", ir::Device::kCpu, {size[0], size[1], c.input(0).extents[2]}}};
  };
  op.define = [](RecipeBuilder& b) {
    std::vector<Expr> start = b.arg_list("start", 2, DType::kF32), end = b.arg_list("end", 2, DType::kF32);
    std::vector<Axis> parts;
    Expr least;
    for (size_t d = 0; d < 2; ++d) {
      auto dim = static_cast<int>(d);
      Expr extent = convert(b.full_extent(0, dim), DType::kF32);
      Expr low = start[d] * extent, length = (end[d] - start[d]) * extent;
      Expr scale = const_float(static_cast<double>(b.integers("size")[d])) / length;
      least = least ? kernel::max(least, scale) : scale;
      auto scaled = [&](const Expr& at) {
        Expr full = convert(at, DType::kF64), here = b.scaled(0, dim, full);
        return kernel::same(full, here) ? at : convert(here, DType::kF32);
      };
      Expr begin = scaled(low);
      parts.push_back(
          {begin, kernel::same(begin, low) ? length : scaled(low + length) - begin, b.integers("size")[d]});
    }
    b.least_scale(convert(least, DType::kF64));
    resize_part(b, parts[0], parts[1]);
  };
  return op;
}

/// A random half of the image, resized.
Operator random_zoom() {
  Operator op = resize();
  op.name = "random_zoom";
  op.random = true;
  op.args.resize(1);
  op.define = [](RecipeBuilder& b) {
    std::vector<Axis> parts;
    for (int d = 0; d < 2; ++d) {
      Expr extent = b.extent(0, d), half = extent / i64(2);
      Expr begin = b.random_below(i64(d), extent - half + i64(1));
      parts.push_back({convert(begin, DType::kF32), convert(half, DType::kF32),
                       b.integers("size")[static_cast<size_t>(d)]});
    }
    resize_part(b, parts[0], parts[1]);
  };
  return op;
}

Operator mean() {
  Operator op = named("mean", 1);
  op.type_rule = [](const TypeContext&) -> Types {
    return std::vector{Type{DType::kF32, 0, {}, ir::Device::kCpu, {}}};
  };
  op.define = [](RecipeBuilder& b) {
    RecipeBuilder::Reduce reduce;
    reduce.name = "mean";
    reduce.reduce_extents = b.extents(0);
    reduce.body = [&](const std::vector<Expr>&, const std::vector<Expr>& at) {
      return convert(b.load(0, at), DType::kF32);
    };
    b.output_stage(0, b.reduce(reduce));
  };
  return op;
}

/// Rows of the image picked by its own pixels.
Operator gather() {
  Operator op = image_operator("gather");
  op.define = [](RecipeBuilder& b) {
    b.output_stage(0, b.map("gather", DType::kU8, b.extents(0), [&](const std::vector<Expr>& axes) {
      Expr row = convert(b.load(0, axes), DType::kI64);
      return b.load(0, {row, axes[1], axes[2]}, kernel::Border::kClamp);
    }));
  };
  return op;
}

Operator permute_batch() {
  Operator op = named("permute_batch", 1);
  op.sees_batch = [](const ir::Node&) { return true; };
  op.type_rule = [](const TypeContext& c) -> Types { return std::vector{c.input(0)}; };
  return op;
}

op::Registry make_registry() {
  op::Registry registry;
  registry.add(files());
  registry.add(decode());
  registry.add(constant());
  registry.add(scalar_operator("add", ScalarOp::kAdd, false));
  registry.add(scalar_operator("mul", ScalarOp::kMul, false));
  registry.add(scalar_operator("less", ScalarOp::kLt, true));
  registry.add(convert_operator());
  registry.add(uniform());
  registry.add(shapes());
  registry.add(color_space_conversion());
  registry.add(grey());
  registry.add(crop());
  registry.add(flip());
  registry.add(brighten());
  registry.add(blur());
  registry.add(resize());
  registry.add(random_zoom());
  registry.add(mean());
  registry.add(gather());
  registry.add(permute_batch());
  return registry;
}

}  // namespace

const op::Registry& sample_registry() {
  static const op::Registry kRegistry = make_registry();
  return kRegistry;
}

}  // namespace galatea::testing
