// Random operators: ranges, distributions, independence of samples; decoders' windows and configurations;
// sources' types.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/ops/op_tester.h"
#include "tests/support/cases.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;
using Kind = op::LoweredOutput::Kind;

struct Moments {
  double mean = 0, variance = 0, low = 1e30, high = -1e30;
};

Moments moments(const Tensor& t) {
  Moments m;
  for (double v : t.numbers())
    m.mean += v / static_cast<double>(t.size()), m.low = std::min(m.low, v), m.high = std::max(m.high, v);
  for (double v : t.numbers()) m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(t.size());
  return m;
}

TEST(Random, Uniform) {
  const Tensor out =
      OpRun("random.uniform").arg("range", Numbers{2, 5}).arg("shape", Extents{100, 100}).key(5).result();
  const Moments m = moments(out);
  EXPECT_GE(m.low, 2);
  EXPECT_LT(m.high, 5);
  EXPECT_NEAR(m.mean, 3.5, 0.05);
  EXPECT_NEAR(m.variance, 9.0 / 12, 0.03);
  const OpRun::Outcome single = OpRun("random.uniform").sample(4).run();
  EXPECT_EQ(single.kinds[0], Kind::kScalars);
  EXPECT_EQ(single.types[0].ndim, 0);
  // The first elements of a large draw are those of a small one.
  EXPECT_EQ(OpRun("random.uniform").arg("shape", Extents{3}).key(5).result()[2],
            OpRun("random.uniform").arg("shape", Extents{40}).key(5).result()[2]);
  // A narrow range never reaches its end.
  const float top = 1.0f, bottom = std::nextafter(std::nextafter(top, 0.0f), 0.0f);
  for (double v : OpRun("random.uniform")
                      .arg("range", tensor(DType::kF32, {2}, {bottom, top}))
                      .arg("shape", Extents{200})
                      .result()
                      .numbers())
    EXPECT_LT(v, 1);
  for (double v :
       OpRun("random.uniform").arg("range", Numbers{-1e-30, 0}).arg("shape", Extents{100}).result().numbers())
    EXPECT_LT(v, 0);
}

TEST(Random, UniformValuesShapesAndTypes) {
  std::map<double, int> counts;
  for (double v :
       OpRun("random.uniform").arg("values", Numbers{1, 5, 9}).arg("shape", Extents{3000}).result().numbers())
    ++counts[v];
  ASSERT_EQ(counts.size(), 3u);
  for (auto [value, count] : counts) EXPECT_NEAR(count, 1000, 120) << value;
  const Tensor like = OpRun("random.uniform")
                          .input(random_tensor(DType::kU8, {4, 6, 3}, "HWC", 1))
                          .arg("range", Numbers{0, 100})
                          .arg("dtype", DType::kU8)
                          .result();
  EXPECT_EQ(like.extents, (Extents{4, 6, 3}));
  EXPECT_EQ(like.dtype, DType::kU8);
  EXPECT_EQ(OpRun("random.uniform").arg("shape", tensor(DType::kI32, {2}, {3, 4})).result().extents,
            (Extents{3, 4}));
  EXPECT_EQ(OpRun("uniform").result().size(), 1u);
  EXPECT_NE(OpRun("random.uniform").arg("range", Numbers{1, 1}).failure().find("empty"), std::string::npos);
  EXPECT_NE(OpRun("random.uniform").arg("range", tensor(DType::kF32, {2}, {2, 1})).failure().find("empty"),
            std::string::npos);
  EXPECT_NE(OpRun("random.uniform").arg("range", Numbers{1, 2, 3}).failure().find("two numbers"),
            std::string::npos);
  EXPECT_NE(
      OpRun("random.uniform").arg("range", Numbers{1, 2}).arg("values", Numbers{1}).failure().find("exclude"),
      std::string::npos);
  EXPECT_NE(OpRun("random.uniform").arg("shape", tensor(DType::kI32, {1}, {-3})).failure().find("negative"),
            std::string::npos);
}

