// The parser: text in, syntax tree out.
//
// Comes in: a file of the source map. Goes out: a Module (always; what failed to parse is kError inside) and
// diagnostics, several a run. It recovers at statements and inside brackets. Python outside the language is
// recognised, reported by name and kept as kUnsupported, except under `if __name__ == "__main__":`, where
// host code may stand.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "dsl/ast.h"

namespace galatea::dsl {

/// Parses the whole text of a file, which must outlive nothing: the tree copies what it needs.
/// A tree of more than `max_bytes` is an error, and ends there.
std::unique_ptr<Module> parse_module(uint32_t file, std::string_view text,
                                     std::vector<Diagnostic>& diagnostics, size_t max_bytes = SIZE_MAX);

/// Parses one expression (a parameter's value); nullptr if the text is not one.
ExpressionPtr parse_single_expression(uint32_t file, std::string_view text,
                                      std::vector<Diagnostic>& diagnostics);

/// Calls `visit` for every name that the statements bind in their own scope: assignments, loops, imports,
/// functions, `:=`.
void collect_bound_names(const Suite& suite, std::vector<std::string>& names);

}  // namespace galatea::dsl
