// Kernels like those that operators make, for tests of everything below stages.
//
// Goes out: each kernel with sets of parameters that make its extents ragged.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"

namespace galatea::testing {

struct SampleKernel {
  kernel::Kernel kernel;
  std::vector<std::vector<uint64_t>> params;
};

/// Resize of u8 pixels: integer horizontal band, f32 vertical band, normalise, store; `chw`: planar f32, else
/// u8 HWC. `mirror`: the output is read backwards where parameters say so.
SampleKernel resize_u8(bool chw, int channels);
/// The same, where the vertical band reads its rows backwards.
SampleKernel resize_read_backwards();
/// Rows by a table, one for each row of the output: what one row needs is known, what several need is not.
SampleKernel nearest_rows(int channels);
/// Windows of windows, each around a row that may lie far outside of what it is taken from.
SampleKernel shifted_windows();
/// The same resize over f32 pixels.
SampleKernel resize_f32(int channels);
/// An image on a larger canvas, or cut off by a smaller one.
SampleKernel padded();
/// An image with more rows, or fewer, of the same columns: of pixels or of planes. `edges_alike`: what is
/// read lies in one row, else in two.
SampleKernel rows_padded(bool planes, bool known_width, bool edges_alike);
/// Rows at quotients, on a larger canvas: divisions by zero, also where all that is seen is the fill.
SampleKernel divided_rows();
/// A Gaussian window, both ways, reflect_101 or clamp.
SampleKernel gaussian(kernel::Border border, int channels);
/// Crop with constant border, mirror and normalise into planar f32.
SampleKernel crop_mirror_normalize();
/// The largest of nine neighbours, rows and columns apart, so that one is computed where the other reads it; both hold
/// the edge. `framed`: what is made first is a frame wider than the image.
SampleKernel dilated(bool framed);
/// u8 arithmetic with an inlinable chain; every axis flat.
SampleKernel brightness();
/// A 3x3 colour matrix with interleaved loads and stores.
SampleKernel colour_matrix();
/// Two long steps on pixels, each of which a parameter turns on; the second needs what the first makes.
SampleKernel chosen_steps();
/// a[i] op b[i] where extents of 1 repeat.
SampleKernel broadcast();
/// Sums, minima and maxima over everything, per channel, per row.
/// With leaves, the body is f32.
SampleKernel reductions(DType type, DType accumulator, kernel::Combiner combiner, bool leaves = false);
/// Sums of rows that lie in groups of 16, of each group all rows side by side.
SampleKernel sums_of_groups(bool known_length);
/// Differences of neighbours, row-major, of a tensor of two axes of which so many lie densely.
SampleKernel samples_in_a_row(int dense_axes);
/// Pixels by the rank of their colour in the whole image, less its darkest: statistics between the reader of
/// an image and its writer.
SampleKernel equalized();
/// A horizontal band that is itself the output, as u8.
SampleKernel horizontal_only();
/// Pixels whose distance and direction only the call knows, into pixels and planes.
SampleKernel flip_view();
/// Nearest neighbours through computed coordinates: gathers.
SampleKernel warp();
/// Four neighbours through computed coordinates, blended; outside: a parameter, or the image's edge. Without
/// slants the image is shifted: whole rows are of one line of it.
SampleKernel warp_linear(DType type, bool filled, bool slants = true);
SampleKernel warp_to_planes();  ///< interpolated bytes, finished as planes of floats
/// Bytes that are interpolated and then looked up in a table of the kernel.
SampleKernel resize_curve(bool planes);
SampleKernel warp_curve();

/// Kernels that a GPU makes tile by tile, with calls whose tiles lie whole in a block's memory, are cut, or
/// do not fit in it.
std::vector<std::pair<std::string, SampleKernel>> tiled_kernels();
/// All of the others by name.
std::vector<std::pair<std::string, SampleKernel>> sample_kernels();

}  // namespace galatea::testing
