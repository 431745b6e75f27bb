#include "tools/lsp/document.h"

#include <algorithm>
#include <utility>

#include "compiler/check_graph.h"
#include "compiler/shape/graph_shapes.h"
#include "dsl/deep_stack.h"
#include "dsl/frontend.h"
#include "dsl/lexer_bytes.h"
#include "dsl/parser.h"

namespace galatea::tools::lsp {
namespace {

/// The text with what is no UTF-8 replaced, byte by byte, so that offsets stay.
std::string cleaned(std::string text) {
  size_t from = 0, bad = 0;
  while (dsl::find_invalid_utf8(std::string_view(text).substr(from), bad)) text[from += bad] = '?';
  return text;
}

}  // namespace

Syntax::Syntax(std::string source) : text(cleaned(std::move(source))) {
  dsl::run_deep([this] {
    constexpr uint32_t kFile = 1;
    std::vector<Diagnostic> ignored;
    tokens = dsl::lex(kFile, text, ignored);
    tree = dsl::parse_module(kFile, text, ignored);
    names.emplace(*tree, tokens);
  });
}

const dsl::Token* Syntax::token_at(uint32_t offset) const {
  const auto after = std::ranges::upper_bound(tokens, offset, {}, [](const auto& t) { return t.span.begin; });
  // A name before a dot or a bracket ends where that begins, and is what is meant.
  const dsl::Token* found = nullptr;
  for (auto at = after; at != tokens.begin() && after - at < 3;) {
    --at;
    if (at->text.empty() || offset > at->span.end) continue;
    const bool is_word = at->kind == dsl::TokenKind::kName || at->kind == dsl::TokenKind::kKeyword;
    if (!found || is_word) found = &*at;
  }
  return found;
}

std::string Evaluation::type_text(const dsl::Meaning& meaning) const {
  if (meaning.kind != dsl::Meaning::Kind::kData) return meaning.text;
  const auto known = types.find(meaning.pipeline);
  if (known == types.end() || meaning.node >= known->second.size()) return meaning.text;
  return known->second[meaning.node];
}

std::unique_ptr<Evaluation> evaluate(const std::string& path, const std::string& text, const OpenTexts& open,
                                     const op::Registry& registry, const std::atomic<bool>* cancelled) {
  auto evaluation = std::make_unique<Evaluation>();
  dsl::FrontendOptions options;
  options.unknown_parameters_allowed = true;
  options.texts = open;
  options.meanings = &evaluation->meanings;
  options.cancelled = cancelled;
  dsl::FrontendResult result = dsl::stage_all(path, text, options, registry, evaluation->sources);
  auto is_cancelled = [&] { return cancelled && cancelled->load(); };
  if (is_cancelled()) return nullptr;
  evaluation->diagnostics = std::move(result.diagnostics);
  for (const auto& graph : result.graphs) {
    shape::GraphShapes shapes(*graph);
    for (Diagnostic& diagnostic : check_graph(*graph, shapes))
      evaluation->diagnostics.push_back(std::move(diagnostic));
    evaluation->types[graph->name] = shapes.type_texts();
    if (is_cancelled()) return nullptr;
  }
  evaluation->graphs = std::move(result.graphs);
  for (uint32_t file = 1; const SourceFile* source = evaluation->sources.file(file); ++file) {
    if (source->name() == path && evaluation->file == 0)
      evaluation->file = file;
    else if (source->name().starts_with('/'))
      evaluation->files.push_back(source->name());
  }
  return evaluation;
}

void Document::change(std::optional<Range> range, std::string_view text, Encoding encoding) {
  if (range)
    buffer_.replace(*range, text, encoding);
  else
    buffer_ = TextBuffer(std::string(text));
  syntax_.reset();
  is_evaluated_ = false;
}

const Syntax& Document::syntax() {
  if (!syntax_) syntax_ = std::make_unique<Syntax>(text());
  return *syntax_;
}

void Document::set_evaluation(std::unique_ptr<Evaluation> evaluation) {
  evaluation_ = std::move(evaluation);
  is_evaluated_ = true;
}

}  // namespace galatea::tools::lsp
