#include "compiler/check_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "compiler/messages/messages.h"
#include "compiler/op/schema.h"
#include "compiler/shape/graph_shapes.h"

namespace galatea {
namespace {

using kernel::Expr;

/// Values that something which runs depends on.
std::vector<bool> used_values(const ir::Graph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  std::vector<ir::ValueId> todo;
  auto use = [&](ir::ValueId value) {
    if (value == ir::kNoId || used[value]) return;
    used[value] = true;
    todo.push_back(value);
  };
  for (const ir::Block& block : graph.blocks) {
    use(block.terminator.selector);
    for (ir::ValueId result : block.terminator.results) use(result);
  }
  while (!todo.empty()) {
    const ir::ValueId value = todo.back();
    todo.pop_back();
    const ir::Node* node = graph.defining_node(value);
    if (node == nullptr) {
      const ir::Value& merged = graph.value(value);
      for (ir::ValueId operand : graph.block(merged.block).merges[merged.index].operands) use(operand);
      continue;
    }
    for (ir::ValueId input : node->inputs) use(input);
    for (const ir::Arg& arg : node->args)
      if (arg.is_value()) use(arg.as_value());
  }
  return used;
}

/// A check that no sample passes.
struct Failure {
  ir::NodeId node = 0;
  op::Check check;
  bool used = false;
};

class Checker {
 public:
  Checker(const ir::Graph& graph, shape::GraphShapes& shapes, std::vector<bool> used)
      : graph_(graph), shapes_(shapes), used_(std::move(used)), lost_(graph.values.size(), false) {}

  std::vector<Diagnostic> run() {
    for (ir::BlockId block : shapes_.order()) {
      for (const ir::Merge& merge : graph_.block(block).merges) {
        bool all = true;
        for (ir::ValueId operand : merge.operands) all &= lost_[operand];
        lost_[merge.result] = all;
      }
      for (ir::NodeId id : graph_.block(block).nodes) check_node(id);
    }
    std::vector<Diagnostic> found;
    const bool nobody_passes = !exit_is_reached();
    for (const Failure& failure : failures_) found.push_back(describe(failure, nobody_passes));
    if (!of_batch_.empty()) found.push_back(note_batch());
    return found;
  }

 private:
  /// What comes from a failing node says nothing more: it never exists.
  bool takes_lost(const ir::Node& node) const {
    for (ir::ValueId input : node.inputs)
      if (lost_[input]) return true;
    for (const ir::Arg& arg : node.args)
      if (arg.is_value() && lost_[arg.as_value()]) return true;
    return false;
  }

  void check_node(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    if (node.op == nullptr || node.op->source) return;
    if (op::meets_batch(shapes_.table().lowering(id)) && std::ranges::any_of(node.outputs, is_used()))
      of_batch_.push_back(id);
    bool fails = takes_lost(node);
    if (!fails) {
      for (const op::Check& check : shapes_.table().lowering(id).checks) {
        auto holds = shapes_.facts().decide(shapes_.table().resolve(check.condition));
        if (!holds || *holds) continue;
        bool used = false;
        for (ir::ValueId output : node.outputs) used |= used_[output];
        failures_.push_back({id, check, used});
        fails = true;
        break;  // the first of a node is the one that a run would report
      }
    }
    if (fails)
      for (ir::ValueId output : node.outputs) lost_[output] = true;
  }

  std::function<bool(ir::ValueId)> is_used() const {
    return [this](ir::ValueId value) { return used_[value]; };
  }

  /// Once for a pipeline, at the first of the operators.
  Diagnostic note_batch() const {
    const ir::Node& first = graph_.node(of_batch_.front());
    const auto is_elsewhere = [&](ir::NodeId id) { return graph_.node(id).span != first.span; };
    const auto others = std::ranges::count_if(of_batch_, is_elsewhere);
    Diagnostic diagnostic =
        compiler::diagnostic(compiler::Message::kDependsOnBatch, first.span, "this call",  // it may be a part
                             others > 0 ? ", and so do others" : "");
    diagnostic.calls = first.calls;
    return diagnostic;
  }

