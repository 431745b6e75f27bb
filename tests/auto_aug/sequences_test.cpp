// Sequences, FHWC: each frame becomes what it would as an image, on every backend; one draw serves all
// frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/auto_aug/run_text.h"
#include "tests/pixel/everywhere.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

constexpr const char* kImport = R"(
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug import augmentations as a
from nvidia.dali.auto_aug.core import signed_bin


@pipeline_def(batch_size=3, seed=91)
def p():
    video = fn.external_source(name="video", dtype=types.UINT8, ndim=4, layout="FHWC")
)";

/// Three frames each; no two are alike, and the last has no red.
Feed videos() {
  Feed feed;
  for (uint64_t k = 0; k < 3; ++k) {
    const std::vector<int64_t> extents = k == 0   ? std::vector<int64_t>{3, 19, 23, 3}
                                         : k == 1 ? std::vector<int64_t>{3, 1, 2, 3}
                                                  : std::vector<int64_t>{3, 8, 70, 3};
    Array video = random_array(DType::kU8, extents, 40 + k);
    const size_t frame = video.bytes.size() / 3;
    for (size_t i = 0; i < frame; ++i) video.bytes[i] = static_cast<uint8_t>(20 + video.bytes[i] / 3);
    for (size_t i = 2 * frame; i < video.bytes.size(); i += 3) video.bytes[i] = 0;
    for (size_t i = 0; i < video.bytes.size(); ++i) video.values[i] = video.bytes[i];
    feed["video"].push_back(std::move(video));
  }
  return feed;
}

/// The greatest distance between the two outputs of a text; -1 where they differ in type or extents.
double distance(const Outputs& outputs) {
  double greatest = 0;
  for (size_t i = 0; i < outputs.at(0).size(); ++i) {
    const Array &whole = outputs[0][i], &frames = outputs.at(1).at(i);
    if (whole.dtype != frames.dtype || whole.extents != frames.extents) return -1;
    for (size_t k = 0; k < whole.values.size(); ++k)
      greatest = std::max(greatest, std::abs(whole.values[k] - frames.values[k]));
  }
  return greatest;
}

/// `call` with X for the data, of the sequence and of its frames one by one.
Outputs whole_and_frames(const std::string& call) {
  auto of = [&](const std::string& data) {
    std::string text = call;
    text.replace(text.find('X'), 1, data);
    return text;
  };
  return run_everywhere(std::string(kImport) + "    sign = fn.random.coin_flip()\n    frames = fn.stack(" +
                            of("video[0]") + ", " + of("video[1]") + ", " + of("video[2]") +
                            ")\n    return " + of("video") + ", frames\n",
                        videos());
}

/// Those that this run takes.
std::vector<std::pair<const char*, double>> taken(std::vector<std::pair<const char*, double>> calls) {
  std::erase_if(calls, [](const auto& call) { return !takes(call.first); });
  return calls;
}

class SequenceOf : public ::testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(SequenceOf, EqualsItsFrames) {
  const auto& [call, most] = GetParam();
  const double found = distance(whole_and_frames(call));
  EXPECT_GE(found, 0) << call;
  EXPECT_LE(found, most) << call;
}

#define SIGNED(name) "a." name "(X, magnitude_bin=signed_bin(7, random_sign=sign), num_magnitude_bins=11"
// The centre of contrast differs from frame to frame: a multiplication and an addition instead of one fma.
INSTANTIATE_TEST_SUITE_P(
    Augmentations, SequenceOf,
    ::testing::ValuesIn(taken({{SIGNED("shear_x") ")", 0.0},
                               {SIGNED("shear_y") ", fill_value=None)", 0.0},
                               {SIGNED("translate_x") ", shape=[19, 23])", 0.0},
                               {SIGNED("translate_y") ", shape=[19, 23], interp_type=types.INTERP_NN)", 0.0},
                               {SIGNED("rotate") ", fill_value=[1, 2, 3])", 0.0},
                               {SIGNED("brightness") ")", 0.0},
                               {SIGNED("contrast") ")", 1.0},
                               {SIGNED("color") ")", 0.0},
                               {SIGNED("sharpness") ")", 0.0},
                               {"a.posterize(X, magnitude_bin=4, num_magnitude_bins=11)", 0.0},
                               {"a.solarize(X, magnitude_bin=6, num_magnitude_bins=11)", 0.0},
                               {"a.solarize_add(X, magnitude_bin=9, num_magnitude_bins=11)", 0.0},
                               {"a.invert(X)", 0.0},
                               {"a.equalize(X)", 0.0},
                               {"a.auto_contrast(X)", 0.0},
                               {"fn.rotate(X, angle=90)", 0.0},
                               {"fn.rotate(X, angle=33)", 0.0},
                               {"fn.color_twist(X, hue=40, saturation=0.5)", 0.0},
                               {"fn.gaussian_blur(X, sigma=[1.2, 0.7])", 0.0},
                               {"fn.gaussian_blur(X, window_size=5, dtype=types.FLOAT)", 0.0},
                               {"fn.laplacian(X, window_size=3)", 0.0},
                               {"fn.filter(X, types.Constant([[0.0, 0.5], [-1.0, 2.0]], dtype=types.FLOAT))",
                                0.0}})));
#undef SIGNED

