// Casts, joins, shapes, indexing, constants against their definitions.
#include <cmath>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Kind = op::LoweredOutput::Kind;
using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

TEST(Cast, RoundsAndClamps) {
  const Tensor in =
      tensor(DType::kF32, {20}, {0.5,  1.5,   2.5,  -0.5,  -1.5,  254.5, 255.5, 300, -300, NAN,
                                 1e10, -1e10, 0.49, 127.5, 128.5, 1,     2,     3,   4,    70000});
  for (DType to : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kI32, DType::kU32}) {
    const Tensor out = OpRun("cast").input(in).arg("dtype", to).result();
    for (size_t n = 0; n < in.size(); ++n)
      EXPECT_EQ(out[n], saturate(to, in[n])) << short_name(to) << " " << in[n];
  }
  EXPECT_EQ(
      OpRun("cast").input(tensor(DType::kI32, {3}, {0, 2, -1})).arg("dtype", DType::kBool).result().numbers(),
      (Numbers{0, 1, 1}));
  EXPECT_EQ(
      OpRun("cast").input(tensor(DType::kI32, {2}, {-5, 300})).arg("dtype", DType::kU8).result().numbers(),
      (Numbers{0, 255}));
  EXPECT_EQ(
      OpRun("cast").input(tensor(DType::kF16, {2}, {1.5, 2.5})).arg("dtype", DType::kI32).result().numbers(),
      (Numbers{2, 2}));
  const OpRun::Outcome same = OpRun("cast").input(in).arg("dtype", DType::kF32).run();
  EXPECT_EQ(same.kinds[0], Kind::kView);
  EXPECT_NE(OpRun("cast").input(in).failure(), "");
  const Tensor like = OpRun("cast_like").input(in).input(scalar(DType::kU8, 0)).result();
  EXPECT_EQ(like.dtype, DType::kU8);
  EXPECT_EQ(like[7], 255);
}

/// Where nothing lies elsewhere they are views.
TEST(Transfers, GiveTheSameTensor) {
  const Tensor in = random_tensor(DType::kI16, {4, 6, 3}, "HWC", 9);
  for (const char* name : {"to_gpu", "to_cpu"}) {
    const OpRun::Outcome out = OpRun(name).input(in).run();
    ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
    EXPECT_EQ(out.kinds[0], Kind::kView) << name;
    EXPECT_EQ(out.outputs[0].dtype, in.dtype) << name;
    EXPECT_EQ(out.outputs[0].extents, in.extents) << name;
    EXPECT_EQ(out.outputs[0].layout.str(), "HWC") << name;
    EXPECT_EQ(out.outputs[0].numbers(), in.numbers()) << name;
  }
}

/// Always a stage, so that it has memory of its own.
TEST(Stored, KeepsElementsOrSaysWhichAreNotZero) {
  const Tensor in = random_tensor(DType::kI16, {4, 6, 3}, "HWC", 9);
  const OpRun::Outcome same = OpRun("stored").input(in).run();
  ASSERT_TRUE(same.ok()) << same.error << same.failed_check;
  EXPECT_EQ(same.kinds[0], Kind::kStage);
  EXPECT_EQ(same.outputs[0].dtype, in.dtype);
  EXPECT_EQ(same.outputs[0].layout.str(), "HWC");
  EXPECT_EQ(same.outputs[0].numbers(), in.numbers());
  const Tensor some = tensor(DType::kF32, {5}, {0.0, -0.0, 0.25, -3.0, 1e-40});
  const OpRun::Outcome flags = OpRun("stored").input(some).arg("dtype", DType::kBool).run();
  ASSERT_TRUE(flags.ok()) << flags.error << flags.failed_check;
  EXPECT_EQ(flags.kinds[0], Kind::kStage);
  EXPECT_EQ(flags.outputs[0].numbers(), (Numbers{0, 0, 1, 1, 1}));
  EXPECT_NE(OpRun("stored").input(in).arg("dtype", DType::kF32).failure().find("makes BOOL"),
            std::string::npos);
}

