// The table of all graph passes, in order. Read pass_list.cpp first.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/passes/pass.h"

namespace galatea::passes {

struct PassEntry {
  std::string_view name;  ///< as in --skip-pass and --stop-after; a pass may stand in the list more than once
  PassFunction run;
  std::string_view summary;
};

const std::vector<PassEntry>& pass_list();

}  // namespace galatea::passes
