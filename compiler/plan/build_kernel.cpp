// Turns a group of nodes into one kernel: stages side by side, loads of fused values redirected, numbers made
// parameters.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/op/schema.h"
#include "compiler/plan/form_kernels.h"

namespace galatea::plan {

using kernel::ExprKind;
using kernel::Kernel;
using kernel::LoadTarget;
using kernel::Stage;
using op::LoweredOutput;

namespace {

/// A table of bytes has so many elements: code depends on it.
constexpr int64_t kByteValues = 256;

class Builder {
 public:
  Builder(const ValueTable& table, const KernelGroup& group, const Residence& residence)
      : table_(table), graph_(table.graph()), group_(group), residence_(residence) {}

  BuiltKernel run() {
    for (ir::NodeId node : group_.nodes) add_node(node);
    const ir::Node& last = graph_.node(group_.nodes.back());
    for (size_t k = 0; k < last.outputs.size(); ++k) add_output(last.outputs[k], group_.ends_in_batch[k]);
    std::string name;
    for (ir::NodeId node : group_.nodes)
      name += (name.empty() ? "" : "+") + op::shown_name(graph_.node(node));
    out_.kernel.name = name;
    return std::move(out_);
  }

 private:
  /// Where a value that the group makes lies: a stage, the stage axis of each dimension, and where the part
  /// that is computed begins (empty: at 0).
  struct Place {
    int stage = -1;
    std::vector<int> axis_of;
    std::vector<Expr> origin;
  };

  Place place_of(ir::ValueId value, int stage, std::vector<int> axis_of) {
    Place place{stage, std::move(axis_of), {}};
    for (const values::Range& range : table_.info(value).window)
      place.origin.push_back(parametrize(range.begin));
    return place;
  }

  void add_node(ir::NodeId node) {
    const op::Lowering& lowering = table_.lowering(node);
    int base = static_cast<int>(out_.kernel.stages.size());
    for (const Stage& stage : lowering.stages) {
      Stage copy = stage;
      copy.span = graph_.node(node).span;
      for (Expr& e : copy.extents) e = extent(e);
      for (Expr& e : copy.reduce_extents) e = extent(e);
      for (Expr* e : {&copy.body, &copy.finish})
        if (*e) *e = import(node, base, *e, group_.on_gpu);
      for (Expr* e : {&copy.first, &copy.taps, &copy.weight, &copy.source})
        if (*e) *e = import(node, base, *e);
      if (copy.form == kernel::StageForm::kBand) rebase_band(copy);
      out_.kernel.stages.push_back(std::move(copy));
    }
    for (size_t k = 0; k < lowering.outputs.size(); ++k) {
      ir::ValueId value = graph_.node(node).outputs[k];
      if (table_.info(value).scalar) continue;
      const LoweredOutput& output = lowering.outputs[k];
      if (output.kind == LoweredOutput::Kind::kStage)
        places_[value] = place_of(value, base + output.stage, output.axis_of);
      else if (output.kind == LoweredOutput::Kind::kView)
        add_view(node, value, output);
    }
  }

  /// Equal extents are one number, however they were arrived at: stages that work side by side have to see
  /// it, and so do expressions that compare with an extent (RecipeBuilder::extent).
  Expr extent(const Expr& e) {
    const Expr known = table_.resolve(e);
    if (!kernel::is_user_constant(known)) return parametrize(known);
    return parametrize(kernel::extent_constant(kernel::const_value(known)));
  }

  /// The band index of the source stays `first + tap`: where a part of the source is computed, its origin
  /// goes into `first`.
  void rebase_band(Stage& stage) {
    const kernel::ExprNode& source = *stage.source;
    if (source.target.kind != LoadTarget::Kind::kStage) return;
    for (const auto& [value, place] : places_) {
      if (place.stage != source.target.index || place.origin.empty()) continue;
      kernel::Operands indices = source.args;
      for (size_t d = 0; d < indices.size(); ++d) {
        Expr& index = indices[static_cast<size_t>(place.axis_of[d])];
        if (!kernel::contains(index, ExprKind::kTap)) continue;
        stage.first = stage.first - place.origin[d];
        index = stage.first + kernel::tap();
      }
      stage.source = kernel::load(source.target, source.type, std::move(indices), source.border, source.fill);
      return;
    }
  }

