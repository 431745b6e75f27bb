// Arithmetic of the language and math functions against plain C++ in int64 and double.
#include <cmath>
#include <functional>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Kind = op::LoweredOutput::Kind;

const DType kIntegers[] = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16,
                           DType::kI32, DType::kU32, DType::kI64};

/// A value wrapped into an integer type of at most 64 bits.
int64_t wrap(DType type, int64_t value) { return cell_to_int(type, cell_from_int(type, value)); }

TEST(Arithmetic, IntegersWrapInThePromotedType) {
  for (DType ta : kIntegers)
    for (DType tb : kIntegers) {
      const Tensor a = random_tensor(ta, {40}, {}, 1), b = random_tensor(tb, {40}, {}, 2);
      const DType type = promote(ta, tb);
      struct Case {
        const char* name;
        std::function<int64_t(int64_t, int64_t)> f;
      };
      const Case cases[] = {{"arith.add", [](int64_t x, int64_t y) { return x + y; }},
                            {"arith.sub", [](int64_t x, int64_t y) { return x - y; }},
                            {"arith.mul", [](int64_t x, int64_t y) { return x * y; }},
                            {"arith.and", [](int64_t x, int64_t y) { return x & y; }},
                            {"arith.or", [](int64_t x, int64_t y) { return x | y; }},
                            {"arith.xor", [](int64_t x, int64_t y) { return x ^ y; }}};
      for (const Case& c : cases) {
        const Tensor out = OpRun(c.name).input(a).input(b).result();
        ASSERT_EQ(out.dtype, type);
        for (size_t n = 0; n < out.size(); ++n)
          ASSERT_EQ(out.integer(n), wrap(type, c.f(wrap(type, a.integer(n)), wrap(type, b.integer(n)))))
              << c.name << " " << short_name(ta) << " " << short_name(tb);
      }
    }
}

TEST(Arithmetic, DivisionTruncatesTowardZero) {
  const Tensor a = tensor(DType::kI32, {4}, {-7, 7, -7, 7}), b = tensor(DType::kI32, {4}, {2, -2, -2, 2});
  EXPECT_EQ(OpRun("arith.floordiv").input(a).input(b).result().numbers(),
            (std::vector<double>{-3, -3, 3, 3}));
  EXPECT_EQ(OpRun("arith.mod").input(a).input(b).result().numbers(), (std::vector<double>{-1, 1, -1, 1}));
  const Tensor quotient = OpRun("arith.div").input(a).input(b).result();
  EXPECT_EQ(quotient.dtype, DType::kF32);
  EXPECT_EQ(quotient.numbers(), (std::vector<double>{-3.5, -3.5, 3.5, 3.5}));
  EXPECT_EQ(OpRun("arith.floordiv").input(scalar(DType::kF32, 7)).input(scalar(DType::kF32, 2)).result()[0],
            3.5);
}

TEST(Arithmetic, FloatRemainderIsThatOfC) {
  const Tensor a = random_tensor(DType::kF32, {200}, {}, 3), b = random_tensor(DType::kF32, {200}, {}, 4);
  const Tensor out = OpRun("arith.mod").input(a).input(b).result();
  for (size_t n = 0; n < out.size(); ++n)
    EXPECT_EQ(out[n], static_cast<float>(std::fmod(a[n], b[n]))) << a[n] << " % " << b[n];
  EXPECT_EQ(OpRun("arith.mod").input(scalar(DType::kF32, 5)).input(scalar(DType::kF32, INFINITY)).result()[0],
            5);
}

TEST(Arithmetic, DivisionByZeroIsAnError) {
  EXPECT_NE(OpRun("arith.floordiv")
                .input(scalar(DType::kI32, 7))
                .input(scalar(DType::kI32, 0))
                .failure()
                .find("division by zero"),
            std::string::npos);
  EXPECT_NE(OpRun("arith.mod")
                .input(random_tensor(DType::kU8, {20}, {}, 1))
                .input(tensor(DType::kU8, {20}, std::vector<double>(20, 0)))
                .failure()
                .find("division by zero"),
            std::string::npos);
  EXPECT_EQ(OpRun("arith.div").input(scalar(DType::kI32, 1)).input(scalar(DType::kI32, 0)).result()[0],
            INFINITY);
}

