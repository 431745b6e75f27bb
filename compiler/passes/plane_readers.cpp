#include "compiler/passes/plane_readers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

namespace galatea::passes {
namespace {

using kernel::Expr;
using kernel::ExprKind;
using kernel::ExprNode;
using kernel::LoadTarget;
using kernel::Stage;
using kernel::StageForm;
using op::LoweredOutput;

bool reads_input(const ExprNode& e) {
  return e.kind == ExprKind::kLoad && e.target == LoadTarget{LoadTarget::Kind::kInput, 0};
}
bool is_axis(const Expr& e, int number) { return e->kind == ExprKind::kAxis && e->index == number; }

/// Whether no scalar of the definition is taken from the input's elements.
bool needs_no_elements(const op::Lowering& lowering, ir::ValueId input) {
  bool found = false;
  const auto look = [&](const Expr& e) {
    kernel::for_each_node(e, [&](const Expr& x) {
      found |= x->kind == ExprKind::kSymbol && x->symbol == kernel::SymbolKind::kElement &&
               x->a == static_cast<int64_t>(input);
    });
  };
  for (const op::Check& check : lowering.checks) look(check.condition);
  for (const LoweredOutput& output : lowering.outputs)
    for (const auto* list : {&output.extents, &output.start, &output.step})
      std::ranges::for_each(*list, look);
  for (const Stage& stage : lowering.stages)
    for (const Expr* e : {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.finish}) look(*e);
  return !found && lowering.native_scalars.empty() && lowering.natives.empty() && !lowering.text;
}

class Apart {
 public:
  Apart(const op::Lowering& lowering, int channel, int64_t channels)
      : lowering_(lowering), channel_(channel), channels_(channels) {}

  /// Whether stage `number`, whose channels run along `axis`, blends elements of its own channel.
  bool stage(int number, int axis) {
    const Stage& stage = lowering_.stages[static_cast<size_t>(number)];
    const Expr& extent = stage.extents[static_cast<size_t>(axis)];
    if (!kernel::is_const(extent) || kernel::const_value(extent) != channels_) return false;
    axis_ = axis;
    if (stage.form == StageForm::kMap) return blends(stage.body);
    if (stage.form != StageForm::kBand || stage.band_axis == axis) return false;
    return is_free(stage.first) && is_free(stage.weight) && converts_sum(stage.finish) &&
           blends(stage.source);
  }

 private:
  bool depends_on_input(int number) const {
    const Stage& stage = lowering_.stages[static_cast<size_t>(number)];
    for (const Expr* e : {&stage.body, &stage.first, &stage.weight, &stage.source, &stage.finish})
      if (mentions_input(*e)) return true;
    return false;
  }
  bool mentions_input(const Expr& e) const {
    bool found = false;
    kernel::for_each_node(e, [&](const Expr& x) {
      found |= reads_input(*x) || (x->kind == ExprKind::kLoad && x->target.kind == LoadTarget::Kind::kStage &&
                                   depends_on_input(x->target.index));
    });
    return found;
  }
  /// The same for all channels and all inputs.
  bool is_free(const Expr& e) const {
    bool channel = false;
    kernel::for_each_node(e, [&](const Expr& x) { channel |= is_axis(x, axis_); });
    return !channel && !mentions_input(e);
  }
  static bool converts_sum(const Expr& finish) {
    if (!finish || finish->kind == ExprKind::kAcc) return true;
    if (is_op(finish, ScalarOp::kMul) && kernel::is_const(finish->args[1]))
      return converts_sum(finish->args[0]);
    return (is_op(finish, ScalarOp::kSaturate) || is_op(finish, ScalarOp::kConvert)) &&
           converts_sum(finish->args[0]);
  }

  bool loads_own_channel(const ExprNode& load) {
    int at = reads_input(load) ? channel_ : -1;
    for (size_t d = 0; d < load.args.size(); ++d) {
      if (is_axis(load.args[d], axis_) && (at < 0 || at == static_cast<int>(d)))
        at = static_cast<int>(d);
      else if (!is_free(load.args[d]) || at == static_cast<int>(d))
        return false;
    }
    if (at < 0 || reads_input(load)) return at >= 0;
    if (load.target.kind != LoadTarget::Kind::kStage) return false;
    return Apart(lowering_, channel_, channels_).stage(load.target.index, at);
  }

