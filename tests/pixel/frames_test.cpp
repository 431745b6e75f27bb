// Sequences and volumes through whole programs: fused and not, on every backend, each frame is what it is
// alone. What each operator does by itself is in tests/ops/frames_test.cpp.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/pixel/everywhere.h"

namespace galatea::testing {
namespace {

constexpr int64_t kFrames = 2;

/// Two samples of two frames each.
Feed videos(const std::vector<int64_t>& frame) {
  Feed feed;
  for (uint64_t k = 0; k < 2; ++k) {
    std::vector<int64_t> extents = frame;
    extents.insert(extents.begin(), kFrames);
    extents[extents.size() - 2] += static_cast<int64_t>(7 * k);
    feed["video"].push_back(random_array(DType::kU8, extents, 60 + k));
  }
  return feed;
}

/// Each call with X for the data, f for the number of the frame: of the sequence, and of its frames one by
/// one.
void expect_frames_as_alone(const std::string& layout, const Feed& feed, const std::string& before,
                            const std::vector<std::string>& calls) {
  const auto of = [](std::string text, const std::string& data) {
    for (size_t at; (at = text.find('X')) != std::string::npos;) text.replace(at, 1, data);
    return text;
  };
  std::string text = fmt::format(
      "from nvidia.dali import fn, pipeline_def, types\n\n\n@pipeline_def(batch_size=2, seed=5)\ndef p():\n"
      "    video = fn.external_source(name=\"video\", dtype=types.UINT8, ndim={}, layout=\"{}\")\n{}",
      layout.size(), layout, before);
  std::string results;
  for (size_t n = 0; n < calls.size(); ++n) {
    const size_t bar = calls[n].find(" | ");
    const std::string whole = calls[n].substr(0, bar),
                      alone = bar == std::string::npos ? whole : calls[n].substr(bar + 3);
    std::string frames;
    for (int64_t f = 0; f < kFrames; ++f) {
      std::string one = of(alone, fmt::format("video[{}]", f));
      for (size_t at; (at = one.find("[f]")) != std::string::npos;)
        one.replace(at, 3, fmt::format("[{}]", f));
      frames += (f > 0 ? ", " : "") + one;
    }
    text += fmt::format("    w{} = {}\n    a{} = fn.stack({})\n", n, of(whole, "video"), n, frames);
    results += fmt::format("{}w{}, a{}", n > 0 ? ", " : "", n, n);
  }
  const Outputs outputs = run_everywhere(text + "    return " + results + "\n", feed);
  ASSERT_EQ(outputs.size(), 2 * calls.size()) << text;
  for (size_t n = 0; n < calls.size(); ++n)
    for (size_t i = 0; i < outputs[2 * n].size(); ++i)
      EXPECT_TRUE(outputs[2 * n][i] == outputs[2 * n + 1][i]) << calls[n] << ", sample " << i;
}

TEST(FramesEverywhere, OperatorsAndTheirFusions) {
  expect_frames_as_alone(
      "FHWC", videos({20, 30, 3}), "    turn = fn.random.coin_flip()\n",
      {"fn.crop_mirror_normalize(fn.resize(X, resize_shorter=14), crop=(10, 9), mirror=turn, "
       "mean=[9, 8, 7], std=[3, 2, 1])",
       "fn.flip(fn.equalize(fn.crop(X, crop=(9, 9), crop_pos_x=0.9)), horizontal=turn)"});
}

TEST(FramesEverywhere, OtherLayouts) {
  expect_frames_as_alone("FCHW", videos({3, 11, 14}), "", {"fn.resize(X, size=[6, 7])"});
  expect_frames_as_alone("FDHWC", videos({2, 8, 9, 3}), "",
                         {"fn.saturation(fn.crop(X, crop=(1, 4, 5), crop_pos_z=1.0), saturation=0.3)"});
}

TEST(FramesEverywhere, ArgumentsPerFrame) {
  expect_frames_as_alone(
      "FHWC", videos({9, 12, 3}),
      "    angles = fn.random.uniform(range=[-40, 40], shape=[2])\n    sigmas = "
      "fn.random.uniform(range=[0.5, 3], shape=[2])\n"
      "    coins = fn.random.coin_flip(shape=[2])\n",
      {"fn.rotate(X, angle=fn.per_frame(angles), keep_size=True) | fn.rotate(X, angle=angles[f], "
       "keep_size=True)",
       "fn.brightness(fn.flip(X, horizontal=fn.per_frame(coins)), brightness=fn.per_frame(sigmas)) | "
       "fn.brightness(fn.flip(X, horizontal=coins[f]), brightness=sigmas[f])",
       "fn.gaussian_blur(X, sigma=fn.per_frame(sigmas), window_size=5) | fn.gaussian_blur(X, "
       "sigma=sigmas[f], window_size=5)"});
}

/// The mean of a frame is data of this sample, not a number that is known before.
TEST(FramesEverywhere, ArgumentsThatDataGive) {
  const auto means = std::string(
      "    means = fn.per_frame(fn.cast(fn.reductions.mean(video, axes=[1, 2, 3]), dtype=types.FLOAT) / 99, "
      "replace=True)\n");
  expect_frames_as_alone("FHWC", videos({9, 12, 3}), means,
                         {"fn.contrast(X, contrast=means) | fn.contrast(X, contrast=means[f])"});
}

}  // namespace
}  // namespace galatea::testing
