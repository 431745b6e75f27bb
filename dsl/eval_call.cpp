// Calls: arguments, parameters, functions, and the frame of each call. In: a call expression. Out: its value
// on the path after it.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/evaluator.h"
#include "dsl/parser.h"

namespace galatea::dsl {
namespace {

// What is given to a source that the host feeds is the host's, whatever it calls.
bool is_of_host(const Argument& argument) {
  const bool is_source = argument.kind == Argument::Kind::kPositional ||
                         (argument.kind == Argument::Kind::kKeyword && argument.name == "source");
  return is_source && argument.value->kind == ExpressionKind::kCall;
}

// What tells functions apart; all closures of one text are the same.
const void* body_of(const FunctionObject& function) {
  return function.body ? static_cast<const void*>(function.body) : function.expression;
}

bool returns_on_all_paths(const Suite& suite) {
  return std::ranges::any_of(suite, [](const StatementPtr& s) {
    return s->kind == StatementKind::kReturn || s->kind == StatementKind::kRaise ||
           (s->kind == StatementKind::kIf && returns_on_all_paths(s->body) &&
            returns_on_all_paths(s->orelse));
  });
}

bool returns_on_some_path(const Suite& suite) {
  return std::ranges::any_of(suite, [](const StatementPtr& s) {
    return s->kind == StatementKind::kReturn ||
           (s->kind == StatementKind::kIf &&
            (returns_on_some_path(s->body) || returns_on_some_path(s->orelse)));
  });
}

// `with pipe:`, which the parser refused.
bool enters_by_name(const Suite& suite) {
  return std::ranges::any_of(suite, [](const StatementPtr& s) {
    const bool is_with = s->kind == StatementKind::kUnsupported && s->text == "`with`";
    return (is_with && s->value && s->value->kind == ExpressionKind::kName) || enters_by_name(s->body) ||
           enters_by_name(s->orelse);
  });
}

// The branches of which one way returns and the other does not.
void label_branches(Diagnostic& diagnostic, const Suite& suite) {
  for (const StatementPtr& s : suite) {
    if (s->kind != StatementKind::kIf) continue;
    const bool then = returns_on_all_paths(s->body), otherwise = returns_on_all_paths(s->orelse);
    const bool mixed = then != otherwise;
    if (mixed && !(then ? returns_on_some_path(s->orelse) : returns_on_some_path(s->body)))
      add_label(diagnostic, s->keyword_span,
                then ? "samples for which this does not hold return nothing"
                     : "samples for which this holds return nothing");
    label_branches(diagnostic, s->body);
    label_branches(diagnostic, s->orelse);
  }
}

}  // namespace

// Also the last round of splitmix64: every bit of the input reaches every bit of the output.
uint64_t mix_key(uint64_t state, uint64_t value) {
  uint64_t z = state + 0x9E3779B97F4A7C15ull + value * 0xD1B54A32D192ED03ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

uint64_t mix_key(uint64_t state, std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325ull;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return mix_key(mix_key(state, hash), text.size());
}

bool Evaluator::eval_arguments(const Expression& e, CallArguments& out) {
  bool good = true;
  for (const Argument& argument : e.arguments) {
    if (argument.kind == Argument::Kind::kPositional && is_keyword_by_slip(*argument.value)) {
      good = false;
      continue;
    }
    Value value =
        out.feeds_host && is_of_host(argument) ? make_builtin("source", nullptr) : eval(*argument.value);
    if (!alive()) return false;
    Span span = argument.value->span;
    switch (argument.kind) {
      case Argument::Kind::kPositional:
        out.positional.push_back(value);
        out.spans.push_back(span);
        break;
      case Argument::Kind::kKeyword:
        out.keywords.push_back({argument.name, value, span, argument.name_span});
        break;
      case Argument::Kind::kStar: {
        if (value.is_poison()) {
          good = false;
          break;
        }
        auto elements = iterate(value, span, "spread with `*`");
        if (!elements || !check_size((out.positional.size() + elements->size()) * sizeof(Value), span))
          return false;
        for (const Value& element : *elements) {
          out.positional.push_back(element);
          out.spans.push_back(span);
        }
        break;
      }
      case Argument::Kind::kDoubleStar: {
        if (value.is_poison()) {
          good = false;
          break;
        }
        if (!value.is(ValueKind::kDict))
          return fail(Message::kSpreadKind, span, {describe_kind(value)}), false;
        for (const auto& [key, entry] : value.dict().entries) {
          if (!key.is(ValueKind::kString)) return fail(Message::kSpreadKey, span, {repr(key)}), false;
          out.keywords.push_back({key.text(), entry, span, span});
        }
      }
    }
  }
  std::set<std::string_view> names;
  for (const CallArguments::Keyword& keyword : out.keywords) {
    if (!names.insert(keyword.name).second)
      return fail(Message::kRepeatedKeyword, keyword.name_span, {keyword.name}), false;
  }
  return good;
}

// `f(size==3)` where there is no `size`: reported, and true.
bool Evaluator::is_keyword_by_slip(const Expression& e) {
  if (e.kind != ExpressionKind::kCompare || e.parenthesized || e.ops.size() != 1 || e.ops[0] != "==" ||
      e.operands[0]->kind != ExpressionKind::kName || is_bound(e.operands[0]->text))
    return false;
  const Span equals{e.span.file, e.operands[0]->span.end, e.operands[1]->span.begin};
  const std::string name = e.operands[0]->text;
  Diagnostic diagnostic = diagnose(Message::kUnsupportedSyntax, equals,
                                   {"`==` behind the name of an argument", "write `" + name + "=…`"});
  diagnostic.edits.push_back({equals, "=", true});
  report(std::move(diagnostic));
  return true;
}

bool Evaluator::is_bound(const std::string& name) const {
  for (const Frame* frame = frame_; frame; frame = frame->parent)
    if (frame->env.contains(name) || (frame->locals && frame->locals->contains(name))) return true;
  return builtins_->names.contains(name);
}

Value Evaluator::eval_call(const Expression& e) {
  const Expression& callee_expression = *e.operands[0];
  const size_t told_before = sink_.diagnostics().size();
  Value callee = eval(callee_expression);
  // `image.to(torch.float32)`: a method of another library's, and so is what it is given.
  const bool is_missing_method = callee.is_poison() && sink_.diagnostics().size() > told_before &&
                                 sink_.diagnostics().back().code == entry_of(Message::kNoAttribute).code;
  CallArguments arguments;
  arguments.span = e.span;
  arguments.callee_span = callee_expression.span;
  arguments.callee = &callee_expression;
  arguments.callee_text =
      callee_expression.kind == ExpressionKind::kName || callee_expression.kind == ExpressionKind::kAttribute
          ? callee_expression.text
          : "";
  arguments.ordinal = e.ordinal;
  arguments.feeds_host = callee.is(ValueKind::kOperator) && callee.as<OperatorObject>().op->typed_by_host;
  const bool of_host =
      callee.is(ValueKind::kModule)
          ? callee.as<ModuleObject>().lookup == ModuleObject::Lookup::kHost
          : is_missing_method || (callee.is_poison() && host_path(callee_expression).has_value());
  const bool counts = callee.is(ValueKind::kBuiltin) && callee.as<BuiltinObject>().name == "len";
  if (counts && e.arguments.size() == 1 && e.arguments[0].value->kind == ExpressionKind::kGenerator)
    return fail(Message::kUnsupportedSyntax, e.arguments[0].value->span,
                {"the length of a generator", "write a list: `len([… for … in …])`"});
  host_calls_ += of_host ? 1 : 0;
  bool good = eval_arguments(e, arguments);
  host_calls_ -= of_host ? 1 : 0;
  if (is_missing_method) spoil_receiver(*callee_expression.operands[0], callee_expression.text);
  // What a function of the host program is given is of the host program.
  if (callee.is_poison() || callee.is(ValueKind::kOperator)) {
    for (const CallArguments::Keyword& keyword : arguments.keywords)
      if (keyword.value.is(ValueKind::kFunction)) mark_called(keyword.value.as<FunctionObject>());
    for (const Value& value : arguments.positional)
      if (value.is(ValueKind::kFunction)) mark_called(value.as<FunctionObject>());
  }
  if (!good || callee.is_poison() || !alive()) return Value::poison();
  return call(callee, arguments);
}

// What a method that a list or a dict does not have would have changed, nobody knows.
void Evaluator::spoil_receiver(const Expression& receiver, std::string_view method) {
  // Of other languages, these only ask.
  constexpr std::string_view kAsks[] = {"map",  "filter", "len",  "length",   "size",    "sum",   "mean",
                                        "max",  "min",    "join", "includes", "indexOf", "slice", "reduce",
                                        "find", "first",  "last", "contains", "forEach", "each",  "has_key"};
  if (receiver.kind != ExpressionKind::kName || std::ranges::find(kAsks, method) != std::end(kAsks)) return;
  for (Frame* frame = frame_; frame; frame = frame->parent) {
    const auto found = frame->env.find(receiver.text);
    if (found == frame->env.end()) continue;
    const Value& value = found->second.value;
    if (!value.is(ValueKind::kList) && !value.is(ValueKind::kDict)) return;
    value.container().spoiled = true;
    missing_methods_.emplace(&value.container(), method);
    return;
  }
}

Value Evaluator::call(const Value& callee, CallArguments& arguments) {
  switch (callee.kind) {
    case ValueKind::kFunction:
      return call_function(callee.as<FunctionObject>(), arguments);
    case ValueKind::kBuiltin: {
      const auto& builtin = callee.as<BuiltinObject>();
      arguments.self = builtin.self;
      arguments.name = builtin.name;
      // Methods of strings read all of it.
      if (builtin.self.is(ValueKind::kString)) spend(builtin.self.text().size() / 8);
      const Value result = builtin.function(*this, arguments);
      note_views_of_call(arguments, result);
      return result;
    }
    case ValueKind::kOperator:
    case ValueKind::kOperatorObject:
      return call_operator(callee.as<OperatorObject>(), arguments);
    case ValueKind::kDType:
      return call_dtype(*this, callee.dtype, arguments);
    case ValueKind::kPipeline:
      return call_pipeline(callee.as<PipelineObject>(), arguments);
    case ValueKind::kPixel:
      return call_pixel(callee.as<PixelObject>(), arguments);
    case ValueKind::kStruct:
      if (const Value* function = callee.as<StructObject>().find("__call__"))
        return call(*function, arguments);
      return fail_not_callable(callee, arguments);
    case ValueKind::kNewAxis: {
      if (arguments.positional.size() > 1 ||
          (!arguments.positional.empty() && !arguments.positional[0].is(ValueKind::kString)) ||
          !arguments.keywords.empty())
        return fail(Message::kBadArgument, arguments.span, {"newaxis", "the axis' name, one letter"});
      auto* axis = arena.make<NewAxisObject>();
      if (!arguments.positional.empty()) axis->name = arguments.positional[0].text();
      return Value(ValueKind::kNewAxis, axis);
    }
    case ValueKind::kPoison:
    case ValueKind::kUnknown:
      return Value::poison();
    case ValueKind::kModule:
      if (callee.as<ModuleObject>().name == "Pipeline") return fail_pipeline_class(arguments.span);
      if (callee.as<ModuleObject>().lookup == ModuleObject::Lookup::kHost)
        return fail_host(callee.as<ModuleObject>().name,
                         arguments.callee_span.valid() ? arguments.callee_span : arguments.span);
      [[fallthrough]];
    default:
      return fail_not_callable(callee, arguments);
  }
}

// Where `with pipe:` was refused, that said what to write.
Value Evaluator::fail_pipeline_class(Span span) {
  const bool is_told = std::ranges::any_of(
      trees_, [&](const auto& tree) { return tree->file == span.file && enters_by_name(tree->body); });
  return is_told ? Value::poison() : fail(Message::kPipelineClass, span);
}

Value Evaluator::fail_not_callable(const Value& callee, const CallArguments& arguments) {
  Diagnostic diagnostic =
      diagnose(Message::kNotCallable, arguments.callee_span.valid() ? arguments.callee_span : arguments.span,
               {describe_kind(callee)});
  label_hiding(diagnostic, arguments.callee);
  const std::string callee_text = source_text(sources_, diagnostic.span);
  if (callee.is_node()) {
    diagnostic.help = "a data node is a value: leave the brackets out";
    const Span brackets{arguments.span.file, diagnostic.span.end, arguments.span.end};
    if (arguments.positional.size() == 1 && arguments.positional[0].is_integral() &&
        arguments.keywords.empty()) {
      const std::string element = "[" + source_text(sources_, arguments.spans[0]) + "]";
      diagnostic.help = "an element is taken by square brackets: `" + callee_text + element + "`";
      diagnostic.edits.push_back({brackets, element, false});
    }
    if (arguments.positional.empty() && arguments.keywords.empty())
      diagnostic.edits.push_back({brackets, "", true});
  } else if ((callee.is(ValueKind::kList) || callee.is(ValueKind::kTuple)) &&
             arguments.positional.size() == 1 && arguments.positional[0].is_integral() &&
             arguments.keywords.empty() && diagnostic.labels.empty()) {
    const std::string element = "[" + source_text(sources_, arguments.spans[0]) + "]";
    diagnostic.help = "an element is taken by square brackets: `" + callee_text + element + "`";
    diagnostic.edits.push_back(
        {{arguments.span.file, diagnostic.span.end, arguments.span.end}, element, false});
  } else if (const std::string inner = function_like(callee); !inner.empty()) {
    diagnostic.help = "call the function in it: `" + callee_text + "." + inner + "(…)`";
    diagnostic.edits.push_back(
        {{diagnostic.span.file, diagnostic.span.end, diagnostic.span.end}, "." + inner, true});
  } else if (callee.is(ValueKind::kModule) && callee.as<ModuleObject>().name == "nvidia.dali.pipeline") {
    diagnostic.help = "write `@pipeline_def`, of `nvidia.dali`";
  }
  return report(std::move(diagnostic));
}

// The function of a module that has the module's name, as `rand_augment.rand_augment`; empty: there is none.
std::string Evaluator::function_like(const Value& module) {
  if (!module.is(ValueKind::kModule)) return {};
  const auto& object = module.as<ModuleObject>();
  const std::string name = object.name.substr(object.name.rfind('.') + 1);
  const bool is_there =
      object.names.contains(name) || (object.frame != nullptr && object.frame->env.contains(name));
  return is_there ? name : "";
}

Value Evaluator::call_back(const Value& callee, std::vector<Value> values, const CallArguments& from,
                           uint32_t index) {
  if (callee.is_poison()) return Value::poison();
  CallArguments arguments;
  arguments.spans.assign(values.size(), from.span);
  arguments.positional = std::move(values);
  arguments.span = arguments.callee_span = from.span;
  arguments.callee_text = from.callee_text;
  arguments.ordinal = from.ordinal;
  std::vector<uint32_t>& unroll = frame_->call->unroll;
  unroll.push_back(index);
  Value result = call(callee, arguments);
  unroll.pop_back();
  return result;
}

const std::set<std::string>& Evaluator::locals_of(const FunctionObject& function) {
  auto [at, fresh] = locals_.try_emplace(body_of(function));
  if (fresh) {
    std::vector<std::string> names;
    if (function.body) collect_bound_names(*function.body, names);
    at->second.insert(names.begin(), names.end());
    for (const Parameter& parameter : *function.parameters) at->second.insert(parameter.name);
  }
  return at->second;
}

std::string Evaluator::signature(const FunctionObject& function) const {
  std::string out = function.name + "(";
  bool star = false, first = true;
  for (size_t i = 0; i < function.parameters->size(); ++i) {
    const Parameter& p = (*function.parameters)[i];
    if (!first) out += ", ";
    first = false;
    if (p.kind == ParameterKind::kKeywordOnly && !star) out += "*, ", star = true;
    if (p.kind == ParameterKind::kVarArgs) out += "*", star = true;
    if (p.kind == ParameterKind::kKwArgs) out += "**";
    out += p.name;
    if (p.default_value) out += "=" + repr(function.defaults[i]);
  }
  return out + ")";
}

// The parameter that is called otherwise by who calls the function, and not given yet; empty: nobody knows.
std::string Evaluator::meant_parameter(const FunctionObject& function, const std::string& name,
                                       const std::vector<bool>& given) {
  std::vector<std::string> names;
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i] && (*function.parameters)[i].kind != ParameterKind::kVarArgs)
      names.push_back((*function.parameters)[i].name);
  if (const Suggestion* known = find_suggestion(Place::kParameter, function.name, name);
      known && function.module->of_library)
    return std::string(known->write);
  return closest_match(name, names).value_or("");
}

