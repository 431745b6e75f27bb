// Projective maps: see perspective.h.
#include "stdlib_ops/common/perspective.h"

namespace galatea::ops {
namespace {

constexpr double kMostElement = 1e30;  // products with indices stay finite in f32

}  // namespace

namespace {

/// The same map of places that count from `by` further along both axes.
ProjectiveMap counted_from(const Expr& by, const ProjectiveMap& m) {
  ProjectiveMap out = m;
  for (size_t r = 0; r < 9; r += 3) out[r + 2] = m[r + 2] + by * (m[r] + m[r + 1]);
  for (size_t c = 0; c < 3; ++c) {
    const Expr shift = by * out[6 + c];
    out[c] = out[c] - shift;
    out[3 + c] = out[3 + c] - shift;
  }
  return out;
}

}  // namespace

ProjectiveMap of_centres(const ProjectiveMap& m) { return counted_from(f64(0.5), m); }
ProjectiveMap of_corners(const ProjectiveMap& m) { return counted_from(f64(-0.5), m); }

void output_places(RecipeBuilder& b, const ProjectiveMap& map) {
  b.output_scalars(0, std::vector<Expr>(map.begin(), map.end()));
}

ProjectiveMap adjugate(const ProjectiveMap& m) {
  const auto minor = [&](size_t a, size_t b, size_t c, size_t d) { return m[a] * m[b] - m[c] * m[d]; };
  return {minor(4, 8, 5, 7), minor(2, 7, 1, 8), minor(1, 5, 2, 4), minor(5, 6, 3, 8), minor(0, 8, 2, 6),
          minor(2, 3, 0, 5), minor(3, 7, 4, 6), minor(1, 6, 0, 7), minor(0, 4, 1, 3)};
}

Expr determinant(const ProjectiveMap& m) {
  const ProjectiveMap a = adjugate(m);
  return m[0] * a[0] + m[1] * a[3] + m[2] * a[6];
}

void output_perspective(RecipeBuilder& b, const ProjectiveMap& of_centres, const Expr& rows,
                        const Expr& columns, const Lookup& lookup) {
  // Which pixel is nearest decides about labels: in f64, as OpenCV has it.
  const DType type = lookup.filter == Filter::kNearest ? DType::kF64 : DType::kF32;
  std::array<Expr, 9> m;
  for (size_t k = 0; k < 9; ++k) {
    b.check(absolute(of_centres[k]) <= f64(kMostElement), "the map of the warp has the element {}",
            {of_centres[k]}, "matrices must be finite");
    m[k] = kernel::convert(of_centres[k], type);
  }
  const auto h = static_cast<size_t>(lookup.at.h), w = static_cast<size_t>(lookup.at.w);
  Axes extents = b.extents(0);
  if (lookup.outside != Outside::kFill)
    b.check(((extents[h] > i64(0)) & (extents[w] > i64(0))) | equal(rows, i64(0)) | equal(columns, i64(0)),
            "an image of {} x {} has no edge to repeat", {extents[h], extents[w]}, "take a fill_value");
  extents[h] = rows;
  extents[w] = columns;
  b.output_stage(0, b.map("perspective", b.output_type(0).dtype, extents, [&](const Axes& at) {
    const Expr x = kernel::convert(kernel::convert(at[w], DType::kI32), type);
    const Expr y = kernel::convert(kernel::convert(at[h], DType::kI32), type);
    const auto row = [&](size_t r) { return kernel::fma(m[r], x, kernel::fma(m[r + 1], y, m[r + 2])); };
    const Expr scale = row(6);
    return lookup(at, row(0) / scale, row(3) / scale);
  }));
}

}  // namespace galatea::ops
