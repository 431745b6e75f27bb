// See checks.h.
#include "stdlib_ops/compat/checks.h"

namespace galatea::ops {

std::string under_preset(const TypeContext& ctx) {
  return fmt::format("{} under compat=\"{}\"", ctx.op().name, name_of(ctx.compat()));
}

std::unexpected<Error> preset_error(const TypeContext& ctx, const std::string& message,
                                    const std::string& help, std::string_view arg) {
  return ctx.error(under_preset(ctx) + message,
                   help + (help.empty() ? "" : ", or ") + "write compat=\"dali\" at this call", arg);
}

Status check_bytes(const TypeContext& ctx) {
  const bool has_dtype = ctx.op().find_arg("dtype") != nullptr;
  if (ctx.input(0).dtype == DType::kU8 && (!has_dtype || ctx.dtype("dtype", DType::kU8) == DType::kU8))
    return {};
  return preset_error(ctx, " takes and gives UINT8", "convert with fn.cast before or after",
                      has_dtype ? "dtype" : "");
}

Status check_without(const TypeContext& ctx,
                     std::initializer_list<std::pair<const char*, const char*>> arguments) {
  for (const auto& [name, why] : arguments)
    if (ctx.op().find_arg(name) != nullptr && ctx.given(name))
      return preset_error(ctx, fmt::format(" has no {}: {}", name, why), "leave it out", name);
  return {};
}

}  // namespace galatea::ops
