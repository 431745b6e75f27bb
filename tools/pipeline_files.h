// The files that a command is told of: pipeline files, and folders of them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace galatea::tools {

struct PipelineFiles {
  std::vector<std::string> files;  ///< in the order of the arguments, those of a folder sorted; each once
  bool of_folders = false;         ///< whether any of the arguments is a folder
  std::vector<Error> errors;       ///< a folder that cannot be read, or holds no pipeline file
};
/// Folders become the *.dali-dsl files in and below them. Files and folders whose names begin with a dot are
/// left out there, links to folders are not followed. Any other name stays as it is, whether it exists or
/// not.
PipelineFiles pipeline_files(const std::vector<std::string>& arguments);

}  // namespace galatea::tools