/// The arm's number in a byte; where there is none, a flag.
TEST(Select, GivesAnArmOrRaisesAFlag) {
  for (const DType type : {DType::kI32, DType::kU8, DType::kI64}) {
    const OpRun::Outcome found =
        OpRun("select").input(tensor(type, {4}, {0, 2, 1, 2})).arg("count", int64_t{3}).run();
    ASSERT_TRUE(found.ok()) << found.error << found.failed_check;
    EXPECT_EQ(found.kinds[0], Kind::kStage);
    EXPECT_EQ(found.outputs[0].dtype, DType::kU8);
    EXPECT_EQ(found.outputs[0].numbers(), (Numbers{0, 2, 1, 2}));
  }
  for (const double outside : {3.0, -1.0, 4294967296.0})
    EXPECT_NE(OpRun("select").input(tensor(DType::kI64, {1}, {outside})).arg("count", int64_t{3}).failure(),
              "")
        << outside;
}

TEST(Shapes, GivesExtents) {
  const Tensor out = OpRun("shapes").input(random_tensor(DType::kU8, {4, 6, 3}, "HWC", 1)).result();
  EXPECT_EQ(out.dtype, DType::kI64);
  EXPECT_EQ(out.numbers(), (Numbers{4, 6, 3}));
  EXPECT_EQ(
      OpRun("shapes").input(random_tensor(DType::kU8, {4}, {}, 1)).arg("dtype", DType::kF32).result().dtype,
      DType::kF32);
  EXPECT_NE(
      OpRun("shapes").input(scalar(DType::kU8, 1)).arg("dtype", DType::kU8).failure().find("cannot hold"),
      std::string::npos);
}

TEST(Cat, FollowsAlongTheAxis) {
  const Tensor a = random_tensor(DType::kI16, {2, 3, 4}, "HWC", 2),
               b = random_tensor(DType::kI16, {2, 1, 4}, "HWC", 3),
               c = tensor(DType::kI16, {2, 0, 4}, {}, "HWC");
  const Tensor out = OpRun("cat").input(a).input(c).input(b).arg("axis", int64_t{1}).result();
  EXPECT_EQ(out.extents, (Extents{2, 4, 4}));
  EXPECT_EQ(out.layout.str(), "HWC");
  for (size_t y = 0; y < 2; ++y)
    for (size_t x = 0; x < 4; ++x)
      for (size_t k = 0; k < 4; ++k)
        EXPECT_EQ(out[(y * 4 + x) * 4 + k], x < 3 ? a[(y * 3 + x) * 4 + k] : b[y * 4 + k]);
  EXPECT_EQ(OpRun("cat").input(a).input(b).arg("axis_name", std::string("W")).result().extents,
            (Extents{2, 4, 4}));
  const OpRun::Outcome small =
      OpRun("cat").fixed(tensor(DType::kI64, {2}, {1, 2})).fixed(tensor(DType::kI64, {1}, {3})).run();
  EXPECT_EQ(small.kinds[0], Kind::kScalars);
  EXPECT_EQ(small.outputs[0].numbers(), (Numbers{1, 2, 3}));
  EXPECT_NE(OpRun("cat").input(a).input(b).arg("axis", int64_t{0}).failure().find("extent"),
            std::string::npos);
  EXPECT_NE(OpRun("cat")
                .input(a)
                .input(random_tensor(DType::kU8, {2, 1, 4}, "HWC", 1))
                .failure()
                .find("element types"),
            std::string::npos);
  EXPECT_NE(OpRun("cat").input(a).input(b).arg("axis", int64_t{3}).failure().find("out of range"),
            std::string::npos);
}

TEST(Stack, MakesANewAxis) {
  const Tensor a = random_tensor(DType::kU8, {5, 7}, "HW", 4), b = random_tensor(DType::kU8, {5, 7}, "HW", 5);
  const Tensor out =
      OpRun("stack").input(a).input(b).arg("axis", int64_t{-1}).arg("axis_name", std::string("C")).result();
  EXPECT_EQ(out.extents, (Extents{5, 7, 2}));
  EXPECT_EQ(out.layout.str(), "HWC");
  for (size_t p = 0; p < 35; ++p) {
    EXPECT_EQ(out[p * 2], a[p]);
    EXPECT_EQ(out[p * 2 + 1], b[p]);
  }
  const OpRun::Outcome scalars =
      OpRun("stack").input(scalar(DType::kF32, 2)).input(scalar(DType::kF32, 3)).run();
  EXPECT_EQ(scalars.kinds[0], Kind::kScalars);
  EXPECT_EQ(scalars.outputs[0].numbers(), (Numbers{2, 3}));
  EXPECT_NE(
      OpRun("stack").input(a).input(random_tensor(DType::kU8, {5, 8}, "HW", 5)).failure().find("extent"),
      std::string::npos);
  EXPECT_NE(OpRun("stack").input(a).arg("axis_name", std::string("H")).failure().find("already"),
            std::string::npos);
}

