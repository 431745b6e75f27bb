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

/// What may be kept in memory (`--limit total-bytes`), and what is kept already.
struct MemoryBound {
  size_t most = SIZE_MAX, used = 0;  ///< bytes
};

/// Parses the whole text of a file, which must outlive nothing: the tree copies what it needs.
/// A tree that does not fit within the bound is an error, and ends there (Module::too_large).
std::unique_ptr<Module> parse_module(uint32_t file, std::string_view text,
                                     std::vector<Diagnostic>& diagnostics, MemoryBound bound = {});

/// Parses one expression (a parameter's value); nullptr if the text is not one.
ExpressionPtr parse_single_expression(uint32_t file, std::string_view text,
                                      std::vector<Diagnostic>& diagnostics);

/// Appends the names of a target: `a`, `a, *b`.
void collect_target(const Expression& target, std::vector<std::string>& names);
/// Appends every name that the statements bind in their own scope: assignments, loops, imports, functions, `:=`.
void collect_bound_names(const Suite& suite, std::vector<std::string>& names);

}  // namespace galatea::dsl
