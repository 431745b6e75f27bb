// Diagnostics: what is wrong, where, why, and what to do.
//
// Comes in: messages with spans from any layer. Goes out: caret text for people and JSON for programs
// (the contract of docs/command-line.md). The wording of each code lives in the messages.def of its layer.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/source.h"

namespace galatea {

enum class Severity { kError, kWarning, kNote };

/// A secondary place with a few words.
struct Label {
  Span span;
  std::string text;
};

/// One entry of the chain of calls that led to the place: the call site, inside `function`.
struct CallSite {
  Span span;
  std::string function;
};

/// What to write in place of a part of the text.
struct Edit {
  Span span;  ///< may be empty: an insertion
  std::string replacement;
  bool is_certain = false;  ///< whether nothing else can have been meant; else it is the likeliest
};

struct Diagnostic {
  std::string code;  ///< "G0203"; empty for messages that have no page
  Severity severity = Severity::kError;
  std::string message;
  Span span;              ///< primary place; may be invalid (nothing to point at)
  std::string span_text;  ///< words beside the carets; may be empty
  std::vector<Label> labels;
  std::vector<CallSite> calls;  ///< innermost first
  std::vector<std::string> notes;
  std::string help;
  std::vector<Edit> edits;  ///< what the help says to write, where it can be written; all of them together
};

/// Collects the diagnostics of one run: one report per (code, span), at most `limit` errors.
class DiagnosticSink {
 public:
  explicit DiagnosticSink(size_t limit = 50) : limit_(limit) {}
  /// Adds one, unless the same code was reported at the same span (then it is counted and noted: "in 14
  /// calls").
  void report(Diagnostic diagnostic);
  bool has_errors() const { return num_errors_ > 0; }
  size_t num_errors() const { return num_errors_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  /// Moves the diagnostics out, with the notes about repetitions and about those past the limit added.
  std::vector<Diagnostic> take();

 private:
  size_t limit_;
  size_t num_errors_ = 0;
  size_t dropped_ = 0;
  std::vector<Diagnostic> diagnostics_;
  std::map<std::tuple<std::string, uint32_t, uint32_t, uint32_t>, size_t> index_;
  std::vector<size_t> repetitions_;
};

struct RenderOptions {
  bool color = false;
};

/// The diagnostic with the places where people wrote what it speaks of (SourceMap::resolve()).
Diagnostic resolved(Diagnostic diagnostic, const SourceMap& sources);

/// Caret text of one diagnostic, ending in a line break.
std::string render_text(const Diagnostic& diagnostic, const SourceMap& sources, RenderOptions options = {});
/// `{"diagnostics":[…]}` on one line, without a line break at the end.
std::string render_json(const std::vector<Diagnostic>& diagnostics, const SourceMap& sources);

/// `text`, which is the text of file `file`, with the edits of the diagnostics: certain ones, or all. Edits that
/// overlap one before them are left out, with the others of their diagnostic; `applied` is how many diagnostics
/// had theirs.
std::string with_edits(const std::string& text, uint32_t file, const std::vector<Diagnostic>& diagnostics,
                       bool uncertain_too, size_t& applied);

/// The candidate nearest to `word` by edit distance, if near enough to be what was meant.
std::optional<std::string> closest_match(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace galatea
