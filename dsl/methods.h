// What the files of methods share.
#pragma once

#include <span>

#include "dsl/evaluator.h"

namespace galatea::dsl {

struct Method {
  const char* name;
  BuiltinFunction function;
};

/// Whether a call has between `least` and `most` positional arguments and nothing else; reports otherwise.
/// False for poison, silently.
bool check_count(Evaluator& evaluator, const CallArguments& arguments, size_t least, size_t most);
std::span<const Method> string_methods();
/// "{} {0} {name:>5}".format(…)
Value str_format(Evaluator& evaluator, CallArguments& arguments);

}  // namespace galatea::dsl
