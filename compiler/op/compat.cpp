// See compat.h.
#include "compiler/op/compat.h"

#include <algorithm>
#include <array>

#include "base/words.h"
#include "compiler/ir/attr.h"
#include "compiler/messages/messages.h"
#include "compiler/op/devices.h"
#include "compiler/op/operator.h"
#include "compiler/op/schema.h"

namespace galatea::op {
namespace {

struct Names {
  std::string_view name, library;
};
constexpr std::array<Names, 4> kNames = {
    {{"dali", "DALI"}, {"pil", "Pillow"}, {"torchvision", "torchvision"}, {"opencv", "OpenCV"}}};

}  // namespace

std::string_view name_of(Compat compat) { return kNames[static_cast<size_t>(compat)].name; }
std::string_view library_of(Compat compat) { return kNames[static_cast<size_t>(compat)].library; }

std::optional<Compat> compat_from_name(std::string_view name) {
  for (size_t k = 0; k < kNames.size(); ++k)
    if (kNames[k].name == name) return static_cast<Compat>(k);
  return std::nullopt;
}

const std::vector<std::string>& compat_names() {
  static const std::vector<std::string> kList = [] {
    std::vector<std::string> list;
    for (const Names& names : kNames) list.emplace_back(names.name);
    return list;
  }();
  return kList;
}

const Preset* find_preset(const Operator& op, Compat compat) {
  const auto found = std::ranges::find(op.presets, compat, &Preset::peer);
  return found == op.presets.end() ? nullptr : &*found;
}

Compat compat_of(const std::vector<ir::Arg>& args) {
  return compat_from_name(hidden_text(args, kCompatArg)).value_or(Compat::kDali);
}

Status check_compat(const Operator& op, std::vector<ir::Arg>& args, Span call) {
  using compiler::Message;
  using compiler::user_error;
  const auto found = std::ranges::find(args, kCompatArg, &ir::Arg::name);
  if (found == args.end()) return {};
  const Span span = found->span.valid() ? found->span : call;
  const std::optional<Compat> compat = compat_from_name(hidden_text(args, kCompatArg));
  if (!compat) {
    const std::string given = found->is_value() ? "a data node" : describe(found->as_attr());
    return user_error(Message::kUnknownPreset, span, given, one_of(compat_names()));
  }
  const Preset* preset = find_preset(op, *compat);
  if (*compat == Compat::kDali) {
    args.erase(found);
  } else if (preset == nullptr) {
    const std::string why = !op.no_preset.empty() ? op.no_preset
                            : op.presets.empty()
                                ? "it gives the same numbers whatever the preset"
                                : std::string(library_of(*compat)) + " has no such operation";
    return user_error(Message::kNoPreset, span, display_name(op), std::string(name_of(*compat)), why);
  } else if (!preset->refused.empty()) {
    return user_error(Message::kPresetRefused, span, display_name(op), std::string(library_of(*compat)),
                      preset->refused);
  }
  return {};
}

}  // namespace galatea::op
