#include "tools/lsp/names.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace galatea::tools::lsp {

using dsl::Expression;
using dsl::ExpressionKind;
using dsl::Statement;
using dsl::StatementKind;

/// One walk over a tree: first what a scope binds, then what stands in it.
class NameWalk {
 public:
  NameWalk(Names& names, const std::vector<dsl::Token>& tokens) : names_(names), tokens_(tokens) {}

  void run(const dsl::Module& tree) {
    names_.scopes_.push_back({{tree.file, 0, UINT32_MAX}, Symbol::kNone, {}});
    open(tree.body, 0);
    for (const Keyword& keyword : keywords_) use_keyword(keyword);
  }

 private:
  /// `f(size=3)`: a place of the parameter, once all functions are known.
  struct Keyword {
    size_t function;
    std::string name;
    Span span;
  };

  void open(const dsl::Suite& body, size_t scope) {
    bind_suite(body, scope);
    visit_suite(body, scope);
  }

  // ---- what a scope binds ----
  size_t bind(size_t scope, const std::string& name, Span span, Symbol::Kind kind) {
    if (name.empty()) return Symbol::kNone;
    auto [found, is_new] = names_.scopes_[scope].names.try_emplace(name, names_.symbols_.size());
    if (is_new) {
      Symbol symbol;
      symbol.kind = kind;
      symbol.name = name;
      symbol.definition = span;
      symbol.scope = scope;
      names_.symbols_.push_back(std::move(symbol));
    }
    place(found->second, span);
    names_.symbols_[found->second].bindings.push_back(span);
    return found->second;
  }

  void place(size_t symbol, Span span) {
    if (names_.by_place_.try_emplace(span.begin, symbol).second)
      names_.symbols_[symbol].places.push_back(span);
  }

  void bind_target(const Expression& target, size_t scope) {
    if (target.kind == ExpressionKind::kName) {
      bind(scope, target.text, target.span, Symbol::Kind::kVariable);
      return;
    }
    const bool holds_targets = target.kind == ExpressionKind::kTuple ||
                               target.kind == ExpressionKind::kList ||
                               target.kind == ExpressionKind::kStarred;
    if (!holds_targets) return;
    for (const auto& part : target.operands)
      if (part) bind_target(*part, scope);
  }

  void bind_suite(const dsl::Suite& body, size_t scope) {
    for (const auto& statement : body)
      if (statement) bind_statement(*statement, scope);
  }

  void bind_statement(const Statement& s, size_t scope) {
    switch (s.kind) {
      case StatementKind::kFunction: {
        const bool is_pipeline = std::ranges::any_of(s.decorators, is_pipeline_def);
        const size_t symbol = bind(scope, s.text, s.keyword_span,
                                   is_pipeline ? Symbol::Kind::kPipeline : Symbol::Kind::kFunction);
        if (symbol != Symbol::kNone) names_.symbols_[symbol].function = &s;
        return;
      }
      case StatementKind::kImport:
      case StatementKind::kImportFrom:
        for (const dsl::ImportName& name : s.names) bind_import(s, name, scope);
        return;
      case StatementKind::kAssign:
      case StatementKind::kAugAssign:
      case StatementKind::kAnnAssign:
      case StatementKind::kFor:
      case StatementKind::kUnsupported:
        for (const auto& target : s.targets)
          if (target) bind_target(*target, scope);
        break;
      default:
        break;
    }
    bind_suite(s.body, scope);
    bind_suite(s.orelse, scope);
  }

  void bind_import(const Statement& s, const dsl::ImportName& name, size_t scope) {
    if (name.name == "*") return;
    const bool is_from = s.kind == StatementKind::kImportFrom;
    const auto [first, last] = ends_of(name.span);
    std::string bound = name.alias;
    if (bound.empty()) bound = is_from ? name.name : name.name.substr(0, name.name.find('.'));
    const size_t symbol = bind(scope, bound, name.alias.empty() ? first : last, Symbol::Kind::kImport);
    if (symbol == Symbol::kNone) return;
    Symbol& made = names_.symbols_[symbol];
    made.module = is_from ? s.text : name.alias.empty() ? bound : name.name;
    made.imported = is_from ? name.name : "";
    made.level = s.relative_level;
    made.imported_span = first;
  }

