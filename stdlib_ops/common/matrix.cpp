// Small matrices: see matrix.h.
#include "stdlib_ops/common/matrix.h"

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

std::optional<ir::ValueId> value_of_arg(const RecipeBuilder& b, std::string_view name) {
  const ir::Arg* arg = b.node().find_arg(name);
  if (arg == nullptr || !arg->is_value()) return std::nullopt;
  return arg->as_value();
}

}  // namespace galatea::ops
