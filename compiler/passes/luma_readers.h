// What a node's definition makes of the channels of its first input.
//
// Comes in: a resolved lowering (values::ValueTable). Goes out: whether it keeps the channels apart, or sees
// nothing but their luma (decode_luma_only.h says what that means).
#pragma once

#include "compiler/op/recipe.h"

namespace galatea::passes {

/// Channels of the input and of the output, as dimensions of their tensors.
struct ChannelDims {
  int input = -1, output = -1;
};

/// Every element of the only output is a blend of elements of its own channel, and no scalar comes from the
/// pixels.
bool keeps_channels_apart(const op::Lowering& lowering, ir::ValueId image, const ChannelDims& dims);
/// Every element of the only output depends on one pixel, by `red` first or last: 0.299, 0.587, 0.114.
bool sees_only_luma(const op::Lowering& lowering, ir::ValueId image, const ChannelDims& dims, bool red_first);

}  // namespace galatea::passes
