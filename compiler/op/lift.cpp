// lift(): what a definition wrote of one frame, for all of them. See lifting.h.
//
// In what comes in, symbols of lifted operands speak of a frame: kExtent of its dimensions, kElement of its
// elements. What goes out speaks of the graph's values. Of each stage it is known on which axes of the call
// it depends (a mask): those, in the order of the call's axes, stand in front of its own.
#include <algorithm>
#include <map>

#include "compiler/kernel/node_map.h"
#include "compiler/op/frame_scalars.h"
#include "compiler/op/lifting.h"
#include "compiler/op/schema.h"

namespace galatea::op {
namespace {

using kernel::ExprKind;
using kernel::ExprNode;
using kernel::LoadTarget;
using kernel::Stage;
using kernel::StageForm;
using kernel::SymbolKind;
using Mask = AxisMask;

class Lifter {
 public:
  Lifter(const ir::Graph& graph, const ir::Node& node, const Lifting& lifting, Lowering frame)
      : graph_(graph),
        node_(node),
        lifting_(lifting),
        in_(std::move(frame)),
        scalars_(graph, node, lifting, out_.checks) {
    GALATEA_CHECK(in_.native_scalars.empty() && in_.natives.empty() && in_.arms == 0 && !in_.text,
                  node.op->name + ": a call of native functions, or of a text, cannot be lifted");
    all_ = (Mask{1} << lifting.axes().size()) - 1;
  }

  Lowering run() {
    for (size_t k = 0; k < node_.inputs.size(); ++k) {
      out_.inputs.push_back(in_.inputs[k]);
      out_.inputs.back().extents = extents_of(node_.inputs[k]);
    }
    out_.inputs.insert(out_.inputs.end(),
                       in_.inputs.begin() + static_cast<std::ptrdiff_t>(node_.inputs.size()),
                       in_.inputs.end());
    out_.constants = in_.constants;
    out_.looks_around = in_.looks_around;
    for (const OverFrames& meeting : in_.over_frames) met_.emplace(meeting.local, scalars_.meet(meeting));
    for (const Check& check : in_.checks) scalars_.lift_check(check);
    for (size_t k = 0; k < in_.outputs.size(); ++k) make_stage_of(in_.outputs[k], k);
    for (const Stage& stage : in_.stages) lift_stage(stage);
    for (size_t k = 0; k < in_.outputs.size(); ++k) out_.outputs.push_back(lift_output(in_.outputs[k], k));
    if (!met_.empty()) put_in_what_met();
    return std::move(out_);
  }

 private:
  // ---- what is known of values and axes

  std::vector<Expr> extents_of(ir::ValueId value) const {
    const ir::Type& type = graph_.type(value);
    std::vector<Expr> extents;
    for (int d = 0; d < type.ndim; ++d) extents.push_back(scalars_.extent_of(value, d));
    return extents;
  }

  /// On which axes a frame's expression depends.
  Mask mask_of(const Expr& e) const {
    Mask mask = 0;
    if (!e || (e->kinds & (kernel::bit_of(ExprKind::kLoad) | kernel::bit_of(ExprKind::kSymbol))) == 0)
      return mask;
    kernel::for_each_node(e, [&](const Expr& x) {
      if (x->kind == ExprKind::kLoad) {
        if (x->target.kind == LoadTarget::Kind::kStage)
          mask |= masks_[static_cast<size_t>(x->target.index)];
        else if (const LiftedOperand* operand = lifting_.of_input(x->target.index))
          mask |= FrameScalars::mask_of(*operand);
      } else if (const LiftedOperand* operand = scalars_.operand_of(*x);
                 operand && x->symbol == SymbolKind::kElement) {
        mask |= FrameScalars::mask_of(*operand);
      }
    });
    return mask;
  }

  Mask mask_of(const std::vector<Expr>& list) const {
    Mask mask = 0;
    for (const Expr& e : list) mask |= mask_of(e);
    return mask;
  }

  // ---- expressions of stages