  /// A view of a value that the group makes: a map with affine indices.
  void add_view(ir::NodeId node, ir::ValueId value, const LoweredOutput& output) {
    Stage stage;
    stage.name = op::shown_name(graph_.node(node));
    stage.type = graph_.type(value).dtype;
    stage.span = graph_.node(node).span;
    const ValueInfo& info = table_.info(value);
    for (size_t d = 0; d < info.extents.size(); ++d)
      stage.extents.push_back(
          extent(info.window.empty() ? info.extents[d] : info.window[d].end - info.window[d].begin));
    std::vector<Expr> indices;
    for (const Expr& s : output.start) indices.push_back(parametrize(table_.resolve(s)));
    std::vector<int> axis_of;
    for (size_t d = 0; d < output.input_dim.size(); ++d) {
      axis_of.push_back(static_cast<int>(d));
      if (output.input_dim[d] < 0) continue;
      Expr& index = indices[static_cast<size_t>(output.input_dim[d])];
      Expr at = kernel::axis(static_cast<int>(d));
      if (!info.window.empty()) at = at + parametrize(info.window[d].begin);
      index = index + parametrize(table_.resolve(output.step[d])) * at;
    }
    ir::ValueId source = graph_.node(node).inputs[static_cast<size_t>(output.input)];
    stage.body = load_value(source, stage.type, std::move(indices), kernel::Border::kNone, {});
    places_[value] = place_of(value, static_cast<int>(out_.kernel.stages.size()), axis_of);
    out_.kernel.stages.push_back(std::move(stage));
  }

  Expr load_value(ir::ValueId value, DType type, std::vector<Expr> indices, kernel::Border border,
                  Cell fill) {
    if (auto place = places_.find(value); place != places_.end()) {
      std::vector<Expr> by_axis(indices.size());
      for (size_t d = 0; d < indices.size(); ++d)
        by_axis[static_cast<size_t>(place->second.axis_of[d])] =
            place->second.origin.empty() ? indices[d] : indices[d] - place->second.origin[d];
      return kernel::load({LoadTarget::Kind::kStage, place->second.stage}, type, std::move(by_axis), border,
                          fill);
    }
    return kernel::load({LoadTarget::Kind::kInput, input_index(value)}, type, std::move(indices), border,
                        fill);
  }

  int input_index(ir::ValueId value) {
    for (size_t i = 0; i < out_.inputs.size(); ++i)
      if (!out_.inputs[i].constant && out_.inputs[i].value == value) return static_cast<int>(i);
    kernel::KernelInput input;
    input.name = graph_.value(value).variable;
    input.type = graph_.type(value).dtype;
    for (const Expr& e : table_.info(value).extents) input.extents.push_back(extent(e));
    input.dense_axes = table_.info(value).dense_axes;
    out_.inputs.push_back({value, nullptr});
    out_.kernel.inputs.push_back(std::move(input));
    return static_cast<int>(out_.inputs.size()) - 1;
  }

  /// Its elements are data of the call, so that kernels with other tables of the same extents are this one.
  int constant_index(const kernel::KernelInput& input,
                     const std::shared_ptr<const runtime::ConstantTensor>& constant) {
    for (size_t i = 0; i < out_.inputs.size(); ++i)
      if (out_.inputs[i].constant && runtime::same(*out_.inputs[i].constant, *constant))
        return static_cast<int>(i);
    out_.inputs.push_back({ir::kNoId, constant});
    out_.kernel.inputs.push_back(input);
    for (Expr& length : out_.kernel.inputs.back().extents)
      if (kernel::is_const(length) && !kernel::is_const_int(length, kByteValues))
        length = extent(kernel::extent_constant(kernel::const_value(length)));
    return static_cast<int>(out_.inputs.size()) - 1;
  }

