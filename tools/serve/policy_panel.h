// The page's part about policies: routes below /api/policy/.
#pragma once

#include <optional>

#include "tools/serve/http.h"

namespace galatea::tools::serve {

class PolicyPanel {
 public:
  /// Nothing: the request is not about policies.
  std::optional<Response> handle(const Request& request);
};

}  // namespace galatea::tools::serve
