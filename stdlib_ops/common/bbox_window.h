// A random window among boxes, and what it leaves of them: what random_bbox_crop and ssd_random_crop share.
//
// Comes in: the numbers of the input that holds boxes, how the search goes. Goes out: the window as scalars;
// the boxes that are left and rows of what belongs to them, as outputs. The search is
// stdlib_ops/native/bbox_crop.h.
#pragma once

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/bbox_crop.h"

namespace galatea::ops {

class BboxWindow {
 public:
  /// Looks for a window of the boxes in input `boxes`. Uses elements 0 and 1 of the node's random stream.
  /// `crop` and `picture`: the extents of a fixed window and of the picture, along x, y, z; 1 where nobody
  /// says them.
  BboxWindow(RecipeBuilder& b, int boxes, const native::BboxCropOptions& options, std::vector<Expr> crop,
             std::vector<Expr> picture);

  /// f32, x first; of the picture, or in pixels where the window's extents are fixed.
  std::vector<Expr> anchor() const { return {found_.begin(), found_.begin() + dims_}; }
  std::vector<Expr> shape() const { return {found_.begin() + dims_, found_.begin() + 2 * dims_}; }

  /// Output k: the boxes that are left, as the window shows them.
  void output_boxes(int k);
  /// Output k: the rows of an input, one for each box, that belong to these.
  void output_rows(int k, int rows);
  /// Output k: the numbers of these.
  void output_numbers(int k);

 private:
  op::NativeOutput keep(const char* function, std::vector<int> inputs, const char* makes) const;

  RecipeBuilder& b_;
  int boxes_, dims_;
  std::string config_;
  std::vector<Expr> found_;  ///< anchor, shape, whether it is the whole picture
  std::vector<Expr> picture_;
  Expr left_;  ///< how many boxes are
};

}  // namespace galatea::ops
