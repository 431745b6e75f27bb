// The command line where there are GPUs, on the fake driver, or none: devices, drivers, decoders, plans.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/command_line.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using galatea::json_text;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::CommandLine;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;

TEST_F(CommandLine, VersionListsDevices) {
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
  ::setenv("FAKE_CUDA_DEVICES", "2", 1);
  ::setenv("FAKE_CUDA_REPORT", (folder_ / "report").c_str(), 1);
  const Outcome two = run({"version"});
  ::unsetenv("FAKE_CUDA_REPORT");
  ::setenv("FAKE_CUDA_DEVICES", "0", 1);
  const Outcome none = run({"version"});
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/old_cuda").c_str(), 1);
  const Outcome old = run({"version"});
  ::unsetenv("FAKE_CUDA_DEVICES");
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  EXPECT_TRUE(contains(two.out, "CUDA driver  CUDA 12.8 (")) << two.out;
  EXPECT_TRUE(contains(two.out, "\nnvJitLink    12.8 (" + build_folder("/fake_cuda/libnvJitLink.so.12)\n")))
      << two.out;
  EXPECT_TRUE(contains(two.out, "\nnvJPEG       12.4 (" + build_folder("/fake_cuda/libnvjpeg.so.12)\n")))
      << two.out;
  // Looking takes nothing.
  const std::string report = galatea::testing::read_file(folder_ / "report");
  EXPECT_TRUE(contains(report, "live_contexts 0\n") && contains(report, "errors 0\n")) << report;
  EXPECT_TRUE(contains(two.out, "\nGPU 1        Fake GPU B, sm_90, 4 multiprocessors, 8.0 GiB\n")) << two.out;
  EXPECT_TRUE(contains(none.out, "libcuda.so.1), no device\n")) << none.out;
  EXPECT_TRUE(contains(old.out, "is too old for galatea: it is for CUDA 10.2\n")) << old.out;
  EXPECT_EQ(two.status + none.status + old.status, 0);
}

/// Which decoder `device="mixed"` has, and why.
TEST_F(CommandLine, ExplainTellsWhatDecodes) {
  const std::filesystem::path file = folder_ / "mixed.dali-dsl";
  std::ofstream(file)
      << "from nvidia.dali import pipeline_def, fn\n\n"
         "@pipeline_def(batch_size=2, seed=1)\n"
         "def p():\n"
         "    encoded, label = fn.readers.file(file_root='photos')\n"
         "    return fn.brightness(fn.decoders.image(encoded, device='mixed'), brightness=1.5)\n";
  const auto explain = [&](const std::string& decoder) {
    return run({"explain", file.string(), "--device", "gpu", "--emit=plan", "--decoder", decoder});
  };
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
  const Outcome here = explain("auto"), by_cpu = explain("cpu");
  ::setenv("FAKE_NVJPEG_VERSION", "11.9", 1);
  const Outcome old = explain("auto");
  ::unsetenv("FAKE_NVJPEG_VERSION");
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  EXPECT_TRUE(contains(here.out, "decoded for the GPU:\n")) << here.out;
  EXPECT_TRUE(contains(here.err, "nvJPEG 12.4 (")) << here.err;
  EXPECT_FALSE(contains(by_cpu.out, "decoded for the GPU:\n")) << by_cpu.out;
  EXPECT_FALSE(contains(by_cpu.err, "nvJPEG")) << by_cpu.err;
  EXPECT_TRUE(contains(old.err, "the CPU decodes, since nvJPEG")) << old.err;
  EXPECT_TRUE(contains(old.err, "is too old for galatea: it is version 11.9")) << old.err;
}

