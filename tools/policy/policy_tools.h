// What the subcommands of `galatea policy` share.
#pragma once

#include <optional>
#include <string>

#include "policy/document.h"
#include "tools/command.h"

namespace galatea::tools {

/// A file, or a spelling such as "rand_augment(n=2, m=9)"; what is wrong is reported.
std::optional<policy::Document> load_policy(const std::string& name, Reporter& reporter);
/// To a file, replacing it in one step; with an empty path on stdout.
void write_result(const std::string& path, const std::string& text, Reporter& reporter);

Command add_policy_schema(CLI::App& parent);
Command add_policy_list(CLI::App& parent);
Command add_policy_show(CLI::App& parent);
Command add_policy_validate(CLI::App& parent);
Command add_policy_convert(CLI::App& parent);
Command add_policy_diff(CLI::App& parent);
Command add_policy_mutate(CLI::App& parent);
Command add_policy_view(CLI::App& parent);
Command add_policy_stats(CLI::App& parent);
Command add_policy_score(CLI::App& parent);
Command add_policy_search(CLI::App& parent);

}  // namespace galatea::tools
