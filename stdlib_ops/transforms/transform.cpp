// Affine transforms: see transform.h.
#include "stdlib_ops/transforms/transform.h"

namespace galatea::ops {

Transform Transform::identity(int n) {
  Transform t{n, {}};
  for (int r = 0; r < n; ++r)
    for (int c = 0; c <= n; ++c) t.elements.push_back(f64(r == c ? 1 : 0));
  return t;
}

Transform then(const Transform& first, const Transform& second) {
  Transform out = Transform::identity(first.n);
  for (int r = 0; r < first.n; ++r)
    for (int c = 0; c <= first.n; ++c) {
      Expr sum;
      for (int k = 0; k < first.n; ++k) {
        const Expr part = second.at(r, k) * first.at(k, c);
        sum = sum ? sum + part : part;
      }
      out.at(r, c) = c == first.n ? sum + second.at(r, c) : sum;
    }
  return out;
}

void apply_center(RecipeBuilder& b, Transform& t) {
  if (!b.given("center")) return;
  const auto center = coordinates(b, "center", t.n);
  for (int r = 0; r < t.n; ++r) {
    Expr moved;
    for (int k = 0; k < t.n; ++k) {
      const Expr part = t.at(r, k) * center[static_cast<size_t>(k)];
      moved = moved ? moved + part : part;
    }
    t.at(r, t.n) = t.at(r, t.n) + (center[static_cast<size_t>(r)] - moved);
  }
}

Port transform_input() {
  return {.name = "transform",
          .documentation = "a transform to join with, FLOAT [n, n + 1]",
          .dtypes = {DType::kF32},
          .optional = true};
}

ArgSpec reverse_order_arg() {
  return {.name = "reverse_order",
          .kind = ArgKind::kBool,
          .default_value = false,
          .documentation = "False: inputs apply first, in their order; True: last, in reverse order."};
}

ArgSpec center_arg() {
  return {.name = "center",
          .kind = ArgKind::kFloatList,
          .per_sample = true,
          .documentation = "The point that stays in its place, x first; the origin if not given."};
}

int known_rank(const TypeContext& ctx, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!ctx.given(name)) continue;
    if (const int64_t length = length_of(ctx, name); length > 1) return static_cast<int>(length);
  }
  if (ctx.num_inputs() > 0) {
    const ir::Type& in = ctx.input(0);
    if (in.ndim == 2 && in.extents[0] >= 1) return static_cast<int>(in.extents[0]);
    if (in.ndim == 2 && in.extents[1] >= 2) return static_cast<int>(in.extents[1] - 1);
  }
  return -1;
}

Types transform_types(const TypeContext& ctx, int n) {
  const std::string& name = ctx.op().name;
  if (n < 1 || n > kMaxTransformRank)
    return ctx.error(fmt::format("{}: transforms of {} coordinates are not supported", name, n),
                     fmt::format("there may be 1 to {}", kMaxTransformRank));
  for (int k = 0; k < ctx.num_inputs(); ++k)
    if (!can_be_matrix(ctx.input(k), n, n + 1))
      return ctx.error(fmt::format("{}: input {} is {}, a matrix [{}, {}] is needed", name, k,
                                   describe(ctx.input(k)), n, n + 1),
                       fmt::format("the transform is one of {} coordinate{}", n, n == 1 ? "" : "s"));
  for (const ArgSpec& arg : ctx.op().args)
    if (arg.name == "center") GALATEA_TRY(check_length(ctx, "center", n));
  return std::vector<ir::Type>{
      {.dtype = DType::kF32, .ndim = 2, .layout = {}, .device = ir::Device::kCpu, .extents = {n, n + 1}}};
}

Transform input_transform(RecipeBuilder& b, int input, int n) {
  Transform t{n, {}};
  const ir::ValueId value = b.node().inputs[static_cast<size_t>(input)];
  for (const Expr& e : matrix_elements(b, value, n, n + 1, fmt::format("input {}", input)))
    t.elements.push_back(to_f64(e));
  return t;
}

void output_transform(RecipeBuilder& b, const Transform& t) {
  Transform joined = t;
  if (b.num_inputs() > 0) {
    const Transform given = input_transform(b, 0, t.n);
    joined = b.flag("reverse_order") ? then(t, given) : then(given, t);
  }
  for (Expr& e : joined.elements) e = to_f32(e);
  b.output_scalars(0, std::move(joined.elements));
}

int rank_of(const RecipeBuilder& b) { return static_cast<int>(b.output_type(0).extents[0]); }

std::vector<Expr> coordinates(RecipeBuilder& b, std::string_view name, int n) {
  std::vector<Expr> list = list_arg(b, name, n, DType::kF32);
  check_finite(b, name, list);
  for (Expr& e : list) e = to_f64(e);
  return list;
}

Operator make_transform(std::string name, std::vector<ArgSpec> args) {
  Operator op;
  op.name = "transforms." + std::move(name);
  op.inputs = {transform_input()};
  op.min_inputs = 0;
  op.max_inputs = 1;
  op.args = std::move(args);
  op.args.push_back(reverse_order_arg());
  op.devices = {"cpu"};
  return op;
}

std::string transform_example(const std::string& matrix) {
  return image_example("fn.warp_affine(image, matrix=" + matrix + ", fill_value=0), label");
}

}  // namespace galatea::ops