/// The same bits on the fake device, images on the GPU in words or placed by cost; planned anywhere.
TEST_F(CommandLine, PipelinesRunAndArePlannedForAGpu) {
  std::string text = read_file(hello());
  const size_t at = text.find("output_type=types.RGB");
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(at, "device=\"mixed\", ");
  const std::string stated = write("stated.dali-dsl", text);
  const auto save = [&](const std::string& file, const std::string& device, const std::string& name) {
    const Outcome o =
        run({"run", file, "--device", device, "--batches", "1", "--save", (folder_ / name).string()});
    EXPECT_EQ(o.status, 0) << o.err;
    return read_file(folder_ / name / "out0/000000.npy") + read_file(folder_ / name / "out0/000003.npy");
  };
  const std::string expected = save(stated, "cpu", "cpu");
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
  ::setenv("FAKE_CUDA_REPORT", (folder_ / "gpu-report").c_str(), 1);
  const std::string on_gpu = save(stated, "gpu", "gpu"), by_itself = save(stated, "auto", "auto"),
                    by_cost = save(hello(), "gpu:0", "cost");
  const Outcome merely_run = run({"run", stated, "--stats=json"});
  ::unsetenv("FAKE_CUDA_REPORT");
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  EXPECT_TRUE(on_gpu == expected);
  EXPECT_TRUE(by_itself == expected);
  EXPECT_TRUE(by_cost == expected);
  EXPECT_EQ(merely_run.status, 0) << merely_run.err;
  const Json device = parse_json(merely_run.out)["device"];
  EXPECT_EQ(device["decoder"], "nvJPEG 12.4") << merely_run.out;
  EXPECT_GT(device["decodes"], 0);
  const std::string report = read_file(folder_ / "gpu-report");
  EXPECT_TRUE(contains(report, "errors 0\n")) << report;
  EXPECT_FALSE(contains(report, "launches 0\n")) << report;

  const Outcome plan = run({"explain", stated, "--device", "gpu", "--emit=plan"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_TRUE(contains(plan.out, "a batch on the GPU: ")) << plan.out;
  EXPECT_TRUE(contains(plan.out, "launch 0: ")) << plan.out;
  const Outcome json = run({"explain", stated, "--device", "gpu", "--emit=plan", "--diagnostics=json"});
  const Json document = parse_json(json.out.substr(json.out.find('\n')));
  EXPECT_TRUE(document["gpu"].get<bool>());
  EXPECT_EQ(document["launches"].size(), 1U) << json_text(document);
  EXPECT_EQ(document["parameter_uploads"], 1);
  EXPECT_TRUE(document["waits"].empty());
  const Outcome cuda = run({"explain", stated, "--device", "gpu", "--emit=cuda"});
  EXPECT_TRUE(contains(cuda.out, "KERNEL(launch_0, ")) << cuda.out.substr(0, 400);
}

/// Kernels of the GPU have no machine code of the CPU (of an equalize there could not be any).
TEST_F(CommandLine, CodeOfTheCpuIsOfItsKernels) {
  const std::string file = write("equalize.dali-dsl",
                                 "from nvidia.dali import pipeline_def, fn, types\n"
                                 "@pipeline_def(batch_size=2)\n"
                                 "def p(data=\"photos\"):\n"
                                 "    encoded, label = fn.readers.file(file_root=data)\n"
                                 "    image = fn.decoders.image(encoded, device=\"mixed\")\n"
                                 "    return fn.equalize(image), label\n");
  for (const char* level : {"llvm", "asm"}) {
    const Outcome gpu = run({"explain", file, "--device", "gpu", "--emit", level});
    EXPECT_EQ(gpu.status, 0) << gpu.err;
    EXPECT_TRUE(contains(gpu.out, "; runs on the GPU: --emit=cuda")) << gpu.out.substr(0, 400);
    const Outcome cpu = run({"explain", file, "--device", "cpu", "--emit", level});
    EXPECT_EQ(cpu.status, 0) << cpu.err;
    EXPECT_FALSE(contains(cpu.out, "runs on the GPU")) << cpu.out.substr(0, 400);
    EXPECT_TRUE(contains(cpu.out, "equalize")) << cpu.out.substr(0, 400);
  }
}

TEST_F(CommandLine, DevicesThatAreNotHereAreStatusThree) {
  Outcome o = run({"run", hello(), "--device", "gpu"});
  EXPECT_EQ(o.status, 3);
  EXPECT_TRUE(contains(o.err, "CUDA driver")) << o.err;
  EXPECT_EQ(run({"check", hello(), "--device", "gpu"}).status, 0);
}

/// Which was asked for, how many there are, and their names.
TEST_F(CommandLine, AGpuOfANumberThatIsNotHere) {
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
  const Outcome one = run({"run", hello(), "--device", "gpu:9"});
  ::setenv("FAKE_CUDA_DEVICES", "2", 1);
  const Outcome two = run({"run", hello(), "--device", "gpu:2"});
  ::setenv("FAKE_CUDA_DEVICES", "0", 1);
  const Outcome none = run({"run", hello(), "--device", "gpu:9"});
  ::unsetenv("FAKE_CUDA_DEVICES");
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  EXPECT_EQ(one.status, 3);
  EXPECT_TRUE(contains(one.err,
                       "error[G0954]: there is no GPU 9: 1 can be used here, numbered from 0: "
                       "GPU 0 (Fake GPU A)\n"))
      << one.err;
  EXPECT_TRUE(contains(one.err, "`--device gpu:0`")) << one.err;
  EXPECT_TRUE(contains(two.err,
                       "there is no GPU 2: 2 can be used here, numbered from 0: GPU 0 (Fake GPU A), "
                       "GPU 1 (Fake GPU B)\n"))
      << two.err;
  EXPECT_EQ(none.status, 3);
  EXPECT_TRUE(contains(none.err, "error[G0953]: there is no GPU 9: the CUDA driver ")) << none.err;
  EXPECT_TRUE(contains(none.err, "has no device (it finds none)")) << none.err;
}

/// A number that no machine has is a number still: what is said is how many GPUs there are.
TEST_F(CommandLine, AGpuOfANumberThatIsTooLarge) {
  const auto said = [&] { return run({"run", hello(), "--device", "gpu:99999999999"}); };
  const Outcome none = said();
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
  ::setenv("FAKE_CUDA_DEVICES", "2", 1);
  const Outcome two = said();
  ::unsetenv("FAKE_CUDA_DEVICES");
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(two.status, 2);
  EXPECT_TRUE(contains(none.err, "--device")) << none.err;
  EXPECT_TRUE(contains(two.err,
                       "`gpu:99999999999`: the number is too large: GPUs are numbered from 0, and 2 can be "
                       "used here: name one, such as gpu:0"))
      << two.err;
}

/// Its libraries belong together wherever they lie: what nvJPEG decodes is work of the driver beside it.
TEST_F(CommandLine, TheFakeLibrariesMayBeCopied) {
  const fs::path copied = folder_ / "libraries";
  fs::copy(build_folder("/fake_cuda"), copied);
  std::string text = read_file(hello());
  const size_t at = text.find("output_type=types.RGB");
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(at, "device=\"mixed\", ");
  const std::string file = write("stated.dali-dsl", text);
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", copied.c_str(), 1);
  ::setenv("FAKE_CUDA_REPORT", (folder_ / "report").c_str(), 1);
  const Outcome o = run({"run", file, "--device", "gpu", "--stats=json"});
  ::unsetenv("FAKE_CUDA_REPORT");
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_GT(parse_json(o.out)["device"]["decodes"], 0) << o.out;
  const std::string report = read_file(folder_ / "report");
  EXPECT_TRUE(contains(report, "errors 0\n")) << report;
}

/// Processes that start cold over one folder, and one that starts warm: the same bits, and nothing to say.
TEST_F(CommandLine, ProcessesOfAGpuShareTheCache) {
  std::string text = read_file(hello());
  const size_t at = text.find("output_type=types.RGB");
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(at, "device=\"mixed\", ");
  const std::string file = write("stated.dali-dsl", text), shared = (folder_ / "shared").string();
  struct Run {
    Outcome outcome;
    std::string pixels;
  };
  const auto start = [&](const std::string& name) {
    Run out;
    const fs::path folder = folder_ / name;
    fs::create_directories(folder);
    out.outcome = galatea::testing::run_galatea(
        {"run", file, "--device", "gpu", "--batches", "1", "--decoder", "cpu", "--stats=json", "--cache",
         shared, "--save", (folder / "saved").string()},
        folder);
    out.pixels =
        read_file(folder / "saved" / "out0/000000.npy") + read_file(folder / "saved" / "out0/000003.npy");
    return out;
  };
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
  std::vector<Run> cold(4);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < cold.size(); ++i)
      threads.emplace_back([&, i] { cold[i] = start("cold" + std::to_string(i)); });
  }
  const Run warm = start("warm");
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  const auto kernels = [](const Run& run) {
    const size_t begin = run.outcome.out.find("{\"samples\"");
    return begin == std::string::npos ? Json() : parse_json(run.outcome.out.substr(begin))["kernels"];
  };
  EXPECT_EQ(warm.outcome.status, 0) << warm.outcome.err;
  EXPECT_EQ(kernels(warm)["compiled"], 0) << warm.outcome.out;
  EXPECT_GT(kernels(warm)["cached"], 0) << warm.outcome.out;
  EXPECT_FALSE(warm.pixels.empty());
  for (const Run& run : cold) {
    EXPECT_EQ(run.outcome.status, 0) << run.outcome.err;
    EXPECT_FALSE(contains(run.outcome.err, "cache")) << run.outcome.err;
    EXPECT_TRUE(run.pixels == warm.pixels);
  }
  for (const auto& entry : fs::recursive_directory_iterator(shared))
    EXPECT_FALSE(contains(entry.path().filename().string(), "unfinished")) << entry.path();
}

