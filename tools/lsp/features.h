// What an editor asks of a document, one function a request; answers are documents of LSP 3.17.
//
// Comes in: a document, a place, the vocabulary. Goes out: JSON. None of them changes anything.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/lsp/document.h"
#include "tools/lsp/protocol.h"
#include "tools/lsp/vocabulary.h"

namespace galatea::tools::lsp {

inline Range range_in(const TextBuffer& text, Span span, Encoding encoding) {
  return {text.position(span.begin, encoding), text.position(span.end, encoding)};
}

/// A place that a request asks about. `evaluation` may be null, and is of this text unless it was said.
struct Query {
  Document& document;
  const Vocabulary& vocabulary;
  Encoding encoding = Encoding::kUtf16;
  uint32_t offset = 0;

  Range range(Span span) const { return range_in(document.buffer(), span, encoding); }
};

/// Other documents of the workspace by path, open or read from disk; nullptr: there is none.
using FindDocument = std::function<Document*(const std::string& path)>;
/// All paths of the workspace's pipeline files.
using ListFiles = std::function<std::vector<std::string>()>;
struct Workspace {
  FindDocument find;
  ListFiles files;
};
/// The files that `from .a import b` may mean, whether they are there or not.
std::vector<std::string> files_meant(const std::string& importer, const Symbol& import);
/// The file that `from .a import b` means; empty: there is none.
std::string imported_file(const std::string& importer, const Symbol& import, const Workspace& workspace);

// ---- words (hover.cpp, completion.cpp) ----
Json hover(const Query& query);
Json completion(const Query& query, const Workspace& workspace);
Json signature_help(const Query& query);

// ---- places (navigation.cpp) ----
Json definition(const Query& query, const Workspace& workspace);
Json references(const Query& query, const Workspace& workspace, bool with_definition);
Json prepare_rename(const Query& query);
/// Throws RequestError for what is no name, and where there is nothing of the user's to rename.
Json rename(const Query& query, const Workspace& workspace, const std::string& name);
Json document_highlight(const Query& query);

// ---- the whole document (outline.cpp, lenses.cpp, semantic_tokens.cpp, edits.cpp) ----
Json document_symbols(const Query& query);
Json folding_ranges(const Query& query);
/// Types of variables that hold data, and what the compiler does with a line.
Json inlay_hints(const Query& query, Range range);
/// "preview" and "explain" at each pipeline: commands of the server, with the document and the pipeline's name.
inline constexpr const char* kPreviewCommand = "galatea.preview";
inline constexpr const char* kExplainCommand = "galatea.explain";
Json code_lenses(const Query& query);
Json semantic_tokens(const Query& query);
/// The legend of semantic_tokens().
Json semantic_legend();
/// What diagnostics are for the editor. What is wrong in a file that the document imports stands at the import, the
/// first mistake of each file.
std::vector<Json> published_diagnostics(Document& document, const Evaluation& evaluation, Encoding encoding);
Json code_actions(const Query& query, Range range);
/// Edits that make the canonical form; those that touch `only`, where it is given. Throws RequestError for a
/// text that does not parse.
Json formatting(const Query& query, const std::optional<Range>& only);

}  // namespace galatea::tools::lsp
