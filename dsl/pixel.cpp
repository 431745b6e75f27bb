// One element of a pixel function: see pixel.h.
#include "dsl/pixel.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "compiler/op/pixel_axes.h"
#include "compiler/op/recipe.h"

namespace galatea::dsl {

using kernel::Expr;
using kernel::ExprKind;
using kernel::SymbolKind;

namespace {

bool same_literals(const std::vector<std::pair<Expr, bool>>& a, const std::vector<std::pair<Expr, bool>>& b,
                   size_t count) {
  return std::equal(
      a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin(),
      [](const auto& x, const auto& y) { return x.second == y.second && kernel::same(x.first, y.first); });
}

bool differ_at_last(const std::vector<std::pair<Expr, bool>>& a,
                    const std::vector<std::pair<Expr, bool>>& b) {
  return !a.empty() && a.size() == b.size() && a.back().second != b.back().second &&
         kernel::same(a.back().first, b.back().first) && same_literals(a, b, a.size() - 1);
}

/// All literals from number `from` on.
Expr conjunction(const std::vector<std::pair<Expr, bool>>& literals, size_t from) {
  Expr out = kernel::const_bool(true);
  for (size_t i = from; i < literals.size(); ++i) {
    const Expr literal = literals[i].second ? literals[i].first : kernel::logical_not(literals[i].first);
    out = i == from ? literal : out & literal;
  }
  return out;
}

/// select, but for bools that stand on both sides of it: `a and b` is `b if a else a`.
Expr choose(const Expr& condition, const Expr& a, const Expr& b) {
  if (kernel::same(a, b)) return a;
  if (is_bool(a.type()) && kernel::same(condition, b)) return condition & a;
  if (is_bool(a.type()) && kernel::same(condition, a)) return condition | b;
  return kernel::select(condition, a, b);
}

Expr as_truth(const Expr& e) { return is_bool(e.type()) ? e : kernel::convert(e, DType::kBool); }

/// The type in which an element of this type is computed with.
DType read_type(DType type) {
  switch (type) {
    case DType::kU8:
    case DType::kI8:
    case DType::kU16:
    case DType::kI16:
      return DType::kI32;
    case DType::kU32:
      return DType::kI64;
    case DType::kF16:
      return DType::kF32;
    default:
      return type;
  }
}

/// An i32 expression in i64, and what it may be.
struct Wide {
  Expr e;
  int64_t low = 0, high = 0;
};

Wide widen(const Expr& e, int& budget) {
  constexpr int64_t kLow = std::numeric_limits<int32_t>::min(), kHigh = std::numeric_limits<int32_t>::max();
  if (kernel::is_const(e)) {
    const int64_t value = kernel::const_value(e);
    return {kernel::const_int(value), value, value};
  }
  const Wide any = {kernel::convert(e, DType::kI64), kLow, kHigh};
  if (e->kind != ExprKind::kOp || --budget < 0) return any;
  if (e->op == ScalarOp::kConvert) {
    const Expr& from = e->args[0];
    if (from->kind == ExprKind::kAxis) return {from, 0, op::kMaxPixelExtent - 1};
    if (from->kind == ExprKind::kSymbol && from->symbol == SymbolKind::kExtent)
      return {from, 0, op::kMaxPixelExtent};
    const bool small = is_integral(from.type()) && !is_bool(from.type()) && size_of(from.type()) < 4;
    return small ? Wide{any.e, min_int(from.type()), max_int(from.type())} : any;
  }
  if (e->op != ScalarOp::kAdd && e->op != ScalarOp::kSub && e->op != ScalarOp::kMul) return any;
  const Wide a = widen(e->args[0], budget), b = widen(e->args[1], budget);
  Wide out = {kernel::binary(e->op, a.e, b.e), 0, 0};
  if (e->op == ScalarOp::kAdd) {
    out.low = a.low + b.low, out.high = a.high + b.high;
  } else if (e->op == ScalarOp::kSub) {
    out.low = a.low - b.high, out.high = a.high - b.low;
  } else {
    std::tie(out.low, out.high) =
        std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  }
  return out.low < kLow || out.high > kHigh ? any : out;
}

}  // namespace

Expr wide_index(const Expr& e) {
  constexpr int kBudget = 256;  // operations looked at: expressions share parts
  int budget = kBudget;
  return e.type() == DType::kI32 ? widen(e, budget).e : kernel::convert(e, DType::kI64);
}

PixelScope::PixelScope(ir::Graph& graph, op::GraphBuilder& builder, ir::ValueId image, kernel::Border border,
                       double fill)
    : graph_(graph),
      first_block_(builder.add_block()),
      first_node_(static_cast<ir::NodeId>(graph.nodes.size())),
      first_value_(static_cast<ir::ValueId>(graph.values.size())),
      border_(border),
      fill_(fill) {
  if (image != ir::kNoId) inputs_.push_back(image);
}

int PixelScope::input_of(ir::ValueId value) {
  auto at = std::find(inputs_.begin(), inputs_.end(), value);
  if (at == inputs_.end()) at = inputs_.insert(at, value);
  return static_cast<int>(at - inputs_.begin());
}

// ---- leaves

Expr PixelScope::coordinate(int number) const { return kernel::convert(kernel::axis(number), DType::kI32); }

// Symbols name values of the graph until finish() knows the inputs.
Expr PixelScope::extent(ir::ValueId tensor, int dim) const {
  return kernel::convert(kernel::symbol(SymbolKind::kExtent, DType::kI64, tensor, dim), DType::kI32);
}

Expr PixelScope::load(ir::ValueId tensor, std::vector<Expr> indices) {
  const DType type = graph_.type(tensor).dtype;
  const Expr fill = border_ == kernel::Border::kConstant
                        ? kernel::saturate(kernel::const_float(fill_, DType::kF64), type)
                        : Expr{};
  return once(kernel::load({kernel::LoadTarget::Kind::kInput, input_of(tensor)}, type, std::move(indices),
                           border_, fill ? fill->value : Cell{}));
}

Expr PixelScope::once(Expr e) {
  auto [at, end] = known_.equal_range(kernel::hash_of(e));
  for (; at != end; ++at)
    if (kernel::same(at->second, e)) return at->second;
  known_.emplace(kernel::hash_of(e), e);
  return e;
}

Expr PixelScope::read(ir::ValueId tensor, std::vector<Expr> indices) {
  return once(kernel::convert(load(tensor, std::move(indices)), read_type(graph_.type(tensor).dtype)));
}

Expr PixelScope::read_between(ir::ValueId tensor, const Expr& row, const Expr& column,
                              std::vector<Expr> rest) {
  const DType own = graph_.type(tensor).dtype;
  const bool narrow = is_float(own) ? own != DType::kF64 : size_of(own) < 4;
  const DType wide = narrow ? DType::kF32 : DType::kF64;  // f32 does not hold every i32
  struct Sides {
    Expr first;  // i64
    Expr share;  // of the pixel after it
  };
  auto place = [&](const Expr& at) -> Sides {
    const Expr x = is_float(at.type()) ? at : kernel::convert(at, DType::kF32);
    const Expr floor = kernel::unary(ScalarOp::kFloor, x);
    // So far outside that no image reaches there; NaN goes there too.
    const Expr low = kernel::const_float(-0x1p30, x.type()), high = kernel::const_float(0x1p30, x.type());
    const Expr near = kernel::convert(kernel::clamp(floor, low, high), DType::kI32);
    return {kernel::convert(near, DType::kI64), kernel::convert(x - floor, wide)};
  };
  const Sides y = place(row), x = place(column);
  auto pixel = [&](int64_t dy, int64_t dx) {
    std::vector<Expr> indices = {y.first + kernel::const_int(dy), x.first + kernel::const_int(dx)};
    indices.insert(indices.end(), rest.begin(), rest.end());
    return kernel::convert(load(tensor, std::move(indices)), wide);
  };
  auto blend = [](const Expr& share, const Expr& a, const Expr& b) { return kernel::fma(share, b - a, a); };
  return blend(y.share, blend(x.share, pixel(0, 0), pixel(0, 1)), blend(x.share, pixel(1, 0), pixel(1, 1)));
}

// ---- values

Expr PixelScope::element(ir::ValueId value, int64_t index) {
  if (auto known = values_.find(value); known != values_.end())
    return known->second.at(static_cast<size_t>(index));
  if (owns(value)) return merged(value);
  // A constant of the text needs no input.
  if (const ir::Node* node = graph_.defining_node(value); node && node->op->name == "constant") {
    const op::Lowering lowering = op::lower_node(graph_, graph_.value(value).node);
    const op::LoweredOutput& output = lowering.outputs[0];
    if (output.kind == op::LoweredOutput::Kind::kScalars)
      return output.elements.at(static_cast<size_t>(index));
  }
  return kernel::symbol(SymbolKind::kElement, graph_.type(value).dtype, value, index);
}

bool PixelScope::adopt(ir::NodeId id) {
  const ir::Node& node = graph_.node(id);
  const op::Lowering lowering = op::lower_node(graph_, id);
  // Elements are computed where no sample waits for others.
  if (op::meets_batch(lowering)) return false;
  for (const op::LoweredOutput& output : lowering.outputs)
    if (output.kind != op::LoweredOutput::Kind::kScalars) return false;
  // Both arms of an `if` are computed: where the other one is taken, an integer divides by 1.
  const bool divides = (node.op->name == "arith.floordiv" || node.op->name == "arith.mod") &&
                       is_integral(graph_.type(node.outputs[0]).dtype);
  auto replace = [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::kSymbol || e->symbol != SymbolKind::kElement) return {};
    const auto from = static_cast<ir::ValueId>(e->a);
    Expr value = element(from, e->b);
    if (divides && from == node.inputs[1] && !kernel::is_const(value))
      value = kernel::select(conjunction(reach(node.block), 0), value, kernel::const_int(1, value.type()));
    return value;
  };
  for (size_t k = 0; k < lowering.outputs.size(); ++k) {
    std::vector<Expr> elements;
    for (const Expr& e : lowering.outputs[k].elements) elements.push_back(kernel::rewrite(e, replace));
    values_[node.outputs[k]] = std::move(elements);
  }
  return true;
}

