// Operators in messages: signatures, and edits for what stands at the wrong place.
//
// Comes in: operators, values, places. Goes out: texts for notes and help.
#pragma once

#include <string>

#include "base/source.h"
#include "compiler/op/operator.h"
#include "dsl/value.h"

namespace galatea::dsl {

/// "fn.flip(image, *, horizontal: int, …)": the first arguments, and how many more there are.
/// `meant`, if it is an argument, is among those shown.
std::string operator_signature(const op::Operator& op, const std::string& path, std::string_view meant = {});
/// What stands at a place, if it is short and on one line; else "".
std::string source_text(const SourceMap& sources, Span span);
/// What should stand for "float32", float or "linear" where a type or a filter is wanted; "" if that is no
/// such name.
std::string written_as_type(const Value& value);
/// "types.FLOAT" for float32, as other libraries call it; "" if it is no type of theirs.
std::string type_named(const std::string& name);
/// The edit for a value given by position: its argument's name.
std::string by_name_help(const op::Operator& op, const Value& value, const std::string& text);
/// The first argument of the call whose callee ends at `at`, if it is a name: what `x` stands for in a
/// suggestion.
std::string first_argument(const SourceMap& sources, Span callee);

}  // namespace galatea::dsl
