// Names that hide others: where the value was assigned that stands in the way. In: a name that did not do what was
// expected of it. Out: labels.
#include <algorithm>

#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

/// The part of an assignment's target that is this name; nullptr: there is none.
const Expression* target_named(const Expression& target, const std::string& name) {
  if (target.kind == ExpressionKind::kName) return target.text == name ? &target : nullptr;
  for (const ExpressionPtr& operand : target.operands)
    if (const Expression* found = operand ? target_named(*operand, name) : nullptr) return found;
  return nullptr;
}

/// Where a function first binds a name by a statement of its own; invalid: nowhere.
Span first_binding(const Suite& suite, const std::string& name) {
  for (const StatementPtr& s : suite) {
    const bool is_element = !s->targets.empty() && s->targets[0]->kind == ExpressionKind::kSubscript;
    for (const ExpressionPtr& target : s->targets)
      if (const Expression* found = is_element ? nullptr : target_named(*target, name)) return found->span;
    if (s->kind == StatementKind::kFunction) {
      if (s->text == name) return s->keyword_span;
      continue;
    }
    for (const ImportName& imported : s->names)
      if ((imported.alias.empty() ? imported.name : imported.alias) == name) return imported.span;
    for (const Suite* inner : {&s->body, &s->orelse})
      if (const Span found = first_binding(*inner, name); found.valid()) return found;
  }
  return {};
}

}  // namespace

Value Evaluator::fail_before_assignment(const Expression& e, const Frame& frame) {
  Diagnostic diagnostic = diagnose(Message::kUsedBeforeAssignment, e.span, {e.text});
  const auto active =
      std::ranges::find_if(calls_, [&](const ActiveCall& call) { return call.frame == &frame; });
  if (active != calls_.end() && active->body)
    if (const Span at = first_binding(*active->body, e.text); at.valid())
      diagnostic.labels.push_back({at, "it is assigned here, so that it is a variable of the function"});
  for (const Frame* outer = frame.parent; outer; outer = outer->parent) {
    const auto found = outer->env.find(e.text);
    if (found == outer->env.end() || !found->second.span.valid()) continue;
    diagnostic.labels.push_back({found->second.span, "and hides this one"});
    break;
  }
  return report(std::move(diagnostic));
}

bool Evaluator::hides_another(const std::string& name, const Frame& frame) {
  for (const Frame* outer = frame.parent; outer; outer = outer->parent)
    if (outer->env.contains(name)) return true;
  return false;
}

// Where the name of a built-in or of a module of the library has got another value.
void Evaluator::label_hiding(Diagnostic& diagnostic, const Expression* name) const {
  if (!name || name->kind != ExpressionKind::kName) return;
  const bool hides = builtins_->names.contains(name->text) || library_.contains(name->text) ||
                     library_.contains("nvidia.dali." + name->text);
  for (const Frame* frame = frame_; hides && frame; frame = frame->parent) {
    const auto found = frame->env.find(name->text);
    if (found == frame->env.end()) continue;
    if (diagnostic.help.empty()) diagnostic.help = "give the value another name";
    if (found->second.span.valid() && found->second.span != diagnostic.span)
      diagnostic.labels.push_back(
          {found->second.span, "`" + name->text + "` is assigned here, which hides the one of that name"});
    return;
  }
}

}  // namespace galatea::dsl