  /// Loads of a stage, as they are in this kernel.
  using ImportedLoads = kernel::NodeMap<Expr>;

  /// An expression of a node's stage in terms of this kernel. `reads_elements`: what lies in the GPU's memory
  /// is read here; without it the sample program has to know it first.
  Expr import(ir::NodeId node, int base, const Expr& e, bool reads_elements = false) {
    ImportedLoads loads;
    return import(node, base, e, reads_elements, loads);
  }

  /// Each load once: the place of one may depend on others, which other places share.
  Expr import(ir::NodeId node, int base, const Expr& e, bool reads_elements, ImportedLoads& loads) {
    // Loads first (their indices are rewritten on the way), then what is free of axes becomes a parameter.
    const Expr loads_done =
        kernel::rewrite_kinds(e, kernel::bit_of(ExprKind::kLoad), [&](const Expr& x) -> Expr {
          if (x->kind != ExprKind::kLoad) return {};
          if (const auto found = loads.find(x.get()); found != loads.end()) return found->second;
          Expr load = import_load(node, base, *x, reads_elements, loads);
          loads.emplace(x.get(), load);
          return load;
        });
    return parametrize(table_.resolve(loads_done), reads_elements);
  }

  Expr import_load(ir::NodeId node, int base, const kernel::ExprNode& x, bool reads_elements,
                   ImportedLoads& loads) {
    std::vector<Expr> indices;
    for (const Expr& i : x.args) indices.push_back(import(node, base, i, reads_elements, loads));
    if (x.target.kind == LoadTarget::Kind::kStage)
      return kernel::load({LoadTarget::Kind::kStage, base + x.target.index}, x.type, std::move(indices),
                          x.border, x.fill);
    const auto number = static_cast<size_t>(x.target.index);
    if (const size_t inputs = graph_.node(node).inputs.size(); number >= inputs) {
      const op::Lowering& lowering = table_.lowering(node);
      return kernel::load({LoadTarget::Kind::kInput,
                           constant_index(lowering.inputs[number], lowering.constants[number - inputs])},
                          x.type, std::move(indices), x.border, x.fill);
    }
    ir::ValueId value = graph_.node(node).inputs[number];
    if (x.border == kernel::Border::kNone && table_.graph().type(value).static_volume() >= 0 &&
        table_.graph().type(value).static_volume() <= values::kMaxScalarElements &&
        places_.find(value) == places_.end()) {
      std::vector<Expr> original;
      for (const Expr& i : x.args) original.push_back(table_.resolve(i));
      if (auto position = values::constant_position(original, graph_.type(value).extents))
        return table_.element(value, *position);
    }
    return load_value(value, x.type, std::move(indices), x.border, x.fill);
  }

  /// Elements that the GPU computes, with constant places: positions along the axes; else nothing.
  std::optional<std::vector<Expr>> place_on_gpu(const kernel::ExprNode& e) const {
    if (e.kind != ExprKind::kSymbol || e.symbol != kernel::SymbolKind::kElement) return std::nullopt;
    const auto value = static_cast<ir::ValueId>(e.a);
    if (!residence_.on_gpu(value)) return std::nullopt;
    const std::vector<Expr>& extents = table_.info(value).extents;
    std::vector<Expr> at(extents.size());
    int64_t flat = e.b;
    for (size_t d = extents.size(); d-- > 0;) {
      if (d == 0) {
        if (!kernel::is_const(extents[d])) return std::nullopt;
        at[d] = kernel::const_int(flat);
        break;
      }
      if (!kernel::is_const(extents[d]) || kernel::const_value(extents[d]) < 1) return std::nullopt;
      at[d] = kernel::const_int(flat % kernel::const_value(extents[d]));
      flat /= kernel::const_value(extents[d]);
    }
    return at;
  }

