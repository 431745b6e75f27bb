// See value_table.h. Scalarising runs a small stage symbolically: axes become constants, loads become
// elements.
#include "compiler/values/value_table.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace galatea::values {

using kernel::ExprKind;
using kernel::SymbolKind;

namespace {

bool has_small_static_volume(const ir::Type& type) {
  int64_t volume = type.static_volume();
  return volume >= 0 && volume <= kMaxScalarElements;
}

/// The element index of each axis for row-major position `flat`.
std::vector<Expr> unflatten(int64_t flat, const std::vector<int64_t>& extents) {
  std::vector<Expr> out(extents.size());
  for (size_t d = extents.size(); d-- > 0;) {
    out[d] = kernel::const_int(flat % extents[d]);
    flat /= extents[d];
  }
  return out;
}

int64_t product(const std::vector<int64_t>& extents) {
  int64_t volume = 1;
  for (int64_t e : extents)
    if (__builtin_mul_overflow(volume, e, &volume)) return std::numeric_limits<int64_t>::max();
  return volume;
}

std::optional<std::vector<int64_t>> constants(const std::vector<Expr>& extents) {
  std::vector<int64_t> out;
  for (const Expr& e : extents) {
    // A negative one belongs to a check that fails.
    if (!kernel::is_const(e) || kernel::const_value(e) < 0) return std::nullopt;
    out.push_back(kernel::const_value(e));
  }
  return out;
}

}  // namespace

std::optional<int64_t> constant_position(const std::vector<Expr>& indices,
                                         const std::vector<int64_t>& extents) {
  int64_t position = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!kernel::is_const(indices[d])) return std::nullopt;
    int64_t i = kernel::const_value(indices[d]);
    if (i < 0 || i >= extents[d]) return std::nullopt;
    position = position * extents[d] + i;
  }
  return position;
}

ValueTable::ValueTable(const ir::Graph& graph, TableUse use, std::set<ir::ValueId> stored,
                       const op::KnownLowerings* known)
    : graph_(graph),
      use_(use),
      stored_(std::move(stored)),
      known_(known),
      lineage_(graph),
      lowerings_(graph.nodes.size()),
      values_(graph.values.size()) {}

void ValueTable::give_lowerings(op::KnownLowerings& known) {
  GALATEA_CHECK(use_ == TableUse::kAnalysis, "a plan's lowerings are in terms of its slots");
  for (const ir::Block& block : graph_.blocks)
    for (const ir::NodeId node : block.nodes)
      if (!graph_.node(node).op->source && graph_.node(node).op->define)
        known.keep(graph_, node, std::move(lowerings_[node]), lineage_);
}

void ValueTable::fill() {
  for (ir::BlockId block : graph_.topological_order()) {
    for (const ir::Merge& merge : graph_.block(block).merges) fill_merge(merge);
    for (ir::NodeId node : graph_.block(block).nodes) {
      is_steady_ = true;  // but for the values of this node, which only it defines
      fill_node(node);
      change();
      if (use_ == TableUse::kAnalysis)
        for (ir::ValueId output : graph_.node(node).outputs) shorten(output);
    }
  }
  is_steady_ = true;
  if (use_ != TableUse::kPlan) return;
  early_ = EarlyChecks(*this);
  change();
  narrow_to_windows();
  fill_density();
  known_ = nullptr;
  is_steady_ = true;
}

/// Forgets what was resolved: values will be others.
void ValueTable::change() {
  is_steady_ = false;
  resolved_.clear();
  resolved_roots_.clear();
}

namespace {

/// Whether an expression has more than `limit` operands in all.
bool is_larger(const Expr& e, int& limit) {
  for (const Expr& arg : e->args)
    if (--limit < 0 || is_larger(arg, limit)) return true;
  return false;
}

}  // namespace

void ValueTable::shorten(ir::ValueId value) {
  constexpr int kMaxOperands = 60;
  auto replace = [&](Expr& e, SymbolKind kind, int64_t index) {
    int limit = kMaxOperands;
    if (!is_larger(e, limit)) return;
    originals_.emplace(std::tuple{kind, int64_t{value}, index}, e);
    e = kernel::symbol(kind, e.type(), value, index);
  };
  ValueInfo& info = values_[value];
  for (size_t d = 0; d < info.extents.size(); ++d)
    replace(info.extents[d], SymbolKind::kExtent, static_cast<int64_t>(d));
  for (size_t i = 0; i < info.elements.size(); ++i)
    replace(info.elements[i], SymbolKind::kElement, static_cast<int64_t>(i));
}

