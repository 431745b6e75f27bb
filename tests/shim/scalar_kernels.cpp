// One kernel per type, one map stage per operation and per conversion from it. Operands hold edge values.
#include "tests/shim/scalar_kernels.h"

namespace galatea::testing {

using namespace galatea::kernel;

namespace {

constexpr DType kTypes[] = {DType::kU8,  DType::kU16, DType::kU32, DType::kU64, DType::kI8,  DType::kI16,
                            DType::kI32, DType::kI64, DType::kF16, DType::kF32, DType::kF64, DType::kBool};

/// Element n of a sequence that covers small values, limits, halves, and noise.
Expr value(DType type, const Expr& n, int salt) {
  const Expr u = philox_word(constant(DType::kU64, Cell{static_cast<uint64_t>(salt)}),
                             convert(n, DType::kU64), constant(DType::kU64, Cell{0}), salt & 3);
  if (type == DType::kF16) return convert(value(DType::kF32, n, salt), type);
  if (is_float(type)) {
    const Expr small = convert((n % const_int(41)) - const_int(20), type) * const_float(0.5, type);
    const Expr wide = convert(make_op(ScalarOp::kBitcast, DType::kI32, {u}), type) * const_float(1e-3, type);
    const Expr huge = small * const_float(type == DType::kF32 ? 1e37 : 1e300, type);
    const Expr odd = select(n < const_int(43), huge / convert(n % const_int(2), type), wide);
    return select(n < const_int(41), small,
                  select(n < const_int(60), odd, select(n < const_int(80), huge, wide)));
  }
  const Expr any = convert(u, type);
  const Expr limit =
      select(equal(n % const_int(2), const_int(0)), constant(type, cell_from_int(type, min_int(type))),
             constant(type, Cell{max_unsigned(type)}));
  return select(n < const_int(24), convert(n - const_int(8), type), select(n < const_int(40), limit, any));
}

/// A kernel whose first three stages hold operands; every further stage is one operation, and an output.
SampleKernel operands(DType type) {
  SampleKernel out;
  out.kernel.name = "scalar";
  out.kernel.params.push_back({"n", DType::kI64});
  out.params = {{120}};
  const Expr n = axis(0);
  const Expr values[] = {value(type, n, 1), value(type, (n * const_int(7)) % const_int(97), 2),
                         value(type, n + const_int(5), 3)};
  for (const Expr& body : values) {
    Stage s;
    s.name = "operand";
    s.type = type;
    s.extents = {param(0, DType::kI64)};
    s.body = body;
    out.kernel.stages.push_back(std::move(s));
  }
  return out;
}
Expr operand(int which, DType type) { return load({LoadTarget::Kind::kStage, which}, type, {axis(0)}); }
void add(Kernel& k, std::string name, DType result, Expr body) {
  Stage s;
  s.name = std::move(name);
  s.type = result;
  s.extents = {param(0, DType::kI64)};
  s.body = std::move(body);
  k.outputs.push_back({static_cast<int>(k.stages.size()), {0}, false, 1});
  k.stages.push_back(std::move(s));
}

bool takes(ScalarOp op, DType type) {
  switch (op) {
    case ScalarOp::kSqrt:
      return type == DType::kF32 || type == DType::kF64;
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
      return !is_float(type);
    case ScalarOp::kShl:
    case ScalarOp::kShr:
      return !is_float(type) && !is_bool(type);
    case ScalarOp::kMulHi:
      return type == DType::kU32 || type == DType::kI32;
    case ScalarOp::kSelect:
      return true;
    default:
      return type != DType::kF16 && (!is_bool(type) || is_comparison(op));
  }
}

}  // namespace

std::vector<std::pair<std::string, SampleKernel>> scalar_kernels() {
  std::vector<std::pair<std::string, SampleKernel>> out;
  for (const DType type : kTypes) {
    SampleKernel sample = operands(type);
    Kernel& k = sample.kernel;
    const Expr a = operand(0, type), b = operand(1, type), c = operand(2, type);
    for (int i = 0; i < kNumScalarOps; ++i) {
      const auto op = static_cast<ScalarOp>(i);
      if (is_conversion(op) || is_math(op) || !takes(op, type)) continue;
      std::vector<Expr> args = op == ScalarOp::kSelect
                                   ? std::vector<Expr>{equal(axis(0) % const_int(3), const_int(0)), a, b}
                                   : std::vector<Expr>{a, b, c};
      args.resize(static_cast<size_t>(num_operands(op)));
      const DType result = is_comparison(op) ? DType::kBool : type;
      add(k, std::string(name_of(op)), result, make_op(op, result, args));
    }
    for (const DType to : kTypes) {
      if (to == type) continue;
      add(k, "convert_to_" + std::string(short_name(to)), to, convert(a, to));
      add(k, "saturate_to_" + std::string(short_name(to)), to, saturate(a, to));
      if (size_of(to) == size_of(type) && !is_bool(type) && !is_bool(to))
        add(k, "bitcast_to_" + std::string(short_name(to)), to, make_op(ScalarOp::kBitcast, to, {a}));
    }
    out.emplace_back("scalar_" + std::string(short_name(type)), std::move(sample));
  }
  return out;
}

}  // namespace galatea::testing