bool Evaluator::bind_arguments(FunctionObject& function, CallArguments& arguments, Frame& frame) {
  const std::vector<Parameter>& parameters = *function.parameters;
  spend(parameters.size() * (kWorkPerBinding + arguments.keywords.size()));
  arena.count(parameters.size() * kBindingBytes);  // the frame keeps them to the end
  std::vector<bool> given(parameters.size(), false);
  size_t next = 0;
  auto set = [&](size_t i, const Value& value, Span span) {
    frame.env[parameters[i].name] = {value, span};
    note_meaning(parameters[i].span, value);
    given[i] = true;
  };
  auto mismatch = [&](Message message, Span span, std::vector<std::string> words, std::string meant = "") {
    const std::string parameter = words.back();
    Diagnostic diagnostic = diagnose(message, span, std::move(words));
    diagnostic.labels.push_back({function.span, "the function"});
    if (message == Message::kArgumentTwice)
      diagnostic.labels.push_back({frame.env[parameter].span, "given here by position"});
    // `def f(image, *, angle)` takes the angle by its name alone.
    const auto by_name =
        std::ranges::find(parameters, ParameterKind::kKeywordOnly, [](const Parameter& p) { return p.kind; });
    if (message == Message::kTooManyArguments && by_name != parameters.end())
      diagnostic.help = "give it by name: `" + by_name->name + "=" + source_text(sources_, span) + "`";
    if (!meant.empty()) diagnostic.edits.push_back({span, std::move(meant), false});
    diagnostic.notes.push_back("the signature is " + signature(function));
    report(std::move(diagnostic));
    return false;
  };
  std::vector<Value> rest;
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    while (next < parameters.size() && parameters[next].kind > ParameterKind::kVarArgs) ++next;
    if (next >= parameters.size())
      return mismatch(Message::kTooManyArguments, arguments.spans[i],
                      {function.name, std::to_string(arguments.positional.size())});
    if (parameters[next].kind == ParameterKind::kVarArgs)
      rest.push_back(arguments.positional[i]);
    else
      set(next, arguments.positional[i], arguments.spans[i]), ++next;
  }
  Value kwargs = make_dict(arguments.span);
  bool knows_all = true;
  for (const CallArguments::Keyword& keyword : arguments.keywords) {
    size_t i = 0;
    for (; i < parameters.size(); ++i) {
      bool by_name =
          parameters[i].kind == ParameterKind::kNormal || parameters[i].kind == ParameterKind::kKeywordOnly;
      if (by_name && parameters[i].name == keyword.name) break;
    }
    if (i < parameters.size()) {
      if (given[i])
        return mismatch(Message::kArgumentTwice, keyword.name_span, {function.name, keyword.name});
      set(i, keyword.value, keyword.span);
      continue;
    }
    bool takes_any = !parameters.empty() && parameters.back().kind == ParameterKind::kKwArgs;
    if (takes_any) {
      Value key = make_string(keyword.name);
      kwargs.dict().set(key_of(key), key, keyword.value);
      continue;
    }
    const std::string meant = meant_parameter(function, keyword.name, given);
    const bool is_spread = keyword.span == keyword.name_span;  // `**options`
    mismatch(Message::kUnknownParameter, keyword.name_span,
             {function.name, keyword.name, meant.empty() ? "" : "did you mean `" + meant + "`?"},
             is_spread ? "" : meant);
    // The call goes on as it is meant.
    const auto parameter = std::ranges::find(parameters, meant, &Parameter::name);
    if (meant.empty() || parameter == parameters.end())
      knows_all = false;
    else
      set(static_cast<size_t>(parameter - parameters.begin()), keyword.value, keyword.span);
  }
  if (!knows_all) return false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind == ParameterKind::kVarArgs)
      set(i, make_tuple(rest), arguments.span);
    else if (parameters[i].kind == ParameterKind::kKwArgs)
      set(i, kwargs, arguments.span);
    else if (!given[i] && !function.defaults[i].is(ValueKind::kUndefined))
      set(i, function.defaults[i], parameters[i].span);
    else if (!given[i])
      return mismatch(Message::kMissingArgument, arguments.span, {function.name, parameters[i].name});
  }
  return true;
}

