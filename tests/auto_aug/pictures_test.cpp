// Pixels of timm's warps, bilinear and bicubic, with a fill per channel, against what timm made of the same
// picture with Pillow (data/timm_warps.json, written by make_pictures.py).
#include <gtest/gtest.h>

#include "tests/auto_aug/run_text.h"
#include "tests/oracle/run_case.h"

namespace galatea::testing {
namespace {

OracleGroup recorded() {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/auto_aug/data", "timm_warps");
  if (!group) ADD_FAILURE() << group.error();
  return group ? *group : OracleGroup{};
}

TEST(TimmPictures, AreThoseOfTheLibrary) {
  const OracleGroup group = recorded();
  EXPECT_EQ(group.cases.size(), 18U);
  for (const OracleCase& each : group.cases) EXPECT_EQ(run_case(each), "") << each.name;
}

/// The comparison sees which cubic it is, which channel is filled with what, and which way a warp goes.
TEST(TimmPictures, OtherWarpsWouldFail) {
  const OracleGroup group = recorded();
  size_t tried = 0;
  for (const OracleCase& each : group.cases)
    for (const auto& [from, to] :
         {std::pair{"INTERP_CUBIC", "INTERP_LINEAR"}, std::pair{"[124, 116, 104]", "[124, 116, 94]"},
          std::pair{"x, 0.27,", "x, -0.27,"}}) {
      OracleCase other = each;
      const size_t at = other.text.find(from);
      if (at == std::string::npos) continue;
      other.text.replace(at, std::string(from).size(), to);
      EXPECT_NE(run_case(other), "") << each.name << " with " << to;
      ++tried;
    }
  EXPECT_GT(tried, 20U);
}

/// Each sample is what one of the two makes, either as often as the other.
TEST(TimmPictures, InterpolationIsDrawn) {
  constexpr int kSamples = 400;
  const auto samples = run_text(R"(
from galatea import fn, math, pipeline_def, types
from galatea.auto_aug import timm

@pipeline_def(batch_size=400, num_threads=1, seed=12)
def p():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    noise = fn.random.uniform(range=[0.0, 255.0], shape=[12, 10, 3])
    image = fn.reshape(fn.cast(noise, dtype=types.UINT8), layout="HWC")
    fill = [1, 2, 3]
    drawn = timm._any_interpolation("Rotate", image, 17.0, {"interpolation": None, "fill": fill})

    def apart(how):
        other = timm.warped("Rotate", image, 17.0, fill, how)
        return fn.reductions.max(math.abs(fn.cast(drawn, dtype=types.FLOAT) - other))

    return fn.cat(x, fn.stack(apart(types.INTERP_LINEAR), apart(types.INTERP_CUBIC)))
)",
                                kSamples);
  ASSERT_EQ(samples.size(), static_cast<size_t>(kSamples));
  int cubic = 0;
  for (const auto& sample : samples) {
    ASSERT_EQ(sample.size(), 3U);
    ASSERT_NE(sample[1] == 0, sample[2] == 0);
    cubic += sample[2] == 0;
  }
  // Four standard deviations of 400 even draws are 40.
  EXPECT_NEAR(cubic, kSamples / 2, 40);
}

}  // namespace
}  // namespace galatea::testing
