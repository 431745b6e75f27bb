#include "tools/serve/policy_panel.h"

namespace galatea::tools::serve {

std::optional<Response> PolicyPanel::handle(const Request&) { return std::nullopt; }

}  // namespace galatea::tools::serve
