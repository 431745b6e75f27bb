// Texts that ask for more than anybody has: depth, size, work, sharing. Each must end in a diagnostic, or be
// fine, within the memory bound.
#pragma once

#include <string>
#include <vector>

namespace galatea::limits {

struct HostileInput {
  std::string name;
  std::string text;
  std::string code;  ///< of the errors, with blanks between; empty: the text is fine
};
std::vector<HostileInput> hostile_inputs();

}  // namespace galatea::limits