/// What differs from sample to sample is drawn once for all frames: equal ones stay equal.
TEST(Sequences, PoliciesDrawOnceForAllFrames) {
  for (const char* call :
       {"rand_augment.rand_augment(video, n=2, m=17, fill_value=9)",
        "trivial_augment.trivial_augment_wide(video, shape=[9, 14])",
        "auto_augment.auto_augment(video, \"reduced_cifar10\")", "torchvision.AugMix()(video)",
        "timm.transform(\"rand-m9-mstd0.5-inc1\")(video)", "timm.transform(\"3a\")(video)",
        "policy.define({\"augmentations\": {\"rotate\": {\"range\": [0, 30], \"negate\": True}}, "
        "\"policy\": [\"rotate\", 0.9, 9]})(video)"}) {
    const auto samples = run_text(std::string(R"(
from nvidia.dali import fn, math, pipeline_def, types
from nvidia.dali.auto_aug import auto_augment, rand_augment, trivial_augment
from galatea.auto_aug import policy, timm, torchvision


@pipeline_def(batch_size=24, num_threads=1, seed=12)
def p():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    noise = fn.random.uniform(range=[0.0, 255.0], shape=[9, 14, 3])
    image = fn.cast(noise, dtype=types.UINT8)
    video = fn.reshape(fn.stack(image, image, image), layout="FHWC")
    out = fn.cast()") + call + R"(, dtype=types.FLOAT)

    def apart(a, b):
        return fn.reductions.max(math.abs(a - b))

    return fn.cat(x, fn.stack(apart(out[0], out[1]), apart(out[0], out[2]), apart(out[2], image)))
)",
                                  24);
    ASSERT_EQ(samples.size(), 24U) << call;
    int changed = 0;
    for (const std::vector<float>& sample : samples) {
      ASSERT_EQ(sample.size(), 4U);
      EXPECT_EQ(sample[1], 0) << call;
      EXPECT_EQ(sample[2], 0) << call;
      changed += sample[3] > 0;
    }
    EXPECT_GT(changed, 8) << call;
  }
}

/// Eight clips, each of four equal frames.
Feed still_clips() {
  Feed feed;
  for (uint64_t k = 0; k < 8; ++k) {
    const Array frame = random_array(DType::kU8, {9, 11, 3}, 70 + k);
    Array clip{DType::kU8, {4, 9, 11, 3}, {}, {}};
    for (int f = 0; f < 4; ++f) {
      clip.bytes.insert(clip.bytes.end(), frame.bytes.begin(), frame.bytes.end());
      clip.values.insert(clip.values.end(), frame.values.begin(), frame.values.end());
    }
    feed["video"].push_back(std::move(clip));
  }
  return feed;
}

/// Whether all frames of a clip are like its first one.
bool is_still(const Array& clip) {
  const size_t frame = clip.values.size() / 4;
  for (size_t k = frame; k < clip.values.size(); ++k)
    if (clip.values[k] != clip.values[k % frame]) return false;
  return true;
}

Outputs of_still_clips(const std::string& functions, const std::string& result) {
  return run_everywhere(
      "from nvidia.dali import fn, pipeline_def, types\n"
      "from galatea import policy\n"
      "from nvidia.dali.auto_aug.core import augmentation\n"
      "from nvidia.dali.auto_aug.rand_augment import apply_rand_augment\n" +
          functions +
          "@pipeline_def(batch_size=8, seed=17, enable_conditionals=True)\n"
          "def p():\n"
          "    video = fn.external_source(name=\"video\", dtype=types.UINT8, ndim=4, "
          "layout=\"FHWC\")\n"
          "    return " +
          result + "\n",
      still_clips());
}

TEST(SequencePolicies, OneDrawServesAllFrames) {
  const Outputs outputs = of_still_clips(
      "",
      "video, policy.define({'bins': 11, 'augmentations': {'brightness': {'range': [0, 0.9], 'negate': "
      "True, 'param': 'one_plus'}, 'rotate': {'range': [0, 30], 'negate': True}, 'invert': {}}, 'policy': "
      "{'choose': 2, 'from': '*', 'each': {'mag': {'uniform_bin': [1, 10]}}}})(video)");
  ASSERT_EQ(outputs.size(), 2U);
  int changed = 0;
  for (size_t k = 0; k < outputs[1].size(); ++k) {
    EXPECT_TRUE(is_still(outputs[1][k])) << "clip " << k;
    changed += outputs[1][k].values != outputs[0][k].values;
  }
  EXPECT_GE(changed, 4);
}

TEST(SequencePolicies, FramesHaveDrawsOfTheirOwnWherePerFrameAsks) {
  const Outputs outputs = of_still_clips(
      "@augmentation(mag_range=(0.1, 0.5))\n"
      "def flicker(data, amount):\n"
      "    drawn = fn.random.uniform(range=[-1.0, 1.0], shape=[4])\n"
      "    return fn.brightness(data, brightness=fn.per_frame(1.0 + amount * drawn))\n",
      "apply_rand_augment([flicker], video, n=1, m=9, num_magnitude_bins=11)");
  ASSERT_EQ(outputs.size(), 1U);
  for (size_t k = 0; k < outputs[0].size(); ++k) EXPECT_FALSE(is_still(outputs[0][k])) << "clip " << k;
}

}  // namespace
}  // namespace galatea::testing