Expr ValueTable::original(const kernel::ExprNode& symbol) const {
  auto found = originals_.find({symbol.symbol, symbol.a, symbol.b});
  return found == originals_.end() ? Expr() : found->second;
}

Expr ValueTable::element(ir::ValueId value, int64_t flat_index) const {
  const ValueInfo& info = values_[value];
  // An index past the end belongs to a check that fails first.
  if (info.constant && flat_index < info.constant->volume())
    return kernel::constant(info.constant->type(), info.constant->element(flat_index));
  if (info.scalar)
    return info.elements.empty()
               ? kernel::constant(graph_.type(value).dtype, Cell{})
               : info.elements[std::min(static_cast<size_t>(flat_index), info.elements.size() - 1)];
  return kernel::symbol(SymbolKind::kElement, graph_.type(value).dtype, value, flat_index);
}

Expr ValueTable::resolve_symbol(const kernel::ExprNode& symbol) const {
  if (symbol.kind != ExprKind::kSymbol) return {};
  auto value = static_cast<ir::ValueId>(symbol.a);
  if (symbol.symbol == SymbolKind::kExtent) {
    const Expr& extent = values_[value].extents.at(static_cast<size_t>(symbol.b));
    // What stands for itself stays the node that it is, and so does all that is made of it.
    const bool is_itself = extent->kind == ExprKind::kSymbol && extent->symbol == symbol.symbol &&
                           extent->a == symbol.a && extent->b == symbol.b;
    return is_itself ? Expr() : extent;
  }
  if (symbol.symbol != SymbolKind::kElement) return {};
  return values_[value].constant || values_[value].scalar ? element(value, symbol.b) : Expr();
}

Expr ValueTable::resolve(const Expr& e) const {
  const auto replace = [this](const Expr& x) { return resolve_symbol(*x); };
  if (!kernel::contains(e, ExprKind::kSymbol)) return e;
  if (!is_steady_) return kernel::rewrite_kinds(e, kernel::bit_of(ExprKind::kSymbol), replace);
  if (auto found = resolved_.find(e.get()); found != resolved_.end()) return found->second;
  resolved_roots_.push_back(e);
  return kernel::detail::rewrite_node(e, replace, resolved_, kernel::bit_of(ExprKind::kSymbol));
}

void ValueTable::fill_merge(const ir::Merge& merge) {
  const ir::Type& type = graph_.type(merge.result);
  ValueInfo& info = values_[merge.result];
  for (int d = 0; d < type.ndim; ++d) {
    const auto at = static_cast<size_t>(d);
    const int64_t known = type.extents[at];
    const Expr& first = values_[merge.operands[0]].extents[at];
    // What all arms agree on is known before the branch.
    const bool shared = std::all_of(merge.operands.begin(), merge.operands.end(), [&](ir::ValueId operand) {
      return kernel::same(values_[operand].extents[at], first);
    });
    info.extents.push_back(known >= 0 ? kernel::extent_constant(known)
                           : shared   ? first
                                      : kernel::symbol(SymbolKind::kExtent, DType::kI64, merge.result, d));
  }
  // The registers of a scalar merge are kElement symbols that the emitter maps to registers it moves into.
  if (!has_small_static_volume(type) || stored_.contains(merge.result)) return;
  info.scalar = true;
  for (int64_t i = 0; i < type.static_volume(); ++i)
    info.elements.push_back(kernel::symbol(SymbolKind::kElement, type.dtype, merge.result, i));
}

