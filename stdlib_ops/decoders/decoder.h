// What the image decoders share: arguments, the decoded type, and the extents read from the header.
//
// Comes in: encoded bytes. Goes out: extents as scalars of the sample program; a native output that fills a
// window [y0, y1) x [x0, x1) of the oriented image.
#pragma once

#include "stdlib_ops/common/window.h"

namespace galatea::ops {

std::vector<ArgSpec> decoder_args();
/// Which picture of a file; of decoders and of what peeks.
ArgSpec page_arg();
/// Of every decoder: libjpeg-turbo is what the libraries of the presets use, too.
std::vector<op::Preset> decoder_presets();
Port encoded_input();
/// The type of a decoded image; complains about element types that decoding cannot give.
Result<ir::Type> decoded_type(const TypeContext& ctx);
/// Channels of an image type; -1 where the file decides.
int64_t channels_of(int64_t image_type);

/// Extents of the oriented image, from its header.
struct EncodedExtents {
  Expr h, w, c;
  Expr least_eighths;  ///< what the file can be scaled to: 1, or 8 where it only comes whole
  Expr is_low_pass;    ///< 1: pixels of a scaled image lie where every n-th of the whole one does, not amid n
};
EncodedExtents peek(RecipeBuilder& b, std::string_view type_argument);
/// Static configuration of the decoding functions, JSON.
std::string decoder_config(const RecipeBuilder& b);
/// A JPEG and a film hold their luma: it can be had in place of RGB or BGR, which the argument asks for.
std::optional<op::PlaneOffer> luma_offer(const RecipeBuilder& b, const char* type_argument);
/// Output 0 is the whole image, or what its readers' windows leave of it.
void output_decoded(RecipeBuilder& b, const EncodedExtents& image);
/// Output 0 is the window of the image.
void output_decoded_window(RecipeBuilder& b, const EncodedExtents& image, const AxisRange& rows,
                           const AxisRange& columns);

}  // namespace galatea::ops