/// What is wrong, in which library, and what to do; a bug of ours is another status.
TEST_F(CommandLine, WhatIsWrongWithAGpuIsSaid) {
  struct Case {
    std::vector<std::pair<const char*, const char*>> settings;
    int status;
    const char *code, *words;
  };
  const std::vector<Case> cases = {
      {{{"FAKE_CUDA_DRIVER_VERSION", "11000"}}, 3, "G0951", "it is for CUDA 11.0"},
      {{{"FAKE_CUDA_INIT", "803"}}, 3, "G0952", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
      {{{"FAKE_CUDA_DEVICES", "0"}}, 3, "G0953", "has no device"},
      {{{"FAKE_CUDA_MEMORY", "1000"}}, 3, "G0955", "is out of memory"},
      {{{"FAKE_NVRTC_FAIL", "6"}}, 4, "G0561", "the text is saved in "},
      {{{"FAKE_NVRTC_FAIL", "7"}}, 3, "G0569", "libnvrtc-builtins.so"},
      {{{"FAKE_CUDA_FAIL_CALL", "9"}, {"FAKE_CUDA_FAIL_CODE", "2"}}, 3, "G0959", "is out of memory"},
      {{{"FAKE_CUDA_FAIL_CALL", "9"}, {"FAKE_CUDA_FAIL_CODE", "46"}},
       3,
       "G0960",
       "CUDA_ERROR_DEVICE_UNAVAILABLE"},
      {{{"FAKE_CUDA_FAIL_CALL", "12"}, {"FAKE_CUDA_FAIL_CODE", "700"}},
       3,
       "G0957",
       "Pipelines on the CPU go on"},
  };
  std::string text = read_file(hello());
  const size_t decoder = text.find("output_type=types.RGB");
  ASSERT_NE(decoder, std::string::npos) << text;
  text.insert(decoder, "device=\"mixed\", ");
  const std::string file = write("on_gpu.dali-dsl", text);
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.code);
    for (const auto& [name, value] : one.settings) ::setenv(name, value, 1);
    // Code that is kept needs no NVRTC.
    const Outcome o = run({"run", file, "--device", "gpu", "--batches", "1", "--cache", "off"});
    const Outcome by_itself = run({"run", file, "--device", "auto", "--batches", "1", "--cache", "off"});
    for (const auto& [name, value] : one.settings) ::unsetenv(name);
    // A GPU that cannot be used is no reason to stop, a bug of ours is one.
    EXPECT_EQ(by_itself.status, one.status == 3 ? 0 : one.status) << by_itself.err;
    const bool is_here = one.code != std::string_view("G0953");
    EXPECT_EQ(contains(by_itself.err, "the pipeline runs on the CPU: "), is_here && one.status == 3)
        << by_itself.err;
    EXPECT_EQ(o.status, one.status) << o.err;
    EXPECT_TRUE(contains(o.err, std::string("error[") + one.code)) << o.err;
    EXPECT_TRUE(contains(o.err, one.words)) << o.err;
    EXPECT_TRUE(contains(o.err, "= help: ")) << o.err;
    const size_t at = o.err.find("the text is saved in ");
    if (at == std::string::npos) continue;
    const size_t begin = at + std::string("the text is saved in ").size();
    const fs::path saved = o.err.substr(begin, o.err.find('\n', begin) - begin);
    EXPECT_TRUE(contains(read_file(saved), "GALATEA_KERNEL(")) << saved;
    fs::remove(saved);
  }
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
}

TEST_F(CommandLine, ADriverThatCannotBeUsedIsANote) {
  ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
  ::setenv("FAKE_CUDA_DRIVER_VERSION", "11000", 1);
  const Outcome old = run({"run", hello(), "--batches", "1"});
  ::unsetenv("FAKE_CUDA_DRIVER_VERSION");
  ::setenv("FAKE_CUDA_DEVICES", "0", 1);
  const Outcome none = run({"run", hello(), "--batches", "1"});
  ::unsetenv("FAKE_CUDA_DEVICES");
  ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  EXPECT_EQ(old.status, 0);
  EXPECT_TRUE(contains(old.err, "note: the pipeline runs on the CPU: ")) << old.err;
  EXPECT_TRUE(contains(old.err, "it is for CUDA 11.0")) << old.err;
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.err, "");
}

}  // namespace