  /// Where an expression is read: the axes that stand in front of the stage's own, or one place along all of
  /// them.
  struct Frame {
    Mask mask = 0;
    bool is_first = false;  ///< of the first frame, whatever stands in front
  };

  Expr along(const Frame& frame, size_t l) const {
    if (frame.is_first) return kernel::const_int(0);
    GALATEA_CHECK((frame.mask >> l & 1) != 0, "a stage depends on an axis that it does not have");
    return kernel::axis(count(frame.mask & ((Mask{1} << l) - 1)));
  }

  Expr load_operand(const LiftedOperand& operand, DType type, const std::vector<Expr>& indices,
                    const Frame& frame, kernel::Border border = kernel::Border::kNone, Cell fill = {}) const {
    std::vector<Expr> places(static_cast<size_t>(graph_.type(operand.value).ndim));
    for (size_t d = 0; d < indices.size(); ++d)
      places[static_cast<size_t>(operand.frame_dims[d])] = indices[d];
    for (size_t l = 0; l < operand.dims.size(); ++l)
      if (operand.dims[l] >= 0) places[static_cast<size_t>(operand.dims[l])] = along(frame, l);
    return kernel::load({LoadTarget::Kind::kInput, operand.input}, type, std::move(places), border, fill);
  }

  Expr lift_load(const ExprNode& x, const Frame& frame) {
    std::vector<Expr> indices;
    for (const Expr& index : x.args) indices.push_back(translate(index, frame));
    if (x.target.kind == LoadTarget::Kind::kInput) {
      if (const LiftedOperand* operand = lifting_.of_input(x.target.index))
        return load_operand(*operand, x.type, indices, frame, x.border, x.fill);
    } else {
      const Mask mask = masks_[static_cast<size_t>(x.target.index)];
      std::vector<Expr> places;
      for (size_t l = 0; l < lifting_.axes().size(); ++l)
        if ((mask >> l & 1) != 0) places.push_back(along(frame, l));
      indices.insert(indices.begin(), places.begin(), places.end());
    }
    return kernel::load(x.target, x.type, std::move(indices), x.border, x.fill);
  }

  /// An element of a frame, at a place that is counted row by row.
  Expr lift_element(const LiftedOperand& operand, const ExprNode& symbol, const Frame& frame) const {
    std::vector<Expr> indices(operand.frame_dims.size());
    int64_t flat = symbol.b;
    for (size_t d = indices.size(); d-- > 1;) {
      const int64_t extent = std::max<int64_t>(operand.frame.extents[d], 1);
      indices[d] = kernel::const_int(flat % extent);
      flat /= extent;
    }
    if (!indices.empty()) indices[0] = kernel::const_int(flat);
    return load_operand(operand, symbol.type, indices, frame);
  }

  Expr lift_symbol(const ExprNode& x, const Frame& frame) const {
    const LiftedOperand* operand = scalars_.operand_of(x);
    if (operand == nullptr) return {};
    if (x.symbol == SymbolKind::kElement) return lift_element(*operand, x, frame);
    return FrameScalars::extent_symbol(*operand, x);
  }

  Expr translate(const Expr& e, const Frame& frame) {
    constexpr uint32_t kKinds =
        kernel::bit_of(ExprKind::kAxis) | kernel::bit_of(ExprKind::kLoad) | kernel::bit_of(ExprKind::kSymbol);
    if (!e) return e;
    return kernel::rewrite_kinds(e, kKinds, [&](const Expr& x) -> Expr {
      if (x->kind == ExprKind::kAxis) return kernel::axis(x->index + count(frame.mask));
      if (x->kind == ExprKind::kSymbol) return lift_symbol(*x, frame);
      if (x->kind != ExprKind::kLoad) return {};
      if (const auto found = loads_.find(x.get()); found != loads_.end()) return found->second;
      Expr load = lift_load(*x, frame);
      loads_.emplace(x.get(), load);
      return load;
    });
  }

