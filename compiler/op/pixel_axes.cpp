// Axes of pixel functions: see pixel_axes.h.
#include "compiler/op/pixel_axes.h"

namespace galatea::op {

std::optional<std::vector<int>> pixel_axes(const ir::Type& type) {
  constexpr int kMaxRank = 3;
  if (type.ndim > kMaxRank || type.layout.contains('F') || type.layout.contains('D')) return std::nullopt;
  const int rows = type.layout.find('H'), columns = type.layout.find('W'), channels = type.layout.find('C');
  const int named = 2 + (channels >= 0 ? 1 : 0);
  std::vector<int> axes;
  if (rows >= 0 && columns >= 0 && type.ndim == named) {
    axes = {rows, columns};
    if (channels >= 0) axes.push_back(channels);
    return axes;
  }
  for (int d = 0; d < type.ndim; ++d) axes.push_back(d);
  return axes;
}

Layout pixel_layout(int rank, const ir::Type* like) {
  if (rank == 2) return Layout("HW");
  return Layout(like != nullptr && like->layout.str() == "CHW" ? "CHW" : "HWC");
}

}  // namespace galatea::op
