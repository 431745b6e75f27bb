// Reductions over all samples of a batch, `batch=True`: each sample reduces its own, then they meet.
//
// Comes in: a call of an operator with the arguments of a reduction. Goes out: the nodes that it is.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

ArgSpec batch_arg(std::string documentation);

/// Arguments of a call, some of them under other names or with other values.
class Parts {
 public:
  explicit Parts(const op::Expansion& expansion) : expansion_(expansion) {}
  /// Those of the call that are named.
  std::vector<ir::Arg> args(std::initializer_list<std::string_view> names) const;
  /// Each sample's reduction (an operator's name), combined over the batch.
  Result<ir::ValueId> total(std::string_view reduction, std::vector<ir::ValueId> inputs,
                            std::vector<ir::Arg> args, const char* op) const;
  /// How many elements of the first input fall together in one of the result.
  Result<ir::ValueId> count() const;
  /// The mean of the first input, of which `count` is the number.
  Result<ir::ValueId> mean(ir::ValueId count, bool keep_dims, DType dtype) const;
  ir::ValueId input() const { return expansion_.call.inputs[0]; }
  const op::Expansion& expansion() const { return expansion_; }

 private:
  const op::Expansion& expansion_;
};

/// reductions.sum, mean, min or max, where `batch` is set. `op`: how the batch combines.
Result<std::optional<ir::NodeId>> expand_reduction(const op::Expansion& expansion, const char* op,
                                                   bool is_mean);

}  // namespace galatea::ops