void Evaluator::mark_called(FunctionObject& function) {
  if (std::exchange(function.called, true)) return;
  const auto inner = inner_functions_.find(body_of(function));
  if (inner != inner_functions_.end()) inner->second.called = true;
}

Value Evaluator::call_function(FunctionObject& function, CallArguments& arguments) {
  if (function.poisoned) return Value::poison();
  // A call of itself by a function that may have returned before, nobody knows, may never end.
  auto lost = [&](const ActiveCall& active) {
    return active.callee == body_of(function) && active.state->result_poisoned;
  };
  if (std::any_of(calls_.begin(), calls_.end(), lost)) return Value::poison();
  bool too_deep = static_cast<int64_t>(calls_.size()) >= options_.limits.max_call_depth;
  if (too_deep || stack_exhausted()) {
    Diagnostic diagnostic =
        diagnose(Message::kCallsTooDeep, arguments.span, {function.name, std::to_string(calls_.size())});
    if (regions_.conditional(region_))
      diagnostic.notes.push_back(
          "of a branch on data, both sides are built: only a condition that is known now ends a recursion");
    abort(false);
    return report(std::move(diagnostic));
  }
  auto* frame = arena.make<Frame>();
  frame->parent = function.closure;
  frame->module = function.module;
  frame->locals = &locals_of(function);
  call_states_.push_back(std::make_unique<CallState>());
  frame->call = call_states_.back().get();
  frame->call->name = function.name;
  if (!bind_arguments(function, arguments, *frame)) return Value::poison();
  mark_called(function);
  uint64_t path = mix_key(frame_->call->path, function.name);
  if (arguments.callee_text != function.name) path = mix_key(path, arguments.callee_text);
  path = mix_key(path, arguments.ordinal);
  for (uint32_t index : frame_->call->unroll) path = mix_key(path, index);
  frame->call->path = path;
  return run_function(function, *frame, arguments);
}

