#include "api/declare.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "compiler/op/schema.h"
#include "runtime/kernel_abi.h"
#include "runtime/messages.h"

namespace galatea::api {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The parts between separators, each without blanks around it.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == text.size()) return parts;
    text.remove_prefix(at + 1);
  }
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

std::unexpected<Error> not_understood(std::string_view text, const std::string& why) {
  return runtime::make_error(runtime::message::kRegistration, text, why);
}

Result<Extent> parse_extent(std::string_view whole, std::string_view text) {
  if (text == "?") return Extent();
  if (is_identifier(text)) return Extent(std::string(text));
  constexpr size_t kMostDigits = 15;
  if (text.empty() || text.size() > kMostDigits || !std::ranges::all_of(text, is_digit))
    return not_understood(whole, fmt::format("`{}` is no extent: a number, a name or ?", text));
  return Extent(std::stoll(std::string(text)));
}

/// As kind_name() writes them, but for those that only operators of galatea have.
constexpr op::ArgKind kKinds[] = {op::ArgKind::kBool,      op::ArgKind::kInt,     op::ArgKind::kFloat,
                                  op::ArgKind::kString,    op::ArgKind::kIntList, op::ArgKind::kFloatList,
                                  op::ArgKind::kStringList};

template <typename T>
std::optional<ir::Attr> list_of(const nlohmann::json& value, bool (nlohmann::json::*is)() const noexcept) {
  std::vector<T> list;
  for (const auto& element : value) {
    if (!(element.*is)()) return std::nullopt;
    list.push_back(element.get<T>());
  }
  return ir::Attr(std::move(list));
}

std::optional<ir::Attr> to_attr(const nlohmann::json& value) {
  if (value.is_null()) return ir::Attr(ir::None());
  if (value.is_boolean()) return ir::Attr(value.get<bool>());
  if (value.is_number_integer()) return ir::Attr(value.get<int64_t>());
  if (value.is_number()) return ir::Attr(value.get<double>());
  if (value.is_string()) return ir::Attr(value.get<std::string>());
  if (!value.is_array()) return std::nullopt;
  using Json = nlohmann::json;
  if (auto list = list_of<int64_t>(value, &Json::is_number_integer)) return list;
  if (auto list = list_of<double>(value, &Json::is_number)) return list;
  return list_of<std::string>(value, &Json::is_string);
}

template <typename T, typename Parse>
Result<std::vector<T>> parse_all(const char* const* texts, Parse parse) {
  std::vector<T> parsed;
  for (; texts && *texts; ++texts) {
    GALATEA_ASSIGN(T one, parse(*texts));
    if (std::ranges::any_of(parsed, [&](const T& other) { return other.name == one.name; }))
      return not_understood(*texts, fmt::format("there are two of the name `{}`", one.name));
    parsed.push_back(std::move(one));
  }
  return parsed;
}

}  // namespace

