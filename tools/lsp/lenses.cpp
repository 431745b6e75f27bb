// Code lenses: what can be done with a pipeline, above its definition.
#include "tools/lsp/features.h"

namespace galatea::tools::lsp {

Json code_lenses(const Query& query) {
  Json lenses = Json::array();
  for (const Symbol& symbol : query.document.syntax().names->symbols()) {
    if (symbol.kind != Symbol::Kind::kPipeline) continue;
    for (const auto& [title, command] : {std::pair{"preview", kPreviewCommand}, {"explain", kExplainCommand}})
      lenses.push_back(
          {{"range", to_json(query.range(symbol.definition))},
           {"command",
            {{"title", title}, {"command", command}, {"arguments", {query.document.uri(), symbol.name}}}}});
  }
  return lenses;
}

}  // namespace galatea::tools::lsp