Value Evaluator::run_function(FunctionObject& function, Frame& frame, const CallArguments& arguments) {
  Frame* caller = frame_;
  calls_.push_back(
      {arguments.span, caller->call->name, body_of(function), function.body, frame.call, &frame});
  frame_ = &frame;
  Value result = Value::none();
  CallState& state = *frame.call;
  if (function.expression) {
    result = eval(*function.expression);
  } else {
    run_suite(*function.body);
    if (alive()) state.returns.push_back(end_path(Value::none(), {}));
    if (!aborted_) {
      bool all_return = std::all_of(state.returns.begin(), state.returns.end(),
                                    [](const Path& p) { return p.span.valid(); });
      bool any_value = std::any_of(state.returns.begin(), state.returns.end(), [](const Path& p) {
        return p.span.valid() && !p.value.is(ValueKind::kNone);
      });
      if (!all_return && any_value && state.returns.size() > 1 && !state.result_poisoned) {
        Diagnostic diagnostic = diagnose(Message::kReturnOnSomePaths, function.span, {function.name});
        label_branches(diagnostic, *function.body);
        for (const Path& path : state.returns) {
          if (path.span.valid()) add_label(diagnostic, path.span, "some samples return here");
        }
        report(std::move(diagnostic));
        state.result_poisoned = true;
      }
      if (state.result_poisoned) {
        for (Path& path : state.returns) path.value = Value::poison();
      }
      returned_at_ = {};
      for (const Path& path : state.returns) {
        if (path.span.valid() && !returned_at_.valid()) returned_at_ = path.span;
      }
      // Only functions made here can still see the variables.
      if (!frame.has_closures) {
        for (Path& path : state.returns) path.env.clear();
      }
      std::vector<Path> returns = std::move(state.returns);
      state.returns.clear();
      Span span = function.span;
      result = join(std::move(returns), span, "`return`", true);
    }
  }
  frame_ = caller;
  calls_.pop_back();
  return state.result_poisoned ? Value::poison() : result;
}

Value Evaluator::call_pipeline(PipelineObject& pipeline, const CallArguments& arguments) {
  if (host_calls_ > 0) return Value::poison();  // within a call that was refused, that says as much
  return fail(graph_ ? Message::kPipelineInPipeline : Message::kPipelineCalled, arguments.span,
              {pipeline.name});
}

}  // namespace galatea::dsl
