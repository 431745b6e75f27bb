// Stages a pipeline, says what is known before it runs, and runs it on fed images.
//
// Comes in: text, images, per-sample sizes. Goes out: diagnostics of staging and of the checks, and what each
// sample gave: outputs' extents and a hash, or the message of its failure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/shape/graph_shapes.h"

namespace galatea::shape_test {

struct Staged {
  SourceMap sources;
  std::vector<Diagnostic> diagnostics;  ///< of staging, then of the checks
  std::unique_ptr<ir::Graph> graph;     ///< null: staging failed
  std::unique_ptr<shape::GraphShapes> shapes;

  /// "code message" of each error.
  std::vector<std::string> errors() const;
  std::vector<ir::ValueId> outputs() const;
};
Staged stage(const std::string& text,
             const std::vector<std::pair<std::string, std::string>>& parameters = {});

/// One sample's outputs.
struct Sample {
  std::string failure;  ///< empty: it succeeded
  std::vector<std::vector<int64_t>> extents;
  uint64_t hash = 0;
};
struct Image {
  int64_t h = 1, w = 1, c = 3;
};
/// Runs each image as a batch of its own. The input "image" is fed u8 noise [h, w, c], "size" i32 [2] with
/// (h, w), whichever exist. The checks that need no data are left out: what always fails fails here.
std::vector<Sample> run(const Staged& staged, const std::vector<Image>& images);

}  // namespace galatea::shape_test
