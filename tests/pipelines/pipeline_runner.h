// Runs a pipeline's text on images made for it, and says in which way two ways of running it differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/backend.h"
#include "compiler/compile.h"
#include "runtime/session.h"

namespace galatea::testing {

/// How a pipeline is compiled and run.
struct PipelineWay {
  std::string name;
  codegen::KernelBackend* backend = nullptr;
  bool fuse = true;
  bool passes = true;
  int threads = 1;               ///< 1: in the caller's thread
  std::optional<GpuTarget> gpu;  ///< outputs come to the host
  int batches = 1;               ///< through as many epochs as that takes; more than one: of files
  bool graphs = true;            ///< runtime::DeviceOptions
  int scale = 1;                 ///< images but "other" are so many times as high and wide
  int batch_size = 4;            ///< other than that: of pipelines that are fed nothing
};

struct PipelineOutcome {
  std::string staging;  ///< what the text is told before it is compiled; empty: it is a pipeline
  std::string error;    ///< of compiling or of the first failing sample
  /// Per output and sample: dtype, extents and bytes (every NaN is one NaN).
  std::vector<std::vector<std::string>> outputs;
  runtime::DeviceStatistics device;
  std::shared_ptr<const runtime::Program> program;  ///< its kernels are shared while it lives
};

/// What the input of this name is fed: four images of different extents, made from `images`; all but "other"
/// `scale` times their size.
std::vector<runtime::Tensor> feed_of(runtime::Allocator& allocator, const std::string& input, uint64_t images,
                                     int scale = 1);

/// The batch size of an example: as many images as one that is fed gets; two photographs of four at less than
/// the full scale.
int batch_size_of_example(const std::string& text);

/// Feeds four images of different extents, made from `images`; a pipeline that reads files gets
/// the folder `data` for its parameter of that name.
PipelineOutcome run_pipeline(const std::string& text, uint64_t images, const PipelineWay& way,
                             const std::string& data = {});

/// What differs, in words; empty: nothing.
std::string difference(const PipelineOutcome& expected, const PipelineOutcome& found);

}  // namespace galatea::testing
