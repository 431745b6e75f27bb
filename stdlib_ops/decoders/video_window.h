// What decoders of films share: the type of a clip, the arguments that say how it looks, and what is offered.
#pragma once

#include "base/json.h"
#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

ArgSpec fill_value_arg();
/// One number, or three, of bytes.
Status check_frame_fill(const TypeContext& ctx);

/// image_type, color_space, adjust_orientation.
std::vector<ArgSpec> look_args();

/// FHWC; -1: not known.
ir::Type clip_type(int64_t frames, int64_t image_type);
/// Of image_type, color_space, adjust_orientation and fill_value, those that the operator has.
nlohmann::json look_config(const RecipeBuilder& b);
/// Output 0 is what readers want of the clip: any window of its frames, rows and columns is decoded alone.
void output_clip(RecipeBuilder& b, const char* function, std::vector<int> inputs, std::vector<Expr> scalars,
                 const nlohmann::json& config, std::array<Expr, 3> extents);

}  // namespace galatea::ops
