// The pictures that a pipeline hands to its policy, and what the operations of the policy make of them.
//
// Comes in: a pipeline file, a document. Goes out: a folder of pictures, a grid of operations and magnitudes, what
// they take. The commands `galatea policy view` and `stats` do the same for the pictures of a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"
#include "tools/pipeline_host.h"
#include "tools/serve/policy_document.h"

namespace galatea::tools::serve {

/// A folder of its own for pictures, which goes with the object.
class PictureFolder {
 public:
  PictureFolder();
  ~PictureFolder();
  PictureFolder(const PictureFolder&) = delete;
  PictureFolder& operator=(const PictureFolder&) = delete;

  /// Writes the pictures of the first samples; false: an error was reported. They are what the pipeline's policy is
  /// called with, or where that is not on every sample's way, the first picture in a variable.
  bool fill(const PipelineHost& host, const ir::Graph& graph, const SourceMap& sources, int samples,
            Reporter& reporter);
  /// Writes photographs that the program draws; false: an error was reported.
  bool draw(int count, Reporter& reporter);
  std::string path() const { return path_.string(); }
  int count() const { return count_; }

 private:
  /// Pictures are of one class, in a folder of its own.
  bool make_class(Reporter& reporter);
  bool write(std::string_view bytes, const char* ending);

  std::filesystem::path path_;
  int count_ = 0;
};

struct PolicyGrid {
  struct Row {
    std::string name;
    std::vector<std::string> labels;        ///< parameters, one a picture
    std::vector<runtime::Tensor> pictures;  ///< u8 HWC
    std::optional<double> microseconds;     ///< of one run
  };
  runtime::Tensor original;
  std::vector<Row> rows;
  double microseconds = 0;  ///< of the policy, for each sample
};

/// Of the sample `sample` of the folder. nullopt: an error was reported.
std::optional<PolicyGrid> make_grid(const PipelineHost& host, const PolicyText& policy,
                                    const policy::Document& document, const PictureFolder& folder, int sample,
                                    Reporter& reporter);

}  // namespace galatea::tools::serve
