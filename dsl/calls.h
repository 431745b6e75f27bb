// Calls while they are evaluated: what is given to a callee, and where on the stack of calls it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "dsl/ast.h"
#include "dsl/frame.h"
#include "dsl/value.h"

namespace galatea::dsl {

/// The evaluated arguments of a call.
struct CallArguments {
  struct Keyword {
    std::string name;
    Value value;
    Span span, name_span;
  };
  std::vector<Value> positional;
  std::vector<Span> spans;
  std::vector<Keyword> keywords;
  Span span;  ///< of the whole call
  Span callee_span;
  const Expression* callee = nullptr;  ///< as written, where the call was
  std::string callee_text;             ///< last name as written
  uint32_t ordinal = 0;
  bool feeds_host = false;  ///< the callee is a source that the host types
  Value self;               ///< of a method
  std::string name;         ///< of the built-in, for messages
};

/// A call that has not returned yet.
struct ActiveCall {
  Span span;
  std::string function;              ///< in which the call stands
  const void* callee = nullptr;      ///< its body
  const Suite* body = nullptr;       ///< of a `def`
  const CallState* state = nullptr;  ///< of the callee
  const Frame* frame = nullptr;      ///< of the callee
};

}  // namespace galatea::dsl
