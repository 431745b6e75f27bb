// An open document: its text, what the text alone says of it, and what its evaluation found out.
//
// Comes in: the text and its changes. Goes out: a syntax that is always of this text, and an evaluation that is
// made when it is asked for; both at most once a version.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "compiler/ir/graph.h"
#include "compiler/op/operator.h"
#include "dsl/ast.h"
#include "dsl/lexer.h"
#include "dsl/meanings.h"
#include "tools/lsp/names.h"
#include "tools/lsp/protocol.h"
#include "tools/lsp/text_buffer.h"

namespace galatea::tools::lsp {

/// A text cut and parsed. It may be wrong: what failed to parse is missing.
struct Syntax {
  explicit Syntax(std::string source);
  std::string text;  ///< what the tokens point into
  std::vector<dsl::Token> tokens;
  std::unique_ptr<dsl::Module> tree;
  std::optional<Names> names;

  /// The token that holds the byte, or ends there; nullptr: between tokens.
  const dsl::Token* token_at(uint32_t offset) const;
};

/// What the compiler says of a line.
struct Remark {
  uint32_t line = 0;  ///< from 0
  std::string text;
  friend bool operator==(const Remark&, const Remark&) = default;
};

/// A text staged, every pipeline of it.
struct Evaluation {
  SourceMap sources;
  uint32_t file = 0;  ///< the document's, in `sources`; 0: it could not be added
  dsl::Meanings meanings;
  std::vector<Diagnostic> diagnostics;
  std::map<std::string, std::vector<std::string>> types;  ///< by pipeline: of the values of its graph
  std::vector<std::string> files;                         ///< that it read, but for the document
  std::vector<std::unique_ptr<ir::Graph>> graphs;         ///< of the pipelines that are right
  mutable std::optional<std::vector<Remark>> remarks;     ///< remarks.h

  /// What stood at a place, in words; empty: nothing is known.
  std::string type_text(const dsl::Meaning& meaning) const;
};

/// Texts that an editor has open, by their paths.
using OpenTexts = std::map<std::string, std::string>;

/// `cancelled` may be null; nullptr: it was set meanwhile.
std::unique_ptr<Evaluation> evaluate(const std::string& path, const std::string& text, const OpenTexts& open,
                                     const op::Registry& registry, const std::atomic<bool>* cancelled);

class Document {
 public:
  Document(std::string uri, int64_t version, std::string text)
      : uri_(std::move(uri)), path_(path_of(uri_)), version_(version), buffer_(std::move(text)) {}

  const std::string& uri() const { return uri_; }
  const std::string& path() const { return path_; }
  int64_t version() const { return version_; }
  const TextBuffer& buffer() const { return buffer_; }
  const std::string& text() const { return buffer_.text(); }
  /// One change of the text, or all of it.
  void change(std::optional<Range> range, std::string_view text, Encoding encoding);
  void set_version(int64_t version) { version_ = version; }

  const Syntax& syntax();
  /// nullptr: it is of another text, or there was none.
  const Evaluation* evaluation() const { return is_evaluated_ ? evaluation_.get() : nullptr; }
  /// The last one, be it of an earlier text; nullptr: there was none.
  const Evaluation* last_evaluation() const { return evaluation_.get(); }
  void set_evaluation(std::unique_ptr<Evaluation> evaluation);
  /// What it was made from has changed.
  void forget_evaluation() { is_evaluated_ = false; }

 private:
  std::string uri_, path_;
  int64_t version_ = 0;
  TextBuffer buffer_;
  std::unique_ptr<Syntax> syntax_;
  std::unique_ptr<Evaluation> evaluation_;
  bool is_evaluated_ = false;
};

}  // namespace galatea::tools::lsp
