#include "tools/lsp/vocabulary.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace galatea::tools::lsp {
namespace {

using Member = dsl::LibraryModule::Member;

constexpr std::string_view kOperatorRoots[] = {"nvidia.dali.fn", "galatea.fn"};
constexpr const char* kTypesModule = "nvidia.dali.types";

/// What stands behind `fn` in a path, "readers.file"; nullopt: it is no path of operators.
std::optional<std::string> below_operators(std::string_view path) {
  for (const std::string_view root : kOperatorRoots) {
    if (path == root) return std::string();
    if (path.starts_with(root) && path[root.size()] == '.') return std::string(path.substr(root.size() + 1));
  }
  return std::nullopt;
}

/// "a, b=(1, 2), c=', '" at the commas that stand in no brackets and no text.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  char quote = 0;
  for (const char c : list) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(std::move(part));
      part.clear();
      continue;
    }
    if (!part.empty() || c != ' ') part += c;
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

}  // namespace

Vocabulary::Vocabulary(const op::Registry& registry)
    : registry_(registry), modules_(dsl::library_modules(registry)), operators_(registry.public_names()) {
  std::set<std::string> paths;
  for (const dsl::LibraryModule& module : modules_)
    if (module.path != "builtins") paths.insert(module.path);
  for (const std::string_view root : kOperatorRoots) {
    paths.insert(std::string(root));
    for (const std::string& name : operators_)
      for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
        paths.insert(std::string(root) + "." + name.substr(0, dot));
  }
  paths_.assign(paths.begin(), paths.end());
}

std::vector<Member> Vocabulary::members(const std::string& path) const {
  std::vector<Member> members;
  if (const auto below = below_operators(path)) {
    const std::string prefix = below->empty() ? "" : *below + ".";
    std::set<std::string> namespaces;
    for (const std::string& name : operators_) {
      if (!name.starts_with(prefix)) continue;
      const std::string rest = name.substr(prefix.size());
      const size_t dot = rest.find('.');
      if (dot != std::string::npos) {
        namespaces.insert(rest.substr(0, dot));
        continue;
      }
      const op::Operator* op = registry_.find(name);
      members.push_back({rest, dsl::Meaning::Kind::kOperator, op ? op->summary : ""});
    }
    for (const std::string& name : namespaces)
      members.push_back({name, dsl::Meaning::Kind::kModule, "operators"});
    std::ranges::sort(members, {}, &Member::name);
    return members;
  }
  const auto module = std::ranges::find(modules_, path, &dsl::LibraryModule::path);
  if (module != modules_.end()) members = module->members;
  return members;
}

const op::Operator* Vocabulary::operator_at(const std::string& path) const {
  const auto below = below_operators(path);
  return below && !below->empty() ? registry_.find(*below) : nullptr;
}

std::vector<std::string> Vocabulary::parameters_of(const std::string& path) const {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return {};
  const auto module = std::ranges::find(modules_, path.substr(0, dot), &dsl::LibraryModule::path);
  if (module == modules_.end()) return {};
  const auto member = std::ranges::find(module->members, path.substr(dot + 1), &Member::name);
  const bool is_function = member != module->members.end() && member->text.starts_with(member->name + "(") &&
                           member->text.ends_with(')');
  if (!is_function) return {};
  const std::string_view signature(member->text);
  return parts_of(signature.substr(member->name.size() + 1, signature.size() - member->name.size() - 2));
}

std::vector<std::string> Vocabulary::values_of(op::ArgKind kind) const {
  const char* prefix = kind == op::ArgKind::kInterp ? "INTERP_" : "";
  constexpr std::string_view kImageTypes[] = {"RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"};
  std::vector<std::string> values;
  for (const Member& member : members(kTypesModule)) {
    const bool is_dtype = member.text.starts_with("DALIDataType") || member.text.starts_with("dtype");
    const bool is_image_type = std::ranges::find(kImageTypes, member.name) != std::end(kImageTypes);
    const bool fits = kind == op::ArgKind::kDType || kind == op::ArgKind::kDTypeList ? is_dtype
                      : kind == op::ArgKind::kInterp    ? member.name.starts_with(prefix)
                      : kind == op::ArgKind::kImageType ? is_image_type
                                                        : false;
    if (fits) values.push_back(member.name);
  }
  return values;
}

std::string imported_path(const Names& names, const std::vector<std::string>& dotted, uint32_t offset) {
  if (dotted.empty()) return {};
  const Symbol* symbol = names.find(dotted[0], offset);
  if (!symbol || symbol->kind != Symbol::Kind::kImport || symbol->level > 0) return {};
  std::string path = symbol->module;
  if (!symbol->imported.empty()) path += "." + symbol->imported;
  for (size_t k = 1; k < dotted.size(); ++k) path += "." + dotted[k];
  return path;
}

}  // namespace galatea::tools::lsp
