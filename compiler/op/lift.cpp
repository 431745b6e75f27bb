// lift(): what a definition wrote of one frame, for all of them. See lifting.h.
//
// In what comes in, symbols of lifted operands speak of a frame: kExtent of its dimensions, kElement of its
// elements. What goes out speaks of the graph's values. Of each stage it is known on which axes of the call
// it depends (a mask): those, in the order of the call's axes, stand in front of its own.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "compiler/kernel/node_map.h"
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
using Mask = uint32_t;

/// Scalars that differ from frame to frame, and are checked or decide an extent, are written out for so many
/// frames; where the run alone tells how many there are, each behind the question whether it is there.
constexpr int64_t kMaxFramesWrittenOut = 64;

class Lifter {
 public:
  Lifter(const ir::Graph& graph, const ir::Node& node, const Lifting& lifting, Lowering frame)
      : graph_(graph), node_(node), lifting_(lifting), in_(std::move(frame)) {
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
    find_axis_extents();
    for (const OverFrames& meeting : in_.over_frames) met_.emplace(meeting.local, meet(meeting));
    for (const Check& check : in_.checks) lift_check(check);
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
    for (int d = 0; d < type.ndim; ++d) extents.push_back(extent_of(value, d));
    return extents;
  }

  Expr extent_of(ir::ValueId value, int dim) const {
    const int64_t known = graph_.type(value).extents[static_cast<size_t>(dim)];
    return known >= 0 ? kernel::extent_constant(known)
                      : kernel::symbol(SymbolKind::kExtent, DType::kI64, value, dim);
  }

  /// How many frames there are: operands must agree.
  void find_axis_extents() {
    for (size_t l = 0; l < lifting_.axes().size(); ++l) {
      Expr extent;
      std::string first;
      for (const LiftedOperand& operand : lifting_.operands()) {
        if (operand.dims[l] < 0) continue;
        const Expr here = extent_of(operand.value, operand.dims[l]);
        if (!extent) {
          extent = here;
          first = name_of(operand);
        } else if (!kernel::same(here, extent)) {
          add_check({kernel::equal(here, extent),
                     fmt::format("{} has {{}} frames (axis {}), {} has {{}}", name_of(operand),
                                 lifting_.axes()[l].letter, operand.argument.empty() ? first : "the input"),
                     {here, extent},
                     "give as many as there are frames",
                     operand.argument});
        }
      }
      axis_extents_.push_back(extent);
    }
  }

  std::string name_of(const LiftedOperand& operand) const {
    if (!operand.argument.empty()) return operand.argument;
    const std::vector<Port>& ports = node_.op->inputs;
    return ports[std::min(static_cast<size_t>(operand.input), ports.size() - 1)].name;
  }

  Mask mask_of(const LiftedOperand& operand) const {
    Mask mask = 0;
    for (size_t l = 0; l < operand.dims.size(); ++l)
      if (operand.dims[l] >= 0) mask |= Mask{1} << l;
    return mask;
  }

