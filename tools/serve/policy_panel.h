// The page's part about policies: the documents that a pipeline loads, below /api/policy.
//
// GET  /api/policy            {"documents": [{"name", "text"}]}: what the pipeline reads by `policy.load`
// POST /api/policy/look       {"document", "text"}: what policy_document.h says of the text, or what is wrong
// POST /api/policy/weights    {"document", "text", "choice", "weights"}: {"text"} with other weights
// POST /api/policy/grid       {"document", "text", "sample"}: {"grid", "rows", "microseconds"}
// GET  /api/policy/picture    grid, row, column: a PNG of the grid made last; row -1 is the picture itself
// POST /api/policy/save       {"document", "text", "was"}: writes the file, if it still holds what it was
//
// Comes in: requests, from any thread. Goes out: responses. Documents are named by their place in the list, so no
// request names a file.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "tools/serve/interface/http.h"
#include "tools/serve/policy_pictures.h"

namespace galatea::tools::serve {

class PolicyPanel {
 public:
  PolicyPanel(const PipelineHost& host, std::string file, PipelineOptions options)
      : host_(host), file_(std::move(file)), options_(std::move(options)) {}

  /// Nothing: the request is not about policies.
  std::optional<Response> handle(const Request& request);

 private:
  using Json = nlohmann::ordered_json;

  struct Staged {
    std::unique_ptr<ir::Graph> graph;  ///< nullptr: there were errors
    SourceMap sources;
    std::vector<std::string> documents;  ///< paths
  };
  Staged stage(Reporter& reporter) const;
  Response list();
  Response look(const Json& asked);
  Response change_weights(const Json& asked);
  Response make_pictures(const Json& asked);
  Response picture(const Request& request);
  Response save(const Json& asked);
  /// The document that a request names, with the text that it brings. Throws Json::exception.
  PolicyText policy_of(const Json& asked);

  const PipelineHost& host_;
  const std::string file_;
  const PipelineOptions options_;
  std::mutex mutex_;  ///< of all below
  std::vector<std::string> documents_;
  std::optional<PolicyGrid> grid_;
  int64_t grid_number_ = 0;
  std::mutex making_;  ///< one grid at a time
};

}  // namespace galatea::tools::serve
