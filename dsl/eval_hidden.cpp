// What a text says beside what is meant: names that hide others, results that nobody uses. In: a name that did not
// do what was expected of it, a statement with its value. Out: labels, warnings.
#include <algorithm>

#include "dsl/bundles.h"
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"

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

// `xs = xs.append(x)`: a method that changes its list, and gives nothing.
void Evaluator::warn_assigns_none(const Expression& e) {
  if (e.kind != ExpressionKind::kCall || e.operands[0]->kind != ExpressionKind::kAttribute ||
      in_library(e.span))
    return;
  const Expression& method = *e.operands[0];
  const Expression& written = *method.operands[0];
  constexpr std::string_view kOfLists[] = {"append", "extend", "insert", "sort", "reverse"};
  const bool of_list = std::ranges::find(kOfLists, method.text) != std::end(kOfLists);
  if (!of_list && method.text != "update") return;
  bool is_display =
      of_list && (written.kind == ExpressionKind::kList || written.kind == ExpressionKind::kListComp);
  for (const Frame* frame = frame_; frame && written.kind == ExpressionKind::kName; frame = frame->parent) {
    const auto found = frame->env.find(written.text);
    if (found == frame->env.end()) continue;
    is_display = found->second.value.is(of_list ? ValueKind::kList : ValueKind::kDict);
    break;
  }
  if (!is_display) return;
  const std::string list = source_text(sources_, written.span);
  const std::string sorted = method.text == "sort"      ? "sorted(" + list + ")"
                             : method.text == "reverse" ? "list(reversed(" + list + "))"
                                                        : "";
  Diagnostic diagnostic =
      diagnose(Message::kAssignsNone, e.span,
               {method.text, of_list ? "list" : "dict",
                sorted.empty() ? "leave the assignment out: `" + source_text(sources_, e.span) + "`"
                               : "write `" + sorted + "` for a new one"});
  if (!sorted.empty() && e.arguments.empty()) diagnostic.edits.push_back({e.span, sorted, false});
  report(std::move(diagnostic));
}

namespace {

/// A static expression that does nothing; calls and lists of them may be made for what they print or change.
bool does_nothing(const Expression& e) {
  switch (e.kind) {
    case ExpressionKind::kName:
      return true;
    case ExpressionKind::kAttribute:
    case ExpressionKind::kSubscript:
    case ExpressionKind::kCompare:
    case ExpressionKind::kBinary:
    case ExpressionKind::kUnary:
      return std::ranges::all_of(e.operands, [](const ExpressionPtr& operand) {
        return operand &&
               (does_nothing(*operand) || operand->kind == ExpressionKind::kInteger ||
                operand->kind == ExpressionKind::kFloat || operand->kind == ExpressionKind::kString);
      });
    default:
      return false;
  }
}

}  // namespace

// An expression whose value nobody takes: a comparison where an assignment is meant, an operator that changes
// nothing. What a function of the text gives may be beside the point.
void Evaluator::warn_unused(const Statement& s, const Value& value, size_t errors_before) {
  const Expression& e = *s.value;
  if (value.is_poison() || value.is(ValueKind::kUnknown) || !alive() || pixel_ || in_library(s.span) ||
      sink_.num_errors() != errors_before)
    return;
  // What a function ends with is meant to be returned; of a pipeline that is told already.
  const bool ends_function = !calls_.empty() && calls_.back().body && calls_.back().body->back().get() == &s;
  if (ends_function && calls_.size() == 1) return;
  const Value made = value.is(ValueKind::kTuple) && has_node(value) ? value.elements()[0] : picture_of(value);
  const ir::Node* maker = made.is_node() && graph_ ? graph_->defining_node(made.node) : nullptr;
  const bool is_call = e.kind == ExpressionKind::kCall;
  if (!does_nothing(e) && !(maker && maker->span == e.span)) return;
  const std::string text = source_text(sources_, e.span);
  Diagnostic diagnostic = diagnose(Message::kUnusedResult, e.span,
                                   {text.empty() ? "the result of this" : "the result of `" + text + "`"});
  const bool compares = e.kind == ExpressionKind::kCompare && e.ops.size() == 1 && e.ops[0] == "==" &&
                        e.operands[0]->kind == ExpressionKind::kName;
  const bool changes = is_call && !value.is_sequence() && !e.arguments.empty() &&
                       e.arguments[0].name.empty() && e.arguments[0].value->kind == ExpressionKind::kName;
  if (ends_function) {
    diagnostic.help = "write `return` before it";
    diagnostic.edits.push_back({{e.span.file, e.span.begin, e.span.begin}, "return ", false});
  } else if (compares) {
    diagnostic.help = "write `" + e.operands[0]->text + " = …` to assign";
    const Span equals{e.span.file, e.operands[0]->span.end, e.operands[1]->span.begin};
    diagnostic.edits.push_back({equals, " = ", false});
  } else if (changes) {
    const std::string& name = e.arguments[0].value->text;
    diagnostic.help = "a data node never changes: write `" + name + " = …`";
    diagnostic.edits.push_back({{e.span.file, e.span.begin, e.span.begin}, name + " = ", false});
  }
  report(std::move(diagnostic));
}

}  // namespace galatea::dsl
