// Definitions, references, renaming: where else a name stands, in this document and in those that import it.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "dsl/lexer.h"
#include "tools/lsp/features.h"

namespace galatea::tools::lsp {
namespace {

namespace fs = std::filesystem;

/// A place in a file, as the protocol has it.
Json location(const Document& document, Span span, Encoding encoding) {
  return {{"uri", document.uri()}, {"range", to_json(range_in(document.buffer(), span, encoding))}};
}

/// A symbol of a document.
struct Found {
  Document* document = nullptr;
  const Symbol* symbol = nullptr;
};

/// What an imported name means in the file that it comes from; the symbol itself where that is not the user's.
Found origin_of(Document& document, const Symbol& symbol, const Workspace& workspace) {
  constexpr int kMostImports = 64;  // that lead to each other
  Found found{&document, &symbol};
  for (int k = 0; k < kMostImports; ++k) {
    if (found.symbol->kind != Symbol::Kind::kImport || found.symbol->imported.empty()) break;
    const std::string file = imported_file(found.document->path(), *found.symbol, workspace);
    Document* other = file.empty() ? nullptr : workspace.find(file);
    const Symbol* there = other ? other->syntax().names->global(found.symbol->imported) : nullptr;
    if (!there || there == found.symbol) break;
    found = {other, there};
  }
  return found;
}

/// Places of a symbol by document; with `of_name`, only those where its own name stands.
std::map<std::string, std::pair<Document*, std::vector<Span>>> places_of(const Found& origin,
                                                                         const Workspace& workspace,
                                                                         bool of_name) {
  std::map<std::string, std::pair<Document*, std::vector<Span>>> places;
  places[origin.document->path()] = {origin.document, origin.symbol->places};
  if (origin.symbol->scope != 0) return places;
  const std::string name = origin.symbol->name;
  for (const std::string& path : workspace.files()) {
    Document* other = path == origin.document->path() ? nullptr : workspace.find(path);
    if (!other) continue;
    for (const Symbol& symbol : other->syntax().names->symbols()) {
      if (symbol.kind != Symbol::Kind::kImport || symbol.imported != name) continue;
      if (origin_of(*other, symbol, workspace).symbol != origin.symbol) continue;
      auto& [document, spans] = places[path];
      document = other;
      const bool has_other_name = symbol.name != name;
      if (has_other_name) spans.push_back(symbol.imported_span);
      if (!has_other_name || !of_name) spans.insert(spans.end(), symbol.places.begin(), symbol.places.end());
    }
  }
  return places;
}

const Symbol* symbol_at(const Query& query) { return query.document.syntax().names->at(query.offset); }

bool is_name(const std::string& text) {
  std::vector<Diagnostic> wrong;
  const std::vector<dsl::Token> tokens = dsl::lex(1, text, wrong);
  return wrong.empty() && !tokens.empty() && tokens[0].kind == dsl::TokenKind::kName &&
         tokens[0].text == text;
}

}  // namespace

std::vector<std::string> files_meant(const std::string& importer, const Symbol& import) {
  std::vector<std::string> files;
  if (import.level == 0) return files;
  fs::path folder = fs::path(importer).parent_path();
  for (int k = 1; k < import.level; ++k) folder = folder.parent_path();
  std::string below = import.module;
  std::ranges::replace(below, '.', '/');
  for (const std::string& candidate : {below, below + (below.empty() ? "" : "/") + import.imported})
    if (!candidate.empty()) files.push_back((folder / (candidate + ".dali-dsl")).lexically_normal().string());
  return files;
}

std::string imported_file(const std::string& importer, const Symbol& import, const Workspace& workspace) {
  // Open in the editor, or on the disk.
  for (const std::string& file : files_meant(importer, import))
    if (workspace.find(file) != nullptr) return file;
  return {};
}

Json definition(const Query& query, const Workspace& workspace) {
  const Symbol* symbol = symbol_at(query);
  if (!symbol) return nullptr;
  const Found origin = origin_of(query.document, *symbol, workspace);
  const bool is_import = origin.symbol->kind == Symbol::Kind::kImport;
  const std::string file = is_import ? imported_file(origin.document->path(), *origin.symbol, workspace) : "";
  if (!file.empty()) return {{"uri", uri_of(file)}, {"range", to_json(Range{})}};
  return location(*origin.document, origin.symbol->definition, query.encoding);
}

Json references(const Query& query, const Workspace& workspace, bool with_definition) {
  const Symbol* symbol = symbol_at(query);
  Json found = Json::array();
  if (!symbol) return found;
  const Found origin = origin_of(query.document, *symbol, workspace);
  for (const auto& [path, place] : places_of(origin, workspace, false))
    for (const Span& span : place.second)
      if (with_definition || place.first != origin.document || span != origin.symbol->definition)
        found.push_back(location(*place.first, span, query.encoding));
  return found;
}

Json document_highlight(const Query& query) {
  const Symbol* symbol = symbol_at(query);
  Json found = Json::array();
  for (const Span& span : symbol ? symbol->places : std::vector<Span>{})
    found.push_back({{"range", to_json(query.range(span))}});
  return found;
}

Json prepare_rename(const Query& query) {
  const Symbol* symbol = symbol_at(query);
  if (!symbol) return nullptr;
  for (const Span& span : symbol->places)
    if (span.begin <= query.offset && query.offset <= span.end)
      return {{"range", to_json(query.range(span))}, {"placeholder", symbol->name}};
  return nullptr;
}

namespace {

/// Refuses a new name that already means something where the old one stands, or that would take it from others.
void refuse_clash(Document& document, const std::vector<Span>& places, const Symbol& symbol,
                  const std::string& name) {
  const Names& names = *document.syntax().names;
  for (const Span& span : places) {
    const Symbol* other = names.find(name, span.begin);
    if (other == nullptr || other == &symbol) continue;
    const Range at = range_in(document.buffer(), other->definition, Encoding::kUtf8);
    throw RequestError(ErrorCode::kRequestFailed,
                       fmt::format("`{}` is in use already: it is bound at line {} of {}", name,
                                   at.begin.line + 1, fs::path(document.path()).filename().string()));
  }
}

}  // namespace

Json rename(const Query& query, const Workspace& workspace, const std::string& name) {
  if (!is_name(name)) throw RequestError(ErrorCode::kInvalidParams, fmt::format("`{}` is no name", name));
  const Symbol* symbol = symbol_at(query);
  if (!symbol) throw RequestError(ErrorCode::kRequestFailed, "there is no name of this file here");
  Found origin = origin_of(query.document, *symbol, workspace);
  // `import a as b`, or what comes from the library: the name is this file's alone, if it has one.
  const bool is_library = origin.symbol->kind == Symbol::Kind::kImport;
  if (is_library && origin.symbol->definition == origin.symbol->imported_span)
    throw RequestError(
        ErrorCode::kRequestFailed,
        fmt::format("`{}` comes from a module; write `import … as` to give it another name", symbol->name));
  if (symbol->name != origin.symbol->name) origin = {&query.document, symbol};  // a name of its own
  Json changes = Json::object();
  for (const auto& [path, place] : places_of(origin, workspace, true)) {
    if (symbol->name != name) refuse_clash(*place.first, place.second, *origin.symbol, name);
    Json edits = Json::array();
    for (const Span& span : place.second)
      edits.push_back({{"range", location(*place.first, span, query.encoding)["range"]}, {"newText", name}});
    changes[place.first->uri()] = std::move(edits);
  }
  return {{"changes", std::move(changes)}};
}

}  // namespace galatea::tools::lsp
