#include "base/dtype.h"

#include <algorithm>
#include <array>
#include <limits>

namespace galatea {
namespace {

struct Names {
  std::string_view short_name, types_name, numpy_name;
};
constexpr std::array<Names, kNumDTypes> kNames = {{{"u8", "UINT8", "uint8"},
                                                   {"u16", "UINT16", "uint16"},
                                                   {"u32", "UINT32", "uint32"},
                                                   {"u64", "UINT64", "uint64"},
                                                   {"i8", "INT8", "int8"},
                                                   {"i16", "INT16", "int16"},
                                                   {"i32", "INT32", "int32"},
                                                   {"i64", "INT64", "int64"},
                                                   {"f16", "FLOAT16", "float16"},
                                                   {"f32", "FLOAT", "float32"},
                                                   {"f64", "FLOAT64", "float64"},
                                                   {"bool", "BOOL", "bool"}}};

const Names& names(DType type) { return kNames[static_cast<size_t>(type)]; }

DType signed_of_size(int bytes) {
  switch (bytes) {
    case 1:
      return DType::kI8;
    case 2:
      return DType::kI16;
    case 4:
      return DType::kI32;
    default:
      return DType::kI64;
  }
}

}  // namespace

std::string_view short_name(DType type) { return names(type).short_name; }
std::string_view types_name(DType type) { return names(type).types_name; }
std::string_view numpy_name(DType type) { return names(type).numpy_name; }

std::optional<DType> dtype_from_short_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].short_name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_types_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].types_name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) || is_float(b)) {
    if (!is_float(a)) return b;
    if (!is_float(b)) return a;
    return size_of(a) > size_of(b) ? a : b;
  }
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  if (is_signed_int(a) == is_signed_int(b)) return size_of(a) > size_of(b) ? a : b;
  DType s = is_signed_int(a) ? a : b;
  DType u = is_signed_int(a) ? b : a;
  if (size_of(s) > size_of(u)) return s;
  return signed_of_size(std::min(8, 2 * size_of(u)));
}

int64_t min_int(DType type) {
  if (!is_signed_int(type)) return 0;
  return size_of(type) == 8 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (8 * size_of(type) - 1));
}

int64_t max_int(DType type) {
  if (is_bool(type)) return 1;
  if (size_of(type) == 8) return std::numeric_limits<int64_t>::max();
  return (int64_t{1} << (8 * size_of(type) - (is_signed_int(type) ? 1 : 0))) - 1;
}

uint64_t max_unsigned(DType type) {
  return type == DType::kU64 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(max_int(type));
}

}  // namespace galatea
