// Cold and warm starts of the program as a user sees them: what is compiled, what is loaded, what is said.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace {

namespace fs = std::filesystem;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;

class WarmStart : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("galatea_warm_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ::setenv("GALATEA_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    unset();
  }
  void TearDown() override {
    unset();
    fs::remove_all(folder_);
  }
  static int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
    return found;
  }
  static void unset() {
    for (const char* name :
         {"LD_DEBUG", "LD_DEBUG_OUTPUT", "GALATEA_CODEGEN_MODULE", "GALATEA_CACHE_SIZE", "GALATEA_TIERS"})
      ::unsetenv(name);
  }

  std::string pipeline(const std::string& numbers = "brightness=1.25, contrast=0.75") {
    const fs::path file = folder_ / "p.dali-dsl";
    std::ofstream(file) << "from nvidia.dali import pipeline_def, fn, types\n\n\n"
                           "@pipeline_def(batch_size=4, num_threads=2, seed=7)\n"
                           "def p(size=32):\n"
                           "    encoded, label = fn.readers.file(file_root=\""
                        << build_folder("/samples")
                        << "\")\n"
                           "    image = fn.decoders.image(encoded, output_type=types.RGB)\n"
                           "    image = fn.resize(image, size=[size, size])\n"
                           "    return fn.brightness_contrast(image, "
                        << numbers << "), label\n";
    return file.string();
  }

  struct Run {
    Outcome outcome;
    int compiled = -1, cached = -1, first_tier = -1, replaced = -1;
    bool loaded_llvm = false;
    std::string pixels;
  };
  /// `galatea run` with the dynamic linker's log, so that we see what was loaded.
  Run run(const std::string& file, std::vector<std::string> more = {}) {
    const fs::path saved = folder_ / "saved", log = folder_ / "ld";
    fs::remove_all(saved);
    ::setenv("LD_DEBUG", "files", 1);
    ::setenv("LD_DEBUG_OUTPUT", log.c_str(), 1);
    std::vector<std::string> arguments = {"run", file, "--stats=json", "--save", saved.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Run out;
    out.outcome = galatea::testing::run_galatea(arguments, folder_);
    ::unsetenv("LD_DEBUG");
    ::unsetenv("LD_DEBUG_OUTPUT");
    bool has_log = false;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (!entry.path().filename().string().starts_with("ld.")) continue;
      const std::string text = read_file(entry.path());
      has_log |= contains(text, "libc.so");
      out.loaded_llvm |= contains(text, "libLLVM") || contains(text, "galatea_codegen_llvm");
      fs::remove(entry.path());
    }
    EXPECT_TRUE(has_log) << "the dynamic linker kept no log";
    if (const auto at = out.outcome.out.find("{\"samples\""); at != std::string::npos) {
      const auto stats = parse_json(out.outcome.out.substr(at));
      out.compiled = stats["kernels"]["compiled"];
      out.cached = stats["kernels"]["cached"];
      out.first_tier = stats["kernels"]["first_tier"];
      out.replaced = stats["kernels"]["replaced"];
    }
    std::vector<fs::path> files;
    if (!fs::exists(saved)) return out;
    for (const auto& entry : fs::recursive_directory_iterator(saved))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) out.pixels += path.filename().string() + read_file(path);
    return out;
  }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder_ / "cache" / "kernels"))
      out.push_back(entry.path());
    return out;
  }

  fs::path folder_;
};

TEST_F(WarmStart, LoadsNoCodeGenerator) {
  const std::string file = pipeline();
  const Run cold = run(file);
  ASSERT_EQ(cold.outcome.status, 0) << cold.outcome.err;
  EXPECT_GT(cold.compiled, 0);
  EXPECT_EQ(cold.cached, 0);
  EXPECT_TRUE(cold.loaded_llvm);
  EXPECT_EQ(kept().size(), static_cast<size_t>(cold.compiled));
  const Run warm = run(file);
  ASSERT_EQ(warm.outcome.status, 0) << warm.outcome.err;
  EXPECT_EQ(warm.compiled, 0);
  EXPECT_EQ(warm.cached, cold.compiled);
  EXPECT_FALSE(warm.loaded_llvm);
  EXPECT_EQ(warm.pixels, cold.pixels);
  EXPECT_EQ(warm.outcome.err, "");
}

