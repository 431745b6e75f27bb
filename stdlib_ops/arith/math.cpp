// Mathematics on data nodes: one table of functions, element by element.
//
// Comes in: data nodes. Goes out: the operators math.abs … math.clamp. Functions of floats keep their type,
// of integers give FLOAT.
#include "stdlib_ops/arith/numeric.h"
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

enum class MathFamily : uint8_t { kSameType, kFloat, kPromoted, kPromotedFloat, kClamp };

struct MathFunction {
  const char* name;
  MathFamily family;
  ScalarOp op;
  int arity;
  const char* documentation;
};

constexpr MathFunction kMathFunctions[] = {
    {"abs", MathFamily::kSameType, ScalarOp::kAbs, 1, "Absolute value, in the operand's type."},
    {"fabs", MathFamily::kFloat, ScalarOp::kAbs, 1, "Absolute value, as a float."},
    {"floor", MathFamily::kFloat, ScalarOp::kFloor, 1, "Largest integer not above x, as a float."},
    {"ceil", MathFamily::kFloat, ScalarOp::kCeil, 1, "Smallest integer not below x, as a float."},
    {"sqrt", MathFamily::kFloat, ScalarOp::kSqrt, 1, "Square root."},
    {"rsqrt", MathFamily::kFloat, ScalarOp::kRsqrt, 1, "1 / square root."},
    {"cbrt", MathFamily::kFloat, ScalarOp::kCbrt, 1, "Cube root."},
    {"exp", MathFamily::kFloat, ScalarOp::kExp, 1, "e to the power of x."},
    {"log", MathFamily::kFloat, ScalarOp::kLog, 1, "Natural logarithm."},
    {"log2", MathFamily::kFloat, ScalarOp::kLog2, 1, "Logarithm to base 2."},
    {"log10", MathFamily::kFloat, ScalarOp::kLog10, 1, "Logarithm to base 10."},
    {"sin", MathFamily::kFloat, ScalarOp::kSin, 1, "Sine of an angle in radians."},
    {"cos", MathFamily::kFloat, ScalarOp::kCos, 1, "Cosine of an angle in radians."},
    {"tan", MathFamily::kFloat, ScalarOp::kTan, 1, "Tangent of an angle in radians."},
    {"asin", MathFamily::kFloat, ScalarOp::kAsin, 1, "Arc sine, in radians."},
    {"acos", MathFamily::kFloat, ScalarOp::kAcos, 1, "Arc cosine, in radians."},
    {"atan", MathFamily::kFloat, ScalarOp::kAtan, 1, "Arc tangent, in radians."},
    {"sinh", MathFamily::kFloat, ScalarOp::kSinh, 1, "Hyperbolic sine."},
    {"cosh", MathFamily::kFloat, ScalarOp::kCosh, 1, "Hyperbolic cosine."},
    {"tanh", MathFamily::kFloat, ScalarOp::kTanh, 1, "Hyperbolic tangent."},
    {"asinh", MathFamily::kFloat, ScalarOp::kAsinh, 1, "Inverse hyperbolic sine."},
    {"acosh", MathFamily::kFloat, ScalarOp::kAcosh, 1, "Inverse hyperbolic cosine."},
    {"atanh", MathFamily::kFloat, ScalarOp::kAtanh, 1, "Inverse hyperbolic tangent."},
    {"min", MathFamily::kPromoted, ScalarOp::kMin, 2, "The smaller of two values, in the promoted type."},
    {"max", MathFamily::kPromoted, ScalarOp::kMax, 2, "The larger of two values, in the promoted type."},
    {"pow", MathFamily::kPromoted, ScalarOp::kPow, 2,
     "x to the power of y, in the promoted type; an integer power with a negative exponent gives 0."},
    {"fpow", MathFamily::kPromotedFloat, ScalarOp::kPow, 2, "x to the power of y, as a float."},
    {"atan2", MathFamily::kPromotedFloat, ScalarOp::kAtan2, 2,
     "Angle of the point (y, x) in radians, from -pi to pi."},
    {"clamp", MathFamily::kClamp, ScalarOp::kMin, 3, "x limited to [lo, hi]: min(max(x, lo), hi)."},
};

DType result_type(const MathFunction& e, DType promoted) {
  const bool to_float = e.family == MathFamily::kFloat || e.family == MathFamily::kPromotedFloat;
  return to_float && is_integral(promoted) ? DType::kF32 : promoted;
}

Types math_types(const TypeContext& ctx, const MathFunction& e) {
  DType promoted = ctx.input(0).dtype;
  for (int k = 1; k < ctx.num_inputs(); ++k) promoted = promote(promoted, ctx.input(k).dtype);
  // A bool beside a number is that number's 0 or 1, as in x + y.
  if (is_bool(promoted))
    return ctx.error(bools_alone(e.name, e.arity), "cast the bool first: fn.cast(x, dtype=types.INT32)");
  GALATEA_ASSIGN(ir::Type out, broadcast_type(ctx, result_type(e, promoted)));
  return std::vector{out};
}

Expr evaluate_math(const MathFunction& e, DType type, const std::vector<Expr>& x) {
  if (e.arity == 1) {
    const DType compute = compute_type(type);
    return kernel::convert(kernel::unary(e.op, kernel::convert(x[0], compute)), type);
  }
  if (e.family == MathFamily::kClamp) {
    const DType compute = compute_type(type);
    const Expr v = kernel::convert(x[0], compute), lo = kernel::convert(x[1], compute),
               hi = kernel::convert(x[2], compute);
    return kernel::convert(kernel::min(kernel::max(v, lo), hi), type);
  }
  if (e.op == ScalarOp::kPow && is_integral(type)) return in_type(type, ScalarOp::kPowInt, x[0], x[1]);
  return in_type(type, e.op, x[0], x[1]);
}

}  // namespace

std::vector<op::Operator> make_math() {
  static const char* const kNames[] = {"a", "b", "c"};
  std::vector<op::Operator> result;
  for (const MathFunction& e : kMathFunctions) {
    Operator op;
    op.name = fmt::format("math.{}", e.name);
    op.summary = e.documentation;
    op.documentation = fmt::format(
        "{} Element by element, operands broadcast as NumPy does. f32 results are correct to about half a "
        "unit in the last place.",
        e.documentation);
    op.internal = true;
    for (int k = 0; k < e.arity; ++k)
      op.inputs.push_back({.name = kNames[k], .documentation = "operand", .any_device = true});
    op.min_inputs = op.max_inputs = e.arity;
    op.output_extents = OutputExtents::kBroadcast;
    op.devices = {"cpu", "gpu"};
    op.places = op::Places::kKept;
    op.type_rule = [&e](const TypeContext& ctx) { return math_types(ctx, e); };
    op.define = [&e](RecipeBuilder& b) {
      const DType type = b.output_type(0).dtype;
      pointwise(b, e.name, [&](const std::vector<Expr>& x) { return evaluate_math(e, type, x); });
    };
    result.push_back(std::move(op));
  }
  return result;
}

}  // namespace galatea::ops