  bool computed_on_gpu(const Expr& e, kernel::NodeMap<bool>& memo) const {
    if (const auto found = memo.find(e.get()); found != memo.end()) return found->second;
    bool result = place_on_gpu(*e).has_value();
    for (const Expr& arg : e->args) result = computed_on_gpu(arg, memo) || result;
    memo.emplace(e.get(), result);
    return result;
  }

  static bool is_per_element(const Expr& e) {
    constexpr uint32_t kPerElement = kernel::bit_of(ExprKind::kAxis) | kernel::bit_of(ExprKind::kReduceAxis) |
                                     kernel::bit_of(ExprKind::kTap) | kernel::bit_of(ExprKind::kAcc) |
                                     kernel::bit_of(ExprKind::kLoad);
    return (e->kinds & kPerElement) != 0;
  }

  /// What an element's number is divided by, or multiplied with, goes on saying by its form that it is not
  /// zero: so rows that are taken apart can be put together. Empty: it is no such operation.
  Expr with_plain_divisor(const kernel::ExprNode& e, bool reads_elements) {
    if (e.kind != ExprKind::kOp || e.type != DType::kI64 ||
        (e.op != ScalarOp::kDiv && e.op != ScalarOp::kRem && e.op != ScalarOp::kMul))
      return {};
    const Expr& divisor = e.args[1];
    if (is_per_element(divisor) || kernel::is_const(divisor) || !kernel::is_never_zero(divisor)) return {};
    return kernel::binary(e.op, parametrize(e.args[0], reads_elements),
                          kernel::max(parametrize(divisor->args[0], reads_elements), divisor->args[1]));
  }

  /// Largest subexpressions without axes become parameters (constants that a recipe wrote stay).
  Expr parametrize(const Expr& e, bool reads_elements = false) {
    kernel::NodeMap<bool> on_gpu;
    return kernel::rewrite(e, [&](const Expr& x) -> Expr {
      if (x->kind == ExprKind::kParam) return x;
      if (is_per_element(x)) return with_plain_divisor(*x, reads_elements);
      if (reads_elements && computed_on_gpu(x, on_gpu)) {
        auto at = place_on_gpu(*x);
        return at ? load_value(static_cast<ir::ValueId>(x->a), x->type, std::move(*at), kernel::Border::kNone,
                               {})
                  : Expr();
      }
      if (x->kind == ExprKind::kConst && (x->origin == 0 || is_bool(x->type))) return x;
      if (kernel::contains(x, ExprKind::kParam)) return {};  // already imported below
      return make_param(x);
    });
  }

  Expr make_param(const Expr& value) {
    uint64_t hash = kernel::hash_of(value);
    for (int index : params_by_hash_[hash])
      if (kernel::same_meaning(out_.params[static_cast<size_t>(index)], value))
        return kernel::param(index, value.type());
    int index = static_cast<int>(out_.params.size());
    params_by_hash_[hash].push_back(index);
    out_.params.push_back(value);
    out_.kernel.params.push_back({fmt::format("p{}", index), value.type()});
    return kernel::param(index, value.type());
  }

  void add_output(ir::ValueId value, bool ends_in_batch) {
    if (table_.info(value).scalar) return;
    auto place = places_.find(value);
    if (place == places_.end()) return;
    kernel::KernelOutput output;
    output.stage = place->second.stage;
    output.axis_of = place->second.axis_of;
    output.dense_axes = graph_.type(value).ndim;
    output.streaming = ends_in_batch;
    out_.kernel.outputs.push_back(std::move(output));
    out_.outputs.push_back(value);
  }

