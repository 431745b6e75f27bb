#include "compiler/passes/compose_warps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "compiler/op/recipe.h"
#include "compiler/op/schema.h"

namespace galatea::passes {

using namespace ir;
using kernel::Expr;
using kernel::ExprKind;
using kernel::SymbolKind;
using op::AffineView;
using op::LoweredOutput;

namespace {

constexpr const char* kComposed = "composed_warp";
constexpr size_t kMaxMaps = 8;

/// One step from an image to the next.
struct Step {
  NodeId node = kNoId;
  AffineView view;
  bool moves_pixels = false;  ///< by strides: reads nothing outside, interpolates nothing
  std::vector<Expr> extents;  ///< of its output
  std::vector<op::Check> checks;
};

Expr to_f64(const Expr& e) { return kernel::convert(e, DType::kF64); }

class Composer {
 public:
  Composer(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), composed_(context.registry.find(kComposed)) {}

  bool run() {
    if (composed_ == nullptr) return false;
    bool changed = false;
    const std::vector<BlockId> order = graph_.topological_order();
    for (size_t b = order.size(); b-- > 0;) {
      const std::vector<NodeId> nodes = graph_.block(order[b]).nodes;
      for (size_t n = nodes.size(); n-- > 0;) changed |= compose_from(nodes[n]);
    }
    return changed;
  }

 private:
  std::optional<Step> step_of(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op == nullptr || node.op->source || !node.op->define || node.inputs.empty() ||
        node.outputs.size() != 1 || node.op == composed_)
      return std::nullopt;
    op::Lowering lowering = op::lower_node(graph_, id);
    if (lowering.outputs.size() != 1) return std::nullopt;
    Step step{id, {}, false, lowering.outputs[0].extents, lowering.checks};
    if (lowering.affine) {
      step.view = *lowering.affine;
      return step;
    }
    const LoweredOutput& output = lowering.outputs[0];
    if (output.kind != LoweredOutput::Kind::kView || output.reshape || output.input != 0) return std::nullopt;
    return view_by_strides(std::move(step), output);
  }

