// See scalar_text.h; the functions that are named here are the prelude's.
#include "compiler/codegen/cuda/scalar_text.h"

#include <fmt/format.h>

#include <cmath>

namespace galatea::codegen {

using kernel::ExprNode;

std::string c_type(DType type) { return std::string(short_name(type)); }
std::string memory_type(DType type) { return is_bool(type) ? "u8" : c_type(type); }

std::string constant_text(const ExprNode& e) {
  const DType type = e.type;
  if (is_bool(type)) return e.value.bits != 0 ? "true" : "false";
  if (type == DType::kF16) return fmt::format("f16{{{}}}", e.value.bits);
  if (is_float(type)) {
    const double number = cell_to_double(type, e.value);
    const bool single = type == DType::kF32;
    if (!std::isfinite(number))
      return single ? fmt::format("galatea_f32({:#x}u)", e.value.bits)
                    : fmt::format("galatea_f64({:#x}ull)", e.value.bits);
    std::string text = single ? fmt::format("{:.9g}", number) : fmt::format("{:.17g}", number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return (number < 0 || std::signbit(number) ? "(" + text : text) + (single ? "f" : "") +
           (number < 0 || std::signbit(number) ? ")" : "");
  }
  if (type == DType::kU64) return fmt::format("{}ull", e.value.bits);
  if (type == DType::kU32) return fmt::format("{}u", e.value.bits);
  const int64_t number = cell_to_int(type, e.value);
  if (type == DType::kI64 && number == INT64_MIN) return "(-9223372036854775807ll - 1)";
  if (type == DType::kI64) return number < 0 ? fmt::format("({}ll)", number) : fmt::format("{}ll", number);
  return fmt::format("({}){}", c_type(type),
                     number < 0 ? fmt::format("({}ll)", number) : fmt::format("{}", number));
}

std::string conversion(const ExprNode& e, DType from, std::string text) {
  const DType to = e.type;
  if (to == from) return text;
  const bool nearest = e.op == ScalarOp::kSaturate;
  if (from == DType::kF16) {
    text = fmt::format("galatea_single({})", text);
    from = DType::kF32;
    if (to == from) return text;
  }
  if (to == DType::kF16)
    return from == DType::kF32 ? fmt::format("galatea_half({})", text)
                               : fmt::format("galatea_half((f32){})", text);
  if (is_bool(to)) return fmt::format("({} != 0)", text);
  if (is_float(to)) return fmt::format("({}){}", c_type(to), text);
  if (is_float(from))
    return fmt::format("galatea_{}<{}>({})", nearest ? "nearest" : "truncate", c_type(to), text);
  if (nearest && !is_bool(from)) return fmt::format("galatea_clamped<{}>({})", c_type(to), text);
  return fmt::format("({}){}", c_type(to), text);
}

std::string bitcast(DType to, DType from, const std::string& text) {
  if (to == from) return text;
  if (is_bool(to)) return fmt::format("({} != 0)", text);
  std::string bits = text;
  if (from == DType::kF16)
    bits = fmt::format("{}.bits", text);
  else if (is_float(from))
    bits = fmt::format("galatea_bits({})", text);
  if (to == DType::kF16) return fmt::format("f16{{(u16){}}}", bits);
  if (to == DType::kF32) return fmt::format("galatea_f32((u32){})", bits);
  if (to == DType::kF64) return fmt::format("galatea_f64((u64){})", bits);
  return fmt::format("({}){}", c_type(to), bits);
}

}  // namespace galatea::codegen
