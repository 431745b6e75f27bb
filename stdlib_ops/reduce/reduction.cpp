#include "stdlib_ops/reduce/reduction.h"

#include <algorithm>

namespace galatea::ops {
namespace {

bool is_reduced(const std::vector<int>& axes, int d) {
  return std::find(axes.begin(), axes.end(), d) != axes.end();
}

}  // namespace

std::vector<ArgSpec> reduction_args() {
  return {{.name = "axes",
           .kind = ArgKind::kIntList,
           .documentation = "The axes to reduce; all if not given; negative ones count from the end."},
          {.name = "axis_names",
           .kind = ArgKind::kLayout,
           .documentation = "The axes by letters of the layout; excludes axes."},
          {.name = "keep_dims",
           .kind = ArgKind::kBool,
           .default_value = false,
           .documentation = "Whether reduced axes stay, with extent 1."}};
}

Port reduction_input() {
  return {.name = "data",
          .documentation = "any tensor",
          .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16, DType::kI32,
                     DType::kI64, DType::kF32}};
}

ir::Type reduced_type(const ir::Type& in, const std::vector<int>& axes, bool keep_dims, DType dtype) {
  ir::Type out = with_dtype(in, dtype);
  out.extents.clear();
  std::string letters;
  for (int d = 0; d < in.ndim; ++d) {
    const bool reduced = is_reduced(axes, d);
    if (reduced && !keep_dims) continue;
    out.extents.push_back(reduced ? 1 : in.extents[static_cast<size_t>(d)]);
    if (!in.layout.empty()) letters += in.layout[d];
  }
  out.ndim = static_cast<int>(out.extents.size());
  out.layout = Layout(letters);
  return out;
}

Axes ReductionBox::index(const Axes& at, const Axes& inner) const {
  Axes index;
  size_t next = 0;
  for (int axis : place) index.push_back(axis < 0 ? inner[next++] : at[static_cast<size_t>(axis)]);
  return index;
}

ReductionBox reduction_box(const RecipeBuilder& b, const std::vector<int>& axes, bool keep_dims) {
  ReductionBox box;
  box.count = i64(1);
  for (int d = 0; d < b.input_type(0).ndim; ++d) {
    const bool reduced = is_reduced(axes, d);
    if (reduced) {
      box.over.push_back(b.extent(0, d));
      box.count = box.count * b.extent(0, d);
    }
    box.place.push_back(reduced ? -1 : static_cast<int>(box.extents.size()));
    if (!reduced || keep_dims) box.extents.push_back(reduced ? i64(1) : b.extent(0, d));
  }
  // A single element is reduced where there is nothing to reduce over.
  if (box.over.empty()) box.over.push_back(i64(1));
  return box;
}

Expr mean_of(const Expr& sum, const Expr& count, DType out) {
  return kernel::saturate(to_f32(to_f64(sum) / to_f64(count)), out);
}

DType sum_type(DType in) {
  return is_float(in) ? DType::kF32 : is_signed_int(in) ? DType::kI64 : DType::kU64;
}

DType sum_accumulator(DType in) { return is_float(in) ? DType::kF64 : sum_type(in); }

}  // namespace galatea::ops