TEST(Stack, TakesTheLayoutOfTheFirst) {
  const Tensor a = random_tensor(DType::kU8, {5, 7}, "HW", 4), b = random_tensor(DType::kU8, {5, 7}, "AB", 5);
  EXPECT_EQ(OpRun("stack").input(a).input(b).result().layout.str(), "");
  EXPECT_EQ(OpRun("stack").input(a).input(b).arg("axis_name", std::string("X")).result().layout.str(), "XHW");
  EXPECT_EQ(OpRun("cat").input(b).input(a).result().layout.str(), "AB");
}

TEST(Reshape, KeepsElements) {
  const Tensor in = random_tensor(DType::kU8, {4, 6, 3}, "HWC", 6);
  auto extents = [&](OpRun run) {
    const Tensor out = run.input(in).result();
    EXPECT_EQ(out.numbers(), in.numbers());
    return out.extents;
  };
  EXPECT_EQ(extents(OpRun("reshape").arg("shape", Extents{-1, 9})), (Extents{8, 9}));
  EXPECT_EQ(extents(OpRun("reshape").arg("shape", tensor(DType::kI32, {3}, {2, -1, 12}))),
            (Extents{2, 3, 12}));
  EXPECT_EQ(extents(OpRun("reshape").arg("rel_shape", Numbers{0.5, 2, 1})), (Extents{2, 12, 3}));
  // Past the axes of the input there is nothing to scale, only what is left; as DALI 2.4 has it.
  EXPECT_EQ(extents(OpRun("reshape").arg("rel_shape", Numbers{1, 1, 1, -1})), (Extents{4, 6, 3, 1}));
  EXPECT_EQ(extents(OpRun("reshape").arg("src_dims", Extents{1, 0, -1, 2})), (Extents{6, 4, 1, 3}));
  EXPECT_EQ(OpRun("reshape").input(in).fixed(tensor(DType::kI64, {2}, {24, 3})).result().extents,
            (Extents{24, 3}));
  EXPECT_EQ(OpRun("reshape").input(in).arg("layout", std::string("CHW")).result().layout.str(), "CHW");
  EXPECT_TRUE(OpRun("reshape").input(in).arg("shape", Extents{72}).result().layout.empty());
  EXPECT_EQ(OpRun("reshape").fixed(tensor(DType::kF32, {1}, {5})).arg("shape", Extents{}).run().kinds[0],
            Kind::kScalars);
  EXPECT_NE(OpRun("reshape").input(in).arg("shape", Extents{5, 5}).failure().find("elements"),
            std::string::npos);
  EXPECT_NE(OpRun("reshape").fixed(in).arg("shape", Extents{5, 5}).failure().find("elements"),
            std::string::npos);
  EXPECT_NE(OpRun("reshape").input(in).arg("shape", Extents{-1, -1}).failure().find("more than one"),
            std::string::npos);
  EXPECT_NE(OpRun("reshape").input(in).failure().find("nothing to do"), std::string::npos);
  EXPECT_NE(OpRun("reshape").input(in).arg("shape", Extents{0}).failure().find("0"), std::string::npos);
}

TEST(Transpose, PermutesAxes) {
  const Tensor in = random_tensor(DType::kU16, {2, 3, 4}, "HWC", 7);
  const OpRun::Outcome outcome = OpRun("transpose").input(in).arg("perm", Extents{2, 0, 1}).run();
  EXPECT_EQ(outcome.kinds[0], Kind::kView);
  const Tensor& out = outcome.outputs[0];
  EXPECT_EQ(out.layout.str(), "CHW");
  for (size_t c = 0; c < 4; ++c)
    for (size_t y = 0; y < 2; ++y)
      for (size_t x = 0; x < 3; ++x) EXPECT_EQ(out[(c * 2 + y) * 3 + x], in[(y * 3 + x) * 4 + c]);
  EXPECT_EQ(OpRun("transpose").input(in).result().extents, (Extents{4, 3, 2}));
  EXPECT_EQ(OpRun("transpose")
                .input(in)
                .arg("perm", Extents{1, 0, 2})
                .arg("transpose_layout", false)
                .result()
                .layout.str(),
            "HWC");
  EXPECT_NE(OpRun("transpose").input(in).arg("perm", Extents{0, 0, 1}).failure().find("names axis 0 twice"),
            std::string::npos);
}