TEST(Arithmetic, Power) {
  const Tensor base = tensor(DType::kI32, {5}, {2, 3, -2, 1, 5}),
               exponent = tensor(DType::kI32, {5}, {10, 4, 3, -1, 0});
  EXPECT_EQ(OpRun("arith.pow").input(base).input(exponent).result().numbers(),
            (std::vector<double>{1024, 81, -8, 0, 1}));
  EXPECT_EQ(OpRun("math.pow").input(base).input(exponent).result().numbers(),
            (std::vector<double>{1024, 81, -8, 0, 1}));
  EXPECT_EQ(OpRun("arith.pow").input(scalar(DType::kBool, 1)).input(scalar(DType::kI32, 2)).result()[0], 1);
  const Tensor x = tensor(DType::kF32, {3}, {2.5, 0.3, 9}), y = tensor(DType::kF32, {3}, {1.5, -2, 0.5});
  expect_near(OpRun("arith.pow").input(x).input(y).result(), {std::pow(2.5, 1.5), std::pow(0.3f, -2.0), 3},
              2e-6);
  expect_near(OpRun("math.fpow").input(base).input(exponent).result(), {1024, 81, -8, 1, 1}, 0);
}

TEST(Arithmetic, ComparisonsGoByTrueValue) {
  const Tensor a = tensor(DType::kI32, {4}, {-1, 0, 5, 7}), b = tensor(DType::kU32, {4}, {0, 0, 9, 7});
  EXPECT_EQ(OpRun("arith.lt").input(a).input(b).result().numbers(), (std::vector<double>{1, 0, 1, 0}));
  EXPECT_EQ(OpRun("arith.ge").input(a).input(b).result().numbers(), (std::vector<double>{0, 1, 0, 1}));
  Tensor big = tensor(DType::kU64, {2}, {0, 0});
  big.cells = {{~uint64_t{0}}, {3}};
  const Tensor small = tensor(DType::kI64, {2}, {-1, 3});
  const std::vector<std::pair<const char*, std::vector<double>>> cases = {
      {"arith.eq", {0, 1}}, {"arith.ne", {1, 0}}, {"arith.lt", {0, 0}},
      {"arith.le", {0, 1}}, {"arith.gt", {1, 0}}, {"arith.ge", {1, 1}}};
  for (const auto& [name, expected] : cases)
    EXPECT_EQ(OpRun(name).input(big).input(small).result().numbers(), expected) << name;
  EXPECT_EQ(OpRun("arith.gt").input(small).input(big).result().numbers(), (std::vector<double>{0, 0}));
  EXPECT_EQ(OpRun("arith.eq").input(scalar(DType::kF32, 1)).input(scalar(DType::kBool, 1)).result().dtype,
            DType::kBool);
}

TEST(Arithmetic, UnaryAndShifts) {
  EXPECT_EQ(OpRun("arith.neg").input(tensor(DType::kU8, {2}, {1, 0})).result().numbers(),
            (std::vector<double>{255, 0}));
  EXPECT_EQ(OpRun("arith.pos").input(scalar(DType::kI8, -5)).result()[0], -5);
  EXPECT_EQ(OpRun("arith.invert").input(tensor(DType::kU8, {2}, {1, 255})).result().numbers(),
            (std::vector<double>{254, 0}));
  EXPECT_EQ(OpRun("arith.invert").input(scalar(DType::kBool, 1)).result()[0], 0);
  EXPECT_EQ(OpRun("arith.not").input(tensor(DType::kBool, {2}, {1, 0})).result().numbers(),
            (std::vector<double>{0, 1}));
  EXPECT_EQ(OpRun("arith.lshift").input(scalar(DType::kI32, 3)).input(scalar(DType::kU8, 4)).result()[0], 48);
  EXPECT_EQ(OpRun("arith.rshift").input(scalar(DType::kI32, -16)).input(scalar(DType::kI32, 2)).result()[0],
            -4);
}

