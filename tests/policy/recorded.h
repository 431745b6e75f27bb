// The tables that tests/auto_aug/make_tables.py recorded of torchvision and timm, as JSON.
#pragma once

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"

namespace galatea::policy::testing {

/// One table: a literal of the language. Tuples become lists; as keys, "height x width".
inline nlohmann::json recorded(const std::string& family, const std::string& name) {
  std::ifstream file(std::string(GALATEA_SOURCE_DIR) + "/tests/auto_aug/tables/" + family +
                     "_recorded.dali-dsl");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name + " = ")) continue;
    line.erase(0, name.size() + 3);
    line = std::regex_replace(line, std::regex("\\((\\d+), (\\d+)\\):"), "\"$1 x $2\":");
    for (const auto& [word, json] : {std::pair{"None", "null"}, {"True", "true"}, {"False", "false"}})
      line = std::regex_replace(line, std::regex(word), json);
    std::ranges::replace(line, '(', '[');
    std::ranges::replace(line, ')', ']');
    return parse_json(line);
  }
  ADD_FAILURE() << "no table " << name << " of " << family;
  return {};
}

}  // namespace galatea::policy::testing
