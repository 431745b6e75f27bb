// The blanks between the tokens of a line, and where a line may break.
#pragma once

#include "dsl/formatter/node.h"

namespace galatea::dsl::formatter {

/// "", " " or "  ": what stands before the token, if it is not the first of its line.
std::string blanks_before(const Node& token);

/// Where a line would rather break: the higher, the sooner. 0: nowhere.
enum Priority : int {
  kNoBreak = 0,
  kAttribute = 1,
  kPowerBreak = 2,
  kProduct = 4,
  kSum = 5,
  kShift = 6,
  kAnd = 7,
  kXor = 8,
  kOr = 9,
  kComparisonBreak = 10,
  kStringBreak = 12,
  kLogic = 14,
  kTernaryBreak = 16,
  kComma = 18,
  kComprehensionBreak = 20,
};
int break_before(const Node& token, const Node* previous);
int break_after(const Node& token);

}  // namespace galatea::dsl::formatter
