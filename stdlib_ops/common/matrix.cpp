// Small matrices: see matrix.h.
#include "stdlib_ops/common/matrix.h"

#include <cmath>

namespace galatea::ops {

bool can_be_matrix(const ir::Type& type, int64_t rows, int64_t columns) {
  auto fits = [&](size_t dim, int64_t n) { return type.extents[dim] < 0 || type.extents[dim] == n; };
  return type.ndim == 2 && fits(0, rows) && fits(1, columns);
}

Status check_numbers(const TypeContext& ctx, std::string_view name) {
  if (!given_static(ctx, name)) return {};
  const ir::Attr& value = ctx.attr(name);
  if (std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value) ||
      std::holds_alternative<std::vector<int64_t>>(value) ||
      std::holds_alternative<std::vector<double>>(value))
    return {};
  return ctx.error(fmt::format("{}: {} is not a list of numbers", ctx.op().name, name),
                   fmt::format("write numbers, as in {}=[1, 2]", name), name);
}

std::vector<Expr> matrix_elements(RecipeBuilder& b, ir::ValueId value, int rows, int columns,
                                  const std::string& what, const std::string& arg) {
  const ir::Type& type = b.type_of(value);
  if (type.static_volume() < 0) {
    const Expr height = kernel::symbol(kernel::SymbolKind::kExtent, DType::kI64, value, 0);
    const Expr width = kernel::symbol(kernel::SymbolKind::kExtent, DType::kI64, value, 1);
    b.check(equal(height, i64(rows)) & equal(width, i64(columns)),
            fmt::format("{} is a matrix of {{}} x {{}}, {} x {} is needed", what, rows, columns),
            {height, width}, {}, arg);
  }
  std::vector<Expr> elements;
  for (int64_t i = 0; i < int64_t{rows} * columns; ++i)
    elements.push_back(kernel::symbol(kernel::SymbolKind::kElement, type.dtype, value, i));
  return elements;
}

Status check_given_matrix(const TypeContext& ctx, int rows, int columns, const std::string& meaning) {
  const std::string& name = ctx.op().name;
  const int64_t count = int64_t{rows} * columns;
  const bool by_input = ctx.num_inputs() > 1;
  if (by_input == ctx.given("matrix"))
    return ctx.error(
        name + (by_input ? ": there are two matrices, the input and the argument" : ": there is no matrix"),
        by_input ? "keep one of them"
                 : fmt::format("give matrix=[…] of {} numbers, or a matrix as a second input", count),
        by_input ? "matrix" : "");
  const auto wrong = [&](const ir::Type& type, std::string_view arg) {
    return ctx.error(
        fmt::format("{}: the matrix is {}, {} x {} is needed", name, describe(type), rows, columns), meaning,
        arg);
  };
  // Per frame, or for a vector, the elements must have known places.
  if (by_input && ctx.input(1).static_volume() < 0) ctx.want_extents(1);
  if (!by_input && ctx.is_per_sample("matrix") && ctx.arg_type("matrix").static_volume() < 0)
    ctx.want_extents("matrix");
  if (by_input) {
    if (!can_be_matrix(ctx.input(1), rows, columns)) return wrong(ctx.input(1), "");
    return {};
  }
  if (ctx.is_per_sample("matrix")) {
    const ir::Type& type = ctx.arg_type("matrix");
    const int64_t volume = type.static_volume();
    if (type.ndim == 2 ? !can_be_matrix(type, rows, columns)
                       : type.ndim != 1 || (volume >= 0 && volume != count))
      return wrong(type, "matrix");
    return {};
  }
  GALATEA_TRY(check_numbers(ctx, "matrix"));
  const auto numbers = ctx.numbers("matrix");
  if (static_cast<int64_t>(numbers.size()) != count)
    return ctx.error(fmt::format("{}: the matrix has {} elements, {} x {} are needed", name, numbers.size(),
                                 rows, columns),
                     static_cast<int64_t>(numbers.size()) == count + columns
                         ? fmt::format("leave its last row out: `matrix[:{}]` of a list of rows", rows)
                         : fmt::format("write {} numbers, row by row", count),
                     "matrix");
  for (const double element : numbers)
    if (!std::isfinite(element))
      return ctx.error(fmt::format("{}: the matrix has the element {}", name, element), "use finite numbers",
                       "matrix");
  return {};
}

std::vector<Expr> given_matrix(RecipeBuilder& b, int rows, int columns) {
  std::vector<Expr> elements;
  const auto value = value_of_arg(b, "matrix");
  if (b.num_inputs() > 1)
    elements = matrix_elements(b, b.node().inputs[1], rows, columns, "the second input");
  else if (value && b.type_of(*value).ndim == 2)
    elements = matrix_elements(b, *value, rows, columns, "matrix", "matrix");
  else
    elements = exact_list_arg(b, "matrix", rows * columns, DType::kF32);
  for (Expr& element : elements) element = to_f64(to_f32(element));
  return elements;
}

std::optional<ir::ValueId> value_of_arg(const RecipeBuilder& b, std::string_view name) {
  const ir::Arg* arg = b.node().find_arg(name);
  if (arg == nullptr || !arg->is_value()) return std::nullopt;
  return arg->as_value();
}

}  // namespace galatea::ops