  /// The same where other loads were seen before.
  Expr translate_anew(const Expr& e, const Frame& frame) {
    loads_ = {};
    Expr out = translate(e, frame);
    loads_ = {};
    return out;
  }

  /// Expressions of the graph's values take the places of the symbols that stood for them.
  void put_in_what_met() {
    const auto put = [&](Expr& e) {
      if (!e) return;
      e = kernel::rewrite_kinds(e, kernel::bit_of(ExprKind::kSymbol), [&](const Expr& x) -> Expr {
        const auto found = x->symbol == SymbolKind::kLocal ? met_.find(x->a) : met_.end();
        return found != met_.end() ? found->second : Expr();
      });
    };
    const auto put_all = [&](std::vector<Expr>& list) { std::ranges::for_each(list, put); };
    for (Check& check : out_.checks) {
      put(check.condition);
      put_all(check.values);
    }
    for (Stage& stage : out_.stages) {
      put_all(stage.extents);
      put_all(stage.reduce_extents);
      for (Expr* e : {&stage.taps, &stage.first, &stage.body, &stage.weight, &stage.source, &stage.finish})
        put(*e);
    }
    for (LoweredOutput& output : out_.outputs)
      for (std::vector<Expr>* list : {&output.extents, &output.start, &output.step, &output.elements})
        put_all(*list);
  }

  // ---- stages

  std::vector<Expr> extents_along(Mask mask) const {
    std::vector<Expr> extents;
    for (size_t l = 0; l < scalars_.axis_extents().size(); ++l)
      if ((mask >> l & 1) != 0) extents.push_back(scalars_.axis_extents()[l]);
    return extents;
  }

  void lift_stage(const Stage& stage) {
    const Mask first_mask = mask_of(stage.first);
    const Mask mask = mask_of({stage.body, stage.weight, stage.source, stage.finish});
    const Frame frame{mask};
    Stage lifted = stage;
    lifted.extents = extents_along(mask);
    for (const Expr& extent : stage.extents) lifted.extents.push_back(scalars_.uniform(extent));
    lifted.reduce_extents = scalars_.uniform(stage.reduce_extents);
    if (stage.taps) lifted.taps = scalars_.uniform(stage.taps);
    lifted.band_axis += stage.form == StageForm::kBand ? count(mask) : 0;
    lifted.scan_axis += stage.form == StageForm::kScan ? count(mask) : 0;
    if (first_mask != 0)
      scalars_.refuse(scalars_.argument_in(stage.first),
                      "decides which part of the input is resampled: all frames have one",
                      "give one value for all frames");
    lifted.first = translate_anew(stage.first, {mask, first_mask != 0});
    loads_ = {};
    for (Expr* e : {&lifted.body, &lifted.weight, &lifted.finish}) *e = translate(*e, frame);
    loads_ = {};
    if (stage.source) lifted.source = lift_source(stage, lifted.first, frame);
    masks_.push_back(mask);
    out_.stages.push_back(std::move(lifted));
  }

  /// A load in which one index is first + tap.
  Expr lift_source(const Stage& stage, const Expr& first, const Frame& frame) {
    const Expr position = kernel::axis(count(frame.mask) + static_cast<int>(stage.extents.size()));
    const ExprNode& x = *stage.source;
    kernel::Operands indices = x.args;
    // An axis that no stage has stands for that index until the load is lifted.
    for (Expr& index : indices)
      if (kernel::contains(index, ExprKind::kTap))
        index = kernel::axis(static_cast<int>(stage.extents.size()));
    const Expr lifted =
        translate_anew(kernel::load(x.target, x.type, std::move(indices), x.border, x.fill), frame);
    kernel::Operands places = lifted->args;
    for (Expr& place : places)
      if (kernel::same(place, position)) place = first + kernel::tap();
    return kernel::load(lifted->target, lifted->type, std::move(places), lifted->border, lifted->fill);
  }

