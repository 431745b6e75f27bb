// What computing a stage again costs, against keeping it.
//
// Comes in: a kernel. Goes out: estimates in one unit, the work of one element's share of a vector operation,
// and words for explain. Only forms that are equal bit for bit are ever compared.
//
// The model is deliberately small. An operation costs 1, a load that hits the nearest cache too; what is slow
// in vectors (divisions, roots, draws) costs more. A byte that goes through the cache costs
// kOperationsPerByte; what is kept is stored once and fetched once. Extents that only the run knows count as
// equal to each other, or as kUsualExtent. The one constant was reasoned out; `./dev bench cost-model`
// times every legal placement of the examples' kernels.
#pragma once

#include <string>

#include "compiler/kernel/kernel.h"

namespace galatea::kernel {

/// Work of one element: shared nodes count once.
double operations(const Expr& e);
/// Work of one element of a stage: a band's per tap, times its taps.
double operations(const Stage& stage);
/// How many elements a box has, relative to another one: extents that are equal cancel.
double relative_volume(const std::vector<Expr>& box, const std::vector<Expr>& other);

/// Computing a stage where it is read, instead of keeping it.
struct Recomputation {
  double evaluations = 0;  ///< of each element
  double operations = 0;   ///< of one evaluation
  double bytes = 0;        ///< moved for each element if it is kept
  double scattered = 0;    ///< elements of a row that its readers would fetch one by one, more than one each
  bool pays() const;
  /// "computed 9 times: 72 operations more, against 2 bytes moved and 9 loads"; "… and 3 elements fetched one by one".
  std::string words() const;
};
Recomputation recomputation(const Kernel& kernel, int stage);

}  // namespace galatea::kernel
