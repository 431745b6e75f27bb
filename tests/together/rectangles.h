// Two rectangles on a picture and its mask, which go through steps of `galatea.together`: what each test of them
// draws, feeds and compares.
//
// Comes in: steps, as lines of a pipeline in which `t` is the bundle. Goes out: outputs, or failures of the test
// where boxes are not around what the mask shows.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/pixel/everywhere.h"

namespace galatea::testing {

template <typename T>
Array array_of(DType dtype, std::vector<int64_t> extents, const std::vector<T>& values) {
  Array out{dtype, std::move(extents), {}, {}};
  out.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

Array rows(int64_t columns, const std::vector<float>& values);

struct Box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};
std::vector<Box> boxes_of(const Array& array);

/// Of a picture. There is a margin around the rectangles, and between them.
inline constexpr int64_t kHeight = 48, kWidth = 64;
/// Two boxes, xyxy. Those of later frames have moved.
std::vector<float> rectangles_of(int frame);
/// Adds a picture on which pixels of the rectangles are 1 and 2.
void draw(const std::vector<float>& rectangles, std::vector<uint8_t>& pixels);
Array drawn_mask();
/// The box around the pixels of this value; without area where there are none.
Box box_around(const Array& mask, int value);

/// Each line indented, as the body of a pipeline.
std::string indented(const std::string& steps);
/// A pipeline with the inputs image, mask and boxes; its outputs are mask, boxes, labels (1 and 2) and image.
std::string rectangles_text(const std::string& steps, int samples, int seed, bool sequences);

/// Steps of every operator that moves places, after which rectangles are still rectangles, or are not: corners
/// end in less than a pixel then, which nearest neighbours may leave out.
const std::vector<std::string>& sharp_steps();
const std::vector<std::string>& turned_steps();
const std::vector<std::string>& policies();

using Runner = Outputs (*)(const std::string&, const Feed&);
/// The box holds what the mask shows of its rectangle; `tight`: and no more, within a pixel.
void expect_box_around(const Box& box, const Box& shown, const Array& mask, bool tight,
                       const std::string& steps);
/// The same of both rectangles, where some of them are left.
void expect_boxes_around_masks(const std::string& steps, int samples, int seed, bool tight,
                               Runner run = run_stages);

}  // namespace galatea::testing
