// Boxes in tensors: see boxes.h.
#include "stdlib_ops/native/boxes.h"

#include <algorithm>
#include <cstring>

namespace galatea::native {

std::optional<BoxLayout> BoxLayout::parse(std::string_view text) {
  if (text.size() != 4 && text.size() != 6) return std::nullopt;
  BoxLayout layout;
  layout.dims = static_cast<int>(text.size() / 2);
  for (size_t d = 0; d < static_cast<size_t>(layout.dims); ++d) {
    const auto once = [&](char letter) { return std::count(text.begin(), text.end(), letter) == 1; };
    const char start = "xyz"[d], end = "XYZ"[d], extent = "WHD"[d];
    if (!once(start) || once(end) == once(extent)) return std::nullopt;
    layout.is_extent[d] = once(extent);
    layout.start[d] = static_cast<int>(text.find(start));
    layout.other[d] = static_cast<int>(text.find(once(extent) ? extent : end));
  }
  return layout;
}

std::string BoxLayout::text() const {
  std::string letters(static_cast<size_t>(2 * dims), ' ');
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) {
    letters[static_cast<size_t>(start[d])] = "xyz"[d];
    letters[static_cast<size_t>(other[d])] = is_extent[d] ? "WHD"[d] : "XYZ"[d];
  }
  return letters;
}

float number_at(const runtime::Tensor& boxes, int64_t row, int column) {
  float value = 0;
  const int64_t at = row * boxes.strides[0] + column * boxes.strides[1];
  std::memcpy(&value, boxes.data + at * static_cast<int64_t>(sizeof(value)), sizeof(value));
  return value;
}

Box box_at(const runtime::Tensor& boxes, int64_t row, const BoxLayout& layout) {
  Box box;
  for (size_t d = 0; d < static_cast<size_t>(layout.dims); ++d) {
    const float start = number_at(boxes, row, layout.start[d]),
                other = number_at(boxes, row, layout.other[d]);
    box.lo[d] = static_cast<double>(start);
    box.hi[d] = static_cast<double>(layout.is_extent[d] ? start + other : other);
  }
  return box;
}

void copy_rows(const runtime::Tensor& from, std::span<const int64_t> rows, int32_t* out) {
  const int64_t columns = from.ndim == 2 ? from.extents[1] : 1;
  for (const int64_t row : rows)
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t at = row * from.strides[0] + (from.ndim == 2 ? column * from.strides[1] : 0);
      std::memcpy(out++, from.data + at * static_cast<int64_t>(sizeof(int32_t)), sizeof(int32_t));
    }
}

}  // namespace galatea::native
