// Text of expressions with shared parts named once; for the printers of kernels and loops.
//
// Comes in: an expression. Goes out: bindings ("%0 = mul(axis0, 3:i64)") and the text of the root in terms of
// them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/expr.h"

namespace galatea::kernel {

struct ExprText {
  std::vector<std::pair<std::string, std::string>> bindings;  ///< name, text; in order
  std::string root;
};
/// Operations and loads that occur more than once become bindings.
ExprText print_expr(const Expr& e);
/// "3:i64", "true", "0.5:f32", "bits(0x7fc00001):f32" for NaN.
std::string constant_text(DType type, Cell value);
std::string_view name_of(Border border);
std::string_view name_of(SymbolKind kind);

}  // namespace galatea::kernel
