#include "policy/difference.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "policy/writer.h"

namespace galatea::policy {
namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& value) {
  std::string text = json_text(value);
  std::string spaced;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) in_string = !in_string;
    spaced += text[i];
    if (!in_string && (text[i] == ',' || text[i] == ':')) spaced += ' ';
  }
  return spaced;
}

/// A step is compared whole: its three entries mean little alone.
bool is_step(const Json& value) {
  return value.is_array() && value.size() == 3 && value[0].is_string() && value[1].is_number();
}

void compare(const std::string& path, const Json& left, const Json& right, std::vector<Difference>& found) {
  if (left == right) return;
  const bool objects = left.is_object() && right.is_object();
  const bool lists =
      left.is_array() && right.is_array() && !is_step(left) && !is_step(right) &&
      std::any_of(left.begin(), left.end(), [](const Json& item) { return item.is_structured(); });
  if (objects) {
    for (const auto& [key, value] : left.items()) {
      const std::string below = path.empty() ? key : path + "." + key;
      if (right.contains(key))
        compare(below, value, right[key], found);
      else
        found.push_back({below, one_line(value), ""});
    }
    for (const auto& [key, value] : right.items())
      if (!left.contains(key)) found.push_back({path.empty() ? key : path + "." + key, "", one_line(value)});
    // The order of the table is that in which "*" counts.
    if (path == "augmentations" && left.size() == right.size()) {
      std::string names_left, names_right;
      for (const auto& [key, value] : left.items()) names_left += (names_left.empty() ? "" : ", ") + key;
      for (const auto& [key, value] : right.items()) names_right += (names_right.empty() ? "" : ", ") + key;
      const bool same_names = std::all_of(left.items().begin(), left.items().end(),
                                          [&](const auto& item) { return right.contains(item.key()); });
      if (same_names && names_left != names_right)
        found.push_back({path + " (order)", names_left, names_right});
    }
  } else if (lists) {
    for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      const std::string below = fmt::format("{}[{}]", path, i);
      if (i >= left.size())
        found.push_back({below, "", one_line(right[i])});
      else if (i >= right.size())
        found.push_back({below, one_line(left[i]), ""});
      else
        compare(below, left[i], right[i], found);
    }
  } else {
    found.push_back({path, one_line(left), one_line(right)});
  }
}

Json comparable(const Document& document) {
  Json json = parse_ordered_json(to_json(document));
  json.erase("name");
  return json;
}

}  // namespace

std::vector<Difference> differences(const Document& left, const Document& right) {
  std::vector<Difference> found;
  compare("", comparable(left), comparable(right), found);
  return found;
}

}  // namespace galatea::policy