TEST(Random, SamplesAndKeysDiffer) {
  std::set<double> seen;
  for (uint64_t sample = 0; sample < 20; ++sample)
    for (uint64_t key = 1; key <= 5; ++key)
      seen.insert(OpRun("random.uniform").sample(sample).key(key).result()[0]);
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Random, Normal) {
  const Moments m = moments(OpRun("random.normal")
                                .arg("mean", 3.0)
                                .arg("stddev", scalar(DType::kF32, 2))
                                .arg("shape", Extents{10000})
                                .result());
  EXPECT_NEAR(m.mean, 3, 0.08);
  EXPECT_NEAR(m.variance, 4, 0.2);
  EXPECT_GT(m.high, 8);
  EXPECT_LT(m.low, -2);
  EXPECT_NE(OpRun("random.normal").arg("stddev", -1.0).failure().find("negative"), std::string::npos);
}

TEST(Random, Beta) {
  // Mean, variance and excess kurtosis of the distribution; what is drawn lies within four standard errors of
  // them. For small shapes most of it lies at the ends.
  const int kDraws = static_cast<int>(testing::scaled(2000, 500));
  constexpr double kShapes[][2] = {{1, 1},   {0.4, 0.4}, {2, 5},        {0.02, 0.03},
                                   {30, 10}, {0.5, 8},   {50000, 25000}};
  for (const auto& [a, b] : kShapes) {
    const Tensor out = OpRun("random.beta")
                           .arg("alpha", a)
                           .arg("beta", scalar(DType::kF32, b))
                           .arg("shape", Extents{kDraws})
                           .result();
    const Moments m = moments(out);
    const double sum = a + b, variance = a * b / (sum * sum * (sum + 1));
    const double kurtosis =
        6 * ((a - b) * (a - b) * (sum + 1) - a * b * (sum + 2)) / (a * b * (sum + 2) * (sum + 3));
    EXPECT_NEAR(m.mean, a / sum, 4 * std::sqrt(variance / kDraws)) << a << ", " << b;
    EXPECT_NEAR(m.variance, variance, 4 * variance * std::sqrt((kurtosis + 2) / kDraws)) << a << ", " << b;
    EXPECT_GE(m.low, 0);
    EXPECT_LE(m.high, 1);
  }
  // The arcsine distribution: P(x < t) = 2 / pi asin(sqrt(t)).
  const std::vector<double> drawn = OpRun("random.beta")
                                        .arg("alpha", 0.5)
                                        .arg("beta", 0.5)
                                        .arg("shape", Extents{kDraws})
                                        .result()
                                        .numbers();
  for (double t : {0.05, 0.3, 0.5, 0.9}) {
    const auto below = std::count_if(drawn.begin(), drawn.end(), [&](double x) { return x < t; });
    const double expected = 2 / M_PI * std::asin(std::sqrt(t));
    EXPECT_NEAR(static_cast<double>(below) / kDraws, expected,
                4 * std::sqrt(expected * (1 - expected) / kDraws))
        << t;
  }
  EXPECT_NE(OpRun("random.beta").arg("alpha", 0.0).failure().find("positive"), std::string::npos);
  EXPECT_NE(OpRun("random.beta").arg("beta", scalar(DType::kF32, -1)).failure().find("positive"),
            std::string::npos);
  EXPECT_NE(OpRun("random.beta").arg("dtype", DType::kU8).failure().find("UINT8"), std::string::npos);
}

