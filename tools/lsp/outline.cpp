// The shape of a document: its symbols, what folds, types beside names.
#include <algorithm>

#include "tools/lsp/features.h"
#include "tools/lsp/remarks.h"

namespace galatea::tools::lsp {
namespace {

using dsl::Statement;
using dsl::StatementKind;

/// SymbolKind.
enum Outline : int { kOutlineFunction = 12, kOutlineVariable = 13, kOutlineEvent = 24 };

Json symbols_of(const dsl::Suite& body, const Query& query) {
  Json symbols = Json::array();
  auto add = [&](const std::string& name, Outline kind, Span whole, Span place, Json children) {
    symbols.push_back({{"name", name},
                       {"kind", static_cast<int>(kind)},
                       {"range", to_json(query.range(cover(whole, place)))},
                       {"selectionRange", to_json(query.range(place))},
                       {"children", std::move(children)}});
  };
  for (const auto& statement : body) {
    if (!statement) continue;
    const Statement& s = *statement;
    if (s.kind == StatementKind::kFunction && !s.text.empty()) {
      const Symbol* symbol = query.document.syntax().names->at(s.keyword_span.begin);
      const bool is_pipeline = symbol && symbol->kind == Symbol::Kind::kPipeline;
      add(s.text, is_pipeline ? kOutlineEvent : kOutlineFunction, s.span, s.keyword_span,
          symbols_of(s.body, query));
    }
    const bool assigns = s.kind == StatementKind::kAssign || s.kind == StatementKind::kAnnAssign;
    for (const auto& target : s.targets)
      if (assigns && target && target->kind == dsl::ExpressionKind::kName)
        add(target->text, kOutlineVariable, s.span, target->span, Json::array());
  }
  return symbols;
}

class Folds {
 public:
  explicit Folds(const Query& query) : query_(query) {}
  void add(Span span, const char* kind = nullptr) {
    const Range range = query_.range(span);
    if (range.end.line <= range.begin.line) return;
    Json fold = {{"startLine", range.begin.line}, {"endLine", range.end.line}};
    if (kind) fold["kind"] = kind;
    folds_.push_back(std::move(fold));
  }
  void add_suite(const dsl::Suite& body) {
    Span imports;
    for (const auto& statement : body) {
      if (!statement) continue;
      const bool is_import =
          statement->kind == StatementKind::kImport || statement->kind == StatementKind::kImportFrom;
      if (is_import) {
        imports = imports.valid() ? cover(imports, statement->span) : statement->span;
        continue;
      }
      if (!statement->body.empty()) add(statement->span);
      add_suite(statement->body);
      add_suite(statement->orelse);
    }
    if (imports.valid()) add(imports, "imports");
  }
  void add_brackets(const std::vector<dsl::Token>& tokens) {
    for (size_t k = 0; k < tokens.size(); ++k)
      if (tokens[k].partner > k && tokens[k].partner < tokens.size())
        add(cover(tokens[k].span, tokens[tokens[k].partner].span));
  }
  Json take() { return std::move(folds_); }

 private:
  const Query& query_;
  Json folds_ = Json::array();
};

}  // namespace

Json document_symbols(const Query& query) { return symbols_of(query.document.syntax().tree->body, query); }

Json folding_ranges(const Query& query) {
  const Syntax& syntax = query.document.syntax();
  Folds folds(query);
  folds.add_suite(syntax.tree->body);
  folds.add_brackets(syntax.tokens);
  return folds.take();
}

Json inlay_hints(const Query& query, Range range) {
  Json hints = Json::array();
  const Evaluation* evaluation = query.document.evaluation();
  if (!evaluation) return hints;
  const uint32_t begin = query.document.buffer().offset(range.begin, query.encoding);
  const uint32_t end = query.document.buffer().offset(range.end, query.encoding);
  for (const Symbol& symbol : query.document.syntax().names->symbols()) {
    if (symbol.kind != Symbol::Kind::kVariable) continue;
    for (Span place : symbol.bindings) {
      if (place.begin < begin || place.begin > end) continue;
      const Position at = query.range(place).end;
      place.file = evaluation->file;
      const dsl::Meaning* meaning = evaluation->meanings.at(place);
      if (!meaning || meaning->kind != dsl::Meaning::Kind::kData) continue;
      hints.push_back(
          {{"position", to_json(at)}, {"label", ": " + evaluation->type_text(*meaning)}, {"kind", 1}});
    }
  }
  for (const Remark& remark : remarks_of(*evaluation, query.vocabulary.registry())) {
    if (remark.line < range.begin.line || remark.line > range.end.line) continue;
    // Behind all that stands in the line.
    const uint32_t behind = query.document.buffer().offset({remark.line, UINT32_MAX}, query.encoding);
    hints.push_back({{"position", to_json(query.document.buffer().position(behind, query.encoding))},
                     {"label", remark.text},
                     {"paddingLeft", true}});
  }
  return hints;
}

}  // namespace galatea::tools::lsp
