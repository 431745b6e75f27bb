// In which ways a test runs a pipeline: the judge's, and those that are held to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/pipelines/pipeline_runner.h"

namespace galatea::testing {

/// Each operator as its own kernel, every stage stored, in the judge's hands.
/// `data`: the folder of a pipeline that reads files.
PipelineOutcome judged(const std::string& text, uint64_t images, const std::string& data = {});
/// Machine code, fused (the best and the first tier in turn, but for all cases), and another way that the seed
/// chooses.
std::vector<PipelineWay> ways(uint64_t seed);
/// What the judge says of a text, and what is wrong with it in these ways, or nothing.
struct Finding {
  std::string fault;
  bool ran = false;  ///< no sample failed
};
Finding look_at(const std::string& text, uint64_t seed);

}  // namespace galatea::testing
