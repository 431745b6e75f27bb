// Diagnostics, what they say to write, and the canonical form.
#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "base/cache_folder.h"
#include "base/diagnostic.h"
#include "base/fault.h"
#include "dsl/formatter/formatter.h"
#include "tools/diagnostic_page.h"
#include "tools/lsp/features.h"

namespace galatea::tools::lsp {
namespace {

namespace fs = std::filesystem;

/// DiagnosticSeverity.
int severity_of(Severity severity) {
  return severity == Severity::kError ? 1 : severity == Severity::kWarning ? 2 : 3;
}

/// The place of a diagnostic in the document: its own, or the call that led to it; nothing in neither.
std::optional<Span> place_in(const Diagnostic& diagnostic, uint32_t file) {
  if (diagnostic.span.file == file) return diagnostic.span;
  for (const CallSite& call : diagnostic.calls)
    if (call.span.file == file) return call.span;
  if (!diagnostic.span.valid()) return Span{file, 0, 0};
  return std::nullopt;
}

std::string words_of(const Diagnostic& diagnostic) {
  std::string words = diagnostic.message;
  if (!diagnostic.span_text.empty()) words += "\n" + diagnostic.span_text;
  for (const std::string& note : diagnostic.notes) words += "\nnote: " + note;
  if (!diagnostic.help.empty()) words += "\nhelp: " + diagnostic.help;
  return words;
}

Json related(const Diagnostic& diagnostic, const Document& document, const Evaluation& evaluation,
             Encoding encoding) {
  Json places = Json::array();
  for (const Label& label : diagnostic.labels) {
    const SourceFile* source = evaluation.sources.file(label.span.file);
    if (!source || label.text.empty()) continue;
    const bool is_here = label.span.file == evaluation.file;
    if (!is_here && !source->name().starts_with('/')) continue;
    const Range range = is_here ? range_in(document.buffer(), label.span, encoding)
                                : range_in(TextBuffer(source->text()), label.span, encoding);
    places.push_back(
        {{"location",
          {{"uri", is_here ? document.uri() : uri_of(source->name())}, {"range", to_json(range)}}},
         {"message", label.text}});
  }
  return places;
}

/// Where the document imports a file: by itself, or by the first of its imports; nothing: it has none.
std::optional<Span> import_of(const std::string& file, Document& document) {
  std::optional<Span> first;
  for (const Symbol& symbol : document.syntax().names->symbols()) {
    if (symbol.kind != Symbol::Kind::kImport || symbol.level == 0) continue;
    const std::vector<std::string> meant = files_meant(document.path(), symbol);
    if (std::ranges::find(meant, file) != meant.end()) return symbol.imported_span;
    if (!first) first = symbol.imported_span;
  }
  return first;
}

/// The address of a code's page, a file that is kept with what else galatea keeps; empty: there is none, or it cannot be
/// written.
std::string address_of_page(const std::string& code) {
  static std::mutex mutex;
  static std::map<std::string, std::string> addresses;  // written once by each server
  const std::lock_guard lock(mutex);
  const auto [known, is_new] = addresses.try_emplace(code);
  const std::string_view page = is_new ? page_markdown(code) : std::string_view();
  const fs::path root = cache_root();
  if (page.empty() || root.empty()) return known->second;
  std::error_code failed;
  const fs::path file = fs::absolute(root, failed) / "pages" / (code + ".md");
  fs::create_directories(file.parent_path(), failed);
  if (write_whole_file(file.string(), page) == 0) known->second = uri_of(file.string());
  return known->second;
}

}  // namespace

std::vector<Json> published_diagnostics(Document& document, const Evaluation& evaluation, Encoding encoding) {
  std::vector<Json> published;
  std::set<uint32_t> told;  // files without a call in this one
  for (const Diagnostic& diagnostic : evaluation.diagnostics) {
    auto place = place_in(diagnostic, evaluation.file);
    Json places = related(diagnostic, document, evaluation, encoding);
    std::string words = words_of(diagnostic);
    const SourceFile* other =
        diagnostic.span.file == evaluation.file ? nullptr : evaluation.sources.file(diagnostic.span.file);
    if (other && other->name().starts_with('/')) {
      const Range there = range_in(TextBuffer(other->text()), diagnostic.span, encoding);
      words = fmt::format("{}, line {}: {}", fs::path(other->name()).filename().string(),
                          there.begin.line + 1, words);
      places.push_back({{"location", {{"uri", uri_of(other->name())}, {"range", to_json(there)}}},
                        {"message", "what is meant"}});
      if (!place && diagnostic.severity == Severity::kError && told.insert(diagnostic.span.file).second)
        place = import_of(other->name(), document);
    }
    if (!place) continue;
    Json json = {{"range", to_json(range_in(document.buffer(), *place, encoding))},
                 {"severity", severity_of(diagnostic.severity)},
                 {"source", "galatea"},
                 {"message", std::move(words)},
                 {"relatedInformation", std::move(places)}};
    if (!diagnostic.code.empty()) json["code"] = diagnostic.code;
    if (const std::string page = address_of_page(diagnostic.code); !page.empty())
      json["codeDescription"] = {{"href", page}};
    published.push_back(std::move(json));
  }
  return published;
}

Json code_actions(const Query& query, Range range) {
  Json actions = Json::array();
  const Evaluation* evaluation = query.document.evaluation();
  if (!evaluation) return actions;
  for (const Diagnostic& diagnostic : evaluation->diagnostics) {
    const auto place = place_in(diagnostic, evaluation->file);
    if (!place || diagnostic.edits.empty()) continue;
    const Range at = query.range(*place);
    const bool touches = at.begin <= range.end && range.begin <= at.end;
    const bool is_here = std::ranges::all_of(
        diagnostic.edits, [&](const Edit& edit) { return edit.span.file == evaluation->file; });
    if (!touches || !is_here) continue;
    Json edits = Json::array();
    bool is_certain = true;
    for (const Edit& edit : diagnostic.edits) {
      edits.push_back({{"range", to_json(query.range(edit.span))}, {"newText", edit.replacement}});
      is_certain = is_certain && edit.is_certain;
    }
    const std::string title = diagnostic.help.empty() ? "mend: " + diagnostic.message : diagnostic.help;
    actions.push_back({{"title", title},
                       {"kind", "quickfix"},
                       {"isPreferred", is_certain},
                       {"edit", {{"changes", {{query.document.uri(), std::move(edits)}}}}}});
  }
  return actions;
}

namespace {

/// Whether it changes a line of the selection; one that ends where a line begins has nothing of that line.
bool touches(const dsl::LineEdit& edit, const Range& selected) {
  const bool has_last = selected.end.character > 0 || selected.end.line == selected.begin.line;
  const size_t first = selected.begin.line, end = size_t{selected.end.line} + (has_last ? 1 : 0);
  // What is only put in stands before the line that it names.
  return edit.first < end && edit.first + std::max<size_t>(edit.removed, 1) > first;
}

}  // namespace

Json formatting(const Query& query, const std::optional<Range>& only) {
  SourceMap sources;
  const std::string& text = query.document.text();
  const dsl::FormatResult result = dsl::format_source(query.document.path(), text, sources);
  if (!result.diagnostics.empty())
    throw RequestError(ErrorCode::kRequestFailed,
                       "the text does not parse: " + result.diagnostics[0].message);
  Json edits = Json::array();
  for (const dsl::LineEdit& edit : dsl::line_edits(text, result.text)) {
    const auto first = static_cast<uint32_t>(edit.first),
               last = static_cast<uint32_t>(edit.first + edit.removed);
    if (only && !touches(edit, *only)) continue;
    edits.push_back({{"range", to_json(Range{{first, 0}, {last, 0}})}, {"newText", edit.text}});
  }
  return edits;
}

}  // namespace galatea::tools::lsp
