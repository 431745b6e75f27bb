// Choices inside expressions: `a if c else b`, `and`, `or`, `not`, chained comparison. In: the syntax tree.
// Out: what is chosen now, or a branch where the condition is a data node, so that the rest is computed only
// for the samples that need it.
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"

namespace galatea::dsl {

Value Evaluator::eval_conditional(const Expression& e) {
  Value condition = eval(*e.operands[1]);
  if (!alive() || !has_truth(condition, e.operands[1]->span)) return Value::poison();
  if (!condition.is_node()) return eval(*e.operands[truth(condition) ? 0 : 2]);
  auto arm = [&](size_t i) { return [this, &e, i] { return eval(*e.operands[i]); }; };
  return branch(condition, e.operands[1]->span, e.operands[1]->span, "`if … else`", true, arm(0), arm(2),
                e.operands[0]->span, e.operands[2]->span);
}

// `and`, `or`: the operands from `at` on.
Value Evaluator::eval_bool_op(const Expression& e, size_t at) {
  Value left = eval(*e.operands[at]);
  if (at + 1 == e.operands.size()) return left;
  if (!alive() || !has_truth(left, e.operands[at]->span)) return Value::poison();
  if (left.is_node()) return eval_logical(e, at, left);
  bool decided = truth(left) == (e.text == "or");
  return decided ? left : eval_bool_op(e, at + 1);
}

// The right side runs only for the samples that need it.
Value Evaluator::eval_logical(const Expression& e, size_t at, const Value& left) {
  Value checked = require_bool_node(left, e.operands[at]->span, e.text, "left");
  if (checked.is_poison()) return Value::poison();
  const Expression& right_side = *e.operands[at + 1];
  auto right = [&]() -> Value {
    Value value = eval_bool_op(e, at + 1);
    return alive() ? require_bool_node(value, right_side.span, e.text, "right") : value;
  };
  auto keep = [&] { return checked; };
  bool is_and = e.text == "and";
  Span left_span = e.operands[at]->span;
  if (is_and)
    return branch(checked, left_span, left_span, "`and`", true, right, keep, right_side.span, left_span);
  return branch(checked, left_span, left_span, "`or`", true, keep, right, left_span, right_side.span);
}

Value Evaluator::eval_not(const Expression& e) {
  Value operand = eval(*e.operands[0]);
  if (!alive() || !has_truth(operand, e.operands[0]->span)) return Value::poison();
  if (!operand.is_node()) return Value::of(!truth(operand));
  if (type_of(operand).ndim != 0)
    return fail(Message::kConditionNotScalar, e.operands[0]->span, {"`not`", ir::to_text(type_of(operand))});
  DType dtype = type_of(operand).dtype;
  if (dtype == DType::kBool) return node_operator("arith.not", {operand}, e.span);
  Value zero = is_float(dtype) ? Value::of(0.0) : Value::of(int64_t{0});
  return node_operator("arith.eq", {operand, zero}, e.span);
}

// a < b < c: `left` is the value of operand `at`; each operand is evaluated once.
Value Evaluator::eval_compare(const Expression& e, size_t at, const Value& left) {
  Value right = eval(*e.operands[at + 1]);
  if (!alive()) return Value::poison();
  Span span = at == 0 && e.ops.size() == 1 ? e.span : cover(e.operands[at]->span, e.operands[at + 1]->span);
  Value result = compare(e.ops[at], left, right, span, e.operands[at]->span, e.operands[at + 1]->span);
  if (at + 1 == e.ops.size() || !has_truth(result, span))
    return at + 1 == e.ops.size() ? result : Value::poison();
  if (!result.is_node()) return truth(result) ? eval_compare(e, at + 1, right) : result;
  if (type_of(result).ndim > 0) {
    Diagnostic diagnostic = diagnose(Message::kLogicNeedsBool, span, {"and", "left", type_text(result)});
    const std::string first = source_text(sources_, span),
                      second =
                          source_text(sources_, cover(e.operands[at + 1]->span, e.operands[at + 2]->span));
    if (!first.empty() && !second.empty() && e.ops.size() == 2) {
      const std::string written = "(" + first + ") & (" + second + ")";
      diagnostic.help = "of whole tensors, write `" + written + "`";
      diagnostic.edits.push_back({e.span, written, true});
    }
    return report(std::move(diagnostic));
  }
  Value checked = require_bool_node(result, span, "and", "left");
  if (checked.is_poison()) return Value::poison();
  auto rest = [&]() -> Value {
    Value value = eval_compare(e, at + 1, right);
    return alive() ? require_bool_node(value, e.span, "and", "right") : value;
  };
  auto keep = [&] { return checked; };
  return branch(checked, span, span, "chained comparison", true, rest, keep, e.span, span);
}

}  // namespace galatea::dsl
