// What does not run: functions of a file that nobody calls, arms of an `if` of which nobody knows whether it holds,
// as its condition has a mistake. Names, operators and arguments of operators are looked up there all the same.
// In: statements, and the names around them. Out: diagnostics.
//
// What depends on values is not known without a call and stays unchecked; what belongs to the host program, as
// `torch.save`, is silent here, since it may well be called there.
#include <algorithm>
#include <set>
#include <utility>

#include "dsl/dali_names.h"
#include "dsl/evaluator.h"
#include "dsl/host_modules.h"
#include "dsl/parser.h"

namespace galatea::dsl {

namespace {

bool contains_return(const Suite& suite) {
  return std::any_of(suite.begin(), suite.end(), [&](const StatementPtr& s) {
    if (s->kind == StatementKind::kFunction) return false;
    return s->kind == StatementKind::kReturn || contains_return(s->body) || contains_return(s->orelse);
  });
}

// Whether it may end the loop around it.
bool contains_break(const Suite& suite) {
  return std::any_of(suite.begin(), suite.end(), [&](const StatementPtr& s) {
    if (s->kind == StatementKind::kFunction) return false;
    bool is_loop = s->kind == StatementKind::kFor || s->kind == StatementKind::kWhile;
    return s->kind == StatementKind::kBreak || (!is_loop && contains_break(s->body)) ||
           contains_break(s->orelse);
  });
}

/// Names that Python has anywhere and a pipeline file has no use for.
bool is_of_python(std::string_view name) {
  constexpr std::string_view kOthers[] = {"BaseException",  "BaseExceptionGroup", "Ellipsis",
                                          "ExceptionGroup", "GeneratorExit",      "KeyboardInterrupt",
                                          "NotImplemented", "StopAsyncIteration", "StopIteration"};
  return name.ends_with("Error") || name.ends_with("Warning") ||
         (name.starts_with("__") && name.ends_with("__")) ||
         std::ranges::find(kOthers, name) != std::end(kOthers) || python_name_advice(name) != nullptr;
}

}  // namespace

/// Walks the body of one function.
class UncalledFunction {
 public:
  UncalledFunction(Evaluator& evaluator, const Frame& file) : ev_(evaluator), file_(file) {}

  /// All of a file, not all of which was evaluated: what it has not bound, it may bind.
  void check_file(const Suite& suite) {
    std::vector<std::string> names;
    collect_bound_names(suite, names);
    std::erase_if(names, [this](const std::string& name) { return file_.env.contains(name); });
    Scope scope(*this, names, {});
    walk(suite);
  }

  /// Statements of a function, in so many of its loops, beside which `around` has values that nobody knows.
  void check_part(const Suite& suite, size_t num_loops, std::vector<std::string> around) {
    collect_bound_names(suite, around);
    Scope scope(*this, around, {});
    num_loops_ = num_loops;
    walk(suite);
  }

  void check(const std::vector<Parameter>& parameters, const Suite& body) {
    std::vector<std::string> names;
    collect_bound_names(body, names);
    Scope scope(*this, names, parameters);
    const size_t loops = std::exchange(num_loops_, 0);
    walk(body);
    num_loops_ = loops;
  }

  /// A function inside of others, which bind the names `around`.
  void check_inner(const FunctionObject& function, std::vector<const std::set<std::string>*> around) {
    around_ = std::move(around);
    if (function.body) return check(*function.parameters, *function.body);
    Scope own(*this, {}, *function.parameters);
    walk(function.expression);
  }

 private:
  struct Scope {
    Scope(UncalledFunction& walker, const std::vector<std::string>& names,
          const std::vector<Parameter>& parameters)
        : owner(walker) {
      std::set<std::string>& own = owner.scopes_.emplace_back(names.begin(), names.end());
      for (const Parameter& parameter : parameters) own.insert(parameter.name);
    }
    ~Scope() { owner.scopes_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    UncalledFunction& owner;
  };

  bool is_local(const std::string& name) const {
    return std::ranges::any_of(scopes_, [&](const auto& scope) { return scope.contains(name); }) ||
           std::ranges::any_of(around_, [&](const auto* scope) { return scope->contains(name); });
  }

