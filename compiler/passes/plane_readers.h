// What a node's definition makes of the elements of its first input along one axis, the channels.
//
// Comes in: a resolved lowering (values::ValueTable). Goes out: whether it keeps the channels apart, or sees
// nothing but one sum of them (decode_one_plane.h says what that means).
#pragma once

#include <span>

#include "compiler/op/recipe.h"

namespace galatea::passes {

/// Channels of the input and of the output, as dimensions of their tensors.
struct ChannelDims {
  int input = -1, output = -1;
};

/// Every element of the only output is a blend of elements of its own channel, of which there are so many,
/// and no scalar comes from the elements.
bool keeps_channels_apart(const op::Lowering& lowering, ir::ValueId input, const ChannelDims& dims,
                          size_t channels);
/// A node with several outputs, views all of them, passes its inputs on: the output that shows input `place`, whose
/// channels are dimension `channel` of both, with so many of them; -1: none, or more than one.
int passed_on(const op::Lowering& lowering, int place, int channel, size_t channels);
/// Every element of the only output depends on one place, by the sum of its channels with these weights.
bool sees_only_plane(const op::Lowering& lowering, ir::ValueId input, const ChannelDims& dims,
                     std::span<const double> weights);

}  // namespace galatea::passes