/// Runs of one batch leave best code behind, a kernel for each processor, until a start is warm.
TEST_F(WarmStart, ShortRunsThatBeginWithQuickCodeBecomeWarm) {
  const std::string file = pipeline();
  const std::vector<std::string> quick = {"--tiers", "first", "--batches", "1"};
  const Run best = run(file, {"--tiers", "best", "--batches", "1", "--cache", "off"});
  ASSERT_EQ(best.outcome.status, 0) << best.outcome.err;
  EXPECT_EQ(best.first_tier, 0);
  Run last;
  int runs = 0;
  for (; runs == 0 || last.compiled > 0; ++runs) {
    last = run(file, quick);
    ASSERT_EQ(last.outcome.status, 0) << last.outcome.err;
    EXPECT_EQ(last.outcome.err, "");
    EXPECT_EQ(last.pixels, best.pixels);
    EXPECT_EQ(last.compiled + last.cached, best.compiled);
    EXPECT_EQ(last.first_tier, last.compiled);
    EXPECT_EQ(kept().size(), static_cast<size_t>(last.cached + last.replaced));
    ASSERT_TRUE(last.compiled == 0 || last.replaced >= 1) << "a short run did not bring the cache forward";
  }
  EXPECT_GE(runs, 2);
  EXPECT_FALSE(last.loaded_llvm);
}

TEST_F(WarmStart, ALongRunReplacesItsQuickCode) {
  const std::string file = pipeline(), trace = (folder_ / "trace.json").string();
  // How long is long, a thread of the background decides that wants a processor before the run is over.
  Run quick;
  std::string epochs;
  for (int number = 12; quick.replaced < 1 && number <= 12 << 6; number *= 2) {
    epochs = std::to_string(number);
    quick = run(file, {"--tiers", "first", "--epochs", epochs, "--cache", "off", "--trace", trace});
    ASSERT_EQ(quick.outcome.status, 0) << quick.outcome.err;
  }
  const Run best = run(file, {"--tiers", "best", "--epochs", epochs, "--cache", "off"});
  EXPECT_EQ(quick.pixels, best.pixels);
  EXPECT_EQ(quick.first_tier, quick.compiled);
  EXPECT_GE(quick.replaced, 1);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
  size_t compilations = 0;
  const auto document = parse_json(read_file(trace));
  for (const auto& event : document["traceEvents"])
    compilations += event["name"].get<std::string>().starts_with("best code of ") ? 1 : 0;
  EXPECT_EQ(compilations, static_cast<size_t>(quick.replaced));
  ::setenv("GALATEA_TIERS", "first", 1);
  EXPECT_GE(run(file, {"--cache", "off"}).first_tier, 1);
  EXPECT_EQ(run(file, {"--cache", "off", "--tiers", "best"}).first_tier, 0);
  EXPECT_EQ(run(file, {"--tiers", "second"}).outcome.status, 2);
}

TEST_F(WarmStart, OtherNumbersAreWarmToo) {
  const Run cold = run(pipeline());
  const Run other = run(pipeline("brightness=0.625, contrast=1.375"), {"--set", "size=40"});
  ASSERT_EQ(other.outcome.status, 0) << other.outcome.err;
  EXPECT_EQ(other.compiled, 0);
  EXPECT_EQ(other.cached, cold.compiled);
  EXPECT_FALSE(other.loaded_llvm);
  EXPECT_NE(other.pixels, cold.pixels);
}

TEST_F(WarmStart, TheOptionMovesTheCacheAndTurnsItOff) {
  const std::string file = pipeline();
  const Run off = run(file, {"--cache", "off"});
  EXPECT_GT(off.compiled, 0);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
  const std::string elsewhere = (folder_ / "elsewhere").string();
  EXPECT_GT(run(file, {"--cache", elsewhere}).compiled, 0);
  EXPECT_EQ(run(file, {"--cache", elsewhere}).compiled, 0);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
  EXPECT_EQ(run(file, {"--cache="}).outcome.status, 2);
}

TEST_F(WarmStart, DamageIsOneNoteAndTheSamePixels) {
  const std::string file = pipeline();
  const Run cold = run(file, {"--tiers", "best", "--epochs", "12"});
  // The best code that replaces quick code looks for the same files again.
  for (const char* tiers : {"best", "first"}) {
    for (const fs::path& path : kept()) fs::resize_file(path, fs::file_size(path) / 2);
    const Run repaired = run(file, {"--tiers", tiers, "--epochs", "12"});
    ASSERT_EQ(repaired.outcome.status, 0) << repaired.outcome.err;
    EXPECT_EQ(repaired.compiled, cold.compiled);
    EXPECT_EQ(repaired.pixels, cold.pixels);
    EXPECT_EQ(count(repaired.outcome.err, "note"), 1) << repaired.outcome.err;
    EXPECT_TRUE(contains(repaired.outcome.err, "could not be used")) << repaired.outcome.err;
  }
  const Run warm = run(file, {"--epochs", "12"});
  EXPECT_EQ(warm.outcome.err, "");
  EXPECT_EQ(warm.pixels, cold.pixels);
}