void ValueTable::fill_node(ir::NodeId node) {
  // Sources, and what a pass may meet but no plan: nodes without a definition.
  if (graph_.node(node).op->source || !graph_.node(node).op->define) {
    for (ir::ValueId value : graph_.node(node).outputs) {
      const ir::Type& type = graph_.type(value);
      for (int d = 0; d < type.ndim; ++d) {
        const int64_t known = use_ == TableUse::kAnalysis ? type.extents[static_cast<size_t>(d)] : -1;
        values_[value].extents.push_back(known >= 0
                                             ? kernel::extent_constant(known)
                                             : kernel::symbol(SymbolKind::kExtent, DType::kI64, value, d));
      }
    }
    return;
  }
  const op::Lowering* known = known_ != nullptr ? known_->find(graph_, node, &lineage_) : nullptr;
  lowerings_[node] = known != nullptr ? *known : op::lower_node(graph_, node, &lineage_);
  if (use_ == TableUse::kPlan) resolve_lowering(lowerings_[node]);
  for (size_t k = 0; k < graph_.node(node).outputs.size(); ++k) fill_output(node, k);
}

/// Every expression in terms of what only instructions can tell, so that equal ones of several nodes look
/// alike.
void ValueTable::resolve_lowering(op::Lowering& lowering) const {
  kernel::NodeMap<Expr> done;
  std::vector<Expr> kept;  // `done` knows expressions by their address
  auto resolve_one = [&](Expr& e) {
    if (!e || !kernel::contains(e, ExprKind::kSymbol)) return;
    kept.push_back(e);
    e = kernel::detail::rewrite_node(
        e, [this](const Expr& x) { return resolve_symbol(*x); }, done, kernel::bit_of(ExprKind::kSymbol));
  };
  auto resolve_all = [&](std::vector<Expr>& list) { std::for_each(list.begin(), list.end(), resolve_one); };
  for (kernel::KernelInput& input : lowering.inputs) resolve_all(input.extents);
  for (kernel::Stage& stage : lowering.stages) {
    resolve_all(stage.extents);
    resolve_all(stage.reduce_extents);
    for (Expr* e : {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.source, &stage.finish})
      resolve_one(*e);
  }
  for (op::Check& check : lowering.checks) {
    resolve_one(check.condition);
    resolve_all(check.values);
  }
  for (op::NativeScalars& native : lowering.native_scalars) resolve_all(native.scalars);
  for (op::NativeOutput& native : lowering.natives) {
    resolve_all(native.scalars);
    if (native.scale) resolve_one(native.scale->least);
  }
  for (op::LoweredOutput& output : lowering.outputs)
    for (auto* list : {&output.extents, &output.step, &output.start, &output.elements}) resolve_all(*list);
  resolve_one(lowering.least_scale);
  if (lowering.text) {
    auto text = std::make_shared<op::TextCall>(*lowering.text);
    for (Expr& blocks : text->grid) resolve_one(blocks);
    lowering.text = std::move(text);
  }
}

bool ValueTable::is_at_hand(const Expr& e, std::set<ir::ValueId>& seen) const {
  return !kernel::any_node(e, kernel::bit_of(ExprKind::kSymbol), [&](const Expr& x) {
    return x->symbol == SymbolKind::kElement && !is_at_hand(static_cast<ir::ValueId>(x->a), seen);
  });
}

/// Whether no kernel makes its elements, in no arm.
bool ValueTable::is_at_hand(ir::ValueId value, std::set<ir::ValueId>& seen) const {
  if (!seen.insert(value).second) return true;
  if (stored_.contains(value)) return false;
  const ir::Value& made = graph_.value(value);
  if (made.node == ir::kNoId)
    return std::ranges::all_of(graph_.block(made.block).merges[made.index].operands,
                               [&](ir::ValueId operand) { return is_at_hand(operand, seen); });
  const ir::Node& node = graph_.node(made.node);
  if (node.op->source || !node.op->define) return graph_.type(value).device == ir::Device::kCpu;
  if (values_[value].scalar)
    return std::ranges::all_of(values_[value].elements, [&](const Expr& e) { return is_at_hand(e, seen); });
  const op::LoweredOutput& output = lowerings_[made.node].outputs[made.index];
  if (output.kind == op::LoweredOutput::Kind::kView)
    return is_at_hand(node.inputs[static_cast<size_t>(output.input)], seen);
  return output.kind != op::LoweredOutput::Kind::kStage;
}

void ValueTable::settle_checks_at_hand() {
  for (const ir::Block& block : graph_.blocks)
    for (const ir::NodeId node : block.nodes)
      for (op::Check& check : lowerings_[node].checks) {
        if (!check.if_at_hand) continue;
        std::set<ir::ValueId> seen;
        if (is_at_hand(check.condition, seen)) continue;
        check.condition = kernel::const_int(1, DType::kBool);
        check.values.clear();
      }
}

