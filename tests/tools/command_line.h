// A command line with a scratch folder of its own, and a pipeline over the sample photographs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace galatea::testing {

class CommandLine : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) { return scratch_.write(name, text); }
  std::string hello() {
    return write("hello.dali-dsl",
                 "from nvidia.dali import pipeline_def, fn, types\n"
                 "\n"
                 "@pipeline_def(batch_size=4, num_threads=2, seed=7)\n"
                 "def hello(data: str = \"" +
                     samples() +
                     "\", size=32):\n"
                     "    encoded, label = fn.readers.file(file_root=data)\n"
                     "    image = fn.decoders.image(encoded, output_type=types.RGB)\n"
                     "    small = fn.resize(image, size=[size, size])\n"
                     "    return small, label\n");
  }
  static std::string samples() { return build_folder() + "/samples"; }

  Outcome run(std::vector<std::string> arguments, const Disturbance& disturbance = {}) {
    return run_galatea(std::move(arguments), folder_, disturbance);
  }

  const ScratchFolder scratch_;
  const std::filesystem::path& folder_ = scratch_.path();
};

}  // namespace galatea::testing
