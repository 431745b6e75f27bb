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

/// The graph whose outputs are the picture, `image`, and then `columns`: elements of a list in the language,
/// in which `augment` is the loaded policy. nullptr: there were errors.
std::unique_ptr<ir::Graph> stage_over_pictures(const PipelineHost& host, const policy::Document& document,
                                               const std::string& policy, const Pictures& pictures,
                                               const std::string& columns, Reporter& reporter);
/// A string in the language.
std::string language_text(const std::string& text);

}  // namespace galatea::tools