void ValueTable::fill_output(ir::NodeId node, size_t k) {
  ir::ValueId value = graph_.node(node).outputs[k];
  const op::LoweredOutput& output = lowerings_[node].outputs.at(k);
  ValueInfo& info = values_[value];
  const ir::Type& type = graph_.type(value);
  // A plan's lowering is resolved already.
  auto resolved = [&](const Expr& e) { return use_ == TableUse::kPlan ? e : resolve(e); };
  for (int d = 0; d < type.ndim; ++d) {
    int64_t known = type.extents[static_cast<size_t>(d)];
    if (known >= 0)
      info.extents.push_back(kernel::extent_constant(known));
    else if (static_cast<size_t>(d) < output.extents.size() && output.extents[static_cast<size_t>(d)])
      info.extents.push_back(resolved(output.extents[static_cast<size_t>(d)]));
    else
      info.extents.push_back(kernel::symbol(SymbolKind::kExtent, DType::kI64, value, d));
  }
  if (output.kind == op::LoweredOutput::Kind::kScalars) {
    info.scalar = true;
    for (const Expr& e : output.elements) info.elements.push_back(resolved(e));
    return;
  }
  if (output.kind == op::LoweredOutput::Kind::kConstant) {
    info.constant = output.constant;
    return;
  }
  if (stored_.contains(value)) return;
  if (auto elements = scalarize(node, output)) {
    info.scalar = true;
    info.elements = std::move(*elements);
    return;
  }
}

