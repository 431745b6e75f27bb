// COCO: images with objects in them, as cocodataset.org's annotation files say (its page "Data format").
//
// Comes in: an annotation file, the folder of the images. Goes out: a source with the image's bytes, boxes,
// labels, and what else is asked for: polygons with their vertices, masks of pixels, ids.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/native.h"

namespace galatea::native {

/// What an annotation file says, objects in the order of the file.
struct CocoFile {
  static constexpr int64_t kNoId = std::numeric_limits<int64_t>::min();
  struct Image {
    int64_t id = kNoId, width = 0, height = 0;
    std::string file_name;
  };
  /// Run lengths of pixels down the columns, background first.
  struct Runs {
    int64_t height = 0, width = 0;
    std::vector<uint32_t> counts;
  };
  struct Object {
    int64_t image_id = kNoId, category_id = kNoId;
    bool is_crowd = false;
    std::array<float, 4> box{};                  ///< x, y, width, height in pixels
    size_t first_polygon = 0, num_polygons = 0;  ///< of `polygons`
    int64_t runs = -1;                           ///< of `runs`; -1: none
  };
  struct Polygon {
    size_t begin = 0, end = 0;  ///< of `coordinates`: x, y, x, y, …
  };
  std::vector<Image> images;
  std::vector<int64_t> categories;  ///< ids
  std::vector<Object> objects;
  std::vector<Polygon> polygons;
  std::vector<double> coordinates;
  std::vector<Runs> runs;
};

/// Reads the text of an annotation file; `name` is for messages. Outlines only where they are wanted.
Result<CocoFile> parse_coco(std::string_view text, const std::string& name, bool outlines);
/// The code of COCO's masks (cocoapi, maskApi.c): five bits a character from '0' on, the sixth says that more
/// follow, and from the fourth number on a number is the difference from the one before the last.
bool decode_runs(std::string_view text, std::vector<uint32_t>& counts);
/// Sets `value` in the pixels of a polygon (x, y, …), in rows of `width`: those that COCO's mask of it has.
/// Its outline is drawn five times as large, and crossings of pixel centres are kept.
void fill_polygon(std::span<const double> polygon, int64_t height, int64_t width, int32_t value,
                  int32_t* pixels);

Result<std::unique_ptr<runtime::SampleSource>> open_coco(const std::string& config);

}  // namespace galatea::native
