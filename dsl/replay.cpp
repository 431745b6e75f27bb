// One sample again. In: calls around calls of the user's. Out: the same nodes; what drew is a constant, and a reader reads one sample.
//
// The wrapped call stays where it is, so paths of calls, and with them the keys of all other draws, do not
// change.
#include "dsl/replay.h"

#include <algorithm>

#include "compiler/op/operator.h"
#include "compiler/op/schema.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

void set_arg(ir::Node& node, const std::string& name, ir::Attr value, Span span) {
  std::erase_if(node.args, [&](const ir::Arg& arg) { return arg.name == name; });
  node.args.push_back({name, std::move(value), span});
}

/// A number, or a list of them, as the elements of a constant; empty: it is neither.
std::vector<Value> elements_as_numbers(const Value& value) {
  if (value.is_number()) return {value};
  if (!value.is_sequence()) return {};
  const bool is_flat =
      std::ranges::all_of(value.elements(), [](const Value& element) { return element.is_number(); });
  return is_flat ? value.elements() : std::vector<Value>{};
}

ir::Attr constant_of(const std::vector<Value>& numbers, DType dtype) {
  if (is_float(dtype)) {
    std::vector<double> list;
    for (const Value& number : numbers) list.push_back(number.as_double());
    return list;
  }
  std::vector<int64_t> list;
  for (const Value& number : numbers) list.push_back(number.as_int());
  return list;
}

}  // namespace

bool Replay::write_draw(ir::Node& node, const Value& value, Span span) {
  const ir::Type& type = ev_.graph()->type(node.outputs[0]);
  const std::vector<Value> numbers = elements_as_numbers(value);
  const bool fits =
      std::ssize(numbers) == type.static_volume() &&
      (is_float(type.dtype) || std::ranges::all_of(numbers, [](const Value& x) { return x.is_integral(); }));
  if (!fits) {
    ev_.fail(Message::kArgumentKind, span,
             {"with_draws", "None, or the numbers of a draw of type `" + ir::to_text(type) + "`",
              ev_.type_text(value)});
    return false;
  }
  const ir::Arg* device = node.find_arg(op::kDeviceArg);
  std::vector<ir::Arg> args = {{"value", constant_of(numbers, type.dtype), span},
                               {"dtype", ir::Attr(type.dtype), span},
                               {"shape", ir::Attr(type.extents), span}};
  if (!type.layout.empty()) args.push_back({"layout", ir::Attr(type.layout.str()), span});
  if (device) args.push_back(*device);
  node.op = ev_.registry().find("constant");
  node.inputs.clear();
  node.args = std::move(args);
  node.key = 0;
  node.has_own_seed = false;
  return true;
}

Value Replay::with_draws(const CallArguments& arguments) {
  if (arguments.positional.empty() || !arguments.keywords.empty())
    return ev_.fail(Message::kBadArgument, arguments.span,
                    {"with_draws", "a call, then the numbers it draws"});
  if (!ev_.in_pipeline()) return ev_.fail(Message::kOutsidePipeline, arguments.span, {"`replay.with_draws`"});
  const Span call = arguments.spans[0];
  Done& done = done_[{call.file, call.begin}];
  for (; done.nodes < ev_.graph()->nodes.size(); ++done.nodes) {
    ir::Node& node = ev_.graph()->nodes[done.nodes];
    if (!node.op || !node.op->random || call_in(node.span, node.calls, call.file) != call) continue;
    if (!is_written_draw(*ev_.graph(), node)) continue;
    const size_t place = ++done.draws;
    if (place >= arguments.positional.size()) break;
    const Value& value = arguments.positional[place];
    if (value.is_poison()) return Value::poison();
    if (value.is(ValueKind::kNone)) continue;
    if (!write_draw(node, value, arguments.spans[place])) return Value::poison();
  }
  done.nodes = ev_.graph()->nodes.size();
  return arguments.positional[0];
}

Value Replay::only_sample(const CallArguments& arguments) {
  const std::vector<Value>& given = arguments.positional;
  const bool is_form = given.size() == 3 && arguments.keywords.empty() && given[1].is(ValueKind::kInt) &&
                       given[2].is(ValueKind::kInt);
  if (!is_form)
    return ev_.fail(Message::kBadArgument, arguments.span,
                    {"only_sample", "a reader, the number of a sample, and how many there are"});
  if (given[1].integer < 0 || given[1].integer >= given[2].integer)
    return ev_.fail(Message::kArgumentKind, arguments.spans[1],
                    {"number", "between 0 and the number of samples", ev_.type_text(given[1])});
  if (!ev_.in_pipeline())
    return ev_.fail(Message::kOutsidePipeline, arguments.span, {"`replay.only_sample`"});
  const Span call = arguments.spans[0];
  for (ir::Node& node : ev_.graph()->nodes) {
    if (!node.op || !node.op->source || call_in(node.span, node.calls, call.file) != call) continue;
    set_arg(node, "num_shards", ir::Attr(given[2].integer), arguments.spans[2]);
    set_arg(node, "shard_id", ir::Attr(given[1].integer), arguments.spans[1]);
    for (const char* name : {"random_shuffle", "shuffle_after_epoch", "pad_last_batch"})
      set_arg(node, name, ir::Attr(false), call);
    set_arg(node, "stick_to_shard", ir::Attr(true), call);
  }
  return given[0];
}

}  // namespace galatea::dsl