std::optional<std::vector<Expr>> ValueTable::scalarize(ir::NodeId node,
                                                       const op::LoweredOutput& output) const {
  auto extents = constants(output.extents);
  std::vector<Expr> resolved;
  if (!extents) {
    for (const Expr& e : output.extents) resolved.push_back(resolve(e));
    extents = constants(resolved);
  }
  if (!extents || product(*extents) > kMaxScalarElements) return std::nullopt;
  std::vector<Expr> out;
  elements_taken_ = 0;
  for (int64_t i = 0; i < product(*extents); ++i) {
    std::vector<Expr> at = unflatten(i, *extents);
    std::optional<Expr> value;
    if (output.kind == op::LoweredOutput::Kind::kStage) {
      std::vector<Expr> axes(at.size());
      for (size_t d = 0; d < at.size(); ++d) axes[static_cast<size_t>(output.axis_of[d])] = at[d];
      value = stage_element(node, output.stage, axes, 0);
    } else if (output.kind == op::LoweredOutput::Kind::kView) {
      ir::ValueId source = graph_.node(node).inputs[static_cast<size_t>(output.input)];
      const ir::Type& type = graph_.type(source);
      if (!has_small_static_volume(type)) return std::nullopt;
      if (output.reshape) {
        value = element(source, i);
      } else {
        std::vector<Expr> indices;
        for (const Expr& s : output.start) indices.push_back(resolve(s));
        for (size_t d = 0; d < at.size(); ++d) {
          if (output.input_dim[d] < 0) continue;
          Expr& index = indices[static_cast<size_t>(output.input_dim[d])];
          index = index + resolve(output.step[d]) * at[d];
        }
        auto position = constant_position(indices, type.extents);
        if (!position) {
          // A data-dependent index into few elements: choose among them.
          Expr flat = kernel::const_int(0);
          for (size_t d = 0; d < indices.size(); ++d)
            flat = flat * kernel::const_int(type.extents[d]) + indices[d];
          Expr chosen = element(source, 0);
          for (int64_t n = 1; n < type.static_volume(); ++n)
            chosen = kernel::select(kernel::equal(flat, kernel::const_int(n)), element(source, n), chosen);
          value = chosen;
        } else {
          value = element(source, *position);
        }
      }
    }
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

std::optional<Expr> ValueTable::stage_element(ir::NodeId node, int stage_index,
                                              const std::vector<Expr>& indices, int depth) const {
  if (depth > 64 || ++elements_taken_ > kMaxElementsTaken) return std::nullopt;
  const kernel::Stage& stage = lowerings_[node].stages[static_cast<size_t>(stage_index)];
  if (stage.form == kernel::StageForm::kMap) return substitute(node, stage.body, indices, {}, depth);
  if (stage.form == kernel::StageForm::kReduce) return reduce_element(node, stage, indices, depth);
  return std::nullopt;
}

std::optional<Expr> ValueTable::reduce_element(ir::NodeId node, const kernel::Stage& stage,
                                               const std::vector<Expr>& axes, int depth) const {
  std::vector<Expr> resolved;
  for (const Expr& e : stage.reduce_extents) resolved.push_back(resolve(e));
  auto extents = constants(resolved);
  // Up to 16 elements: each lane of the fixed tree holds one (kernel.h), so the tree is written out.
  if (!extents || product(*extents) > 16 || product(*extents) == 0) return std::nullopt;
  bool is_sum = stage.combiner == kernel::Combiner::kSum;
  std::vector<Expr> lanes;
  for (int64_t i = 0; i < product(*extents); ++i) {
    auto value = substitute(node, stage.body, axes, unflatten(i, *extents), depth);
    if (!value) return std::nullopt;
    Expr lane = kernel::convert(*value, stage.accumulator);
    if (is_sum && is_float(stage.accumulator)) lane = kernel::const_float(0, stage.accumulator) + lane;
    lanes.push_back(lane);
  }
  Expr total;
  if (is_sum && is_float(stage.accumulator)) {
    while (lanes.size() < 16) lanes.push_back(kernel::const_float(0, stage.accumulator));
    for (size_t width = 8; width > 0; width /= 2)
      for (size_t i = 0; i < width; ++i) lanes[i] = lanes[i] + lanes[i + width];
    total = lanes[0];
  } else {
    total = lanes[0];
    for (size_t i = 1; i < lanes.size(); ++i) {
      if (is_sum)
        total = total + lanes[i];
      else
        total = stage.combiner == kernel::Combiner::kMin ? kernel::min(total, lanes[i])
                                                         : kernel::max(total, lanes[i]);
    }
  }
  if (!stage.finish) return kernel::convert(total, stage.type);
  Expr finish = kernel::rewrite(
      stage.finish, [&](const Expr& x) -> Expr { return x->kind == ExprKind::kAcc ? total : Expr{}; });
  return substitute(node, finish, axes, {}, depth);
}

std::optional<Expr> ValueTable::substitute(ir::NodeId node, const Expr& body, const std::vector<Expr>& axes,
                                           const std::vector<Expr>& reduce_axes, int depth) const {
  bool failed = false;
  Expr out = kernel::rewrite(body, [&](const Expr& x) -> Expr {
    if (x->kind == ExprKind::kAxis) return axes[static_cast<size_t>(x->index)];
    if (x->kind == ExprKind::kReduceAxis) return reduce_axes[static_cast<size_t>(x->index)];
    if (failed) return x;
    if (x->kind != ExprKind::kLoad) return {};
    std::vector<Expr> indices;
    for (const Expr& i : x->args) {
      auto index = substitute(node, i, axes, reduce_axes, depth + 1);
      if (!index) {
        failed = true;
        return x;
      }
      indices.push_back(resolve(*index));
    }
    auto value = load_element(node, *x, std::move(indices), depth + 1);
    if (!value) failed = true;
    return value ? *value : x;
  });
  if (failed) return std::nullopt;
  return resolve(out);
}

std::optional<Expr> ValueTable::load_element(ir::NodeId node, const kernel::ExprNode& load,
                                             std::vector<Expr> indices, int depth) const {
  if (load.border != kernel::Border::kNone) return std::nullopt;
  if (load.target.kind == kernel::LoadTarget::Kind::kStage)
    return stage_element(node, load.target.index, indices, depth);
  const auto number = static_cast<size_t>(load.target.index);
  const std::vector<ir::ValueId>& inputs = graph_.node(node).inputs;
  if (number >= inputs.size()) {
    const runtime::ConstantTensor& constant = *lowerings_[node].constants[number - inputs.size()];
    auto position = constant_position(indices, constant.extents());
    if (!position) return std::nullopt;
    return kernel::constant(constant.type(), constant.element(*position));
  }
  ir::ValueId source = inputs[number];
  const ir::Type& type = graph_.type(source);
  if (!has_small_static_volume(type)) return std::nullopt;
  auto position = constant_position(indices, type.extents);
  if (!position) return std::nullopt;
  return element(source, *position);
}

}  // namespace galatea::values
