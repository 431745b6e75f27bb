// A pipeline's pictures for a page: some samples, every picture on their way, the graph that made them.
//
// Comes in: a pipeline file with the settings that the page has chosen. Goes out: the tensors of each sample, or
// what is wrong. A Preview never changes once it is made, so that any thread may draw from it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "runtime/tensor.h"
#include "tools/contact_sheet.h"
#include "tools/pipeline_host.h"

namespace galatea::tools::serve {

inline constexpr int kMostSamples = 16;
inline constexpr int kMostSkipped = 10'000;  ///< samples before the first that is shown

/// What the page asks for.
struct Choice {
  std::vector<std::string> set;  ///< NAME=VALUE
  std::optional<int64_t> seed;
  int first = 0, samples = 4;  ///< in the order of the first epoch
  int draw = 0;                ///< other random values for the same samples; 0: the pipeline's own
  friend bool operator==(const Choice&, const Choice&) = default;
};

struct PreviewColumn {
  std::string name;  ///< "image = resize, line 12"
  ir::Type type;
  bool is_output = false;
};

struct PreviewRow {
  int64_t number = 0;  ///< in the data set
  std::string name;
  std::vector<runtime::Tensor> values;  ///< one a column; none of a sample that failed
  std::vector<SheetCell> cells;         ///< of the values, as they are shown
  std::vector<double> selectors;        ///< one for each of Preview::branches; 0 of those it does not come to
  std::string failure;                  ///< as the terminal prints it; empty: it was made
};

struct Preview {
  Choice choice;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> files;          ///< that were read for it
  std::unique_ptr<const ir::Graph> graph;  ///< staged; nullptr: there were errors
  std::vector<PreviewColumn> columns;
  std::vector<PreviewRow> rows;
  std::vector<ir::BlockId> branches;  ///< of the graph, where samples part
  bool is_cut = false;                ///< there was no room for all samples
  SourceMap sources;
  PipelineOptions options;  ///< with the choice

  bool has_errors() const;
};

/// Ends a preview that is being made: asked for from outside, or after a time.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds most) : end_(Clock::now() + most) {}
  void end() { is_ended_ = true; }
  bool is_ended() const { return is_ended_; }
  bool is_over() const { return is_ended_ || Clock::now() > end_; }
  const std::atomic<bool>& flag() const { return is_ended_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
  std::atomic<bool> is_ended_ = false;
};

/// Never nullptr: what is wrong stands in the diagnostics. Where patience was ended, what there is by then.
std::shared_ptr<const Preview> make_preview(const PipelineHost& host, const std::string& file,
                                            const PipelineOptions& options, const Choice& choice,
                                            const Patience& patience);

/// A call that makes only a part of its picture, for a sample of the preview.
struct DecodedWindow {
  int64_t sample = 0;           ///< its number in the data set
  ir::NodeId call = ir::kNoId;  ///< of the graph after the passes
  std::vector<double> bounds;   ///< the first element along each axis, then the one behind the last
};

/// The pipeline as it runs without anybody looking: its kernels, and what its operators took for the samples.
struct Measurement {
  std::vector<Diagnostic> diagnostics;
  CompileReport report;
  runtime::SessionStatistics statistics;
  std::vector<DecodedWindow> windows;
};
Measurement measure(const PipelineHost& host, const Preview& preview, const Patience& patience);

/// What `galatea trace` prints of a row; or what is wrong.
struct RowTrace {
  std::vector<Diagnostic> diagnostics;
  std::string text;
};
RowTrace trace_row(const PipelineHost& host, const Preview& preview, const PreviewRow& row);

}  // namespace galatea::tools::serve
