// A pipeline that applies a policy to the pictures of a folder: what view and stats run.
#pragma once

#include <memory>
#include <string>

#include "policy/document.h"
#include "tools/pipeline_host.h"

namespace galatea::tools {

struct Pictures {
  std::string data;  ///< a folder of folders
  int size = 160;    ///< height and width to which they are brought
  int batch_size = 8;
  uint64_t seed = 0;
};

struct StagedPictures {
  std::unique_ptr<ir::Graph> graph;        ///< nullptr: there were errors
  uint32_t columns_line = 0;               ///< of the pipeline's text, in which `columns` begins
  std::vector<dsl::AugmentationRun> runs;  ///< if they are observed
};
/// The graph whose outputs are the picture, `image`, and then `columns`: elements of a list in the language,
/// in which `augment` is the loaded policy. `observed`: further outputs tell what ran.
StagedPictures stage_over_pictures(const PipelineHost& host, const policy::Document& document,
                                   const std::string& policy, const Pictures& pictures,
                                   const std::string& columns, bool observed, Reporter& reporter);
/// A string in the language.
std::string language_text(const std::string& text);

}  // namespace galatea::tools
