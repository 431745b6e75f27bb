// Expressions. In: the syntax tree and the current path. Out: values; where a condition is a data node, arms
// of a branch.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/evaluator.h"
#include "dsl/host_modules.h"
#include "dsl/suggest.h"
#include "dsl/unicode.h"

namespace galatea::dsl {

Value Evaluator::eval(const Expression& e) {
  Value value = eval_spoiled(e);
  bool spoiled = (value.is(ValueKind::kList) && value.sequence().spoiled) ||
                 (value.is(ValueKind::kDict) && value.dict().spoiled);
  if (options_.meanings) note_meaning(e.kind == ExpressionKind::kAttribute ? e.text_span : e.span, value);
  return spoiled ? Value::poison() : value;
}

Value Evaluator::eval_spoiled(const Expression& e) {
  if (!step(e.span)) return Value::poison();
  switch (e.kind) {
    case ExpressionKind::kError:
      return Value::poison();
    case ExpressionKind::kName:
      return eval_name(e);
    case ExpressionKind::kInteger:
    case ExpressionKind::kFloat:
      return eval_number(e);
    case ExpressionKind::kString:
      return make_string(e.text);
    case ExpressionKind::kFString:
      return eval_fstring(e);
    case ExpressionKind::kTrue:
      return Value::of(true);
    case ExpressionKind::kFalse:
      return Value::of(false);
    case ExpressionKind::kNone:
      return Value::none();
    case ExpressionKind::kEllipsis:
      return Value(ValueKind::kEllipsis);
    case ExpressionKind::kTuple:
    case ExpressionKind::kList:
      return eval_display(e);
    case ExpressionKind::kDict:
      return eval_dict(e);
    case ExpressionKind::kListComp:
    case ExpressionKind::kDictComp:
    case ExpressionKind::kGenerator:
      return eval_comprehension(e);
    case ExpressionKind::kLambda:
      return eval_lambda(e);
    case ExpressionKind::kConditional:
      return eval_conditional(e);
    case ExpressionKind::kBoolOp:
      return eval_bool_op(e, 0);
    case ExpressionKind::kUnary: {
      if (e.text == "not") return eval_not(e);
      Value operand = eval(*e.operands[0]);
      return alive() ? unary(e.text, operand, e.span) : Value::poison();
    }
    case ExpressionKind::kBinary: {
      Value a = eval(*e.operands[0]);
      Value b = eval(*e.operands[1]);
      return alive() ? binary(e.text, a, b, e.span, e.operands[0]->span, e.operands[1]->span)
                     : Value::poison();
    }
    case ExpressionKind::kCompare:
      return eval_compare(e, 0, eval(*e.operands[0]));
    case ExpressionKind::kCall:
      return eval_call(e);
    case ExpressionKind::kAttribute:
      return eval_attribute(e);
    case ExpressionKind::kSubscript:
      return eval_subscript(e);
    case ExpressionKind::kSlice:
      return fail(Message::kIndexKind, e.span, {"a slice among several indices"});
    case ExpressionKind::kStarred:
      return fail(Message::kStarredAlone, e.span);
    case ExpressionKind::kNamed: {
      Value value = eval(*e.operands[0]);
      // The name belongs to the function around the comprehensions, as in Python. A branch inside a
      // comprehension keeps the variables of the comprehension apart, not those around it.
      Frame* inner = frame_;
      if (inner->is_comprehension && inner->region != region_)
        return fail(Message::kNamedUnderData, e.span, {e.text});
      for (; frame_->is_comprehension; frame_ = frame_->parent) {
        if (!frame_->env.contains(e.text)) continue;
        frame_ = inner;
        return fail(Message::kNamedInComprehension, e.span, {e.text});
      }
      if (alive()) bind(e.text, value, e.span);
      frame_ = inner;
      return value;
    }
  }
  return Value::poison();
}

Value Evaluator::eval_name(const Expression& e) {
  for (Frame* frame = frame_; frame; frame = frame->parent) {
    auto found = frame->env.find(e.text);
    if (found == frame->env.end()) {
      // A name that the function binds somewhere is its own everywhere in it, as in Python.
      if (frame->locals && frame->locals->contains(e.text)) {
        fail_before_assignment(e, *frame);
        if (hides_another(e.text, *frame)) frame->misused.insert(e.text);
        // Once: what follows is the same mistake.
        frame->env[e.text] = {Value::poison(), e.span};
        return Value::poison();
      }
      continue;
    }
    if (found->second.value.is(ValueKind::kPending)) {
      Value value = resolve(found->second.value.as<PendingObject>(), e.span);
      frame->env[e.text].value = value;
      return value;
    }
    return found->second.value;
  }
  if (auto found = builtins_->names.find(e.text); found != builtins_->names.end()) return found->second.value;
  return fail_unknown_name(e, nullptr);
}

Value Evaluator::eval_number(const Expression& e) {
  const std::string& text = e.text;
  if (e.kind == ExpressionKind::kFloat) {
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
      // Python reads 1e999 as infinity and 1e-999 as zero.
      bool tiny = text.find("e-") != std::string::npos || text.find("E-") != std::string::npos;
      value = tiny ? 0.0 : HUGE_VAL;
    }
    return Value::of(value);
  }
  int base = 10;
  size_t skip = 0;
  if (text.size() > 2 && text[0] == '0') {
    char c = text[1];
    base = c == 'x' || c == 'X' ? 16 : c == 'o' || c == 'O' ? 8 : c == 'b' || c == 'B' ? 2 : 10;
    skip = base == 10 ? 0 : 2;
  }
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data() + skip, text.data() + text.size(), value, base);
  if (error != std::errc()) return fail(Message::kIntegerOverflow, e.span, {text.substr(0, 40)});
  return Value::of(value);
}