TEST(Constant, ScalarsListsAndFills) {
  const Tensor scalar_out = OpRun("constant").arg("value", 2.5).result();
  EXPECT_TRUE(scalar_out.extents.empty());
  EXPECT_EQ(scalar_out.dtype, DType::kF32);
  EXPECT_EQ(OpRun("constant").arg("value", int64_t{7}).result().dtype, DType::kI32);
  EXPECT_EQ(OpRun("constant").arg("value", true).result().dtype, DType::kBool);
  EXPECT_EQ(OpRun("constant").arg("idata", Extents{300, -1}).arg("dtype", DType::kU8).result().numbers(),
            (Numbers{255, 0}));
  EXPECT_EQ(OpRun("constant")
                .arg("fdata", Numbers{1, 2, 3, 4})
                .arg("shape", Extents{2, 2})
                .arg("layout", std::string("HW"))
                .result()
                .extents,
            (Extents{2, 2}));
  const OpRun::Outcome fill = OpRun("constant").arg("fdata", 0.5).arg("shape", Extents{5, 5}).run();
  EXPECT_EQ(fill.kinds[0], Kind::kStage);
  EXPECT_EQ(fill.outputs[0].numbers(), Numbers(25, 0.5));
  EXPECT_NE(
      OpRun("constant").arg("fdata", Numbers{1, 2}).arg("shape", Extents{3}).failure().find("2 numbers"),
      std::string::npos);
  EXPECT_NE(OpRun("constant").failure().find("exactly one"), std::string::npos);
}

/// Python's positions of a slice.
std::vector<int64_t> positions(int64_t n, int64_t lo, bool has_lo, int64_t hi, bool has_hi, int64_t step) {
  auto bring = [&](int64_t v) {
    if (v < 0) v += n;
    return step > 0 ? std::min(std::max<int64_t>(v, 0), n) : std::min(std::max<int64_t>(v, -1), n - 1);
  };
  std::vector<int64_t> out;
  int64_t i = has_lo ? bring(lo) : step > 0 ? 0 : n - 1;
  const int64_t end = has_hi ? bring(hi) : step > 0 ? n : -1;
  for (; step > 0 ? i < end : i > end; i += step) out.push_back(i);
  return out;
}

TEST(Index, SlicesLikePython) {
  const Tensor in = random_tensor(DType::kI32, {7}, {}, 8);
  for (const bool known : {false, true})
    for (const bool per_sample : {false, true})
      for (int64_t step : {1, 2, 3, -1, -2})
        for (int64_t lo = -9; lo <= 9; lo += 3)
          for (int64_t hi = -8; hi <= 8; hi += 4)
            for (int which = 0; which < 4; ++which) {
              OpRun run("index");
              known ? run.fixed(in) : run.input(in);
              run.arg("kinds", std::vector<std::string>{"slice"});
              if (which & 1)
                per_sample ? run.arg("lo_0", scalar(DType::kI32, static_cast<double>(lo)))
                           : run.arg("lo_0", lo);
              if (which & 2)
                per_sample ? run.arg("hi_0", scalar(DType::kI64, static_cast<double>(hi)))
                           : run.arg("hi_0", hi);
              if (step != 1) run.arg("step_0", step);
              Numbers expected;
              for (int64_t i : positions(7, lo, which & 1, hi, which & 2, step))
                expected.push_back(in[static_cast<size_t>(i)]);
              ASSERT_EQ(run.result().numbers(), expected)
                  << lo << ":" << hi << ":" << step << " which " << which;
            }
}