  void walk(const Suite& suite) {
    for (const StatementPtr& s : suite) walk(*s);
  }
  void walk(const Statement& s) {
    if (s.kind == StatementKind::kUnsupported || s.kind == StatementKind::kError) return;
    if (s.kind == StatementKind::kFunction) {
      for (const ExpressionPtr& decorator : s.decorators) walk(decorator.get());
      for (const Parameter& parameter : s.parameters) walk(parameter.default_value.get());
      if (!s.body.empty()) check(s.parameters, s.body);
      return;
    }
    for (const ExpressionPtr& target : s.targets)
      if (target->kind != ExpressionKind::kName) walk(target.get());
    walk(s.value.get());
    walk(s.message.get());
    const bool leaves_loop = s.kind == StatementKind::kBreak || s.kind == StatementKind::kContinue;
    if (leaves_loop && num_loops_ == 0) ev_.report_outside_loop(s);
    const bool is_loop = s.kind == StatementKind::kFor || s.kind == StatementKind::kWhile;
    num_loops_ += is_loop ? 1 : 0;
    walk(s.body);
    num_loops_ -= is_loop ? 1 : 0;
    walk(s.orelse);
  }

  void walk(const Expression* e) {
    if (e) static_cast<void>(value_of(*e));
  }

  /// The value of a name, or of a member of a module; nothing where it is not known without a call.
  std::optional<Value> value_of(const Expression& e) {
    switch (e.kind) {
      case ExpressionKind::kName:
        return named(e);
      case ExpressionKind::kAttribute: {
        const std::optional<Value> base = value_of(*e.operands[0]);
        if (!base || !base->is(ValueKind::kModule)) return std::nullopt;
        auto& module = base->as<ModuleObject>();
        if (module.lookup == ModuleObject::Lookup::kHost) return std::nullopt;
        const Value value = ev_.module_member(module, e.text, e.text_span);
        return value.is_poison() ? std::nullopt : std::optional(value);
      }
      case ExpressionKind::kCall:
        call(e);
        return std::nullopt;
      case ExpressionKind::kLambda: {
        Scope scope(*this, {}, e.parameters);
        walk(e.operands[0].get());
        return std::nullopt;
      }
      case ExpressionKind::kListComp:
      case ExpressionKind::kDictComp:
      case ExpressionKind::kGenerator:
        comprehension(e);
        return std::nullopt;
      default:
        for (const ExpressionPtr& operand : e.operands) walk(operand.get());
        return std::nullopt;
    }
  }

  std::optional<Value> named(const Expression& e) {
    if (is_local(e.text)) return std::nullopt;
    if (const auto found = file_.env.find(e.text); found != file_.env.end()) {
      const Value& value = found->second.value;
      return value.is_poison() || value.is(ValueKind::kPending) ? std::nullopt : std::optional(value);
    }
    // What Python has and a pipeline has not may be meant for the host program.
    if (ev_.builtins_->names.contains(e.text) || is_of_python(e.text)) return std::nullopt;
    ev_.eval_name(e);
    return std::nullopt;
  }

  void call(const Expression& e) {
    const std::optional<Value> callee = value_of(*e.operands[0]);
    const bool is_operator =
        callee && (callee->is(ValueKind::kOperator) || callee->is(ValueKind::kOperatorObject));
    const op::Operator* op = is_operator ? callee->as<OperatorObject>().op : nullptr;
    for (const Argument& argument : e.arguments) {
      if (op && !argument.name.empty() && !op->typed_by_host)
        ev_.check_keyword(*op, argument.name, argument.name_span);
      walk(argument.value.get());
    }
  }

  void comprehension(const Expression& e) {
    // The parser gave it up.
    const auto is_broken = [](const Comprehension& clause) { return !clause.target || !clause.iterable; };
    if (e.comprehensions.empty() || std::ranges::any_of(e.comprehensions, is_broken)) return;
    std::vector<std::string> names;
    for (const Comprehension& clause : e.comprehensions) collect_target(*clause.target, names);
    walk(e.comprehensions[0].iterable.get());
    Scope scope(*this, names, {});
    for (size_t i = 0; i < e.comprehensions.size(); ++i) {
      if (i > 0) walk(e.comprehensions[i].iterable.get());
      for (const ExpressionPtr& condition : e.comprehensions[i].conditions) walk(condition.get());
    }
    for (const ExpressionPtr& operand : e.operands) walk(operand.get());
  }