// ---- strings and displays ----

namespace {

// Whether a text stands behind `print(` in its line.
bool is_printed(const SourceMap& sources, Span span) {
  const SourceFile* file = sources.file(span.file);
  if (file == nullptr) return false;
  const std::string_view before = std::string_view(file->text()).substr(0, span.begin);
  return before.substr(before.rfind('\n') + 1).contains("print(");
}

}  // namespace

std::optional<std::string> Evaluator::eval_parts(const std::vector<FStringPart>& parts, Span span) {
  std::string out;
  for (const FStringPart& part : parts) {
    if (!part.value) {
      out += part.text;
      continue;
    }
    Value value = eval(*part.value);
    auto format = eval_parts(part.format, span);
    if (value.is_poison() || !format || !alive()) return std::nullopt;
    out += part.text;
    if (value.is_node()) {
      Diagnostic diagnostic = diagnose(Message::kNodeInString, part.value->span, {type_text(value)});
      if (is_printed(sources_, span))
        diagnostic.help =
            "`print` shows its type: write `print(" + source_text(sources_, part.value->span) + ")`";
      report(std::move(diagnostic));
      return std::nullopt;
    }
    bool as_repr = part.conversion == 'r' || part.conversion == 'a' ||
                   (part.debug && part.conversion == 0 && format->empty());
    if (as_repr || part.conversion == 's') {
      auto whole_text = text_of(value, part.value->span, as_repr);
      if (!whole_text) return std::nullopt;
      value = make_string(part.conversion == 'a' ? in_ascii(*whole_text) : std::move(*whole_text));
    }
    Value text = format_value(value, *format, part.value->span);
    if (text.is_poison() || !check_size(out.size() + text.text().size(), span)) return std::nullopt;
    out += text.text();
  }
  return out;
}

Value Evaluator::eval_fstring(const Expression& e) {
  auto text = eval_parts(e.parts, e.span);
  return text ? make_string(std::move(*text)) : Value::poison();
}

Value Evaluator::eval_display(const Expression& e) {
  std::vector<Value> elements;
  for (const ExpressionPtr& operand : e.operands) {
    if (operand->kind != ExpressionKind::kStarred) {
      elements.push_back(eval(*operand));
      continue;
    }
    Value spread = eval(*operand->operands[0]);
    if (spread.is_poison()) return Value::poison();
    auto inner = iterate(spread, operand->span, "spread with `*`");
    if (!inner || !check_size((elements.size() + inner->size()) * sizeof(Value), e.span))
      return Value::poison();
    elements.insert(elements.end(), inner->begin(), inner->end());
  }
  if (!alive()) return Value::poison();
  return e.kind == ExpressionKind::kList ? make_list(std::move(elements), e.span)
                                         : make_tuple(std::move(elements));
}

