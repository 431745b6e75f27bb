// Kernel passes, text in and text out: tests/golden/kernel/*.kernel.
//
// A file names the passes in its first line, then holds the kernel, a line of three dashes, and what must
// come out. GALATEA_BLESS=1 writes what came out.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/kernel/passes/passes.h"
#include "tests/kernel/kernel_call.h"
#include "tests/support/bless.h"

namespace galatea::kernel {
namespace {

std::vector<std::string> golden_files() {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/tests/golden/kernel")) {
    if (entry.path().extension() == ".kernel") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> pass_names(const std::string& text) {
  const std::string prefix = "# passes: ";
  if (!text.starts_with(prefix)) return {};
  std::stringstream line(text.substr(prefix.size(), text.find('\n') - prefix.size()));
  std::vector<std::string> out;
  for (std::string name; std::getline(line, name, ',');)
    out.push_back(name.substr(name.find_first_not_of(' ')));
  return out;
}

class GoldenKernel : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenKernel, PassesGiveTheExpectedText) {
  std::ifstream file(GetParam());
  std::stringstream content;
  content << file.rdbuf();
  std::string text = content.str();
  size_t divider = text.find("\n---\n");
  ASSERT_NE(divider, std::string::npos) << "no line of three dashes";
  std::string before = text.substr(0, divider + 1);
  Kernel kernel = testing::kernel_from(before);
  std::vector<std::string> names = pass_names(text);
  ASSERT_FALSE(names.empty()) << "the first line names no passes";
  for (const std::string& name : names) {
    auto pass = std::find_if(kernel_passes().begin(), kernel_passes().end(),
                             [&](const KernelPass& p) { return p.name == name; });
    ASSERT_NE(pass, kernel_passes().end()) << "no pass " << name;
    pass->run(kernel);
    ASSERT_TRUE(verify(kernel)) << "after " << name << "\n" << to_text(kernel);
  }
  std::string out = to_text(kernel);
  if (galatea::testing::is_blessing()) {
    std::ofstream(GetParam()) << before << "---\n" << out;
    GTEST_SKIP() << "blessed";
  }
  EXPECT_EQ(out, text.substr(divider + 5));
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenKernel, ::testing::ValuesIn(golden_files()),
                         [](const auto& test) { return std::filesystem::path(test.param).stem().string(); });

TEST(KernelPasses, StopSkipAndReport) {
  Kernel kernel = testing::kernel_from(R"(kernel { param p0:i64 input in0:u8 [p0:i64]
    map stage0:f32 [p0:i64] { body = convert.f32(load(in0:u8, axis0)) }
    map stage1:f32 [p0:i64] { body = sin(load(stage0:f32, axis0)) } output stage1 [0] })");
  std::vector<std::string> changed;
  KernelPassOptions options;
  options.on_change = [&](const KernelPass& pass, const Kernel&) { changed.emplace_back(pass.name); };
  EXPECT_EQ(run_kernel_passes(kernel, options).stages.size(), 1U);
  EXPECT_EQ(changed, (std::vector<std::string>{"inline_maps", "expand_math"}));
  options.fuse = false;
  EXPECT_EQ(run_kernel_passes(kernel, options).stages.size(), 2U);
  options.fuse = true;
  options.skip = {"inline_maps"};
  EXPECT_EQ(run_kernel_passes(kernel, options).stages.size(), 2U);
  changed.clear();
  options = {.stop_after = "inline_maps", .on_change = options.on_change};
  run_kernel_passes(kernel, options);
  EXPECT_EQ(changed, (std::vector<std::string>{"inline_maps"}));
}

}  // namespace
}  // namespace galatea::kernel
