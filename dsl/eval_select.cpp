// `select(functions, index, …)`: one of several functions, per sample. In: functions and an index. Out: what
// the chosen one returns; a branch with one way for each function where the index is a data node.
//
// A chain or tree of `if`s says the same, with a merge and a test per level. One branch of many ways is what
// a sample pays for once, and what the compiler sees as one choice.
#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

/// Where the function of an arm is written.
Span definition_of(const Value& arm, Span otherwise) {
  if (arm.is(ValueKind::kFunction)) return arm.as<FunctionObject>().span;
  if (!arm.is(ValueKind::kStruct)) return otherwise;
  const Value* function = arm.as<StructObject>().find("op");  // of an augmentation
  if (!function) function = arm.as<StructObject>().find("__call__");
  return function && function->is(ValueKind::kFunction) ? function->as<FunctionObject>().span : otherwise;
}

}  // namespace

Value Evaluator::select(const std::vector<Value>& arms, const Value& index, Span index_span,
                        CallArguments& arguments) {
  auto run = [&](size_t i) {
    CallArguments own = arguments;
    std::vector<uint32_t>& unroll = frame_->call->unroll;
    unroll.push_back(static_cast<uint32_t>(i));
    Value result = call(arms[i], own);
    unroll.pop_back();
    return result;
  };
  const Value chosen = plain(index);
  if (in_element()) return fail(Message::kPixelOperator, arguments.span, {"`select`"});
  if (arms.empty()) return fail(Message::kSelectOfNothing, arguments.span);
  if (chosen.is_integral()) {
    const int64_t i = chosen.as_int();
    if (i < 0 || i >= static_cast<int64_t>(arms.size()))
      return fail(Message::kSelectOutside, index_span, {std::to_string(i), std::to_string(arms.size())});
    return run(static_cast<size_t>(i));
  }
  if (!chosen.is_node()) return fail(Message::kSelectIndex, index_span, {type_text(chosen)});
  if (type_of(chosen).ndim != 0 || is_float(type_of(chosen).dtype))
    return fail(Message::kSelectIndex, index_span, {type_text(chosen)});
  std::vector<Arm> ways;
  std::vector<ir::BlockId> blocks;
  for (size_t i = 0; i < arms.size(); ++i) {
    if (!graph_has_room(arguments.span)) return Value::poison();
    ways.push_back({[&run, i] { return run(i); }, definition_of(arms[i], arguments.span)});
    blocks.push_back(builder_->add_block());
  }
  builder_->switch_to(block_, chosen.node, blocks, user_span(index_span));
  return run_arms(ways, blocks, index_span, arguments.span, "`select`", true);
}

}  // namespace galatea::dsl
