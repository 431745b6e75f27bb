// A random window among boxes: see bbox_window.h.
#include "stdlib_ops/common/bbox_window.h"

namespace galatea::ops {

BboxWindow::BboxWindow(RecipeBuilder& b, int boxes, const native::BboxCropOptions& options,
                       std::vector<Expr> crop, std::vector<Expr> picture)
    : b_(b),
      boxes_(boxes),
      dims_(options.layout.dims),
      config_(to_json(options)),
      picture_(std::move(picture)) {
  std::vector<Expr> scalars = {to_i64(b.random_u32(i64(0))), to_i64(b.random_u32(i64(1)))};
  for (const auto& sides : {std::move(crop), picture_})
    scalars.insert(scalars.end(), sides.begin(), sides.end());
  std::vector<DType> results(static_cast<size_t>(2 * dims_), DType::kF32);
  results.insert(results.end(), {DType::kI64, DType::kI64});
  found_ = b.native_scalars(native::kBboxFindCrop, {boxes_}, std::move(scalars), config_, results);
  left_ = found_.back();
  found_.pop_back();
}

op::NativeOutput BboxWindow::keep(const char* function, std::vector<int> inputs, const char* makes) const {
  op::NativeOutput native;
  native.function = function;
  native.inputs = std::move(inputs);
  native.scalars = found_;
  native.scalars.insert(native.scalars.end(), picture_.begin(), picture_.end());
  native.config = config_;
  native.makes = makes;
  return native;
}

void BboxWindow::output_boxes(int k) {
  b_.output_native(k, keep(native::kBboxKeepBoxes, {boxes_}, "boxes"), {left_, i64(int64_t{2} * dims_)});
}

void BboxWindow::output_rows(int k, int rows) {
  std::vector<Expr> extents = b_.extents(rows);
  extents[0] = left_;
  b_.output_native(k, keep(native::kBboxKeepRows, {boxes_, rows}, "labels"), std::move(extents));
}

void BboxWindow::output_numbers(int k) {
  b_.output_native(k, keep(native::kBboxKeepRows, {boxes_}, "numbers"), {left_});
}

}  // namespace galatea::ops