TEST(Arithmetic, BoolsAreRefusedWhereDaliRefusesThem) {
  for (const char* name : {"arith.add", "arith.sub", "arith.div", "arith.floordiv", "arith.pow", "arith.mod"})
    EXPECT_NE(OpRun(name)
                  .input(scalar(DType::kBool, 1))
                  .input(scalar(DType::kBool, 1))
                  .failure()
                  .find("not defined for bools alone"),
              std::string::npos)
        << name;
  EXPECT_EQ(OpRun("arith.mul").input(scalar(DType::kBool, 1)).input(scalar(DType::kBool, 1)).result().dtype,
            DType::kBool);
  EXPECT_NE(OpRun("arith.neg").input(scalar(DType::kBool, 1)).failure().find("not defined for a bool"),
            std::string::npos);
  EXPECT_NE(OpRun("arith.not").input(scalar(DType::kI32, 1)).failure().find("not defined"),
            std::string::npos);
  EXPECT_NE(OpRun("arith.and")
                .input(scalar(DType::kF32, 1))
                .input(scalar(DType::kI32, 1))
                .failure()
                .find("not defined"),
            std::string::npos);
  EXPECT_NE(OpRun("math.sqrt").input(scalar(DType::kBool, 1)).failure().find("bool"), std::string::npos);
  for (const char* name : {"math.min", "math.max", "math.pow", "math.fpow", "math.atan2"})
    EXPECT_NE(OpRun(name)
                  .input(scalar(DType::kBool, 1))
                  .input(scalar(DType::kBool, 1))
                  .failure()
                  .find("not defined for bools alone"),
              std::string::npos)
        << name;
}

TEST(Arithmetic, FunctionsTakeABoolBesideANumber) {
  const auto run = [](const char* name, const Tensor& a, const Tensor& b) {
    return OpRun(name).input(a).input(b).result();
  };
  for (const DType type : {DType::kU8, DType::kI32, DType::kF32}) {
    const Tensor yes = scalar(DType::kBool, 1), two = scalar(type, 2);
    EXPECT_EQ(run("math.min", yes, two).dtype, type);
    EXPECT_EQ(run("math.min", yes, two)[0], 1);
    EXPECT_EQ(run("math.max", two, yes)[0], 2);
    EXPECT_EQ(run("math.pow", two, yes)[0], 2);
    EXPECT_EQ(run("math.fpow", two, scalar(DType::kBool, 0)).dtype, DType::kF32);
    EXPECT_NEAR(run("math.atan2", yes, scalar(type, 1))[0], 0.78539816, 1e-6);
  }
  const Tensor clamped = OpRun("math.clamp")
                             .input(scalar(DType::kI32, 5))
                             .input(scalar(DType::kBool, 0))
                             .input(scalar(DType::kBool, 1))
                             .result();
  EXPECT_EQ(clamped.dtype, DType::kI32);
  EXPECT_EQ(clamped[0], 1);
}

TEST(Arithmetic, BroadcastsRaggedExtents) {
  const Tensor image = random_tensor(DType::kU8, {5, 7, 3}, "HWC", 5),
               row = random_tensor(DType::kI32, {7, 1}, "WC", 6);
  for (const bool known : {false, true}) {
    OpRun run("arith.add");
    known ? run.fixed(image).fixed(row) : run.input(image).input(row);
    const OpRun::Outcome outcome = run.run();
    ASSERT_TRUE(outcome.ok()) << outcome.failed_check;
    const Tensor& out = outcome.outputs[0];
    EXPECT_EQ(out.layout.str(), "HWC");
    EXPECT_EQ(outcome.kinds[0], Kind::kStage);
    for (int64_t y = 0; y < 5; ++y)
      for (int64_t x = 0; x < 7; ++x)
        for (int64_t c = 0; c < 3; ++c) {
          const auto n = static_cast<size_t>((y * 7 + x) * 3 + c);
          ASSERT_EQ(out.integer(n), image.integer(n) + row.integer(static_cast<size_t>(x)));
        }
  }
  EXPECT_NE(OpRun("arith.add")
                .input(random_tensor(DType::kU8, {4}, {}, 1))
                .input(random_tensor(DType::kU8, {5}, {}, 1))
                .failure()
                .find("do not broadcast"),
            std::string::npos);
  EXPECT_NE(OpRun("arith.add")
                .fixed(random_tensor(DType::kU8, {4}, {}, 1))
                .fixed(random_tensor(DType::kU8, {5}, {}, 1))
                .failure()
                .find("do not broadcast"),
            std::string::npos);
  EXPECT_NE(OpRun("arith.add")
                .input(random_tensor(DType::kU8, {4, 1}, "HC", 1))
                .input(random_tensor(DType::kU8, {4, 1}, "HW", 1))
                .failure()
                .find("layouts"),
            std::string::npos);
  EXPECT_TRUE(OpRun("arith.add")
                  .input(tensor(DType::kU8, {0, 3}, {}))
                  .input(tensor(DType::kU8, {3}, {1, 2, 3}))
                  .result()
                  .cells.empty());
}