Value Evaluator::eval_dict(const Expression& e) {
  Value result = make_dict(e.span);
  for (size_t i = 0; i + 1 < e.operands.size(); i += 2) {
    if (!e.operands[i]) {
      Value spread = eval(*e.operands[i + 1]);
      if (spread.is_poison()) return Value::poison();
      if (!spread.is(ValueKind::kDict))
        return fail(Message::kSpreadKind, e.operands[i + 1]->span, {describe_kind(spread)});
      for (const auto& [key, value] : spread.dict().entries) result.dict().set(key_of(key), key, value);
      continue;
    }
    key_of_dict_ = e.operands[i].get();
    Value key = eval(*e.operands[i]);
    Value value = eval(*e.operands[i + 1]);
    if (key.is_poison() || !alive()) return Value::poison();
    std::string text = key_of(key);
    if (text.empty()) return fail_key(key, e.operands[i]->span);
    result.dict().set(text, key, value);
  }
  return result;
}

Value Evaluator::eval_comprehension(const Expression& e) {
  auto* frame = arena.make<Frame>();
  frame->parent = frame_;
  frame->module = frame_->module;
  frame->call = frame_->call;
  frame->is_comprehension = true;
  frame->region = region_;
  Frame* outer = frame_;
  frame_ = frame;
  std::vector<Value> elements;
  Value dict = make_dict(e.span);
  bool bad = false;
  run_clauses(e, 0, [&] {
    Value first = eval(*e.operands[0]);
    if (e.kind != ExpressionKind::kDictComp) return void(elements.push_back(first));
    Value value = eval(*e.operands[1]);
    if (first.is_poison()) return void(bad = true);
    std::string text = key_of(first);
    if (text.empty()) {
      fail_key(first, e.operands[0]->span);
      return void(bad = true);
    }
    dict.dict().set(text, first, value);
  });
  frame_ = outer;
  outer->has_closures = outer->has_closures || frame->has_closures;
  if (!alive() || bad || frame->env.contains("#poison")) return Value::poison();
  return e.kind == ExpressionKind::kDictComp ? dict : make_list(std::move(elements), e.span);
}

// The loops and conditions of a comprehension, from `clause` on.
void Evaluator::run_clauses(const Expression& e, size_t clause, const std::function<void()>& body) {
  if (clause == e.comprehensions.size()) return body();
  const Comprehension& c = e.comprehensions[clause];
  auto give_up = [&] { frame_->env["#poison"] = {Value::poison(), {}}; };  // no text can spell this name
  Value iterable = eval(*c.iterable);
  if (iterable.is_poison()) return give_up();
  auto elements = iterate(iterable, c.iterable->span, "looped over");
  if (!elements) return give_up();
  std::vector<uint32_t>& unroll = frame_->call->unroll;
  unroll.push_back(0);
  for (size_t i = 0; i < elements->size() && alive(); ++i) {
    if (!step(e.span)) break;
    unroll.back() = static_cast<uint32_t>(i);
    assign(*c.target, (*elements)[i], c.target->span);
    bool wanted = true;
    for (const ExpressionPtr& condition : c.conditions) {
      auto holds = static_truth(eval(*condition), condition->span, "the `if` of a comprehension");
      if (!holds) {
        give_up();
        wanted = false;
        break;
      }
      wanted = *holds;
      if (!wanted) break;
    }
    if (wanted) run_clauses(e, clause + 1, body);
    if (frame_->env.contains("#poison")) break;
  }
  unroll.pop_back();
}

Value Evaluator::eval_lambda(const Expression& e) {
  auto* function = arena.make<FunctionObject>();
  function->name = "lambda";
  function->parameters = &e.parameters;
  function->expression = e.operands[0].get();
  function->closure = frame_;
  function->module = frame_->module;
  function->span = e.text_span;
  frame_->has_closures = true;
  for (const Parameter& parameter : e.parameters) {
    function->defaults.push_back(parameter.default_value ? eval(*parameter.default_value) : Value());
  }
  note_inner_function(*function);
  return Value(ValueKind::kFunction, function);
}

// ---- choices ----

Value Evaluator::require_bool_node(const Value& value, Span span, const std::string& op,
                                   std::string_view side) {
  if (value.is(ValueKind::kBool)) return constant_node(value, span, DType::kBool);
  if (value.is_poison()) return Value::poison();
  bool good = value.is_node() && type_of(value).dtype == DType::kBool && type_of(value).ndim == 0;
  if (good) return value;
  Diagnostic diagnostic = diagnose(Message::kLogicNeedsBool, span, {op, std::string(side), type_text(value)});
  if (value.is_node() && type_of(value).dtype == DType::kBool)
    diagnostic.help = "take one element, `x[0]`; `&` and `|` work on whole tensors and evaluate both sides";
  return report(std::move(diagnostic));
}

}  // namespace galatea::dsl
