// The one entry of the language: text in, graphs out.
//
// Comes in: a file (or text), which pipeline, parameter values. Goes out: a verified Graph, or diagnostics.
// Reads no data.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "base/source.h"
#include "compiler/ir/graph.h"
#include "compiler/op/operator.h"
#include "dsl/limits.h"
#include "dsl/meanings.h"

namespace galatea::dsl {

/// What the host overrides; empty members leave what the file says.
struct HostOptions {
  std::optional<int> batch_size, num_threads, prefetch_queue_depth;
  std::optional<int64_t> seed, memory_limit;
  std::optional<bool> exact;
  std::optional<ir::OnError> on_error;
  std::string device = "auto";  ///< "auto", "cpu", "gpu", "gpu:N"
  bool gpu_is_here = false;     ///< auto: what names a GPU will run on one
};

/// What the host says of an external input where the text leaves it open.
struct InputType {
  DType dtype = DType::kU8;
  int ndim = 0;
  Layout layout;
  std::vector<int64_t> extents;  ///< of every sample, -1 where they differ; empty: not told
  friend bool operator==(const InputType&, const InputType&) = default;
};

/// A policy document that the host names.
struct PolicyText {
  std::string file;                 ///< read from disk, unless
  std::optional<std::string> text;  ///< it is given; `file` is then its name
};

/// A part of a text, or of what it was made from: lines and columns from 1, in characters, ends exclusive.
struct TextRange {
  LineColumn begin, end;
};
/// What part of the host's text was made from which place of another one.
struct MadeRange {
  TextRange range;
  std::string source;  ///< a name in FrontendOptions::made_from
  TextRange place;
};

/// An array that the text loads by its name, `np.load("table.npy")`.
struct NamedArray {
  DType dtype = DType::kU8;
  std::vector<int64_t> extents;
  std::shared_ptr<const std::vector<uint8_t>> bytes;  ///< row-major
};

struct FrontendOptions {
  std::string pipeline;  ///< empty: the only one
  std::vector<std::pair<std::string, std::string>>
      parameters;  ///< name, text as after --set; converted by annotation, default, else literal, else text
  HostOptions host;
  std::map<std::string, InputType> input_types;  ///< by the input's name
  std::string import_root;                       ///< empty: the folder of the file
  std::map<std::string, std::string> made_from;  ///< texts that `ranges` speaks of, by name
  std::vector<MadeRange> ranges;                 ///< of the main text
  std::map<std::string, NamedArray> arrays;
  /// stage_pipeline: each stands in turn for what the pipeline's one `policy.load` reads.
  std::vector<PolicyText> policies;
  /// stage_pipeline: outputs behind the pipeline's own say which augmentations of the library ran.
  bool observe_runs = false;
  bool unknown_parameters_allowed =
      false;  ///< check: a required parameter without a value is an unknown of its annotated type
  Limits limits;
  /// Texts that stand for files on disk, by their paths: what an editor has not saved yet.
  std::map<std::string, std::string> texts;
  Meanings* meanings = nullptr;  ///< where to write what names and expressions are; may be null
  const std::atomic<bool>* cancelled = nullptr;  ///< set: the evaluation ends, without a word; may be null
};

/// Names and parameters of the pipelines of a file, in order.
struct PipelineInfo {
  std::string name;
  std::vector<std::string> parameters;
  Span span;
};

/// A pipeline with inputs whose types only the host can tell. What does not depend on them has been checked;
/// staged again with FrontendOptions::input_types it becomes a graph.
struct LatePipeline {
  std::string name;
  ir::PipelineOptions options;
  struct Input {
    std::string name;
    Span span;                      ///< of the call
    std::optional<InputType> type;  ///< where it is known
    bool is_declared = false;       ///< element type and rank stand in the text
    /// What the pipeline is depends on its extents.
    bool wants_extents = false;
    bool counts_frames = false;  ///< but for its first axis
    bool is_open() const { return !type || (wants_extents && type->extents.empty()); }
  };
  std::vector<Input> inputs;  ///< all that a host feeds; one at least is open
};

/// Where an output of a pipeline staged for several policies comes from.
struct OutputOrigin {
  std::string policy;  ///< its file's name without .json, or that and a number; empty: the same for all
  size_t index = 0;    ///< among the outputs of the pipeline's text
};

/// One place where the library applies an augmentation.
struct AugmentationRun {
  std::string name;
  size_t ran = 0;                   ///< output: 1 for samples that came here, else 0
  std::optional<size_t> parameter;  ///< output: what it was given; 0 for the other samples
};

struct FrontendResult {
  std::vector<std::unique_ptr<ir::Graph>> graphs;  ///< one, or all with stage_all; none of a late pipeline
  std::vector<OutputOrigin> outputs;               ///< with FrontendOptions::policies: of the one graph
  std::vector<AugmentationRun> runs;               ///< with FrontendOptions::observe_runs: of the one graph
  std::vector<LatePipeline> late;
  std::vector<PipelineInfo> pipelines;
  std::vector<Diagnostic> diagnostics;  ///< errors, warnings and notes
  bool ok = false;                      ///< no errors
};

/// Reads, parses and stages one pipeline of `file_name` (its text given, or read from disk when `text` is
/// empty optional). With policies: for each of them, and what is common once (compiler/combine_graphs.h).
FrontendResult stage_pipeline(const std::string& file_name, std::optional<std::string> text,
                              const FrontendOptions& options, const op::Registry& registry,
                              SourceMap& sources);
/// check: every pipeline of the file.
FrontendResult stage_all(const std::string& file_name, std::optional<std::string> text,
                         const FrontendOptions& options, const op::Registry& registry, SourceMap& sources);
/// The functions of a text that may become operators (op::TextOperator): those whose names do not begin with
/// an underscore, with their parameters, in the order of the text. Or what is wrong with it.
struct FunctionInfo {
  std::string name;
  std::vector<std::string> parameters;
  Span span;
};
Result<std::vector<FunctionInfo>> functions_of(const std::string& file_name, std::string text,
                                               const op::Registry& registry, SourceMap& sources);
/// explain --emit=ast.
std::string print_ast(const std::string& file_name, std::optional<std::string> text, SourceMap& sources,
                      std::vector<Diagnostic>& diagnostics);

}  // namespace galatea::dsl
