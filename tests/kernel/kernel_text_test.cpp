// Texts of expressions and kernels: what is written reads back equal; what is wrong is refused with its
// place.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernel/kernel_call.h"

namespace galatea::kernel {
namespace {

const char* const kResize = R"(kernel "resize" {
  param p0:i64 "height"
  param p1:i64
  param p2:f32
  input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3 "image"
  map stage0:i64 [p1:i64] "first" {
    body = add(mul(axis0, 2:i64), -1:i64)
  }
  band stage1:f32 [p0:i64, p1:i64, 3:i64] axis 1 in f32 "horizontal" {
    first = load(stage0:i64, axis1)
    taps = 3:i64
    weight = mul(convert.f32(tap), p2:f32)
    source = load(in0:u8 clamp, axis0, add(load(stage0:i64, axis1), tap), axis2)
    finish = {
      %0 = mul(acc:f32, acc:f32);
      add(%0, %0)
    }
  }
  reduce stage2:f32 [3:i64] over [p0:i64, p1:i64] max in f32 {
    body = load(stage1:f32, raxis0, raxis1, axis0)
  }
  map stage3:u8 [p0:i64, p1:i64, 3:i64] "store" {
    body = saturate.u8(div(load(stage1:f32, axis0, axis1, axis2), load(stage2:f32, axis2)))
  }
  output stage3 [2, 0, 1] dense 2 streaming
}
)";

TEST(KernelText, RoundTrip) {
  Kernel kernel = testing::kernel_from(kResize);
  EXPECT_EQ(to_text(kernel), kResize);
  Kernel again = testing::kernel_from(to_text(kernel));
  EXPECT_EQ(hash_of(again), hash_of(kernel));
  again.stages[1].name = "other";
  EXPECT_EQ(canonical_text(again), canonical_text(kernel)) << "names do not count";
  again.stages[1].finish = accumulator(DType::kF32);
  EXPECT_NE(hash_of(again), hash_of(kernel));
}

TEST(ExprText, ConstantsKeepTheirBits) {
  SourceMap sources;
  const Expr exprs[] = {const_float(0.1),
                        const_float(-0.0),
                        const_float(1e-45),
                        const_float(3.4e38),
                        const_float(0.1, DType::kF64),
                        const_float(1e300, DType::kF64),
                        const_float(INFINITY),
                        const_float(-INFINITY, DType::kF64),
                        constant(DType::kF32, {0x7FC00123}),
                        const_int(-128, DType::kI8),
                        const_int(INT64_MIN),
                        constant(DType::kU64, {~uint64_t{0}}),
                        const_float(0.1, DType::kF16),
                        const_bool(true)};
  for (const Expr& e : exprs) {
    auto back = read_expr(to_text(e), sources);
    ASSERT_TRUE(back) << to_text(e) << ": " << back.error().message();
    EXPECT_TRUE(same(*back, e)) << to_text(e);
  }
}

TEST(ExprText, EveryLeafReadsBack) {
  SourceMap sources;
  Expr key = convert(param(0, DType::kI64), DType::kU64);
  const Expr exprs[] = {symbol(SymbolKind::kExtent, DType::kI64, 4, 2),
                        symbol(SymbolKind::kLocal, DType::kF32, 1, 0),
                        philox_word(key, key, key, 3),
                        load_flat(2, DType::kI16, var(0, DType::kI64) + var(1, DType::kI64)),
                        load({LoadTarget::Kind::kStage, 1}, DType::kF32, {axis(0), tap()}, Border::kConstant,
                             cell_from_double(DType::kF32, 0.5)),
                        select(reduce_axis(0) < axis(1), const_int(1), const_int(2))};
  for (const Expr& e : exprs) {
    auto back = read_expr(to_text(e), sources);
    ASSERT_TRUE(back) << to_text(e) << ": " << back.error().message();
    EXPECT_TRUE(same(*back, e)) << to_text(e);
  }
}

TEST(ExprText, MistakesAreLocated) {
  const std::pair<const char*, const char*> cases[] = {
      {"add(1:i64, 2:f32)", "add of i64 and f32"},
      {"add(1:i64)", "add takes 2 operands, not 1"},
      {"frobnicate(1:i64)", "not an expression"},
      {"300:u8", "not a value of type u8"},
      {"convert(1:i64)", "needs a type"},
      {"add(1:i64, ", "the end of the text"},
      {"{ %0 = axis0; %1 }", "'%1' is not an expression"},
      {"load(in0:u8, 1:i32)", "an index must be i64"},
      {"and(1:f32, 2:f32)", "and of a float"},
      {"add(axis0, axis1) axis2", "text after the expression"},
      {"bitcast.u8(1:i32)", "bitcast between sizes"},
      {"sqrt(4:i64)", "sqrt of an integer"},
  };
  for (const auto& [text, message] : cases) {
    SourceMap sources;
    auto out = read_expr(text, sources);
    ASSERT_FALSE(out) << text;
    EXPECT_NE(out.error().message().find(message), std::string::npos)
        << text << " gave: " << out.error().message();
    EXPECT_TRUE(out.error().diagnostics[0].span.valid()) << text;
  }
}

std::string verify_message(const std::string& text) {
  SourceMap sources;
  auto kernel = read_kernel(text, sources);
  if (!kernel) return "does not read: " + kernel.error().message();
  auto status = verify(*kernel);
  return status ? "legal" : status.error().message();
}

