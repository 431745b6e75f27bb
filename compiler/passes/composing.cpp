#include "compiler/passes/composing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/op/schema.h"

namespace galatea::passes {

using namespace ir;
using kernel::Expr;
using kernel::ExprKind;
using kernel::SymbolKind;
using op::LoweredOutput;

namespace {

Expr to_f64(const Expr& e) { return kernel::convert(e, DType::kF64); }

/// A crop or a mirror: pixel i shows pixel start + step * i.
std::optional<Step> view_by_strides(const Graph& graph, Step step, const LoweredOutput& output) {
  const Layout& layout = graph.type(graph.node(step.node).outputs[0]).layout;
  const size_t rank = output.input_dim.size();
  if (rank != static_cast<size_t>(graph.type(graph.node(step.node).inputs[0]).ndim)) return std::nullopt;
  const auto dim_of = [&](char axis) { return layout.find(axis); };
  if (dim_of('H') < 0 || dim_of('W') < 0) return std::nullopt;
  step.moves_pixels = true;
  step.view.h = dim_of('H');
  step.view.w = dim_of('W');
  const Expr zero = kernel::const_float(0, DType::kF64), half = kernel::const_float(0.5, DType::kF64);
  for (size_t d = 0; d < rank; ++d) {
    if (output.input_dim[d] != static_cast<int>(d)) return std::nullopt;
    const bool is_w = static_cast<int>(d) == step.view.w, is_h = static_cast<int>(d) == step.view.h;
    if (!is_w && !is_h) {
      if (!kernel::is_const_int(output.start[d], 0) || !kernel::is_const_int(output.step[d], 1))
        return std::nullopt;
      continue;
    }
    const Expr scale = to_f64(output.step[d]);
    const Expr offset = to_f64(output.start[d]) + (half - half * scale);
    const size_t row = is_w ? 0 : 3;
    step.view.map[row] = is_w ? scale : zero;
    step.view.map[row + 1] = is_w ? zero : scale;
    step.view.map[row + 2] = offset;
  }
  return step;
}

}  // namespace

bool compose_from_the_end(Graph& graph, const std::function<bool(NodeId)>& compose) {
  bool changed = false;
  const std::vector<BlockId> order = graph.topological_order();
  for (size_t b = order.size(); b-- > 0;) {
    const std::vector<NodeId> nodes = graph.block(order[b]).nodes;
    for (size_t n = nodes.size(); n-- > 0;) changed |= compose(nodes[n]);
  }
  return changed;
}

std::optional<Step> step_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op == nullptr || node.op->source || !node.op->define || node.inputs.empty() ||
      node.outputs.size() != 1)
    return std::nullopt;
  op::Lowering lowering = op::lower_node(graph, id);
  if (lowering.outputs.size() != 1) return std::nullopt;
  Step step{id, {}, false, lowering.outputs[0].extents, lowering.checks};
  if (lowering.affine) {
    step.view = *lowering.affine;
    return step;
  }
  const LoweredOutput& output = lowering.outputs[0];
  if (output.kind != LoweredOutput::Kind::kView || output.reshape || output.input != 0) return std::nullopt;
  return view_by_strides(graph, std::move(step), output);
}

std::optional<Step> maker_of(const Graph& graph, const Step& reader) {
  const ValueId value = graph.node(reader.node).inputs[0];
  return graph.defining_node(value) == nullptr ? std::nullopt : step_of(graph, graph.value(value).node);
}

std::string why_not_through(const Graph& graph, const Step& reader, const Step& maker) {
  const Node& node = graph.node(maker.node);
  const std::string name = op::shown_name(node);
  if (graph.count_uses()[node.outputs[0]] != 1)
    return fmt::format("the image of {} is also read elsewhere", name);
  if (graph.type(node.outputs[0]).dtype != graph.type(node.inputs[0]).dtype)
    return fmt::format("{} changes the element type", name);
  if (reader.view.h != maker.view.h || reader.view.w != maker.view.w) return "the images' layouts differ";
  return {};
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<Step>& chain) {
  std::vector<std::string> names;
  for (size_t k = chain.size(); k-- > 0;)
    if (!chain[k].moves_pixels) names.push_back(op::shown_name(graph.node(chain[k].node)));
  return names;
}

ChainTexts::ChainTexts(const Graph& graph, const std::vector<Step>& chain) : graph_(graph), chain_(chain) {
  number(graph.node(chain.back().node).inputs[0]);
}

int64_t ChainTexts::number(ValueId value) {
  const auto found = std::find(inputs_.begin(), inputs_.end(), value);
  if (found != inputs_.end()) return found - inputs_.begin();
  inputs_.push_back(value);
  return static_cast<int64_t>(inputs_.size()) - 1;
}

Expr ChainTexts::imported(const Expr& e) {
  return kernel::rewrite(e, [&](const Expr& x) -> Expr {
    if (x->kind != ExprKind::kSymbol) return {};
    const auto value = static_cast<ValueId>(x->a);
    if (x->symbol == SymbolKind::kExtent)
      for (const Step& step : chain_)
        if (graph_.node(step.node).outputs[0] == value)
          return imported(step.extents[static_cast<size_t>(x->b)]);
    if (x->symbol != SymbolKind::kExtent && x->symbol != SymbolKind::kElement) {
      complete_ = false;
      return {};
    }
    return kernel::symbol(x->symbol, x.type(), number(value), x->b);
  });
}

std::string ChainTexts::operator()(const Expr& e) { return kernel::to_text(imported(e)); }

std::vector<std::string> ChainTexts::checks() {
  std::vector<std::string> out;
  for (size_t k = chain_.size(); k-- > 0;) {
    for (const op::Check& check : chain_[k].checks) {
      const Expr condition = imported(check.condition);
      if (kernel::is_const(condition) && kernel::const_value(condition) != 0) continue;
      const std::string name = k == 0 ? "" : op::shown_name(graph_.node(chain_[k].node)) + ": ";
      out.insert(out.end(), {kernel::to_text(condition), name + check.message, check.help,
                             std::to_string(check.values.size())});
      for (const Expr& value : check.values) out.push_back((*this)(value));
    }
  }
  return out;
}

bool replace_chain(Graph& graph, const PassContext& context, const op::Operator& composed,
                   const std::vector<Step>& chain, ChainTexts& texts, std::vector<Arg> args,
                   std::string_view what) {
  const std::vector<std::string> checks = texts.checks();
  if (!texts.complete() || texts.inputs().size() > static_cast<size_t>(composed.max_inputs)) return false;
  const NodeId id = chain.front().node;
  const op::AffineView& view = chain.front().view;
  const Type& type = graph.type(graph.node(id).outputs[0]);
  const std::vector<int64_t> known = {type.extents[static_cast<size_t>(view.h)],
                                      type.extents[static_cast<size_t>(view.w)]};
  args.push_back({"known_extents", Attr(known), {}});
  args.push_back({"dtype", Attr(type.dtype), {}});
  if (!checks.empty()) args.push_back({"checks", Attr(checks), {}});
  context.remark(
      fmt::format("{} become one {} (exact=False)", fmt::join(names_of(graph, chain), " and "), what),
      graph.node(id).span);
  Node& node = graph.nodes[id];
  node.op = &composed;
  node.inputs = texts.inputs();
  node.args = std::move(args);
  return true;
}

}  // namespace galatea::passes
