// Every example gives the same bits fused and not, compiled and interpreted.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/codegen/cuda/shim_backend.h"
#include "compiler/codegen/llvm_backend.h"
#include "tests/native/sample_folder.h"
#include "tests/pipelines/pipeline_runner.h"
#include "tests/support/cases.h"
#include "tests/support/tiers.h"

namespace galatea::testing {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> examples() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/examples"))
    if (entry.path().extension() == ".dali-dsl") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

class Example : public ::testing::TestWithParam<std::string> {};

TEST_P(Example, GivesTheSameBitsInEveryWay) {
  std::ifstream in(GetParam());
  std::stringstream text;
  text << in.rdbuf();
  static const fs::path photographs = sample_folder("pipelines");
  const fs::path data = data_of(text.str(), photographs);
  if (data.empty()) GTEST_SKIP() << "what it reads cannot be read here";
  auto judge = codegen::make_interpreter_backend(true);
  auto loops = codegen::make_interpreter_backend();
  std::string note;
  auto llvm = std::move(*codegen::make_backend("llvm", &note, codegen::CacheOptions{}, testing::tiers()));
  auto quick =
      std::move(*codegen::make_backend("llvm", &note, codegen::CacheOptions{}, codegen::Tiers::kFirst));
  const int batch_size = batch_size_of_example(text.str());
  const auto run = [&](PipelineWay way) {
    way.batch_size = batch_size;
    return run_pipeline(text.str(), 11, way, data.string());
  };
  const PipelineOutcome expected = run({"stages, unfused", judge.get(), false, false, 1});
  ASSERT_EQ(expected.staging + expected.error, "");
  ASSERT_FALSE(expected.outputs.empty());
  std::vector<PipelineWay> ways = {{"machine code", llvm.get(), true, true, 2}};
  const std::vector<std::string> all = examples();
  const int64_t number = std::find(all.begin(), all.end(), GetParam()) - all.begin();
  if (takes_turn(number, 0, 2)) {
    ways.push_back({"first tier, unfused", quick.get(), false, true, 1});
    ways.push_back({"loops", loops.get(), true, true, 1});
  }
  if (takes_turn(number, 1, 2)) ways.push_back({"first tier, no passes", quick.get(), true, false, 3});
  for (const PipelineWay& way : ways) EXPECT_EQ(difference(expected, run(way)), "") << way.name;
  if (!takes_turn(number, 1, 2)) return;
  auto shim = codegen::make_shim_backend();
  if (!shim) GTEST_SKIP() << "the CUDA text was not run: " << shim.error().message();
  EXPECT_EQ(difference(expected, run({"CUDA text", shim->get(), true, true, 1})), "");
}

INSTANTIATE_TEST_SUITE_P(Files, Example, ::testing::ValuesIn(examples()),
                         [](const auto& test) { return fs::path(test.param).stem().string(); });

}  // namespace
}  // namespace galatea::testing
