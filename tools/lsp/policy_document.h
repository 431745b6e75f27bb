// Policy documents (JSON) in an editor: what is wrong, what a name means, which names there are.
//
// Comes in: the text of a document. Goes out: an evaluation, and answers of LSP 3.17.
#pragma once

#include <memory>
#include <string>

#include "tools/lsp/document.h"
#include "tools/lsp/features.h"

namespace galatea::tools::lsp {

/// Whether a path is that of a policy document.
bool is_policy_document(const std::string& path);
std::unique_ptr<Evaluation> evaluate_policy(const std::string& path, const std::string& text);
Json hover_policy(const Query& query);
Json complete_policy(const Query& query);

}  // namespace galatea::tools::lsp
