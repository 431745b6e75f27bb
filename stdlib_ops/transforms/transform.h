// Affine transforms of points as small matrices: what the operators of fn.transforms share.
//
// Comes in: the new transform of an operator, as scalars. Goes out: output 0, a FLOAT matrix [n, n + 1] whose
// rows give x, y, … of A p + t. An input holds a transform that comes first, or last with reverse_order=True.
// Everything is computed in f64 and rounded once.
#pragma once

#include "stdlib_ops/common/matrix.h"

namespace galatea::ops {

inline constexpr int kMaxTransformRank = 6;

/// Points of n coordinates; at(r, n) is the offset.
struct Transform {
  int n = 0;
  std::vector<Expr> elements;  ///< f64, row by row

  static Transform identity(int n);
  const Expr& at(int row, int column) const { return elements[static_cast<size_t>(row * (n + 1) + column)]; }
  Expr& at(int row, int column) { return elements[static_cast<size_t>(row * (n + 1) + column)]; }
};

/// The transform that applies `first`, then `second`.
Transform then(const Transform& first, const Transform& second);
/// The linear part about the argument `center`, where it is given.
void apply_center(RecipeBuilder& b, Transform& t);

/// `name`, `type`: the optional input; reverse_order.
Port transform_input();
ArgSpec reverse_order_arg();
ArgSpec center_arg();

/// How many coordinates the arguments speak of: the length of the first list among `names` that has a known
/// length other than 1, or that of the input; -1 if nothing says.
int known_rank(const TypeContext& ctx, std::initializer_list<const char*> names);
/// The output's type; complains about an input or a `center` that is not of rank n.
Types transform_types(const TypeContext& ctx, int n);
/// Output 0: `t` joined with the input, if there is one.
void output_transform(RecipeBuilder& b, const Transform& t);
/// An input's matrix, in f64.
Transform input_transform(RecipeBuilder& b, int input, int n);
/// The rank of the output.
int rank_of(const RecipeBuilder& b);
/// A list argument as n numbers in f64.
std::vector<Expr> coordinates(RecipeBuilder& b, std::string_view name, int n);

/// What all of them say: inputs, devices, and the arguments given before reverse_order.
Operator make_transform(std::string name, std::vector<ArgSpec> args);
/// A pipeline body that warps photographs with `matrix`.
std::string transform_example(const std::string& matrix);

}  // namespace galatea::ops