  /// Another stage of a frame.
  int add_frame_stage(const std::string& name, DType type, std::vector<Expr> extents, Expr body) {
    Stage stage;
    stage.name = name;
    stage.type = type;
    stage.extents = std::move(extents);
    stage.body = std::move(body);
    stage.span = node_.span;
    in_.stages.push_back(std::move(stage));
    return static_cast<int>(in_.stages.size()) - 1;
  }

  /// Outputs of a frame that are no view of all frames become stages.
  void make_stage_of(LoweredOutput& output, size_t k) {
    using Kind = LoweredOutput::Kind;
    const bool stays_scalars = output.kind == Kind::kScalars && all_ == 0;
    if (output.kind == Kind::kStage || stays_scalars || (output.kind == Kind::kView && stays_view(output)))
      return;
    std::vector<int> axis_of;
    std::vector<Expr> at;
    for (size_t d = 0; d < output.extents.size(); ++d) {
      axis_of.push_back(static_cast<int>(d));
      at.push_back(kernel::axis(static_cast<int>(d)));
    }
    Expr body;
    if (output.kind == Kind::kView) {
      GALATEA_CHECK(!output.reshape, node_.op->name + ": an operator that reshapes works on all axes");
      std::vector<Expr> indices = output.start;
      for (size_t d = 0; d < output.input_dim.size(); ++d)
        if (output.input_dim[d] >= 0) {
          Expr& index = indices[static_cast<size_t>(output.input_dim[d])];
          index = index + output.step[d] * at[d];
        }
      body = kernel::load({LoadTarget::Kind::kInput, output.input},
                          in_.inputs[static_cast<size_t>(output.input)].type, std::move(indices));
    } else if (output.kind == Kind::kScalars) {
      Expr flat = kernel::const_int(0);
      for (size_t d = 0; d < at.size(); ++d) flat = flat * output.extents[d] + at[d];
      const std::vector<Expr>& elements = output.elements;
      body =
          elements.empty() ? kernel::constant(graph_.type(node_.outputs[k]).dtype, Cell{}) : elements.back();
      for (size_t n = std::max<size_t>(elements.size(), 1) - 1; n-- > 0;)
        body = kernel::select(kernel::equal(flat, kernel::const_int(static_cast<int64_t>(n))), elements[n],
                              body);
    } else {
      GALATEA_CHECK(output.kind == Kind::kConstant, node_.op->name + ": a native output cannot be lifted");
      body = kernel::load({LoadTarget::Kind::kInput, static_cast<int>(in_.inputs.size())},
                          output.constant->type(), at);
      in_.inputs.push_back(
          {"constant", output.constant->type(), output.extents, static_cast<int>(output.extents.size())});
      in_.constants.push_back(output.constant);
      out_.inputs.push_back(in_.inputs.back());
      out_.constants.push_back(output.constant);
    }
    const DType type = body.type();
    output.stage = add_frame_stage(node_.op->name, type, output.extents, std::move(body));
    output.kind = Kind::kStage;
    output.axis_of = std::move(axis_of);
  }

  bool stays_view(const LoweredOutput& output) const {
    const LiftedOperand* operand = lifting_.of_input(output.input);
    return operand != nullptr && !output.reshape && FrameScalars::mask_of(*operand) == all_ &&
           mask_of(output.start) == 0 && mask_of(output.step) == 0;
  }

  // ---- outputs

  /// For each dimension of the node's output: the axis of the call, or -1 where it is the frame's next one.
  std::vector<int> axes_of_output(size_t k) const {
    const ir::Type& type = graph_.type(node_.outputs[k]);
    std::vector<int> out(static_cast<size_t>(type.ndim), -1);
    const std::vector<int> dims = lifting_.dims_in(type.layout);
    for (size_t l = 0; l < dims.size(); ++l) out[static_cast<size_t>(dims[l])] = static_cast<int>(l);
    return out;
  }

  LoweredOutput lift_output(const LoweredOutput& output, size_t k) {
    if (output.kind == LoweredOutput::Kind::kStage) return lift_stage_output(output, k);
    return output.kind == LoweredOutput::Kind::kScalars ? lift_scalars(output) : lift_view(output, k);
  }

