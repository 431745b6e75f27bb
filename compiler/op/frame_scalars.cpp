// See frame_scalars.h.
#include "compiler/op/frame_scalars.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/op/schema.h"

namespace galatea::op {
namespace {

using kernel::ExprKind;
using kernel::ExprNode;
using kernel::SymbolKind;

/// Scalars that differ from frame to frame, and are checked or decide an extent, are written out for so many
/// frames; where the run alone tells how many there are, each behind the question whether it is there.
constexpr int64_t kMaxFramesWrittenOut = 64;

/// What has to hold only where something exists.
Expr where(const Expr& exists, const Expr& condition) {
  return exists ? kernel::logical_not(exists) | condition : condition;
}

}  // namespace

FrameScalars::FrameScalars(const ir::Graph& graph, const ir::Node& node, const Lifting& lifting,
                           std::vector<Check>& checks)
    : graph_(graph), node_(node), lifting_(lifting), checks_(checks) {
  find_axis_extents();
}

void FrameScalars::find_axis_extents() {
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

std::string FrameScalars::name_of(const LiftedOperand& operand) const {
  if (!operand.argument.empty()) return operand.argument;
  const std::vector<Port>& ports = node_.op->inputs;
  return ports[std::min(static_cast<size_t>(operand.input), ports.size() - 1)].name;
}

AxisMask FrameScalars::mask_of(const LiftedOperand& operand) {
  AxisMask mask = 0;
  for (size_t l = 0; l < operand.dims.size(); ++l)
    if (operand.dims[l] >= 0) mask |= AxisMask{1} << l;
  return mask;
}

Expr FrameScalars::extent_of(ir::ValueId value, int dim) const {
  const int64_t known = graph_.type(value).extents[static_cast<size_t>(dim)];
  return known >= 0 ? kernel::extent_constant(known)
                    : kernel::symbol(SymbolKind::kExtent, DType::kI64, value, dim);
}

const LiftedOperand* FrameScalars::operand_of(const ExprNode& symbol) const {
  if (symbol.kind != ExprKind::kSymbol ||
      (symbol.symbol != SymbolKind::kExtent && symbol.symbol != SymbolKind::kElement))
    return nullptr;
  return lifting_.of_value(static_cast<ir::ValueId>(symbol.a));
}

Expr FrameScalars::extent_symbol(const LiftedOperand& operand, const ExprNode& symbol) {
  return kernel::symbol(SymbolKind::kExtent, DType::kI64, symbol.a,
                        operand.frame_dims.at(static_cast<size_t>(symbol.b)));
}

AxisMask FrameScalars::mask_of(const Expr& e) const {
  AxisMask mask = 0;
  kernel::for_each_node(e, [&](const Expr& x) {
    const LiftedOperand* operand = operand_of(*x);
    if (operand && x->symbol == SymbolKind::kElement) mask |= mask_of(*operand);
  });
  return mask;
}

AxisMask FrameScalars::mask_of(const std::vector<Expr>& list) const {
  AxisMask mask = 0;
  for (const Expr& e : list) mask |= mask_of(e);
  return mask;
}

/// What stands at one place along the axes; nothing where the run alone knows where that is.
std::optional<Expr> FrameScalars::at_place(const Expr& e, const std::vector<int64_t>& place) const {
  bool known = true;
  Expr out = kernel::rewrite_kinds(e, kernel::bit_of(ExprKind::kSymbol), [&](const Expr& x) -> Expr {
    const LiftedOperand* operand = operand_of(*x);
    if (operand == nullptr) return {};
    if (x->symbol == SymbolKind::kExtent) return extent_symbol(*operand, *x);
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

/// Places along the axes of a mask, row by row; nothing where there may be too many.
std::optional<std::vector<FrameScalars::Place>> FrameScalars::places(AxisMask mask) const {
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

/// One list for each frame; nothing where frames cannot be written out.
std::optional<std::vector<FrameScalars::WrittenOut>> FrameScalars::written_out(const std::vector<Expr>& list,
                                                                               const std::string& argument) {
  const AxisMask mask = mask_of(list);
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

void FrameScalars::check_number_of_frames(AxisMask mask, const std::string& argument) {
  for (size_t l = 0; l < axis_extents_.size(); ++l)
    if ((mask >> l & 1) != 0 && (counted_ >> l & 1) == 0) {
      counted_ |= AxisMask{1} << l;
      add_check({axis_extents_[l] <= kernel::const_int(kMaxFramesWrittenOut),
                 fmt::format("`{}` is given for {{}} frames, and is checked, or decides an extent: there may "
                             "be at most {}",
                             argument, kMaxFramesWrittenOut),
                 {axis_extents_[l]},
                 "cut the sequence into shorter ones",
                 argument});
    }
}

void FrameScalars::add_check(Check check) {
  if (kernel::is_const(check.condition) && kernel::const_value(check.condition) != 0) return;
  checks_.push_back(std::move(check));
}

std::string FrameScalars::argument_in(const Expr& e) const {
  std::string found;
  kernel::for_each_node(e, [&](const Expr& x) {
    if (const LiftedOperand* operand = operand_of(*x); operand && x->symbol == SymbolKind::kElement)
      found = operand->argument;
  });
  return found;
}

void FrameScalars::refuse(std::string argument, std::string message, std::string help) {
  const std::string name = argument.empty() ? "what differs from frame to frame" : "`" + argument + "`";
  add_check({kernel::const_bool(false), name + " " + message, {}, std::move(help), std::move(argument)});
}

void FrameScalars::refuse_unknown_frames(const Expr& e) {
  refuse(
      argument_in(e),
      fmt::format("is given per frame and is checked, or decides an extent: there may be at most {} frames, "
                  "of extents that are known while compiling",
                  kMaxFramesWrittenOut),
      "cut the sequence into shorter ones, and fix the extents of what is given: fn.reshape(x, "
      "shape=[-1, 2])");
}

void FrameScalars::lift_check(const Check& check) {
  std::vector<Expr> all = check.values;
  all.push_back(check.condition);
  // Of frames there may be any number: they are not written out for such a check.
  if (check.if_at_hand && mask_of(check.condition) != 0) return;
  const auto frames = written_out(all, argument_in(check.condition));
  if (!frames) return refuse_unknown_frames(check.condition);
  for (const WrittenOut& frame : *frames) {
    Check lifted = check;
    lifted.condition = where(frame.exists, frame.list.back());
    lifted.values.assign(frame.list.begin(), frame.list.end() - 1);
    add_check(std::move(lifted));
  }
}

Expr FrameScalars::uniform(const Expr& e) {
  const auto frames = written_out({e}, argument_in(e));
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

std::vector<Expr> FrameScalars::uniform(const std::vector<Expr>& list) {
  std::vector<Expr> out;
  for (const Expr& e : list) out.push_back(uniform(e));
  return out;
}

Expr FrameScalars::meet(const OverFrames& meeting) {
  const auto frames = written_out({meeting.of_frame}, argument_in(meeting.of_frame));
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

}  // namespace galatea::op