TEST(Index, DimensionsAndLayouts) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 9);
  const OpRun::Outcome outcome = OpRun("index")
                                     .input(in)
                                     .arg("kinds", std::vector<std::string>{"int", "slice", "int"})
                                     .arg("at_0", int64_t{-1})
                                     .arg("at_2", scalar(DType::kI32, 1))
                                     .run();
  ASSERT_TRUE(outcome.ok()) << outcome.error << outcome.failed_check;
  EXPECT_EQ(outcome.kinds[0], Kind::kView);
  EXPECT_EQ(outcome.outputs[0].layout.str(), "W");
  for (size_t x = 0; x < 5; ++x) EXPECT_EQ(outcome.outputs[0][x], in[(3 * 5 + x) * 3 + 1]);
  const Tensor named = OpRun("index")
                           .input(in)
                           .arg("kinds", std::vector<std::string>{"newaxis", "int"})
                           .arg("names", std::vector<std::string>{"F", ""})
                           .arg("at_1", int64_t{2})
                           .result();
  EXPECT_EQ(named.extents, (Extents{1, 5, 3}));
  EXPECT_EQ(named.layout.str(), "FWC");
  EXPECT_EQ(named[4], in[2 * 15 + 4]);
  EXPECT_TRUE(
      OpRun("index").input(in).arg("kinds", std::vector<std::string>{"newaxis"}).result().layout.empty());
  const OpRun::Outcome lookup = OpRun("index")
                                    .fixed(tensor(DType::kF32, {4}, {5, 6, 7, 8}))
                                    .arg("kinds", std::vector<std::string>{"int"})
                                    .arg("at_0", scalar(DType::kI32, -2))
                                    .run();
  EXPECT_EQ(lookup.kinds[0], Kind::kScalars);
  EXPECT_EQ(lookup.outputs[0][0], 7);
}

TEST(Index, BadSelectors) {
  const Tensor in = random_tensor(DType::kU8, {4, 5}, "HW", 9);
  auto message = [&](std::vector<std::string> kinds, const std::string& arg, int64_t value, bool known) {
    OpRun run("index");
    known ? run.fixed(in) : run.input(in);
    return run.arg("kinds", std::move(kinds)).arg(arg, value).failure();
  };
  EXPECT_NE(message({"int"}, "at_0", 4, false).find("out of range"), std::string::npos);
  EXPECT_NE(message({"int"}, "at_0", -5, true).find("out of range"), std::string::npos);
  EXPECT_NE(message({"slice"}, "step_0", 0, false).find("step"), std::string::npos);
  EXPECT_NE(message({"slice", "slice", "int"}, "at_2", 0, false).find("too many"), std::string::npos);
  EXPECT_NE(OpRun("index")
                .input(scalar(DType::kU8, 1))
                .arg("kinds", std::vector<std::string>{"int"})
                .arg("at_0", int64_t{0})
                .failure()
                .find("scalar"),
            std::string::npos);
}

// The operator alone; tests/pixel has what the language makes of functions.
TEST(Pixel, AnExpressionOverCoordinates) {
  const Tensor image = random_tensor(DType::kU8, {5, 4, 3}, "HWC", 11);
  const std::string left = "load(in0:u8 clamp, axis0, add(axis1, -1:i64), axis2)";
  const Tensor out = OpRun("pixel")
                         .input(image)
                         .input(scalar(DType::kF32, 1.5))
                         .arg("function", std::string("left"))
                         .arg("rank", int64_t{3})
                         .arg("like", int64_t{0})
                         .arg("body", "mul(convert.f32(" + left + "), symbol.element(1, 0):f32)")
                         .result();
  const std::vector<double> pixels = image.numbers();
  std::vector<double> expected;
  for (size_t y = 0; y < 5; ++y)
    for (size_t x = 0; x < 4; ++x)
      for (size_t c = 0; c < 3; ++c)
        expected.push_back(saturate(DType::kU8, 1.5 * pixels.at((y * 4 + (x == 0 ? 0 : x - 1)) * 3 + c)));
  EXPECT_EQ(out.numbers(), expected);
  EXPECT_NE(OpRun("pixel")
                .input(image)
                .arg("function", std::string("beside"))
                .arg("rank", int64_t{3})
                .arg("like", int64_t{0})
                .arg("body", std::string("load(in1:u8 clamp, axis0, axis1, axis2)"))
                .failure()
                .find("a load of something that is no input"),
            std::string::npos);
}

}  // namespace
}  // namespace galatea::ops_test
