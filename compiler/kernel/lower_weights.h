// Linear interpolations that are one of their ends, because their weight is zero.
#pragma once

#include <vector>

#include "compiler/kernel/loops.h"

namespace galatea::kernel::lowering {

/// The weights of interpolations fma(w, b - a, a) in what a block stores, each once, in the order in which
/// they are met; only those of which a weight of zero gives a, bit for bit: a and b are made of integers, so
/// that neither is an infinity, NaN or -0.
std::vector<Expr> interpolation_weights(const Block& stores);

/// The expression where these weights are zero.
Expr without_weights(const Expr& e, const std::vector<Expr>& zeros);

}  // namespace galatea::kernel::lowering
