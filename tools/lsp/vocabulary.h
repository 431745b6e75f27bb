// The names that a text can use and has not made: modules of the library, operators, types.
//
// Comes in: the registry. Goes out: members of modules, operators by their paths, values that arguments take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/op/operator.h"
#include "dsl/meanings.h"
#include "tools/lsp/names.h"

namespace galatea::tools::lsp {

class Vocabulary {
 public:
  explicit Vocabulary(const op::Registry& registry);

  const op::Registry& registry() const { return registry_; }
  /// Names in a module: "nvidia.dali.types", "galatea.fn.readers", "nvidia.dali".
  std::vector<dsl::LibraryModule::Member> members(const std::string& path) const;
  /// All modules that can be imported, operators' namespaces too.
  const std::vector<std::string>& modules() const { return paths_; }
  /// "galatea.fn.resize"; nullptr: it is no operator.
  const op::Operator* operator_at(const std::string& path) const;
  /// What a function of the library takes, by its path: {"data", "policy_name='image_net'", …}; none: it is no
  /// function of the library.
  std::vector<std::string> parameters_of(const std::string& path) const;
  /// Names of the module of types that an argument takes: "FLOAT", "INTERP_LINEAR"; none for other arguments.
  std::vector<std::string> values_of(op::ArgKind kind) const;

 private:
  const op::Registry& registry_;
  std::vector<dsl::LibraryModule> modules_;
  std::vector<std::string> paths_, operators_;
};

/// The module's or member's path that a dotted name stands for: `fn.readers` is "nvidia.dali.fn.readers" where
/// `fn` was imported from nvidia.dali. Empty: its first name is no import.
std::string imported_path(const Names& names, const std::vector<std::string>& dotted, uint32_t offset);

}  // namespace galatea::tools::lsp
