// Small matrices of the sample program: shapes while compiling, elements while running.
//
// Comes in: an input or a per-sample argument that holds a matrix. Goes out: its rows and columns, checked
// where the types do not say them, and its elements as scalars.
#pragma once

#include <optional>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// Whether the type can be a matrix of rows x columns: two dimensions, no known extent that says otherwise.
bool can_be_matrix(const ir::Type& type, int64_t rows, int64_t columns);
/// An argument that takes numbers or a matrix has ArgKind::kAny, whose static value may be anything:
/// complains unless it is a number or a list of numbers.
Status check_numbers(const TypeContext& ctx, std::string_view name);
/// The value's element [row][column]s as scalars of its type, row by row. A check of the run stands in for
/// extents that the type leaves open; `what` names the value in its message.
std::vector<Expr> matrix_elements(RecipeBuilder& b, ir::ValueId value, int rows, int columns,
                                  const std::string& what, const std::string& arg = {});
/// Complains unless there is one matrix of this shape, the argument `matrix` or the second input; `meaning`
/// is the help for one of another shape.
Status check_given_matrix(const TypeContext& ctx, int rows, int columns, const std::string& meaning);
/// Its elements, row by row, rounded to f32, as f64.
std::vector<Expr> given_matrix(RecipeBuilder& b, int rows, int columns);
/// The data node of a per-sample argument; nothing where it is static or not given.
std::optional<ir::ValueId> value_of_arg(const RecipeBuilder& b, std::string_view name);

}  // namespace galatea::ops
