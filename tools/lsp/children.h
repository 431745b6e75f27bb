// Other commands of galatea, run for an editor: `explain`, whose text it shows, and `serve`, which stays.
//
// Comes in: arguments. Goes out: what the command prints. Those that stay end with the object, or with this
// process.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace galatea::tools::lsp {

using Arguments = std::vector<std::string>;

class Children {
 public:
  Children() = default;
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Waits for its end. All that it prints, errors too; bounded.
  std::string output_of(const Arguments& arguments);
  /// The first line that it prints; it goes on. One that runs already with these arguments is not started
  /// again. Empty: it printed none.
  std::string first_line_of(const Arguments& arguments);

 private:
  struct Child {
    pid_t process = -1;
    int output = -1;
    std::string line;
  };
  static Child start(const Arguments& arguments, bool with_errors);
  static void end(Child& child);

  std::map<Arguments, Child> staying_;
};

}  // namespace galatea::tools::lsp