TEST(Random, CoinFlip) {
  const Tensor out = OpRun("random.coin_flip").arg("probability", 0.3).arg("shape", Extents{5000}).result();
  EXPECT_EQ(out.dtype, DType::kI32);
  EXPECT_NEAR(moments(out).mean, 0.3, 0.03);
  EXPECT_EQ(moments(OpRun("random.coin_flip").arg("probability", 1.0).arg("shape", Extents{50}).result()).low,
            1);
  EXPECT_EQ(moments(OpRun("random.coin_flip")
                        .arg("probability", scalar(DType::kF32, 0))
                        .arg("shape", Extents{50})
                        .result())
                .high,
            0);
  EXPECT_EQ(OpRun("random.coin_flip").arg("dtype", DType::kBool).result().dtype, DType::kBool);
  EXPECT_NE(OpRun("random.coin_flip").arg("probability", scalar(DType::kF32, 1.5)).failure().find("[0, 1]"),
            std::string::npos);
}

TEST(Random, RefusesMoreDimensionsThanKernelsHave) {
  EXPECT_TRUE(says(OpRun("random.uniform").arg("shape", Extents(9, 1)).failure(), "has 9 dimensions"));
}

/// Probabilities whose number only the run tells are an input.
TEST(Random, ChoiceByAnyNumberOfProbabilities) {
  auto run = [](const Tensor& from, const std::vector<double>& p) {
    double sum = 0;
    for (double one : p) sum += one;
    return OpRun("random.choice.weighted")
        .input(from)
        .input(tensor(DType::kF32, {static_cast<int64_t>(p.size())}, p))
        .input(scalar(DType::kF32, sum))
        .input(scalar(DType::kF32, *std::min_element(p.begin(), p.end())));
  };
  // Chi-square of 2000 draws with two degrees of freedom, at 0.001: 13.8.
  const std::vector<double> expected = {0.2, 0, 0.5, 0.3};
  std::map<double, int> counts;
  for (double v : run(scalar(DType::kU8, 4), expected).arg("shape", Extents{2000}).result().numbers())
    ++counts[v];
  EXPECT_EQ(counts.count(1), 0u);
  double distance = 0;
  for (size_t n : {0u, 2u, 3u}) {
    const double mean = 2000 * expected[n];
    distance += std::pow(counts[static_cast<double>(n)] - mean, 2) / mean;
  }
  EXPECT_LT(distance, 13.8);

  const Tensor rows = tensor(DType::kI16, {2, 3}, {1, 2, 3, 4, 5, 6}, "AB");
  const Tensor picked = run(rows, {0, 1}).arg("shape", Extents{2}).result();
  EXPECT_EQ(picked.extents, (Extents{2, 3}));
  EXPECT_EQ(picked.layout.str(), "AB");
  EXPECT_EQ(picked.numbers(), (Numbers{4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(run(rows, {1, 0}).result().numbers(), (Numbers{1, 2, 3}));
  EXPECT_EQ(run(rows, {0, 1}).input(tensor(DType::kU8, {1, 2}, {0, 0})).result().extents, (Extents{1, 2, 3}));
  EXPECT_EQ(run(scalar(DType::kI32, 1), {1}).result().numbers(), (Numbers{0}));
  EXPECT_TRUE(says(run(rows, {.2, .3, .5}).failure(), "3 probabilities for 2 choices"));
  EXPECT_TRUE(says(run(rows, {-.5, 1.5}).failure(), "outside [0, 1]"));
  EXPECT_TRUE(says(run(rows, {.2, .2}).failure(), "not 1"));
}

TEST(Random, Choice) {
  std::map<double, int> counts;
  for (double v :
       OpRun("random.choice").input(scalar(DType::kI32, 4)).arg("shape", Extents{4000}).result().numbers())
    ++counts[v];
  ASSERT_EQ(counts.size(), 4u);
  for (auto [value, count] : counts) EXPECT_NEAR(count, 1000, 120) << value;
  counts.clear();
  const Tensor table = tensor(DType::kI16, {3}, {10, 20, 30});
  for (double v : OpRun("random.choice")
                      .fixed(table)
                      .arg("p", Numbers{0.2, 0, 0.8})
                      .arg("shape", Extents{2000})
                      .result()
                      .numbers())
    ++counts[v];
  EXPECT_EQ(counts.count(20), 0u);
  EXPECT_NEAR(counts[10], 400, 80);
  const Tensor rows = random_tensor(DType::kF32, {30, 4}, {}, 2);
  const Tensor picked = OpRun("random.choice").input(rows).arg("shape", Extents{6}).result();
  EXPECT_EQ(picked.extents, (Extents{6, 4}));
  for (size_t r = 0; r < 6; ++r) {
    bool found = false;
    for (size_t s = 0; s < 30; ++s)
      found |= std::equal(picked.cells.begin() + static_cast<long>(r * 4),
                          picked.cells.begin() + static_cast<long>(r * 4 + 4),
                          rows.cells.begin() + static_cast<long>(s * 4));
    EXPECT_TRUE(found) << "row " << r;
  }
  auto layout = [&](OpRun run) {
    return run.input(random_tensor(DType::kU8, {3, 4}, "AB", 1)).result().layout.str();
  };
  EXPECT_EQ(layout(OpRun("random.choice")), "B");
  EXPECT_EQ(layout(OpRun("random.choice").arg("shape", Extents{6})), "AB")
      << "picks stand where choices stood";
  EXPECT_EQ(layout(OpRun("random.choice").arg("shape", Extents{6, 2})), "");
  EXPECT_EQ(OpRun("random.choice").input(rows).result().extents, (Extents{4}));
  EXPECT_NE(OpRun("random.choice").input(scalar(DType::kI32, 0)).failure().find("nothing to choose"),
            std::string::npos);
  EXPECT_NE(OpRun("random.choice").fixed(table).arg("p", Numbers{0.2, 0.8}).failure().find("probabilities"),
            std::string::npos);
  EXPECT_NE(OpRun("random.choice").fixed(table).arg("p", Numbers{0.2, 0.2, 0.2}).failure().find("sum"),
            std::string::npos);
  EXPECT_NE(OpRun("random.choice").input(scalar(DType::kF32, 3)).failure().find("integer"),
            std::string::npos);
}

// ---- decoders and sources

Tensor bytes() { return tensor(DType::kU8, {4}, {1, 2, 3, 4}); }

TEST(Decoders, WholeImage) {
  const OpRun::Outcome outcome =
      OpRun("decoders.image").input(bytes()).native({30, 40, 3, 8, 0}).arg("output_type", int64_t{2}).run();
  ASSERT_TRUE(outcome.ok()) << outcome.error;
  EXPECT_EQ(outcome.types[0].extents, (Extents{-1, -1, 1}));
  EXPECT_EQ(outcome.types[0].layout.str(), "HWC");
  ASSERT_EQ(outcome.natives.size(), 1u);
  EXPECT_EQ(outcome.natives[0].function, "image.decode");
  EXPECT_TRUE(outcome.natives[0].offers_window);
  EXPECT_EQ(outcome.natives[0].extents, (Extents{30, 40, 1}));
  EXPECT_NE(outcome.natives[0].config.find("\"output_type\": 2"), std::string::npos);
  EXPECT_EQ(OpRun("image_decoder")
                .input(bytes())
                .native({30, 40, 2, 8, 0})
                .arg("output_type", int64_t{4})
                .run()
                .natives[0]
                .extents,
            (Extents{30, 40, 2}));
  EXPECT_NE(OpRun("decoders.image")
                .input(random_tensor(DType::kU8, {4, 4, 3}, "HWC", 1))
                .failure()
                .find("takes u8[?] as input 0 (data)"),
            std::string::npos);
  EXPECT_NE(
      OpRun("decoders.image").input(bytes()).arg("dtype", DType::kF64).failure().find("cannot be decoded"),
      std::string::npos);
}

TEST(Decoders, Windows) {
  OpRun::Outcome crop = OpRun("decoders.image_crop")
                            .input(bytes())
                            .native({30, 40, 3, 8, 0})
                            .arg("crop", Numbers{11, 20})
                            .arg("crop_pos_x", 1.0)
                            .run();
  ASSERT_TRUE(crop.ok()) << crop.error << crop.failed_check;
  EXPECT_EQ(crop.natives[0].function, "image.decode_window");
  EXPECT_EQ(crop.natives[0].scalars, (Extents{10, 20, 21, 40}));  // 0.5 (30 - 11) = 9.5 rounds away from zero
  EXPECT_EQ(crop.natives[0].extents, (Extents{11, 20, 3}));
  EXPECT_NE(OpRun("decoders.image_crop")
                .input(bytes())
                .native({30, 40, 3, 8, 0})
                .arg("crop", Numbers{31, 20})
                .failure()
                .find("outside"),
            std::string::npos);
  OpRun::Outcome slice = OpRun("decoders.image_slice")
                             .input(bytes())
                             .native({30, 40, 3, 8, 0})
                             .arg("start", Extents{5, 6})
                             .arg("rel_end", 0.5)
                             .run();
  ASSERT_TRUE(slice.ok()) << slice.error << slice.failed_check;
  EXPECT_EQ(slice.natives[0].scalars, (Extents{6, 5, 15, 20}));
  EXPECT_NE(OpRun("decoders.image_slice")
                .input(bytes())
                .native({30, 40, 3, 8, 0})
                .arg("start", Extents{35, 0})
                .arg("shape", Extents{10, 10})
                .failure()
                .find("outside"),
            std::string::npos);
}

TEST(Decoders, RandomWindowsKeepTheirPromises) {
  int moved = 0;
  for (uint64_t sample = 0; sample < 200; ++sample) {
    const OpRun::Outcome outcome = OpRun("decoders.image_random_crop")
                                       .input(bytes())
                                       .native({300, 400, 3, 8, 0})
                                       .arg("random_area", Numbers{0.1, 0.5})
                                       .arg("random_aspect_ratio", Numbers{0.8, 1.25})
                                       .sample(sample)
                                       .run();
    ASSERT_TRUE(outcome.ok()) << outcome.error << outcome.failed_check;
    const Extents& w = outcome.natives[0].scalars;
    const double height = static_cast<double>(w[2] - w[0]), width = static_cast<double>(w[3] - w[1]);
    ASSERT_GE(w[0], 0);
    ASSERT_GE(w[1], 0);
    ASSERT_LE(w[2], 300);
    ASSERT_LE(w[3], 400);
    EXPECT_GE(width / height, 0.8);
    EXPECT_LE(width / height, 1.25);
    EXPECT_NEAR(std::clamp(height * width / 120000, 0.1, 0.5), height * width / 120000, 0.005);
    moved += w[0] > 0 && w[1] > 0;
  }
  EXPECT_GT(moved, 150);
  // Too wide for any allowed ratio: the whole height and the widest allowed window. Too tall: likewise.
  const OpRun::Outcome wide = OpRun("decoders.image_random_crop")
                                  .input(bytes())
                                  .native({10, 1000, 3, 8, 0})
                                  .arg("random_area", Numbers{0.5, 1})
                                  .run();
  EXPECT_EQ(wide.natives[0].extents, (Extents{10, 13, 3}));
  const OpRun::Outcome tall = OpRun("decoders.image_random_crop")
                                  .input(bytes())
                                  .native({1000, 9, 3, 8, 0})
                                  .arg("random_area", Numbers{0.5, 1})
                                  .run();
  EXPECT_EQ(tall.natives[0].extents, (Extents{12, 9, 3}));
  // One attempt that never fits the exact ratio 1 of a whole area: the largest square.
  const OpRun::Outcome square = OpRun("decoders.image_random_crop")
                                    .input(bytes())
                                    .native({20, 30, 3, 8, 0})
                                    .arg("random_area", Numbers{0.6, 1})
                                    .arg("random_aspect_ratio", Numbers{1, 1})
                                    .arg("num_attempts", int64_t{1})
                                    .sample(3)
                                    .run();
  EXPECT_EQ(square.natives[0].extents[0], square.natives[0].extents[1]);
  EXPECT_NE(OpRun("decoders.image_random_crop")
                .input(bytes())
                .arg("random_area", Numbers{0, 1})
                .failure()
                .find("0 < low"),
            std::string::npos);
  EXPECT_NE(OpRun("decoders.image_random_crop")
                .input(bytes())
                .arg("num_attempts", int64_t{0})
                .failure()
                .find("num_attempts"),
            std::string::npos);
}

TEST(Decoders, PeekImageShape) {
  const Tensor out = OpRun("peek_image_shape").input(bytes()).native({30, 40, 1, 8, 0}).result();
  EXPECT_EQ(out.numbers(), (Numbers{30, 40, 3}));
  EXPECT_EQ(OpRun("peek_image_shape")
                .input(bytes())
                .native({30, 40, 1, 8, 0})
                .arg("image_type", int64_t{4})
                .arg("dtype", DType::kI32)
                .result()
                .numbers(),
            (Numbers{30, 40, 1}));
  EXPECT_NE(OpRun("peek_image_shape").input(bytes()).arg("dtype", DType::kU8).failure().find("cannot hold"),
            std::string::npos);
}

TEST(Sources, Types) {
  const OpRun::Outcome files = OpRun("readers.file").arg("file_root", std::string("photos")).run();
  ASSERT_TRUE(files.ok()) << files.error;
  EXPECT_EQ(to_text(files.types[0]), "u8[?]");
  EXPECT_EQ(to_text(files.types[1]), "i32[1]");
  EXPECT_NE(OpRun("readers.file").failure().find("nothing to read"), std::string::npos);
  EXPECT_NE(OpRun("readers.file")
                .arg("file_root", std::string("a"))
                .arg("shard_id", int64_t{2})
                .arg("num_shards", int64_t{2})
                .failure()
                .find("shard_id"),
            std::string::npos);
  EXPECT_NE(OpRun("readers.file")
                .arg("file_root", std::string("a"))
                .arg("labels", Extents{1})
                .failure()
                .find("labels"),
            std::string::npos);
  const OpRun::Outcome fed =
      OpRun("external_source").arg("dtype", DType::kF32).arg("layout", std::string("HWC")).run();
  ASSERT_TRUE(fed.ok()) << fed.error;
  EXPECT_EQ(to_text(fed.types[0]), "f32[?,?,?] HWC");
  EXPECT_NE(OpRun("external_source").arg("ndim", int64_t{3}).failure().find("element type"),
            std::string::npos);
  EXPECT_NE(OpRun("external_source").arg("dtype", DType::kU8).failure().find("number of dimensions"),
            std::string::npos);
  EXPECT_NE(OpRun("external_source")
                .arg("dtype", DType::kU8)
                .arg("ndim", int64_t{2})
                .arg("layout", std::string("HWC"))
                .failure()
                .find("letters"),
            std::string::npos);
}

TEST(Registry, EveryOperatorIsDocumented) {
  for (const auto& op : registry().all()) {
    EXPECT_FALSE(op->summary.empty()) << op->name;
    EXPECT_FALSE(op->documentation.empty()) << op->name;
    EXPECT_TRUE(op->type_rule != nullptr) << op->name;
    EXPECT_TRUE(op->source || op->define || op->expand) << op->name;
    if (!op->internal) {
      EXPECT_FALSE(op->example.empty()) << op->name;
    }
    for (const op::ArgSpec& arg : op->args)
      EXPECT_FALSE(arg.documentation.empty()) << op->name << "." << arg.name;
    for (const Port& input : op->inputs)
      EXPECT_FALSE(input.documentation.empty()) << op->name << "." << input.name;
  }
}

}  // namespace
}  // namespace galatea::ops_test
