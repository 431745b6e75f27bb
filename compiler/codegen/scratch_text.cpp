#include "compiler/codegen/scratch_text.h"

#include "compiler/kernel/reader.h"

namespace galatea::codegen {

std::string scratch_to_text(const kernel::Expr& bytes) { return kernel::to_text(bytes); }

std::optional<kernel::Expr> read_scratch(const std::string& text, const kernel::Kernel& kernel) {
  SourceMap nowhere;
  auto read = kernel::read_expr(text, nowhere);
  if (!read || read->type() != DType::kI64) return std::nullopt;
  bool is_known = true;
  kernel::for_each_node(*read, [&](const kernel::Expr& e) {
    const auto& params = kernel.params;
    const bool is_param = e->kind == kernel::ExprKind::kParam && e->index >= 0 &&
                          static_cast<size_t>(e->index) < params.size() &&
                          params[static_cast<size_t>(e->index)].type == e->type;
    is_known &= is_param || e->kind == kernel::ExprKind::kConst || e->kind == kernel::ExprKind::kOp;
  });
  return is_known ? std::optional(std::move(*read)) : std::nullopt;
}

}  // namespace galatea::codegen
