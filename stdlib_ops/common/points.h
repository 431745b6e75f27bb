// Operators on points: tensors whose innermost axis holds the coordinates of one.
//
// Comes in: what an output coordinate is, by its number and the coordinates of the point. Goes out: output 0;
// few known elements as scalars, else a map stage.
#pragma once

#include <functional>

#include "stdlib_ops/common/pointwise.h"

namespace galatea::ops {

/// A coordinate of the input's point (i64, below its number of coordinates), in the input's type.
using Coordinate = std::function<Expr(const Expr& number)>;

/// Output 0: the extents of input 0 but for the innermost, which is `coordinates`. `value` gives coordinate
/// number k of a point, in the output's type.
void output_points(RecipeBuilder& b, const std::string& name, const Expr& coordinates,
                   const std::function<Expr(const Expr& k, const Coordinate& of)>& value);

/// Points or boxes as an input: any layout, frame by frame.
Port points_input(std::string name, std::string documentation, std::vector<DType> dtypes);
/// How many coordinates the points of the input have; -1 if only the run tells.
int64_t coordinates_of(const ir::Type& points);

/// Of boxes in a plane; `whole` says of what they are fractions.
ArgSpec bbox_layout_arg();
ArgSpec bbox_normalized_arg(const std::string& whole);
/// How many numbers a box has.
inline constexpr int64_t kBoxNumbers = 4;
/// Input 0 must hold boxes: rows of four numbers, or one box behind the other in one axis.
Status check_boxes(const TypeContext& ctx);
/// The same of a sample. Gives the innermost extent.
Expr check_boxes(RecipeBuilder& b);

}  // namespace galatea::ops
