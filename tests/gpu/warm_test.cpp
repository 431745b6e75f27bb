// Starts of a GPU's pipeline whose code is kept: nothing is lowered, and nothing else differs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "compiler/codegen/kernel_cache.h"
#include "tests/gpu/gpu_runs.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

/// A folder of the program cache that is the test's own; a choice of a GPU stands for a process.
class GpuWarmStart : public GpuOneBatch {
 protected:
  void SetUp() override {
    GpuOneBatch::SetUp();
    folder_ = fs::path(::testing::TempDir()) / ("galatea_gpu_warm_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  struct Start {
    CompileReport report;
    Outcome outcome;
    std::vector<std::string> notes;
    std::string plan;
  };
  /// One batch of a process of its own.
  Start start(const std::string& text, bool report_forms = false, LaunchForm launches = LaunchForm::kAuto) {
    Start out;
    program_ = nullptr;
    auto choice = choose_gpu("gpu", GpuPurpose::kRun, {true, folder_, 64 << 20});
    EXPECT_TRUE(choice) << choice.error().message();
    dsl::FrontendOptions frontend;
    frontend.host.device = "gpu";
    frontend.parameters.emplace_back("data", data());
    auto staged = dsl::stage_pipeline("test.dali-dsl", text, frontend, product().registry, sources_);
    EXPECT_TRUE(choice && staged.ok);
    if (!choice || !staged.ok) return out;
    CompileOptions options;
    options.registry = &product().registry;
    options.backend = loops_.get();
    options.gpu = target(*choice, launches);
    options.outputs_on_cpu = true;
    options.report_forms = report_forms;
    auto program = compile(*staged.graphs.at(0), sources_, options, &out.report);
    EXPECT_TRUE(program) << program.error().message();
    if (!program) return out;
    program_ = *program;
    out.plan = to_text(out.report.device) + runtime::to_text(*program_);
    out.notes = choice->compiler->take_notes();
    out.outcome = run();
    EXPECT_EQ(out.outcome.error, "");
    return out;
  }

  fs::path folder_;
};

std::string policy() {
  return replaced(of_images("    image = fn.resize(image, size=[20, 24])\n"
                            "    image = rand_augment(image, n=2, m=9)\n"
                            "    return fn.crop_mirror_normalize(image, dtype=types.FLOAT, "
                            "output_layout='CHW', mirror=fn.random.coin_flip())\n"),
                  "import pipeline_def, fn, types\n",
                  "import pipeline_def, fn, types\n"
                  "from nvidia.dali.auto_aug.rand_augment import rand_augment\n");
}

TEST_F(GpuWarmStart, LowersNothingAndGivesTheSameBits) {
  const Start cold = start(policy());
  ASSERT_TRUE(program_);
  EXPECT_GT(program_->kernels_compiled, 10);
  EXPECT_EQ(program_->kernels_cached, 0);
  // A kernel of two launches is lowered once.
  EXPECT_GT(cold.report.num_lowered, 10);
  EXPECT_LE(cold.report.num_lowered, program_->kernels_compiled);
  const Start warm = start(policy());
  ASSERT_TRUE(program_);
  EXPECT_EQ(program_->kernels_compiled, 0);
  EXPECT_GT(program_->kernels_cached, 10);
  EXPECT_EQ(warm.report.num_lowered, 0);
  EXPECT_FALSE(cold.outcome.bytes.empty());
  EXPECT_EQ(warm.outcome.bytes, cold.outcome.bytes);
  EXPECT_EQ(warm.plan, cold.plan);
  EXPECT_TRUE(cold.notes.empty());
  EXPECT_TRUE(warm.notes.empty());
}

/// Numbers are parameters: another policy of the same operators is warm.
TEST_F(GpuWarmStart, OtherNumbersAreWarmToo) {
  const auto with = [&](const std::string& factor) {
    return start(of_images(
        "    image = fn.resize(image, size=[20, 24])\n    return fn.brightness(image, brightness=" + factor +
        ")\n"));
  };
  EXPECT_GT(with("1.25").report.num_lowered, 0);
  EXPECT_EQ(with("0.75").report.num_lowered, 0);
}

/// Only launches whose cubin is gone have their kernels lowered, and those of an unknown form.
TEST_F(GpuWarmStart, LowersWhatIsMissing) {
  const Start cold = start(policy());
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
  // Launches are larger than pieces. Each of them with `--all`; otherwise the largest, and every fourth.
  std::ranges::sort(files, std::greater(), [](const fs::path& file) { return fs::file_size(file); });
  const size_t stride = testing::scale() == testing::kWhole ? 1 : 4;
  int least = cold.report.num_lowered, most = 0;
  for (size_t k = 0; k < files.size(); k += stride) {
    const fs::path& file = files[k];
    const fs::path away = folder_.string() + ".away";
    fs::rename(file, away);
    const Start warm = start(policy());
    EXPECT_EQ(warm.outcome.bytes, cold.outcome.bytes) << file;
    EXPECT_TRUE(warm.notes.empty()) << file;
    least = std::min(least, warm.report.num_lowered);
    most = std::max(most, warm.report.num_lowered);
    fs::rename(away, file);
  }
  // Pieces are not asked for while their launch is kept; a launch of the policy has about half of the
  // kernels.
  EXPECT_EQ(least, 0);
  EXPECT_GT(most, 1);
  EXPECT_LT(most, cold.report.num_lowered);
}

/// What explain shows of a program is what it would show of one that nothing is kept of.
TEST_F(GpuWarmStart, ExplainIsTheSame) {
  for (const LaunchForm form : {LaunchForm::kAuto, LaunchForm::kSeparate}) {
    fs::remove_all(folder_);
    const Start cold = start(policy(), true, form);
    const Start warm = start(policy(), true, form);
    ASSERT_TRUE(program_);
    EXPECT_EQ(program_->kernels_compiled, 0);
    EXPECT_EQ(warm.report.num_lowered, cold.report.num_lowered) << "loops are shown";
    EXPECT_FALSE(cold.report.device_text.empty());
    EXPECT_EQ(warm.report.device_text, cold.report.device_text);
    EXPECT_EQ(warm.plan, cold.plan);
    ASSERT_EQ(warm.report.kernels.size(), cold.report.kernels.size());
    for (size_t k = 0; k < warm.report.kernels.size(); ++k)
      EXPECT_EQ(kernel::to_text(warm.report.kernels[k].loops), kernel::to_text(cold.report.kernels[k].loops));
    // A program that is merely run has the launches that explain told of.
    EXPECT_EQ(start(policy(), false, form).plan, cold.plan);
  }
}

/// A cache full of files that are damaged: one note, the same bits.
TEST_F(GpuWarmStart, DamageIsOneNoteAndTheSameBits) {
  const std::string text = of_images("    image = fn.resize(image, size=[20, 24])\n    return image + 3\n");
  const Start cold = start(text);
  for (const auto& entry : fs::directory_iterator(folder_))
    fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
  const Start damaged = start(text);
  EXPECT_EQ(damaged.outcome.bytes, cold.outcome.bytes);
  EXPECT_EQ(damaged.report.num_lowered, cold.report.num_lowered);
  ASSERT_EQ(damaged.notes.size(), 1U);
  EXPECT_EQ(start(text).report.num_lowered, 0);
}

}  // namespace
}  // namespace galatea::testing
