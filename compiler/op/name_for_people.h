// What people who wrote a pipeline call its operators. In: a name as the graph shows it. Out: words.
#pragma once

#include <string>
#include <string_view>

namespace galatea::op {

/// A shown name, or several joined by `+`: "arithmetic *" for "arith.mul", "galatea.together" for its parts.
std::string name_for_people(std::string_view shown);

}  // namespace galatea::op
