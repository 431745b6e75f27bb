// galatea policy SUBCOMMAND: policies as data.
#include <memory>
#include <vector>

#include "tools/policy/policy_tools.h"
#include "tools/say.h"

namespace galatea::tools {

Command add_policy(CLI::App& parent) {
  CLI::App* app = add_subcommand(parent, "policy", "Augmentation policies: look at, check, convert, change");
  take_subcommand(app);
  set_footer(app, "A policy is a JSON file, or one of the spellings that `galatea policy list` shows.");
  auto commands = std::make_shared<std::vector<Command>>();
  for (auto add : {add_policy_list, add_policy_show, add_policy_validate, add_policy_convert, add_policy_diff,
                   add_policy_mutate, add_policy_view, add_policy_stats, add_policy_score, add_policy_search,
                   add_policy_schema})
    commands->push_back(add(*app));
  return {app, [app, commands](Reporter& reporter) {
            for (const Command& command : *commands)
              if (is_named(command.app)) return command.run(reporter);
            say("{}", help_of(app));
            return static_cast<int>(kUsage);
          }};
}

}  // namespace galatea::tools
