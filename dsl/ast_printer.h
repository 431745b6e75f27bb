// The syntax tree as text, for `explain --emit=ast` and golden files.
#pragma once

#include <string>

#include "dsl/ast.h"

namespace galatea::dsl {

/// One node a line, children indented; without spans, so that it changes only when the meaning does.
std::string print_module(const Module& module);
/// The expression in source form, fully bracketed: `(a + (b * 2))`.
std::string print_expression(const Expression& expression);

}  // namespace galatea::dsl