  /// A crop or a mirror: pixel i shows pixel start + step * i.
  std::optional<Step> view_by_strides(Step step, const LoweredOutput& output) const {
    const Layout& layout = graph_.type(graph_.node(step.node).outputs[0]).layout;
    const size_t rank = output.input_dim.size();
    if (rank != static_cast<size_t>(graph_.type(graph_.node(step.node).inputs[0]).ndim)) return std::nullopt;
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

  uint32_t uses_of(ValueId value) const { return graph_.count_uses()[value]; }

  /// Why the reader cannot look through what it reads, or empty.
  std::string why_not(const Step& reader, const Step& maker) const {
    const Node& node = graph_.node(maker.node);
    const std::string name = op::shown_name(node);
    if (uses_of(node.outputs[0]) != 1) return fmt::format("the image of {} is also read elsewhere", name);
    if (graph_.type(node.outputs[0]).dtype != graph_.type(node.inputs[0]).dtype)
      return fmt::format("{} changes the element type", name);
    if (reader.view.h != maker.view.h || reader.view.w != maker.view.w) return "the images' layouts differ";
    for (const Step* step : {&reader, &maker})
      if (!step->moves_pixels && !step->view.linear)
        return fmt::format("{} takes nearest neighbours", op::shown_name(graph_.node(step->node)));
    if (!reader.moves_pixels && !reader.view.filled)
      return fmt::format("{} repeats the edge of an image that would not be made (give fill_value)",
                         op::shown_name(graph_.node(reader.node)));
    return {};
  }

  /// Follows what a warp reads as far as it goes.
  bool compose_from(NodeId id) {
    auto last = step_of(id);
    if (!last || last->moves_pixels || uses_of(graph_.node(id).outputs[0]) == 0) return false;
    std::vector<Step> chain = {std::move(*last)};
    size_t warps = 1, complete = 1;  // the chain ends with a warp
    while (chain.size() < kMaxMaps) {
      const Step& reader = chain.back();
      const Node* made = graph_.defining_node(graph_.node(reader.node).inputs[0]);
      if (made == nullptr) break;
      auto maker = step_of(graph_.value(graph_.node(reader.node).inputs[0]).node);
      if (!maker) break;
      const std::string objection = why_not(reader, *maker);
      if (!objection.empty()) {
        if (!maker->moves_pixels)
          context_.remark(fmt::format("{} and {} stay two resamplings: {}", op::shown_name(*made),
                                      op::shown_name(graph_.node(id)), objection),
                          graph_.node(id).span);
        break;
      }
      chain.push_back(std::move(*maker));
      if (chain.back().moves_pixels) continue;
      ++warps;
      complete = chain.size();
    }
    chain.resize(complete);
    return warps > 1 && replace(chain);
  }

  /// Inputs of the new node, in the order in which expressions name them.
  struct Inputs {
    std::vector<ValueId> values;
    bool legal = true;

    int64_t number(ValueId value) {
      const auto found = std::find(values.begin(), values.end(), value);
      if (found != values.end()) return found - values.begin();
      values.push_back(value);
      return static_cast<int64_t>(values.size()) - 1;
    }
  };

  /// The expression over symbols of the new node's inputs; images that are not made are known by how their
  /// extents came to be.
  Expr imported(const Expr& e, const std::vector<Step>& chain, Inputs& inputs) const {
    return kernel::rewrite(e, [&](const Expr& x) -> Expr {
      if (x->kind != ExprKind::kSymbol) return {};
      const auto value = static_cast<ValueId>(x->a);
      if (x->symbol == SymbolKind::kExtent)
        for (const Step& step : chain)
          if (graph_.node(step.node).outputs[0] == value)
            return imported(step.extents[static_cast<size_t>(x->b)], chain, inputs);
      if (x->symbol != SymbolKind::kExtent && x->symbol != SymbolKind::kElement) {
        inputs.legal = false;
        return {};
      }
      return kernel::symbol(x->symbol, x.type(), inputs.number(value), x->b);
    });
  }

  bool replace(const std::vector<Step>& chain) {
    const NodeId id = chain.front().node;
    const Node& innermost = graph_.node(chain.back().node);
    Inputs inputs;
    inputs.number(innermost.inputs[0]);
    std::vector<std::string> maps, canvases, extents;
    const auto text = [&](const Expr& e) { return kernel::to_text(imported(e, chain, inputs)); };
    for (size_t k = 0; k < chain.size(); ++k) {
      const AffineView& view = chain[k].view;
      for (const Expr& element : view.map) maps.push_back(text(element));
      if (k + 1 == chain.size()) break;
      const std::vector<Expr>& canvas = chain[k + 1].extents;
      canvases.push_back(text(canvas[static_cast<size_t>(view.h)]));
      canvases.push_back(text(canvas[static_cast<size_t>(view.w)]));
      canvases.push_back(chain[k].moves_pixels ? "" : text(kernel::convert(view.fill, DType::kF32)));
    }
    const AffineView& view = chain.front().view;
    const ValueId output = graph_.node(id).outputs[0];
    std::vector<int64_t> known;
    for (const int dim : {view.h, view.w}) {
      extents.push_back(text(chain.front().extents[static_cast<size_t>(dim)]));
      known.push_back(graph_.type(output).extents[static_cast<size_t>(dim)]);
    }
    std::vector<std::string> checks;
    for (size_t k = chain.size(); k-- > 0;) {
      for (const op::Check& check : chain[k].checks) {
        const Expr condition = imported(check.condition, chain, inputs);
        if (kernel::is_const(condition) && kernel::const_value(condition) != 0) continue;
        const std::string name = k == 0 ? "" : op::shown_name(graph_.node(chain[k].node)) + ": ";
        checks.insert(checks.end(), {kernel::to_text(condition), name + check.message, check.help,
                                     std::to_string(check.values.size())});
        for (const Expr& value : check.values) checks.push_back(text(value));
      }
    }
    if (!inputs.legal || inputs.values.size() > static_cast<size_t>(composed_->max_inputs)) return false;
    std::vector<std::string> names;
    for (size_t k = chain.size(); k-- > 0;)
      if (!chain[k].moves_pixels) names.push_back(op::shown_name(graph_.node(chain[k].node)));
    std::vector<Arg> args = {{"maps", Attr(maps), {}},
                             {"canvases", Attr(canvases), {}},
                             {"extents", Attr(extents), {}},
                             {"known_extents", Attr(known), {}},
                             {"dtype", Attr(graph_.type(output).dtype), {}}};
    if (!checks.empty()) args.push_back({"checks", Attr(checks), {}});
    if (const Arg* fill = innermost.find_arg("fill_value")) args.push_back(*fill);
    context_.remark(fmt::format("{} become one interpolation (exact=False)", fmt::join(names, " and ")),
                    graph_.node(id).span);
    Node& node = graph_.nodes[id];
    node.op = composed_;
    node.inputs = std::move(inputs.values);
    node.args = std::move(args);
    return true;
  }

  Graph& graph_;
  const PassContext& context_;
  const op::Operator* composed_;
};

}  // namespace

bool compose_warps(Graph& graph, const PassContext& context) {
  return !graph.options.exact && Composer(graph, context).run();
}

}  // namespace galatea::passes