  /// Whether some way from the entry to the end meets no failure.
  bool exit_is_reached() const {
    std::set<ir::BlockId> closed;
    for (const Failure& failure : failures_)
      if (failure.used) closed.insert(graph_.node(failure.node).block);
    std::vector<ir::BlockId> todo = {0};
    std::set<ir::BlockId> seen;
    while (!todo.empty()) {
      const ir::BlockId block = todo.back();
      todo.pop_back();
      if (closed.contains(block) || !seen.insert(block).second) continue;
      const ir::Terminator& end = graph_.block(block).terminator;
      if (end.kind == ir::TerminatorKind::kReturn) return true;
      todo.insert(todo.end(), end.targets.begin(), end.targets.end());
    }
    return false;
  }

  std::string value_text(const Expr& value) {
    if (!value) return "?";
    const Expr resolved = shapes_.table().resolve(value);
    if (kernel::is_const(resolved) && is_float(resolved.type()))
      return fmt::format("{:g}", cell_to_double(resolved.type(), resolved->value));
    if (is_float(resolved.type())) {
      const kernel::ScalarRange range = shapes_.facts().range(resolved);
      return range.from == range.to && !range.nan ? fmt::format("{:g}", range.from) : "?";
    }
    const kernel::ScalarRange range = shapes_.facts().range(resolved);
    if (range.is_point()) return std::to_string(static_cast<int64_t>(range.low));
    return shapes_.number_text(resolved).value_or("?");
  }

  /// The check's message with its values: numbers where all samples have the same, else in terms of extents.
  std::string message_of(const op::Check& check) {
    std::string text;
    size_t next = 0;
    for (size_t i = 0; i < check.message.size(); ++i) {
      if (check.message.compare(i, 2, "{}") != 0) {
        text.push_back(check.message[i]);
        continue;
      }
      ++i;
      text += value_text(next < check.values.size() ? check.values[next] : Expr());
      ++next;
    }
    return text;
  }

  Diagnostic describe(const Failure& failure, bool nobody_passes) {
    const ir::Node& node = graph_.node(failure.node);
    const op::Check& check = failure.check;
    const ir::Arg* arg = check.arg.empty() ? nullptr : node.find_arg(check.arg);
    const Span span = arg != nullptr && arg->span.valid() ? arg->span : node.span;
    Diagnostic diagnostic = compiler::diagnostic(compiler::Message::kOperatorRefuses, span,
                                                 op::display_name(*node.op), message_of(check), check.help);
    diagnostic.calls = node.calls;
    const bool is_error = failure.used && nobody_passes;
    diagnostic.severity = is_error ? Severity::kError : Severity::kWarning;
    for (size_t k = 0; k < node.inputs.size(); ++k)
      diagnostic.notes.push_back(op::value_note(graph_, node.inputs[k], fmt::format("input {}", k),
                                                shapes_.type_text(node.inputs[k])));
    diagnostic.notes.push_back(is_error       ? "this fails for every sample"
                               : failure.used ? "this fails for every sample that takes this way"
                                              : "nobody uses the result, so that it is never computed");
    return diagnostic;
  }

  const ir::Graph& graph_;
  shape::GraphShapes& shapes_;
  std::vector<bool> used_;
  std::vector<bool> lost_;
  std::vector<Failure> failures_;
  std::vector<ir::NodeId> of_batch_;
};

}  // namespace

std::vector<Diagnostic> check_graph(const ir::Graph& graph, shape::GraphShapes& shapes) {
  return Checker(graph, shapes, used_values(graph)).run();
}

std::vector<Diagnostic> check_partial_graph(const ir::Graph& graph) {
  shape::GraphShapes shapes(graph);
  return Checker(graph, shapes, std::vector<bool>(graph.values.size(), true)).run();
}

std::vector<Diagnostic> check_graph(const ir::Graph& graph, op::KnownLowerings* known) {
  shape::GraphShapes shapes(graph);
  std::vector<Diagnostic> found = check_graph(graph, shapes);
  if (known != nullptr) shapes.give_lowerings(*known);
  return found;
}

}  // namespace galatea