  const LiftedOperand* operand_of(const ExprNode& symbol) const {
    if (symbol.kind != ExprKind::kSymbol ||
        (symbol.symbol != SymbolKind::kExtent && symbol.symbol != SymbolKind::kElement))
      return nullptr;
    return lifting_.of_value(static_cast<ir::ValueId>(symbol.a));
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
          mask |= mask_of(*operand);
      } else if (const LiftedOperand* operand = operand_of(*x);
                 operand && x->symbol == SymbolKind::kElement) {
        mask |= mask_of(*operand);
      }
    });
    return mask;
  }

  Mask mask_of(const std::vector<Expr>& list) const {
    Mask mask = 0;
    for (const Expr& e : list) mask |= mask_of(e);
    return mask;
  }

  static int count(Mask mask) { return std::popcount(mask); }

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
    const LiftedOperand* operand = operand_of(x);
    if (operand == nullptr) return {};
    if (x.symbol == SymbolKind::kElement) return lift_element(*operand, x, frame);
    return kernel::symbol(SymbolKind::kExtent, DType::kI64, x.a,
                          operand->frame_dims.at(static_cast<size_t>(x.b)));
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

  // ---- scalars of the sample program

  /// What stands at one place along the axes; nothing where the run alone knows where that is.
  std::optional<Expr> at_place(const Expr& e, const std::vector<int64_t>& place) const {
    bool known = true;
    Expr out = kernel::rewrite_kinds(e, kernel::bit_of(ExprKind::kSymbol), [&](const Expr& x) -> Expr {
      const LiftedOperand* operand = operand_of(*x);
      if (operand == nullptr) return {};
      if (x->symbol == SymbolKind::kExtent) return lift_symbol(*x, {});
      const ir::Type& type = graph_.type(operand->value);
      std::vector<int64_t> at(static_cast<size_t>(type.ndim));
      int64_t flat = x->b;
      for (size_t d = operand->frame_dims.size(); d-- > 0;) {
        const int64_t extent = d > 0 ? std::max<int64_t>(operand->frame.extents[d], 1) : flat + 1;
        at[static_cast<size_t>(operand->frame_dims[d])] = flat % extent;
        flat /= extent;
      }
      for (size_t l = 0; l < operand->dims.size(); ++l)
        if (operand->dims[l] >= 0) at[static_cast<size_t>(operand->dims[l])] = place[l];
      int64_t position = 0;
      for (size_t d = 0; d < at.size(); ++d) {
        known = known && (d == 0 || type.extents[d] >= 0);
        position = position * type.extents[d] + at[d];
      }
      return kernel::symbol(SymbolKind::kElement, x->type, x->a, known ? position : 0);
    });
    return known ? std::optional(out) : std::nullopt;
  }

  struct Place {
    std::vector<int64_t> at;  ///< along each axis of the call
    Expr exists;              ///< empty: it does
  };

  /// Places along the axes of a mask, row by row; nothing where there may be too many.
  std::optional<std::vector<Place>> places(Mask mask) const {
    std::vector<Place> out{{std::vector<int64_t>(lifting_.axes().size(), 0), {}}};
    for (size_t l = 0; l < lifting_.axes().size(); ++l) {
      if ((mask >> l & 1) == 0) continue;
      int64_t extent = -1;
      for (const LiftedOperand& operand : lifting_.operands())
        if (operand.dims[l] >= 0)
          extent = std::max(extent, graph_.type(operand.value).extents[static_cast<size_t>(operand.dims[l])]);
      const bool is_known = extent >= 0;
      if (!is_known) extent = kMaxFramesWrittenOut;
      if (extent * static_cast<int64_t>(out.size()) > kMaxFramesWrittenOut) return std::nullopt;
      std::vector<Place> next;
      for (const Place& place : out)
        for (int64_t n = 0; n < extent; ++n) {
          next.push_back(place);
          next.back().at[l] = n;
          if (is_known) continue;
          const Expr exists = axis_extents_[l] > kernel::const_int(n);
          next.back().exists = place.exists ? place.exists & exists : exists;
        }
      out = std::move(next);
    }
    return out;
  }

  /// One list for each frame, with what says whether it is there; nothing where frames cannot be written out.
  struct WrittenOut {
    std::vector<Expr> list;
    Expr exists;  ///< empty: it does
  };
  std::optional<std::vector<WrittenOut>> written_out(const std::vector<Expr>& list, Mask mask,
                                                     const std::string& argument) {
    const auto all = places(mask);
    if (!all) return std::nullopt;
    std::vector<WrittenOut> out;
    for (const Place& place : *all) {
      out.push_back({{}, place.exists});
      for (const Expr& e : list) {
        auto here = at_place(e, place.at);
        if (!here) return std::nullopt;
        out.back().list.push_back(std::move(*here));
      }
    }
    check_number_of_frames(mask, argument);
    return out;
  }

  void check_number_of_frames(Mask mask, const std::string& argument) {
    for (size_t l = 0; l < axis_extents_.size(); ++l)
      if ((mask >> l & 1) != 0 && (counted_ >> l & 1) == 0) {
        counted_ |= Mask{1} << l;
        add_check(
            {axis_extents_[l] <= kernel::const_int(kMaxFramesWrittenOut),
             fmt::format("`{}` is given for {{}} frames, and is checked, or decides an extent: there may "
                         "be at most {}",
                         argument, kMaxFramesWrittenOut),
             {axis_extents_[l]},
             "cut the sequence into shorter ones",
             argument});
      }
  }

  void add_check(Check check) {
    if (kernel::is_const(check.condition) && kernel::const_value(check.condition) != 0) return;
    out_.checks.push_back(std::move(check));
  }

  /// The argument per frame of which an expression speaks.
  std::string argument_in(const Expr& e) const {
    std::string found;
    kernel::for_each_node(e, [&](const Expr& x) {
      if (const LiftedOperand* operand = operand_of(*x); operand && x->symbol == SymbolKind::kElement)
        found = operand->argument;
    });
    return found;
  }

  void refuse(std::string argument, std::string message, std::string help) {
    const std::string name = argument.empty() ? "what differs from frame to frame" : "`" + argument + "`";
    add_check({kernel::const_bool(false), name + " " + message, {}, std::move(help), std::move(argument)});
  }

  void refuse_unknown_frames(const Expr& e) {
    refuse(argument_in(e),
           fmt::format(
               "is given per frame and is checked, or decides an extent: there may be at most {} frames, "
               "of extents that are known while compiling",
               kMaxFramesWrittenOut),
           "cut the sequence into shorter ones, and fix the extents of what is given: fn.reshape(x, "
           "shape=[-1, 2])");
  }

  /// What has to hold only where something exists.
  static Expr where(const Expr& exists, const Expr& condition) {
    return exists ? kernel::logical_not(exists) | condition : condition;
  }

  void lift_check(const Check& check) {
    std::vector<Expr> all = check.values;
    all.push_back(check.condition);
    const auto frames = written_out(all, mask_of(all), argument_in(check.condition));
    if (!frames) return refuse_unknown_frames(check.condition);
    for (const WrittenOut& frame : *frames) {
      Check lifted = check;
      lifted.condition = where(frame.exists, frame.list.back());
      lifted.values.assign(frame.list.begin(), frame.list.end() - 1);
      add_check(std::move(lifted));
    }
  }

  /// A scalar on which the shape of what is made depends: it has to be the same for all frames.
  Expr uniform(const Expr& e) {
    const Mask mask = mask_of(e);
    const auto frames = written_out({e}, mask, argument_in(e));
    if (!frames || frames->empty()) {
      refuse_unknown_frames(e);
      return at_place(e, std::vector<int64_t>(lifting_.axes().size(), 0)).value_or(kernel::const_int(1));
    }
    const Expr& first = frames->front().list.front();
    for (const WrittenOut& frame : *frames)
      if (const Expr& here = frame.list.front(); !kernel::same(here, first))
        add_check({where(frame.exists, kernel::equal(here, first)),
                   "frames differ in an extent, {} and {}: all frames of a sample have one",
                   {first, here},
                   "give an extent that does not depend on the frame",
                   argument_in(e)});
    return first;
  }

  std::vector<Expr> uniform(const std::vector<Expr>& list) {
    std::vector<Expr> out;
    for (const Expr& e : list) out.push_back(uniform(e));
    return out;
  }

  // ---- what the frames make together

  /// Frames that are not there take no part.
  Expr meet(const OverFrames& meeting) {
    const auto frames =
        written_out({meeting.of_frame}, mask_of(meeting.of_frame), argument_in(meeting.of_frame));
    if (!frames || frames->empty()) {
      refuse_unknown_frames(meeting.of_frame);
      return at_place(meeting.of_frame, std::vector<int64_t>(lifting_.axes().size(), 0))
          .value_or(kernel::constant(meeting.of_frame.type(), Cell{}));
    }
    const bool is_count = meeting.kind == OverFrames::Kind::kMost;
    Expr out, votes = kernel::const_int(0), number = kernel::const_int(0);
    const auto one_if = [](const Expr& condition) {
      return condition ? kernel::convert(condition, DType::kI64) : kernel::const_int(1);
    };
    for (const WrittenOut& frame : *frames) {
      const Expr& here = frame.list.front();
      if (is_count) {
        votes = votes + one_if(frame.exists ? here & frame.exists : here);
        number = number + one_if(frame.exists);
        continue;
      }
      const Expr larger = out ? kernel::max(out, here) : here;
      out = out && frame.exists ? kernel::select(frame.exists, larger, out) : larger;
    }
    return is_count ? votes * kernel::const_int(2) > number : out;
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
    for (size_t l = 0; l < axis_extents_.size(); ++l)
      if ((mask >> l & 1) != 0) extents.push_back(axis_extents_[l]);
    return extents;
  }

  void lift_stage(const Stage& stage) {
    const Mask first_mask = mask_of(stage.first);
    const Mask mask = mask_of({stage.body, stage.weight, stage.source, stage.finish});
    const Frame frame{mask};
    Stage lifted = stage;
    lifted.extents = extents_along(mask);
    for (const Expr& extent : stage.extents) lifted.extents.push_back(uniform(extent));
    lifted.reduce_extents = uniform(stage.reduce_extents);
    if (stage.taps) lifted.taps = uniform(stage.taps);
    lifted.band_axis += stage.form == StageForm::kBand ? count(mask) : 0;
    lifted.scan_axis += stage.form == StageForm::kScan ? count(mask) : 0;
    if (first_mask != 0)
      refuse(argument_in(stage.first), "decides which part of the input is resampled: all frames have one",
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
    std::vector<Expr> indices = x.args;
    // An axis that no stage has stands for that index until the load is lifted.
    for (Expr& index : indices)
      if (kernel::contains(index, ExprKind::kTap))
        index = kernel::axis(static_cast<int>(stage.extents.size()));
    const Expr lifted =
        translate_anew(kernel::load(x.target, x.type, std::move(indices), x.border, x.fill), frame);
    std::vector<Expr> places = lifted->args;
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
    return operand != nullptr && !output.reshape && mask_of(*operand) == all_ && mask_of(output.start) == 0 &&
           mask_of(output.step) == 0;
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
    for (size_t l = 0; l < axis_extents_.size(); ++l)
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
    out.extents = uniform(output.extents);
    out.elements = uniform(output.elements);
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
        out.extents.push_back(axis_extents_[static_cast<size_t>(axis)]);
        out.input_dim.push_back(operand.dims[static_cast<size_t>(axis)]);
        out.step.push_back(kernel::const_int(1));
        continue;
      }
      const int from = output.input_dim[next];
      out.extents.push_back(uniform(output.extents[next]));
      out.input_dim.push_back(from < 0 ? -1 : operand.frame_dims[static_cast<size_t>(from)]);
      out.step.push_back(uniform(output.step[next++]));
    }
    out.start.assign(static_cast<size_t>(graph_.type(operand.value).ndim), kernel::const_int(0));
    for (size_t d = 0; d < output.start.size(); ++d)
      out.start[static_cast<size_t>(operand.frame_dims[d])] = uniform(output.start[d]);
    return out;
  }

  const ir::Graph& graph_;
  const ir::Node& node_;
  const Lifting& lifting_;
  Lowering in_, out_;
  Mask all_ = 0;
  std::vector<Expr> axis_extents_;
  std::map<int64_t, Expr> met_;  ///< of local symbols
  Mask counted_ = 0;             ///< axes of which it is checked that they can be written out
  std::vector<Mask> masks_;      ///< of the stages lifted so far
  kernel::NodeMap<Expr> loads_;  ///< of the stage that is being lifted
};

}  // namespace

Lowering lift(const ir::Graph& graph, const ir::Node& node, const Lifting& lifting, Lowering frame) {
  return Lifter(graph, node, lifting, std::move(frame)).run();
}

}  // namespace galatea::op
