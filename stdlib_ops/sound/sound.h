// What operators on sound share.
//
// Comes in: a node. Goes out: words of checks, windows, samples in a row, and pipelines of their examples.
#pragma once

#include <string>
#include <vector>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// Of `power`: true for 2, an error for what is neither 1 nor 2.
Result<bool> is_squared(const TypeContext& ctx);
/// The most points of a transform.
inline constexpr int64_t kMostPoints = int64_t{1} << 18;
/// A vector of the program.
int constant_vector(RecipeBuilder& b, const std::string& name, const std::vector<double>& values,
                    DType type = DType::kF32);
/// Input 0 as one row: its samples, counted row-major over all axes.
class Samples {
 public:
  explicit Samples(RecipeBuilder& b);
  const Expr& count() const { return count_; }
  /// The number of the sample at `at`.
  Expr number(const Axes& at) const;
  Expr load(const Expr& number, Border border) const;

 private:
  RecipeBuilder& b_;
  Axes extents_;
  Expr count_;
  StageRef row_;  ///< of several axes, a map over their samples
};

/// A pipeline body that is fed `sound`, FLOAT [t], and returns `expression`.
std::string sound_example(const std::string& expression);

}  // namespace galatea::ops
