// Runs a pipeline on scalars that the test feeds, and gives back every sample's outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "runtime/session.h"

namespace galatea::testing {

/// A host input: one number per sample.
struct Input {
  std::string name;
  DType dtype = DType::kI32;
  std::vector<double> values;
};

struct Way {
  int batch_size = 16;
  int threads = 1;
  bool fuse = true;
  std::string backend = "interpreter";
  runtime::ExecutorKind executor = runtime::ExecutorKind::kInline;
};

struct Outcome {
  std::vector<std::vector<double>> samples;  ///< per sample: the elements of its outputs, one after the other
  std::vector<std::string> codes;            ///< of errors while staging
  std::string error;                         ///< with its place; empty: it ran
};

/// Stages the text's only pipeline, compiles it, feeds the inputs in batches and collects one epoch.
Outcome run_text(const std::string& text, const std::vector<Input>& inputs, const Way& way = {});

}  // namespace galatea::testing