  /// The first and the last token of a span.
  std::pair<Span, Span> ends_of(Span span) const {
    const auto first =
        std::ranges::lower_bound(tokens_, span.begin, {}, [](const auto& t) { return t.span.begin; });
    if (first == tokens_.end()) return {span, span};
    auto last = first;
    while (last + 1 != tokens_.end() && (last + 1)->span.end <= span.end && (last + 1)->span.begin < span.end)
      ++last;
    return {first->span, last->span};
  }

  static bool is_pipeline_def(const dsl::ExpressionPtr& decorator) {
    const Expression* e = decorator.get();
    if (e && e->kind == ExpressionKind::kCall && !e->operands.empty()) e = e->operands[0].get();
    return e && (e->kind == ExpressionKind::kName || e->kind == ExpressionKind::kAttribute) &&
           e->text == "pipeline_def";
  }

  // ---- what stands in a scope ----
  void visit_suite(const dsl::Suite& body, size_t scope) {
    for (const auto& statement : body)
      if (statement) visit(*statement, scope);
  }

  void visit(const Statement& s, size_t scope) {
    for (const auto& decorator : s.decorators) visit(decorator, scope);
    if (s.kind == StatementKind::kFunction) {
      visit_function(s.parameters, s.span, scope, [&](size_t inner) { open(s.body, inner); });
      visit(s.returns, scope);
      return;
    }
    for (const auto& target : s.targets) visit(target, scope);
    for (const auto* part : {&s.value, &s.annotation, &s.message}) visit(*part, scope);
    visit_suite(s.body, scope);
    visit_suite(s.orelse, scope);
  }

  template <typename Body>
  void visit_function(const std::vector<dsl::Parameter>& parameters, Span span, size_t scope, Body body) {
    const size_t inner = names_.scopes_.size();
    names_.scopes_.push_back({span, scope, {}});
    for (const dsl::Parameter& parameter : parameters) {
      visit(parameter.annotation, scope);
      visit(parameter.default_value, scope);
      bind(inner, parameter.name, parameter.span, Symbol::Kind::kParameter);
    }
    body(inner);
  }

  void visit(const dsl::ExpressionPtr& e, size_t scope) {
    if (e) visit(*e, scope);
  }

  void visit(const Expression& e, size_t scope) {
    switch (e.kind) {
      case ExpressionKind::kName:
        use(e.text, e.span, scope);
        return;
      case ExpressionKind::kNamed:
        bind(scope, e.text, e.text_span.valid() ? e.text_span : e.span, Symbol::Kind::kVariable);
        break;
      case ExpressionKind::kLambda:
        visit_function(e.parameters, e.span, scope, [&](size_t inner) { visit_operands(e, inner); });
        return;
      case ExpressionKind::kListComp:
      case ExpressionKind::kDictComp:
      case ExpressionKind::kGenerator:
        visit_comprehension(e, scope);
        return;
      default:
        break;
    }
    visit_operands(e, scope);
    for (const dsl::Argument& argument : e.arguments) {
      visit(argument.value, scope);
      if (argument.kind == dsl::Argument::Kind::kKeyword) note_keyword(e, argument, scope);
    }
    for (const dsl::FStringPart& part : e.parts) visit(part, scope);
  }

  void visit_operands(const Expression& e, size_t scope) {
    for (const auto& operand : e.operands) visit(operand, scope);
  }

  void visit(const dsl::FStringPart& part, size_t scope) {
    visit(part.value, scope);
    for (const dsl::FStringPart& inner : part.format) visit(inner, scope);
  }

