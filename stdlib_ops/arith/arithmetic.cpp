// Arithmetic, comparison and bitwise operators of the language: one table, one type rule, one definition.
//
// Comes in: data nodes (static scalars arrive as constants of type bool, i32 or f32). Goes out: the operators
// arith.add … arith.not.
#include "stdlib_ops/operators.h"

#include "stdlib_ops/arith/numeric.h"
#include "stdlib_ops/common/pointwise.h"

namespace galatea::ops {
namespace {

enum class Family : uint8_t {
  kArithmetic,
  kDivide,
  kPower,
  kBitwise,
  kShift,
  kCompare,
  kSign,
  kInvert,
  kNot
};

struct Entry {
  const char* name;
  const char* symbol;
  Family family;
  ScalarOp op;
  const char* documentation;
};

constexpr Entry kEntries[] = {
    {"add", "+", Family::kArithmetic, ScalarOp::kAdd, "Sum in the promoted type; integers wrap."},
    {"sub", "-", Family::kArithmetic, ScalarOp::kSub, "Difference in the promoted type; integers wrap."},
    {"mul", "*", Family::kArithmetic, ScalarOp::kMul,
     "Product in the promoted type; integers wrap; of two bools, their conjunction."},
    {"div", "/", Family::kDivide, ScalarOp::kDiv,
     "Quotient; FLOAT if both operands are integers, else the promoted float type."},
    {"floordiv", "//", Family::kArithmetic, ScalarOp::kDiv,
     "Quotient in the promoted type; integers truncate toward zero, floats keep their fraction."},
    {"mod", "%", Family::kArithmetic, ScalarOp::kRem, "Remainder with the sign of the dividend."},
    {"pow", "**", Family::kPower, ScalarOp::kPow,
     "Power in the promoted type; an integer power with a negative exponent gives 0."},
    {"and", "&", Family::kBitwise, ScalarOp::kAnd,
     "Bitwise and of integers and bools, in the promoted type."},
    {"or", "|", Family::kBitwise, ScalarOp::kOr, "Bitwise or of integers and bools, in the promoted type."},
    {"xor", "^", Family::kBitwise, ScalarOp::kXor,
     "Bitwise exclusive or of integers and bools, in the promoted type."},
    {"lshift", "<<", Family::kShift, ScalarOp::kShl,
     "Shift to the left, in the promoted type; the count is taken modulo the width."},
    {"rshift", ">>", Family::kShift, ScalarOp::kShr,
     "Shift to the right, in the promoted type; arithmetic for signed types."},
    {"eq", "==", Family::kCompare, ScalarOp::kEq,
     "BOOL: equal; signed and unsigned integers compare by true value."},
    {"ne", "!=", Family::kCompare, ScalarOp::kNe, "BOOL: not equal."},
    {"lt", "<", Family::kCompare, ScalarOp::kLt, "BOOL: less."},
    {"le", "<=", Family::kCompare, ScalarOp::kLe, "BOOL: less or equal."},
    {"gt", ">", Family::kCompare, ScalarOp::kGt, "BOOL: greater."},
    {"ge", ">=", Family::kCompare, ScalarOp::kGe, "BOOL: greater or equal."},
    {"neg", "-", Family::kSign, ScalarOp::kNeg, "Negation in the operand's type; unsigned integers wrap."},
    {"pos", "+", Family::kSign, ScalarOp::kNeg, "The operand itself."},
    {"invert", "~", Family::kInvert, ScalarOp::kNot, "Every bit inverted; of a bool, its negation."},
    {"not", "not", Family::kNot, ScalarOp::kNot, "BOOL: the negation of a bool."},
};

bool is_unary(const Entry& e) {
  return e.family == Family::kSign || e.family == Family::kInvert || e.family == Family::kNot;
}

/// Words that DALI's users look for: inputs of a bitwise operator that are no integers.
std::string not_integral(const TypeContext& ctx, const Entry& e) {
  std::string given = describe(ctx.input(0));
  for (int k = 1; k < ctx.num_inputs(); ++k) given += " and " + describe(ctx.input(k));
  return fmt::format("operator '{}' is not defined for {}", e.symbol, given);
}

Types unary_types(const TypeContext& ctx, const Entry& e) {
  const ir::Type& in = ctx.input(0);
  if (e.family == Family::kSign && is_bool(in.dtype) && std::string_view(e.name) != "pos")
    return ctx.error(bools_alone(e.symbol, 1), "cast it first: fn.cast(x, dtype=types.INT32)");
  if (e.family == Family::kInvert && is_float(in.dtype))
    return ctx.error(not_integral(ctx, e), "bitwise operators take integers and bools");
  if (e.family == Family::kNot && !is_bool(in.dtype))
    return ctx.error(fmt::format("operator '{}' is not defined for {}", e.symbol, describe(in)),
                     "compare with zero (x != 0) to get a bool");
  return std::vector{in};
}

Types binary_types(const TypeContext& ctx, const Entry& e) {
  const DType a = ctx.input(0).dtype, b = ctx.input(1).dtype;
  const bool bools = is_bool(a) && is_bool(b);
  DType result = promote(a, b);
  switch (e.family) {
    case Family::kArithmetic:
    case Family::kDivide:
    case Family::kPower:
      if (bools && e.op != ScalarOp::kMul)
        return ctx.error(bools_alone(e.symbol, 2), "cast one of the bools first, or use & | ^");
      if (e.family == Family::kDivide && is_integral(result)) result = DType::kF32;
      break;
    case Family::kBitwise:
    case Family::kShift:
      if (!is_integral(a) || !is_integral(b))
        return ctx.error(not_integral(ctx, e), "bitwise operators take integers and bools");
      if (e.family == Family::kShift && bools)
        return ctx.error(bools_alone(e.symbol, 2), "cast the bools first: fn.cast(x, dtype=types.INT32)");
      break;
    default:
      result = DType::kBool;
  }
  GALATEA_ASSIGN(ir::Type out, broadcast_type(ctx, result));
  return std::vector{out};
}

Expr evaluate_unary(const Entry& e, const Expr& x) {
  if (std::string_view(e.name) == "pos") return x;
  const DType type = x.type();
  return kernel::convert(kernel::unary(e.op, kernel::convert(x, compute_type(type))), type);
}

Expr evaluate_binary(const Entry& e, DType type, const Expr& a, const Expr& b) {
  if (e.family == Family::kCompare) return compare(e.op, a, b);
  if (e.family == Family::kPower)
    return in_type(type, is_float(type) ? ScalarOp::kPow : ScalarOp::kPowInt, a, b);
  if (e.op == ScalarOp::kRem) return remainder(type, a, b);
  if (is_bool(type) && e.op == ScalarOp::kMul) return a & b;
  return in_type(type, e.op, a, b);
}

void define_binary(RecipeBuilder& b, const Entry& e) {
  const DType type = b.output_type(0).dtype;
  const bool divides = e.op == ScalarOp::kDiv || e.op == ScalarOp::kRem;
  // A single divisor is checked before anything runs; tensors of divisors raise the sample's flag.
  if (divides && is_integral(type) && b.input_type(1).static_volume() == 1)
    b.check(not_equal(b.element(1, 0), kernel::const_int(0, b.input_type(1).dtype)),
            "integer division by zero", {}, "guard the divisor, or divide floats");
  pointwise(b, e.name, [&](const std::vector<Expr>& x) { return evaluate_binary(e, type, x[0], x[1]); });
}

}  // namespace

std::vector<op::Operator> make_arithmetic() {
  std::vector<op::Operator> result;
  for (const Entry& e : kEntries) {
    Operator op;
    op.name = fmt::format("arith.{}", e.name);
    op.summary = fmt::format("The operator `{}` on data nodes.", e.symbol);
    op.documentation = e.documentation;
    op.internal = true;
    const bool unary = is_unary(e);
    op.inputs = {{.name = "a", .documentation = "first operand", .any_device = true}};
    if (!unary)
      op.inputs.push_back(
          {.name = "b", .documentation = "second operand, broadcast as NumPy does", .any_device = true});
    op.min_inputs = op.max_inputs = unary ? 1 : 2;
    op.output_extents = unary ? OutputExtents::kLikeFirstInput : OutputExtents::kBroadcast;
    op.devices = {"cpu", "gpu"};
    op.places = op::Places::kKept;
    if (unary) {
      op.type_rule = [&e](const TypeContext& ctx) { return unary_types(ctx, e); };
      op.define = [&e](RecipeBuilder& b) {
        pointwise(b, e.name, [&](const std::vector<Expr>& x) { return evaluate_unary(e, x[0]); });
      };
    } else {
      op.type_rule = [&e](const TypeContext& ctx) { return binary_types(ctx, e); };
      op.define = [&e](RecipeBuilder& b) { define_binary(b, e); };
    }
    result.push_back(std::move(op));
  }
  return result;
}

}  // namespace galatea::ops
