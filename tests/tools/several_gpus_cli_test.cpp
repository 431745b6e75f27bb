// `run --device gpu:0,1,…` on devices of the fake driver: a session on each, over its part of the data.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/command_line.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::CommandLine;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;

class SeveralGpusCommandLine : public CommandLine {
 protected:
  SeveralGpusCommandLine() {
    ::setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda").c_str(), 1);
    ::setenv("FAKE_CUDA_DEVICES", "4", 1);
  }
  ~SeveralGpusCommandLine() override {
    ::unsetenv("FAKE_CUDA_DEVICES");
    ::unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  }
  /// Draws for each sample, and images that lie on the GPU.
  std::string drawing() {
    return write("drawing.dali-dsl",
                 "from nvidia.dali import pipeline_def, fn\n"
                 "\n"
                 "@pipeline_def(batch_size=2, num_threads=2, seed=7)\n"
                 "def drawing(data: str = \"" +
                     samples() +
                     "\"):\n"
                     "    encoded, label = fn.readers.file(file_root=data)\n"
                     "    image = fn.decoders.image(encoded, device=\"mixed\")\n"
                     "    small = fn.resize(image, size=[16, 16])\n"
                     "    return small * fn.random.uniform(range=[0.5, 1.5]), label\n");
  }
  /// What was saved of each sample, wherever it lies: its first output and its second.
  static std::multiset<std::string> saved(const fs::path& folder) {
    std::multiset<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().parent_path().filename() == "out0")
        out.insert(read_file(entry.path()) +
                   read_file(entry.path().parent_path().parent_path() / "out1" / entry.path().filename()));
    return out;
  }
};

TEST_F(SeveralGpusCommandLine, EachSampleIsMadeOnceWithTheSameBits) {
  const fs::path together = folder_ / "together", alone = folder_ / "alone";
  ::setenv("FAKE_CUDA_REPORT", (folder_ / "report").c_str(), 1);
  const Outcome four = run({"run", drawing(), "--device", "gpu:3,0,1,2", "--decoder", "cpu", "--save",
                            together.string(), "--stats=json"});
  ::unsetenv("FAKE_CUDA_REPORT");
  ASSERT_EQ(four.status, 0) << four.err;
  const Outcome one =
      run({"run", drawing(), "--device", "gpu:0", "--decoder", "cpu", "--save", alone.string()});
  ASSERT_EQ(one.status, 0) << one.err;
  const std::multiset<std::string> expected = saved(alone);
  EXPECT_GE(expected.size(), 8U);
  EXPECT_TRUE(saved(together) == expected);

  const Json summary = parse_json(four.out);
  EXPECT_EQ(summary["samples"], expected.size());
  EXPECT_FALSE(summary.contains("device"));
  ASSERT_EQ(summary["devices"].size(), 4U) << four.out;
  size_t samples = 0;
  const char* const names[] = {"GPU 3 (Fake GPU D)", "GPU 0 (Fake GPU A)", "GPU 1 (Fake GPU B)",
                               "GPU 2 (Fake GPU C)"};
  for (size_t k = 0; k < 4; ++k) {
    const Json& device = summary["devices"][k];
    EXPECT_EQ(device["name"], names[k]);
    EXPECT_GT(device["launches"], 0);
    EXPECT_EQ(device["samples"], saved(together / ("gpu" + std::to_string(k == 0 ? 3 : k - 1))).size());
    samples += device["samples"].get<size_t>();
  }
  EXPECT_EQ(samples, expected.size());
  const std::string report = read_file(folder_ / "report");
  EXPECT_TRUE(contains(report, "errors 0\n")) << report;
  EXPECT_TRUE(contains(report, "live_contexts 0\n")) << report;
}