  /// Once for each node: what does not blend ends the search.
  bool blends(const Expr& e) { return !seen_.insert(e.get()).second || blends_at_first(e); }

  bool blends_at_first(const Expr& e) {
    if (e->kind == ExprKind::kLoad && mentions_input(e)) return loads_own_channel(*e);
    if (e->kind != ExprKind::kOp) return is_free(e);
    switch (e->op) {
      case ScalarOp::kSaturate:
      case ScalarOp::kConvert:
      case ScalarOp::kRound:
        return blends(e->args[0]);
      case ScalarOp::kSelect:  // something else outside of the input
        return is_free(e->args[0]) && blends(e->args[1]) && blends(e->args[2]);
      case ScalarOp::kFma: {  // a + t * (b - a)
        const Expr &t = e->args[0], &difference = e->args[1], &a = e->args[2];
        return is_free(t) && is_op(difference, ScalarOp::kSub) && kernel::same(difference->args[1], a) &&
               blends(difference->args[0]) && blends(a);
      }
      default:
        return is_free(e);
    }
  }

  const op::Lowering& lowering_;
  int channel_;  ///< of the input
  int64_t channels_;
  int axis_ = -1;  ///< of the stage that is looked at
  std::unordered_set<const ExprNode*> seen_;
};

/// Σ weight · element[channel] of one place.
struct Mix {
  std::vector<double> weights;
  const ExprNode* place = nullptr;  ///< one of the loads
};

/// Takes an expression apart into a mix. Every node is looked at once, with the sum of the factors by which
/// its readers count it: the ways to a shared node may be more than can be walked.
class PlaneForm {
 public:
  PlaneForm(int channel, size_t channels) : channel_(channel) { mix_.weights.resize(channels); }

  std::optional<Mix> mix_of(const Expr& e) {
    std::vector<Expr> operands_first;
    kernel::for_each_node(e, [&](const Expr& x) { operands_first.push_back(x); });
    factors_[e.get()] = 1;
    for (const Expr& x : std::views::reverse(operands_first)) {
      const auto factor = factors_.find(x.get());
      if (factor != factors_.end() && !take(x, factor->second)) return std::nullopt;
    }
    return mix_;
  }

 private:
  void count(const Expr& e, double factor) { factors_[e.get()] += factor; }

  /// Hands the factor of an expression on to its operands, or counts the element that it is.
  bool take(const Expr& e, double factor) {
    if (kernel::is_const(e)) return true;
    if (e->kind == ExprKind::kLoad) return take_load(*e, factor);
    if (e->kind != ExprKind::kOp) return false;
    double constant = 0;
    switch (e->op) {
      case ScalarOp::kSaturate:
      case ScalarOp::kConvert:
      case ScalarOp::kRound:
        count(e->args[0], factor);
        return true;
      case ScalarOp::kMin:
      case ScalarOp::kMax:
        count(e->args[0], factor);
        return kernel::is_const(e->args[1]);
      case ScalarOp::kAdd:
        count(e->args[0], factor);
        count(e->args[1], factor);
        return true;
      case ScalarOp::kSub:
        count(e->args[0], factor);
        count(e->args[1], -factor);
        return true;
      case ScalarOp::kMul:
      case ScalarOp::kFma:
        if (e->op == ScalarOp::kFma) count(e->args[2], factor);
        for (const size_t i : {size_t{0}, size_t{1}}) {
          if (!value_of(e->args[i], &constant)) continue;
          count(e->args[1 - i], factor * constant);
          return true;
        }
        return false;
      default:
        return false;
    }
  }

  static bool value_of(const Expr& e, double* value) {
    if (!kernel::is_const(e)) return false;
    *value = cell_to_double(e->type, e->value);
    return std::isfinite(*value);
  }

