#include "compiler/check_constants.h"

#include <fmt/format.h>

#include "compiler/messages.h"
#include "compiler/op/recipe.h"

namespace galatea {
namespace {

/// The check's message with its values; those that only the run can tell are left as "?".
std::string message_of(const op::Check& check) {
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < check.message.size(); ++i) {
    if (check.message.compare(i, 2, "{}") != 0) {
      text.push_back(check.message[i]);
      continue;
    }
    ++i;
    const kernel::Expr value = next < check.values.size() ? check.values[next] : kernel::Expr();
    ++next;
    if (!value || !kernel::is_const(value)) {
      text += "?";
    } else if (is_float(value.type())) {
      text += fmt::format("{:g}", cell_to_double(value.type(), value->value));
    } else {
      text += fmt::format("{}", cell_to_int(value.type(), value->value));
    }
  }
  return text;
}

std::string name_of(const op::Operator& op) { return (op.internal ? "the operator " : "fn.") + op.name; }

Diagnostic describe(const ir::Node& node, const op::Check& check, bool for_every_sample) {
  const ir::Arg* arg = check.arg.empty() ? nullptr : node.find_arg(check.arg);
  const Span span = arg != nullptr && arg->span.valid() ? arg->span : node.span;
  Diagnostic diagnostic = compiler::diagnostic(compiler::Message::kOperatorRefuses, span, name_of(*node.op),
                                               message_of(check), check.help);
  diagnostic.calls = node.calls;
  diagnostic.severity = for_every_sample ? Severity::kError : Severity::kWarning;
  diagnostic.notes.push_back(for_every_sample ? "this fails for every sample"
                                              : "this fails for every sample that takes this way");
  return diagnostic;
}

}  // namespace

std::vector<Diagnostic> check_constants(const ir::Graph& graph) {
  std::vector<Diagnostic> found;
  const ir::BlockId exit = graph.exit_block();
  for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.node(id);
    if (node.op == nullptr || !node.op->define) continue;
    const op::Lowering lowering = op::lower_node(graph, id);
    for (const op::Check& check : lowering.checks) {
      if (!kernel::is_const(check.condition) || check.condition->value.bits != 0) continue;
      found.push_back(describe(node, check, graph.dominates(node.block, exit)));
      break;  // the first of a node is the one that a run would report
    }
  }
  return found;
}

}  // namespace galatea
