// Searches the list of dali_names.inc.
#include "dsl/dali_names.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace galatea::dsl {
namespace {
constexpr std::string_view kDaliNames[] = {
#include "dsl/dali_names.inc"
};
struct RenamedArgument {
  std::string_view path, from, to;
};
#include "dsl/dali_renamed.inc"
}  // namespace

std::string_view renamed_operator(std::string_view path) {
  for (const RenamedOperator& renamed : kRenamedOperators) {
    if (renamed.from == path) return renamed.to;
  }
  return {};
}

std::vector<std::string> old_operator_names() {
  std::vector<std::string> names;
  for (const RenamedOperator& renamed : kRenamedOperators) names.emplace_back(renamed.from);
  return names;
}

const std::string_view* renamed_argument(std::string_view path, std::string_view argument) {
  for (const RenamedArgument& renamed : kRenamedArguments) {
    if (renamed.path == path && renamed.from == argument) return &renamed.to;
  }
  return nullptr;
}

std::string operator_of_class(std::string_view path) {
  for (const RenamedOperator& known : kClasses) {
    if (known.from == path) return std::string(known.to);
  }
  std::string out(path.substr(0, path.rfind('.') == std::string_view::npos ? 0 : path.rfind('.') + 1));
  auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::string_view name = path.substr(out.size());
  for (size_t i = 0; i < name.size(); ++i) {
    if (is_upper(name[i]) && i > 0 && !is_upper(name[i - 1]) && name[i - 1] != '_') out += '_';
    out += is_upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return out;
}

std::vector<std::string> dali_operator_names() { return {std::begin(kDaliNames), std::end(kDaliNames)}; }

bool is_dali_operator(std::string_view path) {
  return std::find(std::begin(kDaliNames), std::end(kDaliNames), path) != std::end(kDaliNames);
}

bool is_dali_namespace(std::string_view path) {
  std::string prefix = std::string(path) + ".";
  return std::any_of(std::begin(kDaliNames), std::end(kDaliNames),
                     [&](std::string_view name) { return name.starts_with(prefix); });
}

}  // namespace galatea::dsl
