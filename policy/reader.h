// Reading policy documents.
//
// Comes in: the text of a JSON file. Goes out: a Document in which every name exists, every number is in its
// range and no definition contains itself; or all that is wrong with it, each with its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "policy/document.h"

namespace galatea::policy {

struct ReadResult {
  std::optional<Document> document;  ///< none if there is an error among the diagnostics
  std::vector<Diagnostic> diagnostics;
};

/// Reads a text that is in `sources` already.
ReadResult read_policy(uint32_t file, const SourceMap& sources);
/// Reads a file from disk; its imports must exist beside it.
/// `unsaved`: what stands in an editor, and counts in place of the file; may be null.
ReadResult read_policy_file(const std::string& path, SourceMap& sources,
                            const std::string* unsaved = nullptr);
/// Reads a tree (of a search space with its choices made).
ReadResult read_policy_tree(const JsonValue& root);

/// The text of a file of at most `limit` bytes.
Result<std::string> read_text_file(const std::string& path, size_t limit);

}  // namespace galatea::policy
