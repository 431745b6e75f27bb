// Boxes in tensors: how their numbers stand in a row, reading them, and copying rows of what belongs to them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/native.h"

namespace galatea::native {

inline constexpr int kMostBoxAxes = 3;

/// Along x, y, z.
using BoxAxes = std::array<double, kMostBoxAxes>;
struct Box {
  BoxAxes lo{}, hi{};
};

/// A layout of boxes: of each axis, where the start stands, and where the end or the extent.
struct BoxLayout {
  int dims = 2;
  std::array<int, kMostBoxAxes> start{}, other{};
  std::array<bool, kMostBoxAxes> is_extent{};
  /// "xyXY", "xyWH", "yxHW", "xyzXYZ", …: nothing if a letter is unknown, missing or there twice.
  static std::optional<BoxLayout> parse(std::string_view text);
  std::string text() const;
};

/// A number of an f32 tensor with two axes.
float number_at(const runtime::Tensor& boxes, int64_t row, int column);
Box box_at(const runtime::Tensor& boxes, int64_t row, const BoxLayout& layout);
/// Copies rows of an i32 tensor with one axis or two, one behind the other.
void copy_rows(const runtime::Tensor& from, std::span<const int64_t> rows, int32_t* out);

}  // namespace galatea::native