TEST(KernelVerifier, NamesTheStageAndTheMistake) {
  auto map_of = [](const std::string& body) {
    return "kernel { param p0:i64 input in0:u8 [p0:i64] map stage0:u8 [p0:i64] \"m\" { body = " + body +
           " } output stage0 [0] }";
  };
  EXPECT_EQ(verify_message(map_of("load(in0:u8, axis0)")), "legal");
  const std::pair<const char*, const char*> cases[] = {
      {"load(in0:u8, axis1)", "stage0 (m): body may not use axis1"},
      {"load(in1:u8, axis0)", "in1, which does not exist"},
      {"load(stage0:u8, axis0)", "not an earlier stage"},
      {"load(in0:u8, axis0, axis0)", "with 2 indices"},
      {"convert.u8(load(in0:f32, axis0))", "as f32, but it holds u8"},
      {"1:f32", "body has type f32, not u8"},
      {"convert.u8(tap)", "may not use tap"},
      {"acc:u8", "may not use acc"},
      {"convert.u8(p1:i64)", "there are 1 parameters"},
      {"convert.u8(p0:f32)", "p0 is not f32"},
      {"convert.u8(symbol.extent(0, 0):i64)", "may not use a symbol"},
  };
  for (const auto& [body, message] : cases) {
    EXPECT_NE(verify_message(map_of(body)).find(message), std::string::npos)
        << body << " gave: " << verify_message(map_of(body));
  }
}

TEST(KernelVerifier, SumsOfFloatsAreOfF64) {
  const auto reduction = [](const std::string& combiner, const std::string& accumulator) {
    return verify_message("kernel { param p0:i64 input in0:f32 [p0:i64] reduce stage0:f32 [] over [p0:i64] " +
                          combiner + " in " + accumulator + " { body = convert." + accumulator +
                          "(load(in0:f32, raxis0)) } output stage0 [] }");
  };
  EXPECT_EQ(reduction("sum", "f64"), "legal");
  EXPECT_NE(reduction("sum", "f32").find("sums floats in f64"), std::string::npos);
  EXPECT_EQ(reduction("max", "f64"), "legal");
  const auto leaves = [](const std::string& combiner) {
    return verify_message("kernel { param p0:i64 input in0:f32 [p0:i64] reduce stage0:f32 [] over [p0:i64] " +
                          combiner + " in f64 { body = load(in0:f32, raxis0) } output stage0 [] }");
  };
  EXPECT_EQ(leaves("sum"), "legal");
  EXPECT_NE(leaves("max").find("body has type f32, not f64"), std::string::npos);
}

TEST(KernelVerifier, BandsAndOutputs) {
  auto band = [](const std::string& source, const std::string& first, const std::string& axes) {
    return "kernel { param p0:i64 input in0:u8 [p0:i64, p0:i64] band stage0:f32 [p0:i64, p0:i64] axis 1 in "
           "f32 { first = " +
           first + " taps = 3:i64 weight = 1:f32 source = " + source + " } output stage0 [" + axes + "] }";
  };
  EXPECT_EQ(verify_message(band("load(in0:u8 clamp, axis0, add(axis1, tap))", "axis1", "1, 0")), "legal");
  EXPECT_NE(
      verify_message(band("load(in0:u8 clamp, axis0, axis1)", "axis1", "0, 1")).find("exactly one index"),
      std::string::npos);
  EXPECT_NE(
      verify_message(band("load(in0:u8 clamp, axis0, tap)", "axis1", "0, 1")).find("must be first + tap"),
      std::string::npos);
  EXPECT_NE(verify_message(band("load(in0:u8 clamp, axis0, add(axis0, tap))", "axis0", "0, 1"))
                .find("only the band axis"),
            std::string::npos);
  EXPECT_NE(verify_message(band("load(in0:u8 clamp, axis0, add(axis1, tap))", "axis1", "0, 0"))
                .find("not a permutation"),
            std::string::npos);
}

TEST(Classify, TellsAccessesApart) {
  Kernel kernel = testing::kernel_from(kResize);
  const Stage& band = kernel.stages[1];
  EXPECT_EQ(classify(kernel, band, *band.source, 0), Access::kPoint);
  EXPECT_EQ(classify(kernel, band, *band.source, 1), Access::kBand);
  const Stage& reduce = kernel.stages[2];
  EXPECT_EQ(classify(kernel, reduce, *reduce.body, 0), Access::kWhole);
  EXPECT_EQ(classify(kernel, reduce, *reduce.body, 2), Access::kPoint);
  Affine form;
  ASSERT_TRUE(match_affine(const_int(7) - axis(2) * const_int(3) + param(0, DType::kI64), &form));
  EXPECT_EQ(form.axis, 2);
  EXPECT_TRUE(is_const_int(form.scale, -3));
  EXPECT_TRUE(same(form.offset, const_int(7) + param(0, DType::kI64)) ||
              same(form.offset, param(0, DType::kI64) + const_int(7)));
  EXPECT_FALSE(match_affine(axis(0) * axis(0), &form));
  EXPECT_FALSE(match_affine(axis(0) + axis(1), &form));
  EXPECT_FALSE(match_affine(axis(0) + tap(), &form));
  EXPECT_TRUE(match_affine(param(0, DType::kI64), &form));
  EXPECT_EQ(form.axis, -1);
}

}  // namespace
}  // namespace galatea::kernel