// ---- control flow

PixelScope::Literals PixelScope::edge(ir::BlockId from, ir::BlockId to, bool second) {
  Literals literals = reach(from);
  const ir::Terminator& end = graph_.block(from).terminator;
  if (end.kind == ir::TerminatorKind::kJump) return literals;
  GALATEA_CHECK(end.kind == ir::TerminatorKind::kBranch, "staging makes jumps and branches");
  const bool holds = second ? end.targets[1] == to : end.targets[0] == to;
  literals.emplace_back(as_truth(element(end.selector)), second ? !holds : holds);
  return literals;
}

std::vector<PixelScope::Literals> PixelScope::edges_into(ir::BlockId block) {
  const std::vector<ir::BlockId> from = graph_.block(block).predecessors;
  std::vector<Literals> edges;
  for (size_t k = 0; k < from.size(); ++k) {
    const bool second = std::find(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(k), from[k]) !=
                        from.begin() + static_cast<std::ptrdiff_t>(k);
    edges.push_back(edge(from[k], block, second));
  }
  return edges;
}

const PixelScope::Literals& PixelScope::reach(ir::BlockId block) {
  if (auto known = reach_.find(block); known != reach_.end()) return known->second;
  std::vector<Literals> edges = block == first_block_ ? std::vector<Literals>{} : edges_into(block);
  // Two edges that differ in how their last condition falls out are one without it. Paths that part last end
  // side by side.
  std::vector<Literals> open;
  for (size_t k = edges.size(); k-- > 0;) {
    open.push_back(std::move(edges[k]));
    while (open.size() > 1 && differ_at_last(open[open.size() - 1], open[open.size() - 2])) {
      open.pop_back();
      open.back().pop_back();
    }
  }
  edges = std::move(open);
  Literals out;
  if (edges.size() == 1) {
    out = edges[0];
  } else if (!edges.empty()) {
    Expr any = conjunction(edges[0], 0);
    for (size_t k = 1; k < edges.size(); ++k) any = any | conjunction(edges[k], 0);
    out = {{any, true}};
  }
  return reach_[block] = std::move(out);
}