  void visit_comprehension(const Expression& e, size_t scope) {
    const size_t inner = names_.scopes_.size();
    names_.scopes_.push_back({e.span, scope, {}});
    for (const dsl::Comprehension& part : e.comprehensions)
      if (part.target) bind_target(*part.target, inner);
    for (size_t k = 0; k < e.comprehensions.size(); ++k) {
      // The first iterable is evaluated outside, as in Python.
      visit(e.comprehensions[k].iterable, k == 0 ? scope : inner);
      for (const auto& condition : e.comprehensions[k].conditions) visit(condition, inner);
    }
    visit_operands(e, inner);
  }

  void use(const std::string& name, Span span, size_t scope) {
    for (size_t at = scope; at != Symbol::kNone; at = names_.scopes_[at].parent) {
      const auto found = names_.scopes_[at].names.find(name);
      if (found == names_.scopes_[at].names.end()) continue;
      place(found->second, span);
      return;
    }
  }

  void note_keyword(const Expression& call, const dsl::Argument& argument, size_t scope) {
    const Expression* callee = call.operands.empty() ? nullptr : call.operands[0].get();
    if (!callee || callee->kind != ExpressionKind::kName) return;
    for (size_t at = scope; at != Symbol::kNone; at = names_.scopes_[at].parent) {
      const auto found = names_.scopes_[at].names.find(callee->text);
      if (found == names_.scopes_[at].names.end()) continue;
      keywords_.push_back({found->second, argument.name, argument.name_span});
      return;
    }
  }

  void use_keyword(const Keyword& keyword) {
    const Statement* function = names_.symbols_[keyword.function].function;
    if (!function) return;
    for (const dsl::Parameter& parameter : function->parameters) {
      if (parameter.name != keyword.name) continue;
      const auto at = names_.by_place_.find(parameter.span.begin);
      if (at != names_.by_place_.end()) place(at->second, keyword.span);
      return;
    }
  }

  Names& names_;
  const std::vector<dsl::Token>& tokens_;
  std::vector<Keyword> keywords_;
};

Names::Names(const dsl::Module& tree, const std::vector<dsl::Token>& tokens) {
  NameWalk(*this, tokens).run(tree);
  for (Symbol& symbol : symbols_) std::ranges::sort(symbol.places, {}, &Span::begin);
}

const Symbol* Names::at(uint32_t offset) const {
  auto after = by_place_.upper_bound(offset);
  if (after == by_place_.begin()) return nullptr;
  const auto [begin, index] = *std::prev(after);
  return offset <= begin + symbols_[index].name.size() ? &symbols_[index] : nullptr;
}

size_t Names::innermost(uint32_t offset) const {
  size_t best = 0;
  for (size_t k = 1; k < scopes_.size(); ++k)
    if (scopes_[k].span.begin <= offset && offset <= scopes_[k].span.end) best = k;
  return best;
}

const Symbol* Names::find(const std::string& name, uint32_t offset) const {
  for (size_t at = innermost(offset); at != Symbol::kNone; at = scopes_[at].parent)
    if (const auto found = scopes_[at].names.find(name); found != scopes_[at].names.end())
      return &symbols_[found->second];
  return nullptr;
}

std::vector<const Symbol*> Names::visible(uint32_t offset) const {
  std::vector<const Symbol*> visible;
  std::set<std::string_view> seen;
  for (size_t at = innermost(offset); at != Symbol::kNone; at = scopes_[at].parent)
    for (const auto& [name, symbol] : scopes_[at].names)
      if (seen.insert(name).second) visible.push_back(&symbols_[symbol]);
  return visible;
}

const Symbol* Names::global(const std::string& name) const {
  const auto found = scopes_[0].names.find(name);
  return found == scopes_[0].names.end() ? nullptr : &symbols_[found->second];
}

}  // namespace galatea::tools::lsp
