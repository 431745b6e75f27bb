// The protocol by which blocks of a launch share a picture: tickets for its parts, and waits for what other
// blocks took before. Pictures as a training has them and larger, hundreds of blocks a call, the largest batch;
// repeated, since what goes wrong depends on when blocks run. Over the fake driver, where blocks run one behind
// the other, it is all of that at the whole scale (`./dev test --all`), else a small part.
#include "tests/gpu/gpu_runs.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

class GpuProtocol : public GpuRuns {
 protected:
  /// Pictures of noise of `size`, through operators that need all of a picture before they change any of
  /// it. The device draws the noise: what repeats is its work, not the host's.
  static std::string text_of(const std::string& size) {
    return "from nvidia.dali import pipeline_def, fn, types\n"
           "from nvidia.dali.auto_aug import augmentations as a\n\n"
           "@pipeline_def(batch_size=4, num_threads=2, seed=42)\n"
           "def p():\n"
           "    noise = fn.random.uniform(range=[20, 220], shape=" +
           size +
           ", device=\"gpu\")\n"
           "    image = fn.reshape(fn.cast(noise, dtype=types.UINT8), layout=\"HWC\")\n"
           "    changed = a.contrast(image, magnitude_bin=4, num_magnitude_bins=11)\n"
           "    return fn.equalize(changed), a.auto_contrast(image)\n";
  }

  void expect_same_again(const std::string& size, int batch_size, int repeats) {
    const std::string text = text_of(size);
    // The loops of the CPU, which other tests hold to the stages: so many pixels take those too long.
    const int threads = is_fake() ? 2 : 8;
    PipelineWay judged{"loops", loops_.get(), true, true, threads, {}};
    PipelineWay way{"gpu", loops_.get(), true, true, threads, target(choice_, LaunchForm::kMerged)};
    judged.batch_size = way.batch_size = batch_size;
    const PipelineOutcome wanted = run_pipeline(text, 11, judged);
    ASSERT_EQ(wanted.staging + wanted.error, "") << text;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      device_.reset();
      const PipelineOutcome found = run_pipeline(text, 11, way);
      ASSERT_EQ(difference(wanted, found), "") << "repeat " << repeat << "\n" << text;
      ASSERT_EQ(device_.errors(), "");
    }
  }
  bool is_fake() const { return device_.is_fake(); }
  bool is_whole() const { return !is_fake() || scale() == kWhole; }
};

TEST_F(GpuProtocol, PicturesOfATraining) {
  const int64_t repeats = is_fake() ? scaled(200, 2) : 200;
  expect_same_again("[224, 224, 3]", is_fake() ? 2 : 8, static_cast<int>(repeats));
}

TEST_F(GpuProtocol, PicturesOfHundredsOfBlocks) {
  const int repeats = !is_fake() ? 20 : is_whole() ? 2 : 1;
  expect_same_again(is_whole() ? "[1080, 1920, 3]" : "[360, 640, 3]", is_whole() ? 2 : 1, repeats);
}

TEST_F(GpuProtocol, TheLargestBatch) {
  expect_same_again(is_whole() ? "[224, 224, 3]" : "[24, 20, 3]", 256, is_fake() ? 1 : 3);
}

}  // namespace
}  // namespace galatea::testing
