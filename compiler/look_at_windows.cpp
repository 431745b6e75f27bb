#include "compiler/look_at_windows.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/scalar_op.h"
#include "compiler/op/recipe.h"
#include "compiler/values/value_table.h"
#include "compiler/values/windows.h"

namespace galatea {
namespace {

using kernel::Expr;

/// An operator whose one output has these elements, in symbols of the graph that it is called in.
std::unique_ptr<op::Operator> operator_of(std::vector<Expr> elements) {
  auto made = std::make_unique<op::Operator>();
  made->name = "window";
  made->define = [elements = std::move(elements)](op::RecipeBuilder& b) { b.output_scalars(0, elements); };
  return made;
}

/// First elements, then those behind the last ones.
std::vector<Expr> elements_of(const std::vector<values::Range>& window) {
  std::vector<Expr> elements;
  for (const values::Range& range : window) elements.push_back(range.begin);
  for (const values::Range& range : window) elements.push_back(range.end);
  return elements;
}

ir::ValueId call_at_end(ir::Graph& graph, ir::BlockId block, const op::Operator& op, int64_t ndim) {
  const auto node = static_cast<ir::NodeId>(graph.nodes.size());
  const auto value = static_cast<ir::ValueId>(graph.values.size());
  graph.values.push_back({{DType::kI64, 2, {}, ir::Device::kCpu, {2, ndim}}, node, block, 0, ""});
  ir::Node& call = graph.nodes.emplace_back();
  call.op = &op;
  call.outputs = {value};
  call.block = block;
  graph.blocks[block].nodes.push_back(node);
  return value;
}

/// The numbers of expressions for one picture that there might be. Nothing: it depends on elements.
class UsualNumbers {
 public:
  std::optional<Cell> of(const Expr& e) {
    if (const auto known = cells_.find(e.get()); known != cells_.end()) return known->second;
    const std::optional<Cell> cell = compute(*e);
    cells_.emplace(e.get(), cell);
    return cell;
  }

 private:
  std::optional<Cell> compute(const kernel::ExprNode& e) {
    constexpr uint32_t kMiddle = 0x80000000;  // of all that a draw's word may be
    switch (e.kind) {
      case kernel::ExprKind::kConst:
        return e.value;
      case kernel::ExprKind::kPhilox:
        return cell_from_int(e.type, kMiddle);
      case kernel::ExprKind::kSymbol:
        return of_symbol(e);
      case kernel::ExprKind::kOp: {
        std::vector<Cell> operands;
        for (const Expr& arg : e.args) {
          const std::optional<Cell> operand = of(arg);
          if (!operand) return std::nullopt;
          operands.push_back(*operand);
        }
        const DType from = e.args.empty() ? e.type : e.args[0].type();
        operands.resize(std::max<size_t>(operands.size(), 3));  // evaluate() may read as many
        uint32_t flags = 0;
        return evaluate(e.op, is_comparison(e.op) ? from : e.type, from, operands.data(), &flags);
      }
      default:
        return std::nullopt;
    }
  }

  static Cell of_symbol(const kernel::ExprNode& e) {
    constexpr int64_t kPixels = 640, kChannels = 3;  // extents, and what headers say of them
    if (e.symbol == kernel::SymbolKind::kExtent) return cell_from_int(e.type, e.b < 2 ? kPixels : kChannels);
    if (is_float(e.type)) return cell_from_double(e.type, 0.5);
    return cell_from_int(e.type, e.type == DType::kBool ? 1 : kPixels);
  }

  std::unordered_map<const kernel::ExprNode*, std::optional<Cell>> cells_;
};

}  // namespace

bool leaves_out_a_part(const ir::Graph& graph, ir::NodeId call) {
  values::ValueTable table(graph);
  table.fill();
  const values::ValueInfo& info = table.info(graph.node(call).outputs[0]);
  UsualNumbers numbers;
  for (size_t d = 0; d < info.window.size(); ++d) {
    const auto begin = numbers.of(info.window[d].begin), end = numbers.of(info.window[d].end),
               extent = numbers.of(info.extents[d]);
    if (!begin || !end || !extent || cell_to_int(DType::kI64, *begin) > 0 ||
        cell_to_int(DType::kI64, *end) < cell_to_int(DType::kI64, *extent))
      return true;
  }
  return false;
}

WindowGraph windows_as_outputs(const ir::Graph& graph) {
  WindowGraph made{graph, {}, {}};
  values::ValueTable table(graph);
  table.fill();
  const ir::BlockId exit = graph.exit_block();
  std::vector<ir::ValueId> outputs;
  for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.node(id);
    if (!node.op || !node.find_arg(values::kRegionFromArg) || !graph.dominates(node.block, exit)) continue;
    const std::vector<values::Range>& window = table.info(node.outputs[0]).window;
    if (window.empty()) continue;
    made.operators.push_back(operator_of(elements_of(window)));
    made.calls.push_back(id);
    outputs.push_back(call_at_end(made.graph, node.block, *made.operators.back(), std::ssize(window)));
  }
  made.graph.output_names.assign(outputs.size(), "");
  made.graph.blocks[exit].terminator.results = std::move(outputs);
  return made;
}

}  // namespace galatea