namespace {

struct Arm {
  const std::vector<std::pair<Expr, bool>>* literals;
  Expr value;
};

/// The value of the arm whose conditions hold, of which those before number `depth` are decided: selects
/// nested as the branches were.
Expr choose_arm(const std::vector<Arm>& arms, size_t depth) {
  if (arms.size() == 1) return arms[0].value;
  auto has_next = [&](const Arm& arm) {
    return arm.literals->size() > depth && arms[0].literals->size() > depth &&
           kernel::same((*arm.literals)[depth].first, (*arms[0].literals)[depth].first);
  };
  if (std::all_of(arms.begin(), arms.end(), has_next)) {
    std::vector<Arm> holds, fails;
    for (const Arm& arm : arms) ((*arm.literals)[depth].second ? holds : fails).push_back(arm);
    if (holds.empty() || fails.empty()) return choose_arm(arms, depth + 1);
    return choose((*arms[0].literals)[depth].first, choose_arm(holds, depth + 1),
                  choose_arm(fails, depth + 1));
  }
  Expr out = arms.back().value;
  for (size_t k = arms.size() - 1; k-- > 0;)
    out = choose(conjunction(*arms[k].literals, depth), arms[k].value, out);
  return out;
}

}  // namespace

Expr PixelScope::merged(ir::ValueId value) {
  const ir::Value at = graph_.value(value);
  GALATEA_CHECK(at.node == ir::kNoId, "values of the scope are known or merged");
  const std::vector<Literals> edges = edges_into(at.block);
  const std::vector<ir::ValueId> operands = graph_.block(at.block).merges[at.index].operands;
  std::vector<Arm> arms;
  for (size_t k = 0; k < operands.size(); ++k)
    arms.push_back({&edges[k], kernel::convert(element(operands[k]), at.type.dtype)});
  const Expr out = choose_arm(arms, 0);
  values_[value] = {out};
  return out;
}

