// Statements. In: the syntax tree and the current path. Out: the path after them: variables, blocks, ended
// paths.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"
#include "dsl/parser.h"

namespace galatea::dsl {

void collect_target(const Expression& target, std::vector<std::string>& names) {
  if (target.kind == ExpressionKind::kName) names.push_back(target.text);
  bool compound = target.kind == ExpressionKind::kTuple || target.kind == ExpressionKind::kList ||
                  target.kind == ExpressionKind::kStarred;
  if (!compound) return;
  for (const ExpressionPtr& operand : target.operands) collect_target(*operand, names);
}

namespace {

// Names that `:=` binds inside an expression.
void collect_named(const Expression* e, std::vector<std::string>& names) {
  if (!e || e->kind == ExpressionKind::kLambda) return;
  if (e->kind == ExpressionKind::kNamed) names.push_back(e->text);
  for (const ExpressionPtr& operand : e->operands) collect_named(operand.get(), names);
  for (const Argument& argument : e->arguments) collect_named(argument.value.get(), names);
  for (const Comprehension& clause : e->comprehensions) {
    collect_named(clause.iterable.get(), names);
    for (const ExpressionPtr& condition : clause.conditions) collect_named(condition.get(), names);
  }
}

std::string_view loop_name(const Statement& s) { return s.kind == StatementKind::kFor ? "`for`" : "`while`"; }

}  // namespace

void collect_bound_names(const Suite& suite, std::vector<std::string>& names) {
  for (const StatementPtr& s : suite) {
    for (const ExpressionPtr& target : s->targets) collect_target(*target, names);
    collect_named(s->value.get(), names);
    if (s->kind == StatementKind::kFunction) {
      names.push_back(s->text);
      continue;
    }
    if (s->kind == StatementKind::kImport || s->kind == StatementKind::kImportFrom) {
      for (const ImportName& name : s->names)
        names.push_back(!name.alias.empty() ? name.alias : name.name.substr(0, name.name.find('.')));
    }
    collect_bound_names(s->body, names);
    collect_bound_names(s->orelse, names);
  }
}

void Evaluator::run_suite(const Suite& suite) {
  for (const StatementPtr& statement : suite) {
    if (!alive() || !step(statement->span)) return;
    run_statement(*statement);
  }
}

void Evaluator::run_statement(const Statement& s) {
  switch (s.kind) {
    case StatementKind::kError:
    case StatementKind::kPass:
      return;
    case StatementKind::kUnsupported:
      return run_unsupported(s);
    case StatementKind::kTryImport:
      return run_suite(s.body);
    case StatementKind::kExpression: {
      const size_t errors = sink_.num_errors();
      const Value value = eval_whole(*s.value);
      return warn_unused(s, value, errors);
    }
    case StatementKind::kAssign:
      return run_assign(s);
    case StatementKind::kAugAssign:
      return run_augmented(s);
    case StatementKind::kAnnAssign:
      return run_annotated(s);
    case StatementKind::kReturn:
      return run_return(s);
    case StatementKind::kIf:
      return run_if(s);
    case StatementKind::kFor:
      return run_for(s);
    case StatementKind::kWhile:
      return run_while(s);
    case StatementKind::kBreak:
    case StatementKind::kContinue:
      return run_break(s);
    case StatementKind::kAssert:
      return run_assert(s);
    case StatementKind::kRaise:
      return run_raise(s);
    case StatementKind::kFunction:
      return run_function(s);
    case StatementKind::kImport:
      return run_import(s);
    case StatementKind::kImportFrom:
      return run_import_from(s);
  }
}

// ---- assignment ----

void Evaluator::bind(const std::string& name, const Value& value, Span span) {
  if (frame_->misused.contains(name)) return;  // told already, and poison
  frame_->env[name] = {value, span};
  if (!value.is_node() || !graph_) return;
  // The name of a field, `.boxes` or `t.image`, gives way to that of a variable.
  std::string& known = graph_->values[value.node].variable;
  if (known.empty() || known.contains('.')) known = name;
}

void Evaluator::run_assign(const Statement& s) {
  Value value = eval_whole(*s.value);
  if (s.value->kind == ExpressionKind::kGenerator && !value.is_poison()) {
    fail(Message::kUnsupportedSyntax, s.value->span,
         {"a generator that is kept", "write a list: `[… for … in …]`"});
    value = Value::poison();
  }
  if (!alive()) return;
  if (value.is(ValueKind::kNone)) warn_assigns_none(*s.value);
  for (const ExpressionPtr& target : s.targets) assign(*target, value, s.span);
}

void Evaluator::assign(const Expression& target, const Value& value, Span span) {
  switch (target.kind) {
    case ExpressionKind::kName:
      note_meaning(target.span, value);
      return bind(target.text, value, span);
    case ExpressionKind::kTuple:
    case ExpressionKind::kList:
      return assign_sequence(target, value, span);
    case ExpressionKind::kSubscript:
      return assign_element(target, value);
    case ExpressionKind::kAttribute:
      return fail_attribute_assignment(target, eval(*target.operands[0]));
    default:
      return;
  }
}

void Evaluator::fail_attribute_assignment(const Expression& target, const Value& base) {
  if (base.is_poison()) return;
  Diagnostic diagnostic = diagnose(Message::kAttributeAssignment, target.span, {target.text});
  const std::string name = source_text(sources_, target.operands[0]->span);
  if (base.is_node())
    diagnostic.help =
        target.text == "layout"
            ? "a data node never changes: write `" + name + " = fn.reinterpret(" + name + ", layout=…)`"
            : "a data node never changes: make a new one with the operators of `fn`";
  report(std::move(diagnostic));
}

void Evaluator::fail_unpack_node(const Expression& target, const Value& value, Span span) {
  Diagnostic diagnostic =
      diagnose(Message::kUnpackNode, span, {std::to_string(target.operands.size()), type_text(value)});
  const ir::Node* maker = graph_->defining_node(value.node);
  const bool is_operator = !target.operands.empty() && maker && maker->op && !maker->op->internal &&
                           maker->outputs.size() == 1 && (maker->op->source || target.operands.size() == 2);
  if (is_operator && cover(span, maker->span) == span)
    diagnostic.help = "this call of `fn." + maker->op->name + "` gives one value: write `" +
                      source_text(sources_, target.operands[0]->span) + " = …`";
  report(std::move(diagnostic));
}

void Evaluator::assign_sequence(const Expression& target, const Value& value, Span span) {
  auto poison_all = [&] {
    std::vector<std::string> names;
    collect_target(target, names);
    poison(names);
  };
  if (value.is_poison()) return poison_all();
  if (value.is_node()) {
    fail_unpack_node(target, value, span);
    return poison_all();
  }
  auto elements = iterate(value, span, "unpacked");
  if (!elements) return poison_all();
  size_t wanted = target.operands.size();
  size_t star = wanted;
  for (size_t i = 0; i < wanted; ++i) {
    if (target.operands[i]->kind == ExpressionKind::kStarred) star = i;
  }
  bool fits = star < wanted ? elements->size() + 1 >= wanted : elements->size() == wanted;
  if (!fits) {
    std::string count =
        (star < wanted ? "at least " : "") + std::to_string(star < wanted ? wanted - 1 : wanted);
    Diagnostic diagnostic =
        diagnose(Message::kUnpackCount, span,
                 {count + (count == "1" ? " name" : " names"),
                  std::to_string(elements->size()) + (elements->size() == 1 ? " value" : " values")});
    diagnostic.help =
        elements->size() < wanted
            ? fmt::format("there {}: remove a name, or give a value for it",
                          elements->size() == 1 ? "is only 1 value"
                                                : fmt::format("are only {} values", elements->size()))
            : "a star takes the values that are left: `a, *rest = …`";
    report(std::move(diagnostic));
    return poison_all();
  }
  size_t extra = elements->size() + (star < wanted ? 1 : 0) - wanted;
  for (size_t i = 0, at = 0; i < wanted; ++i) {
    if (i != star) {
      assign(*target.operands[i], (*elements)[at++], span);
      continue;
    }
    auto begin = elements->begin() + static_cast<std::ptrdiff_t>(at);
    at += extra;
    Value rest =
        make_list(std::vector<Value>(begin, elements->begin() + static_cast<std::ptrdiff_t>(at)), span);
    assign(*target.operands[i]->operands[0], rest, span);
  }
}

// xs[i] = value, d[key] = value.
void Evaluator::assign_element(const Expression& target, const Value& value) {
  Value base = eval_spoiled(*target.operands[0]);
  if (base.is_node()) return void(fail(Message::kNodeElementAssignment, target.span, {describe_kind(base)}));
  if (base.is(ValueKind::kArray)) return assign_array(target, base, value);
  if (target.operands[1]->kind == ExpressionKind::kSlice) return assign_slice(target, base, value);
  Value key = eval(*target.operands[1]);
  if (base.is_poison() || contains_poison(key) || !alive()) return;
  if (base.is(ValueKind::kDict)) {
    std::string text = key_of(key);
    if (text.empty()) return void(fail_key(key, target.operands[1]->span));
    if (may_change(base, target.span)) base.dict().set(text, key, value);
    return;
  }
  if (!base.is(ValueKind::kList)) {
    fail(Message::kElementAssignment, target.span, {describe_kind(base)});
    return;
  }
  SequenceObject& list = base.sequence();
  if (!key.is_integral())
    return void(fail(Message::kIndexKind, target.operands[1]->span, {describe_kind(key)}));
  auto size = static_cast<int64_t>(list.elements.size());
  int64_t at = key.as_int() < 0 ? key.as_int() + size : key.as_int();
  if (at < 0 || at >= size) {
    Diagnostic diagnostic = diagnose(Message::kIndexRange, target.operands[1]->span,
                                     {std::to_string(key.as_int()), "list", std::to_string(size)});
    const std::string list_text = source_text(sources_, target.operands[0]->span);
    if (at == size) diagnostic.help = "an element is added with `" + list_text + ".append(…)`";
    return void(report(std::move(diagnostic)));
  }
  if (may_change(base, target.span)) list.elements[static_cast<size_t>(at)] = value;
}

// xs[begin:end:step] = values. With a step of one the list grows or shrinks.
void Evaluator::assign_slice(const Expression& target, const Value& base, const Value& value) {
  const Expression& slice = *target.operands[1];
  if (base.is_poison()) return;
  if (!base.is(ValueKind::kList)) {
    fail(Message::kElementAssignment, target.span, {describe_kind(base)});
    return;
  }
  const auto places = slice_places(base, slice, static_cast<int64_t>(base.elements().size()), slice.span);
  if (!places) return;
  const auto values = iterate(value, slice.span, "assigned to a slice");
  if (!values || !may_change(base, target.span)) return;
  std::vector<Value>& elements = base.sequence().elements;
  const auto [begin, count, step] = *places;
  if (step == 1) {
    const auto first = elements.begin() + begin;
    elements.insert(elements.erase(first, first + count), values->begin(), values->end());
    spend(elements.size());
    return;
  }
  if (static_cast<int64_t>(values->size()) != count) {
    fail(Message::kSliceAssignment, target.span, {std::to_string(values->size()), std::to_string(count)});
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    elements[static_cast<size_t>(begin + i * step)] = (*values)[static_cast<size_t>(i)];
}

void Evaluator::run_augmented(const Statement& s) {
  const Expression& target = *s.targets[0];
  if (target.kind == ExpressionKind::kAttribute) {
    fail(Message::kAttributeAssignment, target.span, {target.text});
    return;
  }
  // A part of an array is only read here, and no view of it stays.
  const bool is_part =
      target.kind == ExpressionKind::kSubscript && target.operands[0]->kind == ExpressionKind::kName;
  const Value base = is_part ? eval_spoiled(*target.operands[0]) : Value::none();
  if (base.is_poison()) return void(eval_whole(*s.value));
  const bool had_views = base.is(ValueKind::kArray) && base.as<ArrayObject>().has_views;
  Value old = eval_spoiled(target);
  if (base.is(ValueKind::kArray)) base.as<ArrayObject>().has_views = had_views;
  Value operand = eval_whole(*s.value);
  if (!alive()) return;
  std::string op = s.text.substr(0, s.text.size() - 1);
  if (target.kind != ExpressionKind::kSubscript && old.is(ValueKind::kArray) &&
      !old.as<ArrayObject>().shape.empty()) {
    // In place, so that other names of the array and its slices would change too.
    Diagnostic diagnostic = diagnose(Message::kArrayConstant, s.span,
                                     {"`" + s.text + "`", "make a new one: `x = x " + op + " …`"});
    const std::string name = source_text(sources_, target.span), value = source_text(sources_, s.value->span);
    constexpr std::array kAlone = {ExpressionKind::kName, ExpressionKind::kInteger, ExpressionKind::kFloat,
                                   ExpressionKind::kCall, ExpressionKind::kAttribute};
    const bool is_alone = std::ranges::find(kAlone, s.value->kind) != kAlone.end();
    if (!name.empty() && !value.empty()) {
      const std::string meant = name + " = " + name + " " + op + " " + (is_alone ? value : "(" + value + ")");
      diagnostic.help = "make a new one: `" + meant + "`";
      diagnostic.edits.push_back({s.span, meant, false});
    }
    report(std::move(diagnostic));
    return assign(target, Value::poison(), s.span);
  }
  // These change a list or dict in place, as in Python: its other names see it.
  bool in_place =
      (old.is(ValueKind::kList) && (op == "+" || op == "*")) || (old.is(ValueKind::kDict) && op == "|");
  if (!in_place || operand.is_poison())
    return assign(target, binary(op, old, operand, s.span, target.span, s.value->span), s.span);
  if (op == "+") {
    auto added = iterate(operand, s.value->span, "added to a list");
    if (!added) return assign(target, Value::poison(), s.span);
    if (!check_size((old.elements().size() + added->size()) * sizeof(Value), s.span)) return;
    if (!may_change(old, s.span)) return;
    old.elements().insert(old.elements().end(), added->begin(), added->end());
    arena.count(added->size() * sizeof(Value));
    return assign(target, old, s.span);
  }
  Value result = binary(op, old, operand, s.span, target.span, s.value->span);
  bool changed = result.kind == old.kind;
  if (changed && !may_change(old, s.span)) return;
  if (changed && result.is(ValueKind::kList)) old.elements() = result.elements();
  if (changed && result.is(ValueKind::kDict)) {
    old.dict().entries = result.dict().entries;
    old.dict().index = result.dict().index;
  }
  assign(target, changed ? old : result, s.span);
}

void Evaluator::run_annotated(const Statement& s) {
  if (!s.value) return;
  Value value = eval_whole(*s.value);
  if (!alive()) return;
  const Expression& target = *s.targets[0];
  if (!check_annotation(s.annotation.get(), value, "`" + source_text(sources_, target.span) + "`",
                        target.span, frame_))
    value = Value::poison();
  assign(target, value, s.span);
}

// ---- poison ----

// The expression of a statement. If it fails, what `:=` would have bound in it is poison, not unknown.
Value Evaluator::eval_whole(const Expression& e) {
  Value value = eval(e);
  if (!value.is_poison() || !alive()) return value;
  std::vector<std::string> names;
  collect_named(&e, names);
  std::erase_if(names, [&](const std::string& name) { return frame_->env.contains(name); });
  poison(names);
  return value;
}

void Evaluator::poison(const std::vector<std::string>& names) {
  for (const std::string& name : names) frame_->env[name] = {Value::poison(), {}};
}

// What is out has been reported; what it would have bound says nothing more.
void Evaluator::run_unsupported(const Statement& s) {
  std::vector<std::string> names;
  for (const ExpressionPtr& target : s.targets) collect_target(*target, names);
  // A class of the host program stands where nothing of a pipeline needs it.
  if (!s.advice.empty() && s.text == "`class`" && names.size() == 1)
    return bind(names[0], Value(ValueKind::kModule, host_class(names[0], s.advice)), s.span);
  if (!s.advice.empty()) {
    Diagnostic refusal = diagnose(Message::kUnsupportedSyntax, s.keyword_span, {s.text, s.advice});
    const auto is_same = [&](const Diagnostic& other) {
      return other.code == refusal.code && other.span == refusal.span;
    };
    if (std::ranges::none_of(sink_.diagnostics(), is_same)) report(std::move(refusal));
  }
  poison(names);
  poison_suite(s.body);
  poison_suite(s.orelse);
}

// ---- control flow ----

void Evaluator::run_if(const Statement& s) {
  Value condition = eval_whole(*s.value);
  if (!alive()) return;
  auto poison_arms = [&] {
    skip_suite(s.body, frame_->loops.size());
    skip_suite(s.orelse, frame_->loops.size());
  };
  if (!has_truth(condition, s.value->span)) return poison_arms();
  if (!condition.is_node()) return run_suite(truth(condition) ? s.body : s.orelse);
  auto arm = [&](const Suite& suite) {
    return [this, &suite] {
      run_suite(suite);
      return Value::none();
    };
  };
  Span then_span = s.body.empty() ? s.span : s.body.back()->span;
  Span otherwise_span = s.orelse.empty() ? Span{} : s.orelse.back()->span;
  Value result = branch(condition, s.value->span, s.keyword_span, "`if`", false, arm(s.body), arm(s.orelse),
                        then_span, otherwise_span);
  if (result.is_poison()) poison_arms();
}

// One round of a loop; goes_on: some path begins the next one.
void Evaluator::run_loop_body(const Statement& s, LoopState& loop, bool& goes_on) {
  frame_->loops.push_back(&loop);
  run_suite(s.body);
  frame_->loops.pop_back();
  std::vector<Path> next = std::move(loop.continues);
  loop.continues.clear();
  if (alive()) next.push_back(end_path(Value::none(), s.keyword_span));
  if (aborted_) {
    goes_on = false;
    return;
  }
  join(std::move(next), s.keyword_span, loop_name(s), false);
  goes_on = alive() && !loop.poisoned;
}

// Where the loop was left by `break`, or nobody knows whether it was.
void Evaluator::run_else(const Statement& s, const LoopState& loop) {
  if (!alive()) return;
  if (!loop.poisoned) return run_suite(s.orelse);
  skip_suite(s.body, frame_->loops.size() + 1);
  skip_suite(s.orelse, frame_->loops.size());
}

void Evaluator::finish_loop(const Statement& s, LoopState& loop) {
  if (aborted_) return;
  std::vector<Path> paths = std::move(loop.breaks);
  if (alive()) paths.push_back(end_path(Value::none(), s.keyword_span));
  join(std::move(paths), s.keyword_span, loop_name(s), false);
}

// `for k, v in d:`: a dict gives its keys.
void Evaluator::fail_pairs_of_dict(const Statement& s) {
  Diagnostic diagnostic =
      diagnose(Message::kNotIterable, s.value->span, {"a `dict`", "looped over by pairs"});
  diagnostic.message = "a loop over a dict gives its keys, not pairs";
  diagnostic.help = "write `" + source_text(sources_, s.value->span) + ".items()`";
  const uint32_t end = s.value->span.end;
  diagnostic.edits.push_back({{s.value->span.file, end, end}, ".items()", true});
  report(std::move(diagnostic));
  std::vector<std::string> names;
  collect_target(*s.targets[0], names);
  poison(names);
}

void Evaluator::run_for(const Statement& s) {
  Value iterable = eval_whole(*s.value);
  if (!alive()) return;
  std::optional<std::vector<Value>> elements;
  if (!iterable.is_poison()) elements = iterate(iterable, s.value->span, "looped over");
  LoopState loop;
  CallState& call = *frame_->call;
  if (!elements) {
    std::vector<std::string> names;
    collect_target(*s.targets[0], names);
    poison(names);
    loop.poisoned = true;
    return run_else(s, loop);
  }
  call.unroll.push_back(0);
  bool goes_on = true;
  for (size_t i = 0; i < elements->size() && goes_on && alive(); ++i) {
    if (!step(s.span)) break;
    call.unroll.back() = static_cast<uint32_t>(i);
    const bool takes_pairs = iterable.is(ValueKind::kDict) && s.targets[0]->kind == ExpressionKind::kTuple &&
                             (*elements)[i].is(ValueKind::kString);
    if (takes_pairs) {
      fail_pairs_of_dict(s);
      loop.poisoned = true;
      break;
    }
    assign(*s.targets[0], (*elements)[i], s.targets[0]->span);
    run_loop_body(s, loop, goes_on);
  }
  call.unroll.pop_back();
  run_else(s, loop);
  finish_loop(s, loop);
}

void Evaluator::run_while(const Statement& s) {
  LoopState loop;
  CallState& call = *frame_->call;
  call.unroll.push_back(0);
  bool goes_on = true;
  while (alive() && goes_on) {
    if (!step(s.span)) break;
    Value condition = eval_whole(*s.value);
    if (!alive()) break;
    std::optional<bool> holds = static_truth(condition, s.value->span, "`while`");
    loop.poisoned = loop.poisoned || !holds;
    if (!holds || !*holds) break;
    run_loop_body(s, loop, goes_on);
    ++call.unroll.back();
  }
  call.unroll.pop_back();
  run_else(s, loop);
  finish_loop(s, loop);
}

void Evaluator::report_outside_loop(const Statement& s) {
  fail(Message::kOutsideLoop, s.span, {s.kind == StatementKind::kBreak ? "break" : "continue"});
}

void Evaluator::run_break(const Statement& s) {
  if (frame_->loops.empty()) return report_outside_loop(s);
  LoopState& loop = *frame_->loops.back();
  (s.kind == StatementKind::kBreak ? loop.breaks : loop.continues).push_back(end_path(Value::none(), s.span));
}

void Evaluator::run_return(const Statement& s) {
  if (!frame_->locals) {
    fail(Message::kReturnOutside, s.span);
    return;
  }
  Value value = s.value ? eval(*s.value) : Value::none();
  if (!alive()) return;
  remember_returned(s.value.get());
  frame_->call->returns.push_back(end_path(value, s.span));
}

// What a pipeline returns is spoken of element by element.
void Evaluator::remember_returned(const Expression* value) {
  returned_ = value;
  returned_bindings_.clear();
  if (!value) return;
  const bool listed = value->kind == ExpressionKind::kTuple || value->kind == ExpressionKind::kList;
  const auto binding = [&](const Expression& e) {
    const auto found = e.kind == ExpressionKind::kName ? frame_->env.find(e.text) : frame_->env.end();
    return found == frame_->env.end() ? Span{} : found->second.span;
  };
  if (!listed) return returned_bindings_.push_back(binding(*value));
  for (const ExpressionPtr& element : value->operands) returned_bindings_.push_back(binding(*element));
}

void Evaluator::run_assert(const Statement& s) {
  Value condition = eval_whole(*s.value);
  if (!alive()) return;
  std::optional<bool> holds = static_truth(condition, s.value->span, "`assert`");
  if (!holds || *holds) return;
  std::string text = "the assertion does not hold";
  if (s.message) {
    Value message = eval(*s.message);
    if (message.is_poison()) return;
    text = to_display(message);
  }
  fail(regions_.conditional(region_) ? Message::kRaisedUnderData : Message::kRaised, s.value->span, {text});
}

void Evaluator::run_raise(const Statement& s) {
  Value value = s.value ? eval(*s.value) : Value::none();
  if (value.is_poison()) return;
  std::string text = value.is(ValueKind::kBuiltin)     ? value.as<BuiltinObject>().name
                     : value.is(ValueKind::kException) ? value.text()
                                                       : to_display(value);
  fail(regions_.conditional(region_) ? Message::kRaisedUnderData : Message::kRaised, s.span, {text});
  // What follows would run in a state that the author excluded.
  frame_->call->result_poisoned = true;
  if (frame_->locals) frame_->call->returns.push_back(end_path(Value::poison(), s.span));
}

}  // namespace galatea::dsl
