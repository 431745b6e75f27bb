// galatea data SUBCOMMAND: data sets as they lie on disk.
#include <memory>
#include <vector>

#include "tools/data/data_tools.h"
#include "tools/say.h"

namespace galatea::tools {

Command add_data(CLI::App& parent) {
  CLI::App* app = add_subcommand(parent, "data", "Data sets: make indices, look inside, convert, verify");
  take_subcommand(app);
  set_footer(app,
             "A data set is a folder, a list of files, WebDataset, TFRecord, RecordIO or LMDB: what its "
             "files hold decides, not how they are called.");
  auto commands = std::make_shared<std::vector<Command>>();
  for (auto add : {add_data_index, add_data_inspect, add_data_convert, add_data_verify})
    commands->push_back(add(*app));
  return {app, [app, commands](Reporter& reporter) {
            for (const Command& command : *commands)
              if (is_named(command.app)) return command.run(reporter);
            say("{}", help_of(app));
            return static_cast<int>(kUsage);
          }};
}

}  // namespace galatea::tools