// ---- the end

PixelScope::Finished PixelScope::finish(const Expr& element) {
  const Expr body = kernel::rewrite(element, [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::kSymbol) return {};
    const auto value = static_cast<ir::ValueId>(e->a);
    int64_t place = e->b;
    // Extents are named in the order of coordinates.
    if (e->symbol == SymbolKind::kExtent) {
      const auto axes = op::pixel_axes(graph_.type(value));
      if (axes) place = std::find(axes->begin(), axes->end(), static_cast<int>(place)) - axes->begin();
    }
    return kernel::symbol(e->symbol, e->type, input_of(value), place);
  });
  Finished out;
  std::unordered_map<const kernel::ExprNode*, size_t> depth;
  kernel::for_each_node(body, [&](const Expr& e) {
    size_t deepest = 0;
    for (const Expr& arg : e->args) deepest = std::max(deepest, depth[arg.get()]);
    depth[e.get()] = deepest + 1;
    out.depth = std::max(out.depth, deepest + 1);
    out.reads += e->kind == ExprKind::kLoad ? 1 : 0;
  });
  out.inputs = inputs_;
  out.body = kernel::to_text(body);
  return out;
}

void PixelScope::remove() {
  for (ir::NodeId id = first_node_; id < graph_.nodes.size(); ++id)
    if (owns_block(graph_.nodes[id].block)) graph_.nodes[id] = {};
  while (graph_.nodes.size() > first_node_ && graph_.nodes.back().op == nullptr) graph_.nodes.pop_back();
  // Constants for merges of the pipeline may have come between; they keep their numbers.
  for (ir::ValueId id = first_value_; id < graph_.values.size(); ++id)
    if (owns_block(graph_.values[id].block)) graph_.values[id] = {{}, ir::kNoId, ir::kNoId, 0, {}};
  while (graph_.values.size() > first_value_ && graph_.values.back().block == ir::kNoId)
    graph_.values.pop_back();
  for (ir::ValueId id = first_value_; id < graph_.values.size(); ++id)
    if (graph_.values[id].block == ir::kNoId) graph_.values[id].block = 0;
  graph_.blocks.resize(first_block_);
}

}  // namespace galatea::dsl