/// `--batches` counts those of all, which come in turn.
TEST_F(SeveralGpusCommandLine, BatchesAreThoseOfAll) {
  const Outcome o = run({"run", drawing(), "--device", "gpu:0,1", "--batches", "5", "--stats=json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json summary = parse_json(o.out);
  EXPECT_EQ(summary["batches"], 5);
  EXPECT_EQ(summary["devices"][0]["batches"], 3);
  EXPECT_EQ(summary["devices"][1]["batches"], 2);
  const Outcome text = run({"run", drawing(), "--device", "gpu:0,1", "--batches", "2", "--stats=text"});
  EXPECT_TRUE(contains(text.out, "device     GPU 0 (Fake GPU A): ")) << text.out;
  EXPECT_TRUE(contains(text.out, "device     GPU 1 (Fake GPU B): ")) << text.out;
}

TEST_F(SeveralGpusCommandLine, EachIsAProcessOfTheTrace) {
  const fs::path file = folder_ / "trace.json";
  const Outcome o =
      run({"run", drawing(), "--device", "gpu:2,0", "--batches", "4", "--trace", file.string()});
  ASSERT_EQ(o.status, 0) << o.err;
  std::map<std::string, int> processes;
  std::map<int, std::set<std::string>> details;  // "batch b, sample s", as each session counts them
  const Json document = parse_json(read_file(file));
  for (const Json& event : document["traceEvents"]) {
    const int process = event["pid"];
    if (event["ph"] == "M")
      processes[event["args"]["name"]] = process;
    else if (event.contains("args"))
      details[process].insert(event["args"]["detail"]);
    else
      details[process];
  }
  EXPECT_EQ(processes, (std::map<std::string, int>{{"galatea", 1}, {"GPU 2", 2}, {"GPU 0", 3}}));
  ASSERT_EQ(details.size(), 3U);
  EXPECT_TRUE(details[1].empty());
  for (const int gpu : {2, 3}) EXPECT_GE(details[gpu].size(), 4U) << gpu;  // two batches of two
}

TEST_F(SeveralGpusCommandLine, WhatCannotBeIsSaid) {
  const auto said = [&](const char* subcommand, const char* device, int status, const char* words) {
    const Outcome o = run({subcommand, drawing(), "--device", device});
    EXPECT_EQ(o.status, status) << device << "\n" << o.err;
    EXPECT_TRUE(contains(o.err, words)) << device << "\n" << o.err;
  };
  said("run", "gpu:0,0", 2, "`gpu:0,0` names GPU 0 twice");
  said("run", "gpu:0,", 2, "`gpu:0,`: `` is no number of a GPU; several are named as in gpu:0,1");
  said("run", "gpu:0,x", 2, "`x` is no number of a GPU");
  said("run", "cpu,gpu", 2, "`cpu,gpu` is no device: auto, cpu, gpu, gpu:N or several as in gpu:0,1");
  said("run", "gpu:0,4", 3, "there is no GPU 4: 4 can be used here");
  said("explain", "gpu:0,1", 2, "`gpu:0,1` names several GPUs, which `galatea run` alone works on");
  const std::string no_reader = write("no_reader.dali-dsl",
                                      "from nvidia.dali import pipeline_def, fn\n"
                                      "\n"
                                      "@pipeline_def(batch_size=2, seed=7)\n"
                                      "def no_reader():\n"
                                      "    return fn.random.uniform(range=[0.0, 1.0], shape=[4])\n");
  const Outcome twice = run({"run", no_reader, "--device", "gpu:0,1", "--batches", "2"});
  EXPECT_EQ(twice.status, 1) << twice.err;
  EXPECT_TRUE(contains(twice.err, "error[G0909]: a pipeline without a reader has no data to divide among 2"))
      << twice.err;
  ::setenv("FAKE_CUDA_OTHER_ARCHITECTURE", "80", 1);
  said("run", "gpu:0,2", 0, "");
  said("run", "gpu:0,1", 2, "GPU 0 (Fake GPU A) is of sm_90 and GPU 1 (Fake GPU B) of sm_80");
  ::unsetenv("FAKE_CUDA_OTHER_ARCHITECTURE");
}

}  // namespace
