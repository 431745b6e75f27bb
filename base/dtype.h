// Element types, their names, sizes, conversions between names, and DALI's promotion rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace galatea {

/// Element types. The order is that of DALIDataType's ordinals 0..11.
enum class DType : uint8_t { kU8, kU16, kU32, kU64, kI8, kI16, kI32, kI64, kF16, kF32, kF64, kBool };
inline constexpr int kNumDTypes = 12;

inline constexpr int kSizesOfDTypes[kNumDTypes] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 1};
/// Bytes of one element.
constexpr int size_of(DType type) { return kSizesOfDTypes[static_cast<int>(type)]; }
constexpr bool is_float(DType type) {
  return type == DType::kF16 || type == DType::kF32 || type == DType::kF64;
}
constexpr bool is_signed_int(DType type) { return type >= DType::kI8 && type <= DType::kI64; }
constexpr bool is_unsigned_int(DType type) { return type <= DType::kU64; }
constexpr bool is_integral(DType type) { return !is_float(type); }  ///< bool counts as integral
constexpr bool is_bool(DType type) { return type == DType::kBool; }

/// Short name as IR texts write it: "u8", "f32", "bool".
std::string_view short_name(DType type);
/// Name in the `types` module: "UINT8", "FLOAT", "BOOL".
std::string_view types_name(DType type);
/// numpy's name: "uint8", "float32", "bool".
std::string_view numpy_name(DType type);
std::optional<DType> dtype_from_short_name(std::string_view name);
std::optional<DType> dtype_from_types_name(std::string_view name);

/// Result type of an arithmetic operation (DALI's table: see docs; commutative).
DType promote(DType a, DType b);

/// Range of an integer type; bool is 0..1. Undefined for floats and for the upper end of u64 (use
/// max_unsigned).
int64_t min_int(DType type);
int64_t max_int(DType type);
uint64_t max_unsigned(DType type);

}  // namespace galatea
