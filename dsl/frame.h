// What evaluation stands on: frames of variables, the calls and loops around, paths that ended.
//
// Paths. Evaluation always stands on one path: a block of the graph and the variables on it. `if` on a data
// node runs each arm on a path of its own and joins those that come out. `return`, `break` and `continue` end
// the current path: it is kept in the frame or loop that will join it, and evaluation is *not alive* until
// some join makes it so again. Static control flow is the same with one path.
//
// Variables join lazily: where paths disagree, the variable becomes a PendingObject, and a merge is built
// when it is first read. So a name that is not read after the `if` needs no value on every path.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"
#include "compiler/ir/graph.h"
#include "dsl/value.h"

namespace galatea::dsl {

/// Bytes that count as the evaluation's for as long as this lives.
class HeldBytes {
 public:
  HeldBytes() = default;
  HeldBytes(Arena& arena, size_t bytes) : arena_(&arena), bytes_(bytes) { arena.count(bytes); }
  HeldBytes(HeldBytes&& other) noexcept { *this = std::move(other); }
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HeldBytes() {
    if (arena_) arena_->release(bytes_);
  }

 private:
  Arena* arena_ = nullptr;
  size_t bytes_ = 0;
};

/// A path that ended, waiting for its join.
struct Path {
  ir::BlockId block = ir::kNoId;
  Env env;
  uint32_t region = 0;
  Value value;
  Span span;
  HeldBytes held;  ///< of `env`
};

/// What one call of a function (with its comprehensions) shares.
struct CallState {
  uint64_t path = 0;             ///< hash of the call path
  std::vector<uint32_t> unroll;  ///< indices of the loops around
  std::vector<Path> returns;
  bool result_poisoned = false;
  bool returns_any_value = false;
  std::string name;
};
struct LoopState {
  std::vector<Path> breaks, continues;
  bool poisoned = false;  ///< whether a `break` is reached is not known
};

struct Frame : Object {
  Frame* parent = nullptr;  ///< lexically around
  ModuleObject* module = nullptr;
  CallState* call = nullptr;
  const std::set<std::string>* locals =
      nullptr;  ///< names that the function binds; nullptr: a module or a comprehension
  bool is_comprehension = false;
  uint32_t region = 0;  ///< of a comprehension: the samples with which it began
  bool has_closures = false;
  std::set<std::string>
      misused;  ///< names that were read before the function binds them, and mean outer ones
  Env env;
  std::vector<LoopState*> loops;
};

/// hash64 of the random keys: mixes `value` into `state`.
uint64_t mix_key(uint64_t state, uint64_t value);
uint64_t mix_key(uint64_t state, std::string_view text);

}  // namespace galatea::dsl
