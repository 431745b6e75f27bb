// Names that every module sees without an import.
#pragma once

#include "dsl/evaluator.h"

namespace galatea::dsl {

/// Python's built-in functions and types (builtins.cpp).
void add_builtins(Evaluator& evaluator, Env& names);
/// `struct` (library.cpp).
void add_struct(Evaluator& evaluator, Env& names);

}  // namespace galatea::dsl
