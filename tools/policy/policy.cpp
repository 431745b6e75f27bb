// galatea policy SUBCOMMAND: policies as data.
#include <memory>
#include <vector>

#include <fmt/core.h>

#include "tools/policy/policy_tools.h"

namespace galatea::tools {

Command add_policy(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("policy", "Augmentation policies: look at, check, convert, change");
  app->require_subcommand(0, 1);
  app->footer("A policy is a JSON file, or one of the spellings that `galatea policy list` shows.");
  auto commands = std::make_shared<std::vector<Command>>();
  for (auto add : {add_policy_list, add_policy_show, add_policy_validate, add_policy_convert, add_policy_diff,
                   add_policy_mutate, add_policy_view, add_policy_stats, add_policy_score, add_policy_search,
                   add_policy_schema})
    commands->push_back(add(*app));
  return {app, [app, commands](Reporter& reporter) {
            for (const Command& command : *commands)
              if (command.app->parsed()) return command.run(reporter);
            fmt::print(stderr, "{}", app->help());
            return static_cast<int>(kUsage);
          }};
}

}  // namespace galatea::tools
