// Whose numbers a call gives: DALI's, or those of another library (`compat=`).
//
// Comes in: the name in a call's hidden argument kCompatArg (schema.h), which the text gave at the call or for
// the whole pipeline. Goes out: the preset that a definition asks for (RecipeBuilder::compat), and the words
// about it. Why a definition asks, docs/decisions/compat.md says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ir/graph.h"

namespace galatea::op {

struct Operator;

enum class Compat : uint8_t { kDali, kPil, kTorchvision, kOpenCv };

/// "pil", as `compat=` names it.
std::string_view name_of(Compat compat);
/// "Pillow".
std::string_view library_of(Compat compat);
std::optional<Compat> compat_from_name(std::string_view name);
/// As many as there are, for messages.
const std::vector<std::string>& compat_names();

/// What an operator makes of one library's preset.
struct Preset {
  Compat peer = Compat::kPil;
  /// What differs from DALI's numbers, for `galatea explain` and `galatea ops`; empty where it is refused.
  std::string differs;
  /// Not empty: the library has this operation, galatea does not have its numbers, and this is why.
  std::string refused;
};

/// The operator's entry for a library; null: the preset has no meaning for it.
const Preset* find_preset(const Operator& op, Compat compat);
/// Of a node or a call: kDali where none is stated.
Compat compat_of(const std::vector<ir::Arg>& args);
/// Looks at a call's kCompatArg: unknown names, presets without a meaning, presets that cannot be honoured.
/// "dali" is taken out, since that is what holds without it.
Status check_compat(const Operator& op, std::vector<ir::Arg>& args, Span call);

}  // namespace galatea::op