  const ValueTable& table_;
  const ir::Graph& graph_;
  const KernelGroup& group_;
  const Residence& residence_;
  BuiltKernel out_;
  std::unordered_map<ir::ValueId, Place> places_;
  std::unordered_map<uint64_t, std::vector<int>> params_by_hash_;
};

template <typename F>
void for_each_kernel_expr(Kernel& kernel, const F& f) {
  for (auto& input : kernel.inputs)
    for (Expr& e : input.extents) f(e);
  for (Stage& stage : kernel.stages) {
    for (Expr& e : stage.extents) f(e);
    for (Expr& e : stage.reduce_extents) f(e);
    for (Expr* e : {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.source, &stage.finish})
      if (*e) f(*e);
  }
}

void mark_params(const Expr& e, std::vector<bool>& used, kernel::NodeSet& seen) {
  if (!kernel::contains(e, ExprKind::kParam) || !seen.insert(e.get())) return;
  if (e->kind == ExprKind::kParam) used[static_cast<size_t>(e->index)] = true;
  for (const Expr& arg : e->args) mark_params(arg, used, seen);
}

/// Behind a check, an extent is what the check demands: an operator on colours has three channels, whatever
/// an image might have.
void settle_checked_extents(const ValueTable& table, const KernelGroup& group, BuiltKernel& built) {
  std::vector<Expr> checked = table.early_checks().conditions_in(group.block);
  for (const ir::NodeId node : group.nodes)
    for (const op::Check& check : table.lowering(node).checks)
      checked.push_back(table.resolve(check.condition));
  std::unordered_map<int, int64_t> known;
  std::erase_if(checked, [](const Expr& condition) { return !values::demands_extent(condition); });
  for (size_t i = 0; i < built.params.size() && !checked.empty(); ++i) {
    // What is made of such extents is known as well.
    const Expr number = values::settled(built.params[i], checked);
    if (number.type() == DType::kI64 && kernel::is_const(number) && !kernel::is_const(built.params[i]))
      known.emplace(static_cast<int>(i), kernel::const_value(number));
  }
  if (known.empty()) return;
  for_each_kernel_expr(built.kernel, [&](Expr& e) {
    e = kernel::rewrite_kinds(e, kernel::bit_of(ExprKind::kParam), [&](const Expr& x) {
      const auto found = x->kind == ExprKind::kParam ? known.find(x->index) : known.end();
      return found == known.end() ? Expr() : kernel::const_int(found->second);
    });
  });
}

}  // namespace

namespace {

/// A kernel of the user's own: all of the node's inputs, all of its outputs, and its blocks for parameters.
BuiltKernel build_text(const ValueTable& table, ir::NodeId id) {
  const ir::Node& node = table.graph().node(id);
  BuiltKernel out;
  out.text = table.lowering(id).text;
  out.kernel.name = op::shown_name(node);
  for (const ir::ValueId value : node.inputs) out.inputs.push_back({value, nullptr});
  out.outputs = node.outputs;
  for (const Expr& blocks : out.text->grid) out.params.push_back(table.resolve(blocks));
  return out;
}

}  // namespace

BuiltKernel build_kernel(const ValueTable& table, const KernelGroup& group, const Residence& residence) {
  if (table.lowering(group.nodes.back()).text) return build_text(table, group.nodes.back());
  BuiltKernel built = Builder(table, group, residence).run();
  settle_checked_extents(table, group, built);
  return built;
}

std::vector<size_t> drop_unused_params(Kernel& kernel) {
  const size_t count = kernel.params.size();
  std::vector<bool> used(count, false);
  kernel::NodeSet seen;
  for_each_kernel_expr(kernel, [&](Expr& e) { mark_params(e, used, seen); });
  std::vector<int> renumbered(count, -1);
  std::vector<size_t> kept;
  std::vector<kernel::KernelParam> declared;
  for (size_t i = 0; i < count; ++i) {
    if (!used[i]) continue;
    renumbered[i] = static_cast<int>(kept.size());
    kept.push_back(i);
    declared.push_back({fmt::format("p{}", kept.size() - 1), kernel.params[i].type});
  }
  if (kept.size() == count) return kept;
  for_each_kernel_expr(kernel, [&](Expr& e) {
    e = kernel::rewrite_kinds(e, kernel::bit_of(ExprKind::kParam), [&](const Expr& x) -> Expr {
      return x->kind == ExprKind::kParam ? kernel::param(renumbered[static_cast<size_t>(x->index)], x->type)
                                         : Expr{};
    });
  });
  kernel.params = std::move(declared);
  return kept;
}

}  // namespace galatea::plan
