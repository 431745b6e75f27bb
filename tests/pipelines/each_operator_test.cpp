// Every operator on images by itself (each_operator.h) gives the same bits on every backend, fused and not.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compiler/codegen/cuda/shim_backend.h"
#include "tests/pipelines/each_operator.h"
#include "tests/pipelines/ways.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

/// Of few cases each run tries other operators than its neighbours in the table.
constexpr uint64_t kSeedStep = 29;

TEST(EachOperator, GivesTheSameBitsOfEveryInput) {
  const std::vector<std::string> names = each_operator_names();
  const int64_t number = cases(12 * std::ssize(names), 24);
  std::set<std::string> ran;
  int64_t refused = 0;
  for (int64_t i = 0; i < number; ++i) {
    const uint64_t seed = static_cast<uint64_t>(i) * kSeedStep + 1;
    const EachOperator each = each_operator(seed);
    const Finding found = look_at(each.text, seed);
    if (found.fault.starts_with("refused")) {
      ++refused;
      continue;
    }
    EXPECT_EQ(found.fault, "") << "seed " << seed << "\n" << each.text;
    if (found.ran) ran.insert(each.name);
  }
  // What an operator does not accept is told before it runs; most of what is drawn it accepts.
  EXPECT_LT(refused * 3, number);
  if (number < 12 * std::ssize(names)) return;
  const std::set<std::string> all(names.begin(), names.end());
  EXPECT_GT(ran.size() * 10, all.size() * 9);
}

/// A new operator is tried with every input that it takes, or has a reason here.
TEST(EachOperator, IsEveryOperatorOfPictures) {
  const std::map<std::string, std::set<std::string>> left_out = {
      {"reads files and encoded bytes: readers_test, native_test, video_test, dali_test",
       {"io.file.read", "decoders.image", "decoders.image_crop", "decoders.image_random_crop",
        "decoders.image_slice", "decoders.numpy", "decoders.video", "decoders.inflate", "decoders.audio",
        "peek_image_shape", "galatea.peek_image_orientation"}},
      {"works on waveforms and spectra: ops_test, kept/sound.dali-dsl",
       {"audio_resample", "nonsilent_region", "spectrogram", "mel_filter_bank", "galatea.spec_augment"}},
      {"works on matrices: ops_test and the warps here",
       {"transforms.rotation", "transforms.scale", "transforms.shear", "transforms.translation",
        "transforms.crop", "transforms.combine"}},
      {"works on boxes, points and polygons, of one type and layout: ops_test, kept pipelines",
       {"coord_flip", "bb_flip", "bbox_paste", "bbox_rotate", "box_encoder", "segmentation.select_masks",
        "galatea.nms", "galatea.batched_nms", "random_bbox_crop", "ssd_random_crop"}},
      {"reads a second tensor that has to fit: RandomPipelines, ops_test",
       {"experimental.remap", "galatea.roi_align", "cast_like", "stack", "cat", "per_frame", "galatea.take"}},
      {"another view of the same bytes: RandomPipelines, ops_test",
       {"reinterpret", "squeeze", "get_property"}},
      {"reads no picture: RandomPipelines, distributions_test",
       {"full", "random.uniform", "random.coin_flip", "random.choice", "random_crop_generator",
        "roi_random_crop"}},
      {"meets the others of its batch: batch_test, ops_test",
       {"permute_batch", "galatea.mixup", "galatea.cutmix", "galatea.mosaic"}},
      {"masks of classes, of one channel: ops_test",
       {"segmentation.random_mask_pixel", "segmentation.random_object_bbox"}}};
  const std::vector<std::string> names = each_operator_names();
  std::set<std::string> tried(names.begin(), names.end());
  for (const auto& [reason, exempt] : left_out)
    for (const std::string& name : exempt) {
      EXPECT_NE(product().registry.find(name), nullptr) << name << " is no operator (" << reason << ")";
      EXPECT_TRUE(tried.insert(name).second) << name << " is tried, or has two reasons";
    }
  for (const auto& op : product().registry.all()) {
    if (op->internal || op->source || op->inputs.empty() || op->name.starts_with("arith.") ||
        op->name.starts_with("math."))
      continue;
    EXPECT_TRUE(tried.contains(op->name)) << op->name << " is not tried by itself";
  }
}

/// The text that a GPU would run, compiled for the host; a compiler is started for each, so few are tried.
TEST(EachOperator, GivesTheSameBitsAsCudaText) {
  auto shim = codegen::make_shim_backend();
  if (!shim) GTEST_SKIP() << "the CUDA text was not run: " << shim.error().message();
  const int64_t number = cases(std::ssize(each_operator_names()), 3);
  int64_t ran = 0;
  for (int64_t i = 0; i < number; ++i) {
    const uint64_t seed = static_cast<uint64_t>(i) * kSeedStep + 1;
    const EachOperator each = each_operator(seed);
    const PipelineOutcome expected = judged(each.text, seed);
    if (!expected.staging.empty()) continue;
    ++ran;
    const PipelineOutcome found = run_pipeline(each.text, seed, {"CUDA text", shim->get(), true, true, 1});
    EXPECT_EQ(difference(expected, found), "") << "seed " << seed << "\n" << each.text;
  }
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace galatea::testing
