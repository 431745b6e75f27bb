// The search for a window that leaves enough of a picture's boxes, and what it leaves of them: the native
// functions of fn.random_bbox_crop.
//
// bbox.find_crop: input 0 = boxes (f32 [n, 2d]), scalars: 64 random bits as two i64 of 32 bits; then the
// window's extents and the picture's (i64, d each; 1 where they are not given). Results: anchor and extents (f32, d each), whether it
// is the whole picture, how many boxes are left (i64).
// bbox.keep_boxes, bbox.keep_rows: inputs 0 = boxes, of keep_rows 1 = rows; scalars: all but the last result
// of bbox.find_crop, then the picture's extents. Output: the boxes that are left, seen
// from the window; the rows, or numbers, of these.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/native.h"
#include "stdlib_ops/native/boxes.h"

namespace galatea::native {

inline constexpr const char* kBboxFindCrop = "bbox.find_crop";
inline constexpr const char* kBboxKeepBoxes = "bbox.keep_boxes";
inline constexpr const char* kBboxKeepRows = "bbox.keep_rows";
/// Where neither total_num_attempts nor chance ends a search, this many windows do, with an error.
inline constexpr int64_t kMostWindows = 100'000;

struct BboxCropOptions {
  BoxLayout layout;
  std::vector<double> thresholds;
  bool overlap = false;  ///< intersection / box, not intersection / union
  bool all_above = true;
  bool allow_no_crop = true;
  int64_t attempts = 1;
  int64_t total_attempts = -1;  ///< less than 0: no limit but kMostWindows
  /// Ranges of x / y, or of x / y, x / z and y / z, one for all or one each.
  std::vector<std::array<double, 2>> ratios = {{1, 1}};
  std::array<double, 2> scaling = {1, 1};
  double prune = -1;       ///< the least visible share of a box that is left; less than 0: its centre decides
  bool fixed = false;      ///< the window's extents are given, in pixels
  bool needs_box = false;  ///< of a picture without boxes no window will do, only the whole
};
/// The configuration of the native functions.
std::string to_json(const BboxCropOptions& options);
/// The search of SSD (Liu et al. 2016, section 2.2), as DALI's ssd_random_crop has it.
BboxCropOptions ssd_crop_options(int64_t attempts);

struct BboxCrop {
  std::array<float, kMostBoxAxes> anchor{}, shape{};  ///< in pixels if fixed, else of the picture
  bool whole = false;
  int64_t left = 0;
};

/// Deterministic in `seed`. `crop` is for fixed windows; `picture` is 1 where nobody says its extents. Nothing: no window was found, and no
/// limit said to take the best.
std::optional<BboxCrop> find_bbox_crop(std::span<const Box> boxes, const BboxCropOptions& options,
                                       uint64_t seed, const BoxAxes& crop, const BoxAxes& picture,
                                       const std::function<bool()>& cancelled = {});
/// The window relative to the picture.
Box relative_window(const BboxCrop& crop, const BboxCropOptions& options, const BoxAxes& picture);
bool is_left(const Box& box, const Box& window, const BboxCropOptions& options);

std::vector<runtime::NativeFunction> bbox_crop_functions();

}  // namespace galatea::native
