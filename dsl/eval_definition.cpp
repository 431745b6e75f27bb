// `def`, decorators, and what becomes a pipeline. In: the statement. Out: a name for the function, or for
// what its decorators made of it.
#include "base/diagnostic.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

/// What the decorator of a pipeline is called by those who do not know its name.
bool is_pipeline_by_slip(std::string_view name) {
  return name == "pipeline" || name == "Pipeline" || name == "dali_pipeline" || name == "pipe" ||
         name == "define_pipeline" || name == "def_pipeline" || name == "make_pipeline";
}

/// `from __future__ import annotations`: what stands in them may be defined later, or nowhere.
bool postpones_annotations(const Frame& frame) {
  const Frame* file = &frame;
  while (file->parent != nullptr) file = file->parent;
  const auto found = file->env.find("annotations");
  return found != file->env.end() && found->second.value.is(ValueKind::kNone);
}

}  // namespace

void Evaluator::run_function(const Statement& s) {
  auto* function = arena.make<FunctionObject>();
  function->name = s.text;
  function->parameters = &s.parameters;
  function->body = &s.body;
  function->closure = frame_;
  function->module = frame_->module;
  function->span = s.keyword_span;
  function->poisoned = s.has_syntax_error && s.body.empty();
  function->has_syntax_error = s.has_syntax_error;
  frame_->has_closures = true;
  for (const Parameter& parameter : s.parameters) {
    function->defaults.push_back(parameter.default_value ? eval(*parameter.default_value) : Value());
    // Those of a pipeline are checked with the values of its parameters.
    const bool is_plain =
        s.decorators.empty() && !s.has_syntax_error && !in_library(s.span) && !postpones_annotations(*frame_);
    if (parameter.annotation && is_plain) check_type_name(*parameter.annotation, frame_);
  }
  if (frame_->parent) note_inner_function(*function);
  Value value(ValueKind::kFunction, function);
  for (auto decorator = s.decorators.rbegin(); decorator != s.decorators.rend(); ++decorator) {
    if (!alive()) return;
    const bool is_told = is_decorator_by_slip(**decorator);
    value = apply_decorator(is_told ? Value::poison() : eval(**decorator), value, s, **decorator);
  }
  bind(s.text, value, s.keyword_span);
}

// `@pipeline` where there is no such name: reported, and true.
bool Evaluator::is_decorator_by_slip(const Expression& decorator) {
  const bool is_call = decorator.kind == ExpressionKind::kCall;
  const Expression& name = is_call ? *decorator.operands[0] : decorator;
  if (name.kind != ExpressionKind::kName || knows(name.text) || !is_pipeline_by_slip(name.text)) return false;
  Diagnostic diagnostic = diagnose(Message::kUnknownName, name.span, {name.text});
  diagnostic.help = "write `@pipeline_def(batch_size=8)`";
  diagnostic.edits.push_back({name.span, "pipeline_def", knows("pipeline_def")});
  report(std::move(diagnostic));
  for (const Argument& argument : decorator.arguments) eval(*argument.value);
  return true;
}

Value Evaluator::apply_decorator(const Value& decorator, Value function, const Statement& s,
                                 const Expression& expression) {
  if (function.is_poison()) return Value::poison();
  if (decorator.is_poison()) {
    // `@pipelinedef(batch_size=8)`: the function is checked as what is meant.
    const Expression& callee =
        expression.kind == ExpressionKind::kCall ? *expression.operands[0] : expression;
    const bool is_meant = callee.text == "pipeline_def" || is_pipeline_by_slip(callee.text) ||
                          closest_match(callee.text, {"pipeline_def"});
    return is_meant && !callee.text.empty() ? define_pipeline(function, nullptr, s) : Value::poison();
  }
  if (decorator.is(ValueKind::kDecorator))
    return define_pipeline(function, &decorator.as<DecoratorObject>(), s);
  if (decorator.is(ValueKind::kBuiltin) && decorator.as<BuiltinObject>().name == "pipeline_def")
    return define_pipeline(function, nullptr, s);
  CallArguments arguments;
  arguments.positional = {function};
  arguments.spans = {s.keyword_span};
  arguments.span = arguments.callee_span = expression.span;
  arguments.callee_text = "@";
  return call(decorator, arguments);
}

Value Evaluator::define_pipeline(const Value& function, const DecoratorObject* decorator,
                                 const Statement& s) {
  if (!function.is(ValueKind::kFunction))
    return fail(Message::kPipelineOfWhat, s.keyword_span, {describe_kind(function)});
  auto* pipeline = arena.make<PipelineObject>();
  pipeline->name = s.text;
  pipeline->function = &function.as<FunctionObject>();
  pipeline->span = s.keyword_span;
  if (decorator) {
    pipeline->options = decorator->options;
    pipeline->option_spans = decorator->option_spans;
    pipeline->option_name_spans = decorator->option_name_spans;
  }
  for (const Parameter& p : s.parameters) {
    if (p.kind == ParameterKind::kKwArgs || p.kind == ParameterKind::kVarArgs)
      fail(Message::kPipelineStarParameter, p.span,
           {(p.kind == ParameterKind::kKwArgs ? "**" : "*") + p.name});
  }
  if (frame_->module == main_module_ && !graph_) {
    for (const PipelineObject* other : pipelines_) {
      if (other->name != pipeline->name) continue;
      Diagnostic diagnostic = diagnose(Message::kDuplicatePipeline, s.keyword_span, {s.text});
      diagnostic.labels.push_back({other->span, "first defined here"});
      return report(std::move(diagnostic));
    }
    pipelines_.push_back(pipeline);
  }
  return Value(ValueKind::kPipeline, pipeline);
}

}  // namespace galatea::dsl
