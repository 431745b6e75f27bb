// A slot lets go of its memory behind its last use, so that the sample's next tensor can take the place.
//
// Comes in: a program without releases. Goes out: the same with one kRelease a slot. Code stands in
// topological order and jumps go forward, so the use with the highest number is the last one on every path
// that comes past it; a path that does not holds the slot to its end.
#pragma once

#include <vector>

#include "runtime/program.h"

namespace galatea::plan {

/// For each slot the instruction behind which it is released; -1: never (an output, or unused).
std::vector<int32_t> last_uses(const runtime::Program& program);
/// For each slot the slots that may share its memory (views and copies of it), itself included.
std::vector<std::vector<int32_t>> sharing_slots(const runtime::Program& program);
void insert_releases(runtime::Program& program);

}  // namespace galatea::plan
