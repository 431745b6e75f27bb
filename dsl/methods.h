// Methods of static values: who has which, and what their files share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/evaluator.h"

namespace galatea::dsl {

/// The method of a value, bound to it; nullopt: it has none of this name.
std::optional<Value> find_method(Evaluator& evaluator, const Value& base, const std::string& name);
std::vector<std::string> method_names(const Value& base);
/// Whether a method of this name changes the list or dict that it belongs to.
bool changes_container(const std::string& method);

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