  Evaluator& ev_;
  const Frame& file_;
  std::vector<std::set<std::string>> scopes_;
  std::vector<const std::set<std::string>*> around_;
  size_t num_loops_ = 0;  ///< around the statement, in its function
};

// What may or may not have run: whatever it assigns is poison, and so is what it may have returned.
void Evaluator::poison_suite(const Suite& suite) {
  std::vector<std::string> names;
  collect_bound_names(suite, names);
  poison(names);
  if (contains_return(suite)) frame_->call->result_poisoned = true;
  if (contains_break(suite) && !frame_->loops.empty()) frame_->loops.back()->poisoned = true;
}

// The same, where it was meant to run: its own mistakes are told.
void Evaluator::skip_suite(const Suite& suite, size_t num_loops) {
  poison_suite(suite);
  const Frame* file = frame_;
  std::vector<std::string> around;
  for (; file->parent != nullptr; file = file->parent) {
    for (const auto& [name, binding] : file->env) around.push_back(name);
    if (file->locals) around.insert(around.end(), file->locals->begin(), file->locals->end());
  }
  if (suite.empty() || in_library(suite[0]->span)) return;
  const bool said_nothing_twice = std::exchange(says_nothing_twice_, true);
  UncalledFunction(*this, *file).check_part(suite, num_loops, std::move(around));
  says_nothing_twice_ = said_nothing_twice;
}

void Evaluator::check_uncalled(ModuleObject& module) {
  if (left_some_) return check_rest(module);
  if (!module.frame) return;
  std::vector<FunctionObject*> uncalled;
  for (const auto& [name, binding] : module.frame->env) {
    if (!binding.value.is(ValueKind::kFunction)) continue;
    auto& function = binding.value.as<FunctionObject>();
    if (function.module == &module && function.body && !function.called && !function.poisoned)
      uncalled.push_back(&function);
  }
  std::ranges::sort(uncalled, {}, [](const FunctionObject* f) { return f->span.begin; });
  Frame* caller = std::exchange(frame_, module.frame);
  for (const FunctionObject* function : uncalled)
    UncalledFunction(*this, *module.frame).check(*function->parameters, *function->body);
  check_inner_functions(module);
  frame_ = caller;
}

void Evaluator::check_inner_functions(ModuleObject& module) {
  std::vector<const InnerFunction*> uncalled;
  for (const auto& [body, inner] : inner_functions_)
    if (!inner.called && inner.function->module == &module && !inner.function->poisoned)
      uncalled.push_back(&inner);
  std::ranges::sort(uncalled, {}, [](const InnerFunction* inner) { return inner->function->span.begin; });
  says_nothing_twice_ = true;
  for (const InnerFunction* inner : uncalled) {
    std::vector<const std::set<std::string>*> around = inner->around;
    around.push_back(&inner->loose);
    UncalledFunction(*this, *module.frame).check_inner(*inner->function, std::move(around));
  }
  says_nothing_twice_ = false;
}

void Evaluator::note_inner_function(const FunctionObject& function) {
  if (in_library(function.span)) return;
  const auto [known, is_new] = inner_functions_.try_emplace(
      function.body ? static_cast<const void*>(function.body) : function.expression);
  if (!is_new) return;
  known->second.function = &function;
  InnerFunction& inner = known->second;
  for (const Frame* frame = function.closure; frame->parent != nullptr; frame = frame->parent) {
    if (frame->locals) inner.around.push_back(frame->locals);
    if (frame->is_comprehension)
      for (const auto& [name, binding] : frame->env) inner.loose.insert(name);
  }
}

void Evaluator::check_rest(ModuleObject& module) {
  if (!module.frame || !main_tree_) return;
  Frame* caller = std::exchange(frame_, module.frame);
  says_nothing_twice_ = true;
  UncalledFunction(*this, *module.frame).check_file(main_tree_->body);
  says_nothing_twice_ = false;
  frame_ = caller;
}

void Evaluator::check_keyword(const op::Operator& op, const std::string& name, Span span) {
  if (!is_known_keyword(op, name)) fail_unknown_argument(op, {name, Value::none(), span, span}, {});
}

bool Evaluator::is_known_keyword(const op::Operator& op, const std::string& name) {
  constexpr std::string_view kCommon[] = {"device", "compat", "name", "preserve", "bytes_per_sample_hint",
                                          "seed"};
  return op.find_arg(name) || std::ranges::find(kCommon, name) != std::end(kCommon) ||
         renamed_argument(op.name, name);
}

}  // namespace galatea::dsl
