// The files of trials: policies, copies of what they import, folders for states.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "policy/document.h"

namespace galatea::policy {

class TrialFiles {
 public:
  /// `imports_from`: the folder that imports are relative to.
  TrialFiles(std::string folder, std::string imports_from)
      : folder_(std::move(folder)), imports_from_(std::move(imports_from)) {}

  std::string policy_of(int64_t trial) const { return path_of("trial", trial, ".json"); }
  std::string state_of(int64_t trial) const { return path_of("state", trial, ""); }

  /// The policies of trials stand in a folder of their own, with a copy of what they import: files outside of
  /// it are not theirs to read. What is wrong, or "".
  std::string copy_imports(const Document& document);
  Status write_policy(int64_t trial, const Document& document) const;
  /// What an earlier attempt left in a trial's folder is no state of anything.
  Status empty_state(int64_t trial) const;

 private:
  std::string path_of(const char* what, int64_t trial, const char* ending) const;

  std::string folder_, imports_from_;
  std::set<std::string> copied_;
};

}  // namespace galatea::policy