Result<Port> parse_port(std::string_view text) {
  const size_t colon = text.find(':'), open = text.find('['), close = text.find(']');
  if (colon == std::string_view::npos || open == std::string_view::npos || close == std::string_view::npos ||
      open < colon || close < open)
    return not_understood(text,
                          "a port is written NAME: TYPES[EXTENTS] LAYOUT, such as image: u8[h,w,3] HWC");
  Port port;
  port.name = trimmed(text.substr(0, colon));
  if (!is_identifier(port.name)) return not_understood(text, fmt::format("`{}` is no name", port.name));
  const std::string_view types = trimmed(text.substr(colon + 1, open - colon - 1));
  for (const std::string_view type : split(types, '|')) {
    if (types == "any") break;
    const auto dtype = dtype_from_short_name(type);
    if (!dtype)
      return not_understood(
          text, fmt::format("`{}` is no element type: u8 … u64, i8 … i64, f16, f32, f64, bool or any", type));
    port.dtypes.push_back(*dtype);
  }
  const std::string_view extents = trimmed(text.substr(open + 1, close - open - 1));
  const bool has_any_rank = extents == "..." || extents == "…";
  if (extents.empty()) port.ndim = 0;
  if (!extents.empty() && !has_any_rank) {
    for (const std::string_view extent : split(extents, ',')) {
      GALATEA_ASSIGN(Extent parsed, parse_extent(text, extent));
      port.extents.push_back(std::move(parsed));
    }
    port.ndim = static_cast<int>(port.extents.size());
  }
  if (port.ndim > runtime::kMaxRank)
    return not_understood(
        text, fmt::format("there are {} dimensions; {} is the most", port.ndim, runtime::kMaxRank));
  const std::string_view layouts = trimmed(text.substr(close + 1));
  for (const std::string_view layout : split(layouts, '|')) {
    if (layouts.empty()) break;
    const bool fits = port.ndim < 0 || static_cast<int>(layout.size()) == port.ndim;
    if (!fits || layout.empty() || !std::ranges::all_of(layout, is_letter))
      return not_understood(
          text, fmt::format("the layout `{}` does not have one letter for each dimension", layout));
    port.layouts.emplace_back(layout);
  }
  return port;
}

Result<op::ArgSpec> parse_argument(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return not_understood(text,
                          "an argument is written NAME: KIND or NAME: KIND = VALUE, such as radius: int = 3");
  op::ArgSpec spec;
  spec.name = trimmed(text.substr(0, colon));
  if (!is_identifier(spec.name)) return not_understood(text, fmt::format("`{}` is no name", spec.name));
  if (op::is_hidden_arg(spec.name) || spec.name == "name" || spec.name == "seed")
    return not_understood(text, fmt::format("every operator has an argument `{}` already", spec.name));
  const std::string_view rest = text.substr(colon + 1);
  const size_t equals = rest.find('=');
  const std::string_view kind = trimmed(rest.substr(0, equals));
  const auto* const found =
      std::ranges::find_if(kKinds, [&](op::ArgKind each) { return op::kind_name(each) == kind; });
  if (found == std::end(kKinds))
    return not_understood(text,
                          fmt::format("`{}` is no kind of argument: bool, int, float, str, int list, float "
                                      "list or str list",
                                      kind));
  spec.kind = *found;
  spec.required = equals == std::string_view::npos;
  if (spec.required) return spec;
  const auto value = to_attr(parse_json(trimmed(rest.substr(equals + 1))));
  const auto converted = value ? op::convert_attr(*value, spec.kind) : std::nullopt;
  if (!converted)
    return not_understood(text, fmt::format("the default is not {} in JSON", op::describe(spec.kind)));
  spec.default_value = *converted;
  return spec;
}

Result<std::vector<Port>> parse_ports(const char* const* texts) { return parse_all<Port>(texts, parse_port); }
Result<std::vector<op::ArgSpec>> parse_arguments(const char* const* texts) {
  return parse_all<op::ArgSpec>(texts, parse_argument);
}

std::string why_no_name(const std::string& name, const op::Registry& registry) {
  if (name.empty() || !std::ranges::all_of(split(name, '.'), is_identifier))
    return "a name has letters, digits and underscores, with dots between its parts";
  if (registry.find(name) || registry.find_text(name)) return "there is an operator of this name";
  // `fn.a` cannot be an operator and a namespace.
  for (const std::string& other : registry.public_names()) {
    if (other.starts_with(name + ".") || name.starts_with(other + "."))
      return fmt::format("`fn.{}` is an operator, and one of the two names would be its namespace", other);
  }
  return {};
}

void set_documentation(op::Operator& op, const char* text, const char* otherwise) {
  const std::string whole = text ? text : otherwise;
  op.summary = whole.substr(0, whole.find('\n'));
  op.documentation = whole.substr(std::min(op.summary.size() + 1, whole.size()));
}

}  // namespace galatea::api
