// Which machine code tests of pipelines run that do not look at it.
#pragma once

#include "compiler/codegen/tiers.h"
#include "tests/support/cases.h"

namespace galatea::testing {

/// The best code; under a sanitizer, which sees nothing of generated code, the first tier: the same bits, made
/// in a fraction of the time.
inline codegen::Tiers tiers() { return kSanitized ? codegen::Tiers::kFirst : codegen::Tiers::kBest; }

}  // namespace galatea::testing