  bool take_load(const ExprNode& load, double factor) {
    if (!reads_input(load)) return false;
    const Expr& channel = load.args[static_cast<size_t>(channel_)];
    if (!kernel::is_const(channel)) return false;
    const int64_t c = kernel::const_value(channel);
    if (c < 0 || c >= static_cast<int64_t>(mix_.weights.size())) return false;
    for (size_t d = 0; mix_.place && d < load.args.size(); ++d)
      if (static_cast<int>(d) != channel_ && !kernel::same(load.args[d], mix_.place->args[d])) return false;
    mix_.place = &load;
    mix_.weights[static_cast<size_t>(c)] += factor;
    return true;
  }

  int channel_;
  std::unordered_map<const ExprNode*, double> factors_;  ///< of what is read
  Mix mix_;
};

/// A multiple of the weights, near enough.
bool is_plane(const Mix& mix, std::span<const double> weights) {
  constexpr double kNear = 1e-3;
  const double sum = std::accumulate(mix.weights.begin(), mix.weights.end(), 0.0);
  const double of_plane = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!mix.place || std::abs(sum) < kNear) return false;
  for (size_t c = 0; c < weights.size(); ++c)
    if (std::abs(mix.weights[c] - weights[c] / of_plane * sum) > kNear * std::abs(sum)) return false;
  return true;
}

/// Whether the view shows all channels of input `place`, as they are.
bool is_view_of_channels(const LoweredOutput& view, int place, const ChannelDims& dims, size_t channels) {
  const auto channel = static_cast<size_t>(dims.output);
  return view.input == place && !view.reshape && channel < view.input_dim.size() &&
         view.input_dim[channel] == dims.input && kernel::is_const_int(view.step[channel], 1) &&
         kernel::is_const_int(view.start[static_cast<size_t>(dims.input)], 0) &&
         kernel::is_const_int(view.extents[channel], static_cast<int64_t>(channels));
}

}  // namespace

int passed_on(const op::Lowering& lowering, int place, int channel, size_t channels) {
  int found = -1;
  for (size_t k = 0; k < lowering.outputs.size(); ++k) {
    const LoweredOutput& output = lowering.outputs[k];
    if (output.kind != LoweredOutput::Kind::kView) return -1;
    if (output.input != place) continue;
    if (found >= 0 || !is_view_of_channels(output, place, {channel, channel}, channels)) return -1;
    found = static_cast<int>(k);
  }
  return found;
}

bool keeps_channels_apart(const op::Lowering& lowering, ir::ValueId input, const ChannelDims& dims,
                          size_t channels) {
  if (lowering.outputs.size() != 1 || !needs_no_elements(lowering, input)) return false;
  const LoweredOutput& output = lowering.outputs[0];
  const auto channel = static_cast<size_t>(dims.output);
  if (output.kind == LoweredOutput::Kind::kView) return is_view_of_channels(output, 0, dims, channels);
  if (output.kind != LoweredOutput::Kind::kStage) return false;
  return Apart(lowering, dims.input, static_cast<int64_t>(channels))
      .stage(output.stage, output.axis_of[channel]);
}

bool sees_only_plane(const op::Lowering& lowering, ir::ValueId input, const ChannelDims& dims,
                     std::span<const double> weights) {
  if (lowering.outputs.size() != 1 || lowering.outputs[0].kind != LoweredOutput::Kind::kStage) return false;
  const LoweredOutput& output = lowering.outputs[0];
  const Stage& stage = lowering.stages[static_cast<size_t>(output.stage)];
  const int axis = output.axis_of[static_cast<size_t>(dims.output)];
  const Expr& channels = stage.extents[static_cast<size_t>(axis)];
  if (stage.form != StageForm::kMap || !kernel::is_const(channels) ||
      kernel::const_value(channels) > static_cast<int64_t>(weights.size()))
    return false;
  for (int64_t c = 0; c < kernel::const_value(channels); ++c) {
    const Expr body = kernel::rewrite(
        stage.body, [&](const Expr& e) { return is_axis(e, axis) ? kernel::const_int(c) : Expr(); });
    const std::optional<Mix> mix = PlaneForm(dims.input, weights.size()).mix_of(body);
    if (!mix || !is_plane(*mix, weights)) return false;
  }
  // Last: it looks at every expression there is.
  return needs_no_elements(lowering, input);
}

}  // namespace galatea::passes