TEST(Arithmetic, FewElementsAreScalarsOfTheSampleProgram) {
  const OpRun::Outcome outcome =
      OpRun("arith.mul").fixed(tensor(DType::kI64, {2}, {3, 4})).input(scalar(DType::kI32, 10)).run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.kinds[0], Kind::kScalars);
  EXPECT_EQ(outcome.outputs[0].numbers(), (std::vector<double>{30, 40}));
}

TEST(Arithmetic, HalfPrecisionGoesThroughSingle) {
  const Tensor out =
      OpRun("arith.add").input(scalar(DType::kF16, 1.5)).input(scalar(DType::kI32, 2)).result();
  EXPECT_EQ(out.dtype, DType::kF16);
  EXPECT_EQ(out[0], 3.5);
}

TEST(Math, FunctionsOfOneOperand) {
  struct Case {
    const char* name;
    double (*f)(double);
    double low, high;
  };
  const Case cases[] = {{"fabs", std::fabs, -3, 3},
                        {"floor", std::floor, -3, 3},
                        {"ceil", std::ceil, -3, 3},
                        {"sqrt", std::sqrt, 0, 9},
                        {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.1, 9},
                        {"cbrt", std::cbrt, -8, 8},
                        {"exp", std::exp, -5, 5},
                        {"log", std::log, 0.1, 9},
                        {"log2", std::log2, 0.1, 9},
                        {"log10", std::log10, 0.1, 9},
                        {"sin", std::sin, -6, 6},
                        {"cos", std::cos, -6, 6},
                        {"tan", std::tan, -1.4, 1.4},
                        {"asin", std::asin, -1, 1},
                        {"acos", std::acos, -1, 1},
                        {"atan", std::atan, -9, 9},
                        {"sinh", std::sinh, -3, 3},
                        {"cosh", std::cosh, -3, 3},
                        {"tanh", std::tanh, -3, 3},
                        {"asinh", std::asinh, -3, 3},
                        {"acosh", std::acosh, 1, 9},
                        {"atanh", std::atanh, -0.9, 0.9}};
  for (const Case& c : cases) {
    std::vector<double> x;
    for (int n = 0; n < 30; ++n) x.push_back(static_cast<float>(c.low + (c.high - c.low) * n / 29));
    const Tensor out = OpRun(std::string("math.") + c.name).input(tensor(DType::kF32, {30}, x)).result();
    for (size_t n = 0; n < x.size(); ++n)
      EXPECT_NEAR(out[n], c.f(x[n]), 2e-7 * std::max(1.0, std::abs(c.f(x[n])))) << c.name << " " << x[n];
    const Tensor integer = OpRun(std::string("math.") + c.name).input(scalar(DType::kI32, 1)).result();
    EXPECT_EQ(integer.dtype, DType::kF32);
    const double expected = c.f(1.0);
    if (std::isfinite(expected)) {
      EXPECT_NEAR(integer[0], expected, 1e-6) << c.name;
    }
  }
  EXPECT_EQ(OpRun("math.abs").input(tensor(DType::kI16, {2}, {-4, 4})).result().numbers(),
            (std::vector<double>{4, 4}));
  EXPECT_EQ(OpRun("math.abs").input(scalar(DType::kI16, -4)).result().dtype, DType::kI16);
  EXPECT_EQ(OpRun("math.sqrt").input(scalar(DType::kF64, 2)).result()[0], std::sqrt(2.0));
}

TEST(Math, FunctionsOfMoreOperands) {
  const Tensor a = tensor(DType::kU8, {3}, {1, 200, 7}), b = tensor(DType::kI32, {3}, {-1, 300, 7});
  EXPECT_EQ(OpRun("math.min").input(a).input(b).result().numbers(), (std::vector<double>{-1, 200, 7}));
  EXPECT_EQ(OpRun("math.max").input(a).input(b).result().numbers(), (std::vector<double>{1, 300, 7}));
  EXPECT_EQ(OpRun("math.clamp")
                .input(b)
                .input(scalar(DType::kI32, 0))
                .input(scalar(DType::kI32, 10))
                .result()
                .numbers(),
            (std::vector<double>{0, 10, 7}));
  const Tensor angle =
      OpRun("math.atan2").input(scalar(DType::kI32, 1)).input(scalar(DType::kI32, -1)).result();
  EXPECT_EQ(angle.dtype, DType::kF32);
  EXPECT_NEAR(angle[0], std::atan2(1.0, -1.0), 3e-7);
}

}  // namespace
}  // namespace galatea::ops_test
