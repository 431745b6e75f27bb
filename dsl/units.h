// Numbers in static values.
#pragma once

#include <optional>
#include <vector>

#include "dsl/value.h"

namespace galatea::dsl {

/// The numbers of a value, of a number alone one; nothing if it holds anything else, or no number.
std::optional<std::vector<double>> numbers_of(const Value& value);

}  // namespace galatea::dsl
