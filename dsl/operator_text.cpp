// Operators in messages: signatures, and edits for what stands at the wrong place.
#include "dsl/operator_text.h"

#include <fmt/format.h>

#include "compiler/op/schema.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
std::string operator_signature(const op::Operator& op, const std::string& path, std::string_view meant) {
  constexpr size_t kShown = 6;
  size_t shown = 0, hidden = 0;
  std::string out = "fn." + path + "(";
  bool first = true;
  for (const Port& input : op.inputs) {
    out += (first ? "" : ", ") + input.name + (input.optional ? "=None" : "");
    first = false;
  }
  if (!op.args.empty()) out += first ? "*" : ", *";
  for (const op::ArgSpec& arg : op.args) {
    if (!arg.refused.empty() || arg.no_effect) continue;
    if (!arg.required && shown >= kShown && arg.name != meant) {
      ++hidden;
      continue;
    }
    ++shown;
    out += ", " + arg.name + ": " + std::string(op::kind_name(arg.kind)) + (arg.required ? "" : " = …");
  }
  if (hidden > 0) out += fmt::format(", … and {} more", hidden);
  return out + ")";
}

std::string source_text(const SourceMap& sources, Span span) {
  constexpr size_t kLongest = 48;
  const SourceFile* file = sources.file(span.file);
  if (file == nullptr || span.end <= span.begin || span.end - span.begin > kLongest) return {};
  std::string text = file->text().substr(span.begin, span.end - span.begin);
  return text.find_first_of("\n#") == std::string::npos ? text : "";
}

std::string written_as_type(const Value& value) {
  std::string name = value.is(ValueKind::kString) ? value.text() : "";
  if (value.is(ValueKind::kBuiltin) && value.as<BuiltinObject>().is_type)
    name = value.as<BuiltinObject>().name;
  return name.empty() ? "" : type_named(name);
}

std::string type_named(const std::string& name) {
  if (name == "float") return "types.FLOAT";
  if (const Suggestion* known = find_suggestion(Place::kType, "", name)) return std::string(known->write);
  for (int i = 0; i < kNumDTypes; ++i) {
    std::string_view known = types_name(static_cast<DType>(i));
    if (snake_case(name) == snake_case(known)) return "types." + std::string(known);
  }
  return {};
}

std::string by_name_help(const op::Operator& op, const Value& value, const std::string& text) {
  if (const Suggestion* known = find_suggestion(Place::kArgument, op.name, "*")) {
    const std::string_view name = known->write.substr(0, known->write.find('='));
    const op::ArgSpec* spec = op.find_arg(name);
    const bool is_list = text.starts_with("[") && spec != nullptr && op::takes_list(spec->kind);
    const bool fits = is_list || (spec != nullptr && spec->kind == op::ArgKind::kFloat && value.is_number() &&
                                  !text.empty());
    return fits ? fmt::format("write `{}={}`", name, text) : help_of(*known, "");
  }
  const auto names_argument = [&](const auto& entry) {
    return entry.first.is(ValueKind::kString) && op.find_arg(entry.first.text()) != nullptr;
  };
  if (value.is(ValueKind::kDict) && !text.empty() && !value.dict().entries.empty() &&
      std::ranges::all_of(value.dict().entries, names_argument))
    return "a dict of arguments is spread: write `**" + text + "`";
  const op::ArgSpec* first = nullptr;
  for (const op::ArgSpec& arg : op.args) {
    if (!arg.refused.empty() || arg.no_effect) continue;
    if (first == nullptr || (arg.required && !first->required)) first = &arg;
  }
  if (first == nullptr) return "remove it";
  const bool is_text = value.is(ValueKind::kString) && first->kind != op::ArgKind::kDType;
  if (is_text && first->kind != op::ArgKind::kString && first->kind != op::ArgKind::kStringList)
    return "arguments are given by name, as the signature shows";
  std::string type = first->kind == op::ArgKind::kDType ? written_as_type(value) : "";
  std::string written = !type.empty() ? type : text.empty() ? "…" : text;
  if (value.is_number() && text.starts_with("[") && !op::takes_list(first->kind))
    written = text.substr(1, text.find_first_of(",]") - 1);
  return fmt::format("arguments are given by name: write `{}={}`", first->name, written);
}

std::string first_argument(const SourceMap& sources, Span callee) {
  const SourceFile* file = sources.file(callee.file);
  if (file == nullptr) return {};
  std::string_view rest =
      std::string_view(file->text()).substr(std::min<size_t>(callee.end, file->text().size()));
  if (!rest.starts_with('(')) return {};
  const size_t end = rest.find_first_of(",()[]{}=+-*/\n", 1);
  if (end == std::string_view::npos || (rest[end] != ',' && rest[end] != ')')) return {};
  std::string_view name = rest.substr(1, end - 1);
  const bool is_name = !name.empty() && name.find_first_of(" \t\"'#:<>&|") == std::string_view::npos &&
                       (name[0] < '0' || name[0] > '9');
  return is_name ? std::string(name) : "";
}

}  // namespace galatea::dsl
