// A pipeline that applies policies to the pictures, or sounds, of a folder: what view, stats and score run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/document.h"
#include "policy/operation.h"
#include "tools/pipeline_host.h"

namespace galatea::tools {

struct Pictures {
  std::string data;  ///< a folder of folders
  int size = 160;    ///< height and width to which they are brought
  int batch_size = 8;
  uint64_t seed = 0;
  bool shuffled = false;
};

/// What the subcommands that run policies over pictures take.
struct PictureOptions {
  std::string data;
  int size = 160;
  uint64_t seed = 0;
  std::vector<std::string> extras;

  /// The arguments of a call of the policy, in the language.
  std::string arguments() const;
  Pictures pictures(int batch_size) const { return {data, size, batch_size, seed}; }
};
/// POLICY.
void add_policy_argument(CLI::App* app, std::string& policy);
/// --data, --size, --seed, --extra.
void add_picture_options(CLI::App* app, PictureOptions& options);

/// The pipeline whose outputs are the picture (or what else the policy works on), `image`, and then `columns`:
/// elements of a list in the language, in which `augment` is what `policy` names, `label` the picture's class.
std::string text_over_pictures(const std::string& policy, policy::DataKind data, const Pictures& pictures,
                               const std::string& columns);

struct StagedPictures {
  std::unique_ptr<ir::Graph> graph;        ///< nullptr: there were errors
  uint32_t columns_line = 0;               ///< of the pipeline's text, in which `columns` begins
  std::vector<dsl::AugmentationRun> runs;  ///< if they are observed
};
/// The graph of text_over_pictures(). `observed`: further outputs tell what ran.
StagedPictures stage_over_pictures(const PipelineHost& host, const policy::Document& document,
                                   const std::string& policy, const Pictures& pictures,
                                   const std::string& columns, bool observed, Reporter& reporter);
/// The same for several policies: the outputs of `columns` that depend on them come once for each, next to
/// one another.
StagedPictures stage_several_over_pictures(const PipelineHost& host,
                                           const std::vector<dsl::PolicyText>& policies,
                                           const Pictures& pictures, const std::string& columns,
                                           Reporter& reporter);
/// Can pipelines apply the policy of a file? Its imports are read, its operations called; what is wrong is
/// reported. What a pipeline's call of the policy has to give is not missed, and bounds that its options
/// raise are not kept.
bool check_in_pipeline(const PipelineHost& host, const std::string& policy, policy::DataKind data,
                       Reporter& reporter);
/// The same for a policy that is given as text, and stands beside `name`.
bool check_in_pipeline(const PipelineHost& host, const dsl::PolicyText& policy, policy::DataKind data,
                       Reporter& reporter);
/// Whether pictures are what the policy of this name works on; reports it if not.
bool check_is_for_pictures(const policy::Document& document, const std::string& name, Reporter& reporter);
/// A string in the language.
std::string language_text(const std::string& text);

}  // namespace galatea::tools
