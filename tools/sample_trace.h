// One sample on its way through a pipeline: what each operator was given and made, which arms it took.
//
// Comes in: a staged graph and which sample. Goes out: steps in the order in which they happen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/graph.h"
#include "runtime/tensor.h"
#include "tools/pipeline_host.h"

namespace galatea::tools {

/// By number in the data set, or by its name: a file's path, or how it ends.
struct WantedSample {
  int64_t number = 0;
  std::string name;  ///< empty: by number
};

struct TracedValue {
  std::string name;  ///< "%image", as in the text of the graph
  ir::Type type;
  runtime::Tensor tensor;
};

/// An operator.
struct TracedCall {
  std::string name;
  std::vector<std::string> inputs;  ///< names of values; of constants, their numbers
  std::vector<std::pair<std::string, std::string>> arguments;  ///< name, what it was for this sample
  std::vector<TracedValue> outputs;
  bool is_random = false;
};
/// A branch on data.
struct TracedBranch {
  double selector = 0;
  size_t arm = 0, arms = 0;
};
struct TraceStep {
  std::string file;
  uint32_t line = 0;  ///< 0: of no line of the user's
  std::variant<TracedCall, TracedBranch> what;
};
/// A draw, also one that this sample did not come to, with the calls of the text that led to it.
struct TracedDraw {
  Span span;
  std::vector<CallSite> calls;           ///< innermost first
  std::optional<runtime::Tensor> value;  ///< nothing: it was not drawn, or is not a few numbers
};
struct TracedReader {
  Span span;
  std::vector<CallSite> calls;
  int64_t samples = 0;  ///< in the data set; of a stream, more than it has
};
struct SampleTrace {
  int64_t number = 0;
  std::string name;
  std::vector<TraceStep> steps;
  std::string pipeline;
  int64_t seed = 0;
  std::vector<TracedDraw> draws;  ///< in the order in which the text asks for them
  std::vector<TracedReader> readers;
};

/// Nothing: an error was reported, or Ctrl-C came. Other samples of its batch are not there: what sees the batch
/// sees one sample.
std::optional<SampleTrace> trace_sample(const PipelineHost& host, ir::Graph graph,
                                        const CompileChoice& choice, const WantedSample& wanted,
                                        Reporter& reporter);

/// As `galatea trace` prints it (tools/trace.cpp).
std::string trace_text(const SampleTrace& trace);

}  // namespace galatea::tools
