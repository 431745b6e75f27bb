#include "stdlib_ops/native/convert_elements.h"

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/scalar_op.h"

namespace galatea::native {
namespace {

/// As ScalarOp::kSaturate has it; tests hold the two together.
template <typename To, typename From>
To converted(From value) {
  if constexpr (std::same_as<To, bool>) {
    if constexpr (std::floating_point<From>)
      return !(std::abs(value) < From(0.5));
    else
      return value != 0;
  } else if constexpr (std::floating_point<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::floating_point<From>) {
    const double rounded = std::nearbyint(static_cast<double>(value));
    if (std::isnan(rounded)) return 0;
    // The greatest number itself may be none of a double: what is beyond it begins at the next power of two.
    constexpr double kBeyond =
        2.0 * static_cast<double>(uint64_t{1} << (std::numeric_limits<To>::digits - 1));
    if (rounded >= kBeyond) return std::numeric_limits<To>::max();
    if (rounded <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(rounded);
  } else {
    const auto whole = static_cast<std::conditional_t<std::same_as<From, bool>, uint8_t, From>>(value);
    if (std::cmp_less(whole, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (std::cmp_greater(whole, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(whole);
  }
}

template <typename To, typename From>
void convert_all(const uint8_t* from, uint8_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    if constexpr (std::same_as<From, bool>)
      value = from[i] != 0;
    else
      std::memcpy(&value, from + static_cast<size_t>(i) * sizeof value, sizeof value);
    const To out = converted<To>(value);
    std::memcpy(to + static_cast<size_t>(i) * sizeof out, &out, sizeof out);
  }
}

/// Calls `with` for a value of the C++ type that the elements have; false of 16-bit floats, which C++ lacks.
template <typename With>
bool of_type(DType type, const With& with) {
  switch (type) {
    case DType::kU8:
      with(uint8_t{});
      return true;
    case DType::kU16:
      with(uint16_t{});
      return true;
    case DType::kU32:
      with(uint32_t{});
      return true;
    case DType::kU64:
      with(uint64_t{});
      return true;
    case DType::kI8:
      with(int8_t{});
      return true;
    case DType::kI16:
      with(int16_t{});
      return true;
    case DType::kI32:
      with(int32_t{});
      return true;
    case DType::kI64:
      with(int64_t{});
      return true;
    case DType::kF32:
      with(float{});
      return true;
    case DType::kF64:
      with(double{});
      return true;
    case DType::kBool:
      with(bool{});
      return true;
    case DType::kF16:
      return false;
  }
  return false;
}

void convert_halves(DType from_type, const uint8_t* from, DType to_type, uint8_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Cell cell = load_cell(from_type, from + i * size_of(from_type));
    uint32_t flags = 0;
    if (is_bool(to_type))
      cell = cell_from_int(DType::kBool, std::abs(cell_to_double(from_type, cell)) < 0.5 ? 0 : 1);
    else
      cell = evaluate(ScalarOp::kSaturate, to_type, from_type, &cell, &flags);
    store_cell(to_type, to + i * size_of(to_type), cell);
  }
}

}  // namespace

void convert_elements(DType from_type, const uint8_t* from, DType to_type, uint8_t* to, int64_t count) {
  if (from_type == to_type && !is_bool(to_type)) {
    if (count > 0) std::memcpy(to, from, static_cast<size_t>(count) * static_cast<size_t>(size_of(to_type)));
    return;
  }
  const bool known = of_type(from_type, [&](auto source) {
    of_type(to_type, [&](auto target) { convert_all<decltype(target), decltype(source)>(from, to, count); });
  });
  if (!known || to_type == DType::kF16) convert_halves(from_type, from, to_type, to, count);
}

}  // namespace galatea::native