TEST_F(WarmStart, AFolderThatCannotBeIsOneNote) {
  std::ofstream(folder_ / "file") << "x";
  for (const char* tiers : {"best", "auto", "first"}) {
    const Run run_ =
        run(pipeline(), {"--cache", (folder_ / "file").string(), "--tiers", tiers, "--epochs", "12"});
    EXPECT_EQ(run_.outcome.status, 0);
    EXPECT_GT(run_.compiled, 0);
    EXPECT_EQ(count(run_.outcome.err, "note"), 1) << run_.outcome.err;
    EXPECT_TRUE(contains(run_.outcome.err, "could not be kept")) << run_.outcome.err;
  }
}

TEST_F(WarmStart, AMissingGeneratorIsAnErrorOnlyWhereItIsNeeded) {
  const std::string file = pipeline();
  ::setenv("GALATEA_CODEGEN_MODULE", "/nowhere/libgalatea_codegen_llvm.so", 1);
  const Run missing = run(file);
  EXPECT_EQ(missing.outcome.status, 3);
  EXPECT_TRUE(contains(missing.outcome.err, "G0564")) << missing.outcome.err;
  EXPECT_TRUE(contains(missing.outcome.err, "--backend interpreter")) << missing.outcome.err;
  const Run interpreted = run(file, {"--backend", "interpreter"});
  EXPECT_EQ(interpreted.outcome.status, 0) << interpreted.outcome.err;
  ::unsetenv("GALATEA_CODEGEN_MODULE");
  const Run cold = run(file);
  EXPECT_EQ(cold.pixels, interpreted.pixels);
  ::setenv("GALATEA_CODEGEN_MODULE", "/nowhere/libgalatea_codegen_llvm.so", 1);
  const Run warm = run(file);
  EXPECT_EQ(warm.outcome.status, 0) << warm.outcome.err;
  EXPECT_EQ(warm.pixels, cold.pixels);
}

#if defined(OTHER_MODULE)
TEST_F(WarmStart, AGeneratorOfAnotherBuildIsRefused) {
  ::setenv("GALATEA_CODEGEN_MODULE", OTHER_MODULE, 1);
  const Run refused = run(pipeline());
  EXPECT_EQ(refused.outcome.status, 3);
  EXPECT_TRUE(contains(refused.outcome.err, "G0566")) << refused.outcome.err;
}
#endif

TEST_F(WarmStart, WhatIsNoModuleIsRefused) {
  std::ofstream(folder_ / "text.so") << "not a library";
  ::setenv("GALATEA_CODEGEN_MODULE", (folder_ / "text.so").c_str(), 1);
  const Run refused = run(pipeline());
  EXPECT_EQ(refused.outcome.status, 3);
  EXPECT_TRUE(contains(refused.outcome.err, "G0565")) << refused.outcome.err;
}

TEST_F(WarmStart, ExplainShowsLlvmAndAssembly) {
  const std::string file = pipeline();
  const Outcome llvm = galatea::testing::run_galatea({"explain", "--emit=llvm", file}, folder_);
  EXPECT_EQ(llvm.status, 0) << llvm.err;
  EXPECT_TRUE(contains(llvm.out, "define void @galatea_kernel"));
  const Outcome assembly = galatea::testing::run_galatea({"explain", "--emit=asm", file}, folder_);
  EXPECT_EQ(assembly.status, 0) << assembly.err;
  EXPECT_TRUE(contains(assembly.out, "galatea_kernel:"));
  ::setenv("GALATEA_CODEGEN_MODULE", "/nowhere/x.so", 1);
  EXPECT_EQ(galatea::testing::run_galatea({"explain", "--emit=asm", file}, folder_).status, 3);
}

TEST_F(WarmStart, VersionNamesGeneratorAndCache) {
  const Outcome version = galatea::testing::run_galatea({"version"}, folder_);
  EXPECT_TRUE(contains(version.out, "LLVM ")) << version.out;
  EXPECT_TRUE(contains(version.out, (folder_ / "cache").string())) << version.out;
  ::setenv("GALATEA_CODEGEN_MODULE", "/nowhere/x.so", 1);
  EXPECT_EQ(galatea::testing::run_galatea({"version"}, folder_).status, 0);
}

}  // namespace