  LoweredOutput lift_stage_output(const LoweredOutput& output, size_t k) {
    int stage = output.stage;
    if (masks_[static_cast<size_t>(stage)] != all_) stage = spread(stage);
    LoweredOutput out;
    out.kind = LoweredOutput::Kind::kStage;
    out.stage = stage;
    const Stage& made = out_.stages[static_cast<size_t>(stage)];
    size_t next = 0;
    for (const int axis : axes_of_output(k)) {
      const int at = axis >= 0 ? axis : output.axis_of[next++] + count(all_);
      out.axis_of.push_back(at);
      out.extents.push_back(made.extents[static_cast<size_t>(at)]);
    }
    return out;
  }

  /// What is the same along some axes, once for each place along all of them.
  int spread(int stage) {
    const Stage& source = out_.stages[static_cast<size_t>(stage)];
    const Mask mask = masks_[static_cast<size_t>(stage)];
    Stage copy;
    copy.name = source.name;
    copy.type = source.type;
    copy.span = source.span;
    copy.extents = extents_along(all_);
    std::vector<Expr> places;
    for (size_t l = 0; l < scalars_.axis_extents().size(); ++l)
      if ((mask >> l & 1) != 0) places.push_back(kernel::axis(static_cast<int>(l)));
    for (size_t d = static_cast<size_t>(count(mask)); d < source.extents.size(); ++d) {
      places.push_back(kernel::axis(static_cast<int>(copy.extents.size())));
      copy.extents.push_back(source.extents[d]);
    }
    copy.body = kernel::load({LoadTarget::Kind::kStage, stage}, copy.type, std::move(places));
    out_.stages.push_back(std::move(copy));
    masks_.push_back(all_);
    return static_cast<int>(out_.stages.size()) - 1;
  }

  /// Of one frame: the call has no axes.
  LoweredOutput lift_scalars(const LoweredOutput& output) {
    LoweredOutput out = output;
    out.extents = scalars_.uniform(output.extents);
    out.elements = scalars_.uniform(output.elements);
    return out;
  }

  LoweredOutput lift_view(const LoweredOutput& output, size_t k) {
    const LiftedOperand& operand = *lifting_.of_input(output.input);
    LoweredOutput out;
    out.kind = LoweredOutput::Kind::kView;
    out.input = output.input;
    size_t next = 0;
    for (const int axis : axes_of_output(k)) {
      if (axis >= 0) {
        out.extents.push_back(scalars_.axis_extents()[static_cast<size_t>(axis)]);
        out.input_dim.push_back(operand.dims[static_cast<size_t>(axis)]);
        out.step.push_back(kernel::const_int(1));
        continue;
      }
      const int from = output.input_dim[next];
      out.extents.push_back(scalars_.uniform(output.extents[next]));
      out.input_dim.push_back(from < 0 ? -1 : operand.frame_dims[static_cast<size_t>(from)]);
      out.step.push_back(scalars_.uniform(output.step[next++]));
    }
    out.start.assign(static_cast<size_t>(graph_.type(operand.value).ndim), kernel::const_int(0));
    for (size_t d = 0; d < output.start.size(); ++d)
      out.start[static_cast<size_t>(operand.frame_dims[d])] = scalars_.uniform(output.start[d]);
    return out;
  }

  const ir::Graph& graph_;
  const ir::Node& node_;
  const Lifting& lifting_;
  Lowering in_, out_;
  FrameScalars scalars_;  ///< its checks are out_'s
  Mask all_ = 0;
  std::map<int64_t, Expr> met_;  ///< of local symbols
  std::vector<Mask> masks_;      ///< of the stages lifted so far
  kernel::NodeMap<Expr> loads_;  ///< of the stage that is being lifted
};

}  // namespace

Lowering lift(const ir::Graph& graph, const ir::Node& node, const Lifting& lifting, Lowering frame) {
  return Lifter(graph, node, lifting, std::move(frame)).run();
}

}  // namespace galatea::op
