// Random stages whose elements follow from the elements at the same place.
#include "tests/kernel/fuzz_kernel_maker.h"

#include "compiler/kernel/expand_math.h"

namespace galatea::testing {

Expr KernelMaker::to_type(Expr value, DType type) {
  return chance(4) ? convert(std::move(value), type) : saturate(std::move(value), type);
}

Expr KernelMaker::mangle(Expr x) {
  if (is_float(x->type) || chance(2)) return mangle_float(convert(std::move(x), DType::kF32));
  return mangle_int(convert(std::move(x), DType::kI32));
}

Expr KernelMaker::mangle_float(Expr x) {
  int count = pick(0, 3);
  for (int i = 0; i < count; ++i) {
    switch (pick(0, 12)) {
      case 0:
        x = x * float_param();
        break;
      case 1:
        x = x + float_param();
        break;
      case 2:
        x = fma(x, float_param(), float_param());
        break;
      case 3:
        x = min(x, float_param());
        break;
      case 4:
        x = max(float_param(), x);
        break;
      case 5:
        x = unary(ScalarOp::kSqrt, unary(ScalarOp::kAbs, x));
        break;
      case 6:
        x = unary(choose({ScalarOp::kFloor, ScalarOp::kCeil, ScalarOp::kTrunc, ScalarOp::kRound,
                          ScalarOp::kRoundAway}),
                  x);
        break;
      case 7:
        x = select(x < float_param(), -x, x * const_float(2));
        break;
      case 8:
        x = convert(saturate(x, choose({DType::kU8, DType::kI8, DType::kU16, DType::kI16})), DType::kF32);
        break;
      case 9:
        x = x / float_param();
        break;
      case 10:
        x = convert(convert(x, DType::kF16), DType::kF32);
        break;
      default:
        x = chance(3) ? expand_math(unary(choose({ScalarOp::kExp, ScalarOp::kSin, ScalarOp::kAtan}), x))
                      : x - float_param();
        break;
    }
  }
  return x;
}

Expr KernelMaker::mangle_int(Expr x) {
  int count = pick(0, 3);
  for (int i = 0; i < count; ++i) {
    Expr p = convert(int_param(-7, 300), DType::kI32);
    switch (pick(0, 9)) {
      case 0:
        x = x * p;
        break;
      case 1:
        x = x + p;
        break;
      case 2:
        x = x - p;
        break;
      case 3:
        x = min(x, p);
        break;
      case 4:
        x = max(x, p);
        break;
      case 5:
        x = binary(ScalarOp::kShr, x, const_int(pick(0, 9), DType::kI32));
        break;
      case 6:
        x = x / p;
        break;
      case 7:
        x = x % p;
        break;
      case 8:
        x = (x ^ p) & const_int(0x3FF, DType::kI32);
        break;
      default:
        x = select(x > p, x, unary(ScalarOp::kNot, x));
        break;
    }
  }
  return x;
}

void KernelMaker::add_pointwise() {
  const Image image = some_image();
  Stage stage;
  stage.type = random_type();
  stage.extents = image.extents;
  Expr value = mangle(read(image, axes()));
  for (const Image& other : images_) {
    bool fits = same(other.extents[0], image.extents[0]) && same(other.extents[1], image.extents[1]) &&
                same(other.extents[2], image.extents[2]);
    if (!fits || !chance(4)) continue;
    value = convert(value, DType::kF32) + convert(read(other, axes()), DType::kF32);
    break;
  }
  stage.body = to_type(value, stage.type);
  images_.push_back(add_stage(std::move(stage)));
}

void KernelMaker::add_curve() {
  const Image image = some_image();
  Expr x = saturate(read(image, axes()), DType::kU8);
  const int curves = pick(1, 3);
  for (int i = 0; i < curves; ++i)
    x = chance(3)
            ? convert(mangle_int(convert(x, DType::kI32)) & const_int(255, DType::kI32), DType::kU8)
            : saturate(fma(mangle_float(convert(x, DType::kF32)), float_param(), float_param()), DType::kU8);
  Stage stage;
  stage.type = chance(3) ? DType::kF32 : DType::kU8;
  stage.extents = image.extents;
  stage.body = stage.type == DType::kU8 ? x : convert(x, DType::kF32) * float_param();
  images_.push_back(add_stage(std::move(stage)));
}

void KernelMaker::add_choice() {
  const Image image = some_image();
  const DType type = choose({DType::kU8, DType::kU8, DType::kI16, DType::kI32});
  const auto number = [&] { return add_param(type, cell_from_int(type, pick(0, 255)).bits); };
  const Expr x = convert(read(image, axes()), type);
  const Expr mask = convert(x < number(), type), one = const_int(1, type);
  const Expr y = chance(2) ? number() - x : x ^ number();
  Expr body = chance(2) ? mask * x + (one - mask) * y : (one - mask) * y + x * mask;
  if (chance(2)) body = body & number();
  if (chance(3))
    body =
        convert(convert(body, DType::kI32) + convert(x, DType::kI32) * convert(number(), DType::kI32), type);
  Stage stage;
  stage.type = type;
  stage.extents = image.extents;
  stage.body = body;
  images_.push_back(add_stage(std::move(stage)));
}

void KernelMaker::add_small_integers() {
  const Image image = some_image();
  const DType byte = choose({DType::kU8, DType::kU8, DType::kI8, DType::kI16});
  const auto number = [&]() -> Expr {
    const int value = chance(6) ? pick(-70000, 70000) : pick(-3, 130);
    return chance(2) ? const_int(value, DType::kI32)
                     : add_param(DType::kI32, cell_from_int(DType::kI32, value).bits);
  };
  const Expr x = convert(saturate(read(image, axes()), byte), DType::kI32);
  Expr y = convert(saturate(read(image, axes()), DType::kU8), DType::kI32);
  const int steps = pick(1, 4);
  for (int i = 0; i < steps; ++i) {
    const Expr other = chance(2) ? x : number();
    const ScalarOp op = choose({ScalarOp::kAdd, ScalarOp::kSub, ScalarOp::kMul, ScalarOp::kMin,
                                ScalarOp::kMax, ScalarOp::kAnd, ScalarOp::kOr, ScalarOp::kXor});
    if (chance(6))
      y = binary(ScalarOp::kShr, y, const_int(pick(0, 33), DType::kI32));
    else if (chance(6))
      y = unary(choose({ScalarOp::kAbs, ScalarOp::kNeg, ScalarOp::kNot}), y);
    else if (chance(5))
      y = select(y < other, x, chance(2) ? y : number());
    else
      y = chance(2) ? binary(op, y, other) : binary(op, other, y);
  }
  Stage stage;
  stage.type = choose({DType::kU8, DType::kU8, DType::kI16});
  stage.extents = image.extents;
  stage.body = chance(4) ? convert(y, stage.type) : saturate(y, stage.type);
  images_.push_back(add_stage(std::move(stage)));
}

void KernelMaker::add_channel_mix() {
  const Image image = some_image();
  Stage stage;
  stage.type = random_type();
  stage.extents = image.extents;
  Expr sum = const_float(0);
  for (int64_t c = 0; c < num_channels_; ++c) {
    sum = fma(convert(read(image, {axis(0), axis(1), const_int(c)}), DType::kF32), float_param(), sum);
  }
  stage.body = to_type(sum + convert(axis(2), DType::kF32), stage.type);
  images_.push_back(add_stage(std::move(stage)));
}

}  // namespace galatea::testing
