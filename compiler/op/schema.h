// Checks one call of an operator against its schema: arguments, inputs, then the type rule.
//
// Comes in: a NodeSpec as written. Goes out: the NodeSpec with arguments in the form of the schema, and the
// types of the outputs; or one error at the call, the argument or the operator's words.
//
// Invariant: after the check every static argument holds the alternative of ir::Attr that belongs to its
// ArgKind (a kFloatList always holds std::vector<double>), None is gone, and no argument occurs twice. Hidden
// arguments are remarks of passes (region_from: passes/push_region_into_decode.h; scaled_for:
// passes/push_scale_into_decode.h), lists of value ids, or say where a node runs: no schema lists them.
#pragma once

#include <optional>
#include <string>

#include "compiler/op/operator.h"

namespace galatea::op {

/// All checks of a call, in order; converts spec.args in place. `wanted`, if not null, gets the operands whose
/// extents the type rule would know (TypeContext::want_extents).
Result<std::vector<ir::Type>> check_call(const ir::Graph& graph, GraphBuilder::NodeSpec& spec,
                                         std::vector<ir::ValueId>* wanted = nullptr);

/// Converts a static argument in place; the error of one that is not of the kind that the schema asks for.
Status check_static_argument(const Operator& op, const ArgSpec& spec, ir::Arg& arg, Span span);

/// The value in the form of `kind`, if that loses nothing (int to float, 3.0 to 3, 0/1 to bool, a scalar to a
/// list of one). None stays None.
std::optional<ir::Attr> convert_attr(const ir::Attr& value, ArgKind kind);

/// Whether such an argument is a list, or any value: a data node given for it may have one axis or more.
bool takes_list(ArgKind kind);
/// "int", "float list": in signatures.
std::string_view kind_name(ArgKind kind);
/// "an integer", "a list of numbers".
std::string describe(ArgKind kind);
/// "the integer 3", "the text \"HWC\"".
std::string describe(const ir::Attr& value);
/// "fn.resize", or "the operator add" for operators of the language.
std::string display_name(const Operator& op);
/// "resize"; of a pixel function, its own name.
std::string shown_name(const ir::Node& node);

/// The error of an argument that DALI has and galatea refuses.
Diagnostic refused_argument(const Operator& op, const ArgSpec& spec, Span span);
/// "`image` is u8[h,w,3] HWC": a note about a value that an error speaks of. `otherwise` names one that has
/// no variable.
std::string value_note(const ir::Graph& graph, ir::ValueId value, const std::string& otherwise,
                       const std::string& type);
/// Notes about what the call was given, for an error that its check has found.
void note_types(const ir::Graph& graph, const GraphBuilder::NodeSpec& call, Error& error);

/// `device=` of a call, which every operator takes: "cpu", "gpu" or "mixed" (devices.h).
inline constexpr std::string_view kDeviceArg = "device";
/// `compat=` of a call, or of its pipeline: whose numbers it gives (compat.h).
inline constexpr std::string_view kCompatArg = "compat";
/// Where passes/map_devices.h has put a node: "gpu", "mixed" or "cpu".
inline constexpr std::string_view kPlacedArg = "placed";
/// How many arguments per frame stand behind the inputs of a call (lifting.h).
inline constexpr std::string_view kPerFrameArg = "per_frame";
/// Whether the name is a remark of a pass, or of the call as a whole.
inline bool is_hidden_arg(std::string_view name) {
  return name == "region_from" || name == "scaled_for" || name == kDeviceArg || name == kPlacedArg ||
         name == kPerFrameArg || name == kCompatArg;
}

}  // namespace galatea::op
