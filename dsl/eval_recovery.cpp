// Calls of operators that failed, or of which not all is known: what they give all the same, so that all that
// follows is checked. In: a call without the arguments that are missing. Out: data nodes of its types, or poison.
#include "compiler/op/recovery.h"
#include "compiler/op/schema.h"
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"
#include "dsl/pixel.h"

namespace galatea::dsl {

Value Evaluator::recover(op::GraphBuilder::NodeSpec call, std::vector<std::string> missing) {
  // What the library makes of arguments of its own is no matter of the text; an element has no types to keep.
  if (pixel_ || in_library(call.span) || call.op->gives_dictionary) return Value::poison();
  has_unknown_calls_ = true;
  const auto make_value = [&](DType dtype, int ndim) {
    ir::Type type;
    type.dtype = dtype;
    type.ndim = ndim;
    type.extents.assign(static_cast<size_t>(ndim), -1);
    return graph_->node(op::add_unknown(*graph_, block_, {type}, {}, call.span)).outputs[0];
  };
  op::RecoveredCall recovered = op::recover_call(*graph_, call, std::move(missing), make_value);
  for (Diagnostic& diagnostic : recovered.errors)
    report_refused(std::move(diagnostic), call.span, call.inputs, {});
  if (!recovered.types || recovered.types->empty()) return Value::poison();
  std::vector<ir::ValueId> operands = call.inputs;
  for (const ir::Arg& arg : call.args)
    if (arg.is_value()) operands.push_back(arg.as_value());
  const ir::NodeId node = op::add_unknown(*graph_, block_, *recovered.types, std::move(operands), call.span);
  std::vector<Value> values;
  for (const ir::ValueId output : graph_->node(node).outputs) values.push_back(Value::of_node(output));
  return values.size() == 1 ? values[0] : make_tuple(std::move(values));
}

Value Evaluator::recover_refused(op::GraphBuilder::NodeSpec call, const Error& error) {
  const ir::Arg* wrong = error.kind == ErrorKind::kUser && !error.diagnostics.empty()
                             ? op::argument_of_error(call, error.diagnostics[0])
                             : nullptr;
  if (wrong == nullptr) return Value::poison();
  const std::string name = wrong->name;
  std::erase_if(call.args, [&](const ir::Arg& arg) { return arg.name == name; });
  return recover(std::move(call), {name});
}

// Where a text is refused and the help lists those that are taken, the one that was meant.
void Evaluator::suggest_value(Diagnostic& diagnostic) const {
  const std::string given = source_text(sources_, diagnostic.span);
  if (given.size() < 3 || given.front() != given.back() || (given[0] != '"' && given[0] != '\'')) return;
  std::vector<std::string> taken;
  for (size_t at = 0; (at = diagnostic.help.find('"', at)) != std::string::npos;) {
    const size_t end = diagnostic.help.find('"', at + 1);
    if (end == std::string::npos) break;
    taken.push_back(diagnostic.help.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  const auto meant = closest_match(given.substr(1, given.size() - 2), taken);
  if (!meant) return;
  diagnostic.help = "did you mean `\"" + *meant + "\"`? " + diagnostic.help;
  diagnostic.edits.push_back({diagnostic.span, "\"" + *meant + "\"", false});
}

// Of a call whose inputs failed, what its arguments tell alone.
Value Evaluator::report_wrong_kinds(op::GraphBuilder::NodeSpec call) {
  for (ir::Arg& arg : call.args) {
    const op::ArgSpec* spec = call.op->find_arg(arg.name);
    if (!spec || arg.is_value()) continue;
    if (Status checked = op::check_static_argument(*call.op, *spec, arg, arg.span); !checked)
      report_refused(checked.error().diagnostics[0], call.span, {}, {});
  }
  return Value::poison();
}

}  // namespace galatea::dsl
