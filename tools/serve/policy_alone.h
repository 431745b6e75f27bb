// A policy document without a pipeline: one is made that shows what the policy does to pictures.
//
// Comes in: the document's file, a folder of data or none. Goes out: a pipeline's text that stands beside the document,
// and pictures for it where no folder was named.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/serve/policy_pictures.h"

namespace galatea::tools::serve {

class PolicyAlone {
 public:
  /// Whether a file is taken for a policy document: its name ends in ".json".
  static bool is_policy(const std::string& file) { return file.ends_with(".json"); }

  /// `data`: a folder of folders of pictures, or of sounds; empty: pictures are drawn. nullopt: an error was reported.
  static std::optional<PolicyAlone> make(const std::string& policy, const std::string& data,
                                         Reporter& reporter);

  /// The pipeline, as a file beside the document, that there is none of.
  const std::string& file() const { return file_; }
  const std::string& text() const { return text_; }

 private:
  std::unique_ptr<PictureFolder> drawn_;  ///< of no data
  std::string file_, text_;
};

}  // namespace galatea::tools::serve
