// The maker of random kernels, a step at a time: each add_… method appends one legal stage.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "tests/kernel/fuzz_kernel.h"

namespace galatea::testing {

using namespace galatea::kernel;  // NOLINT: the maker is written in the builders' words

class KernelMaker {
 public:
  explicit KernelMaker(uint64_t seed) : random_(seed) { case_.seed = seed; }

  FuzzCase run();

 private:
  /// Something of three axes that later stages can read.
  struct Image {
    LoadTarget target;
    DType type = DType::kU8;
    std::vector<Expr> extents;
  };
  FuzzCase finish() { return std::move(case_); }
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int one_in) { return pick(1, one_in) == 1; }
  template <typename T>
  T choose(std::initializer_list<T> options) {
    return options.begin()[static_cast<size_t>(pick(0, static_cast<int>(options.size()) - 1))];
  }
  int random_extent() { return chance(6) ? 1 : chance(6) ? pick(30, 70) : pick(2, 21); }
  double random_number() {
    return chance(8) ? choose({0.0, 1.0, -1.0, 0.5, 255.0})
                     : std::normal_distribution<double>(0, 40)(random_);
  }
  DType random_type() {
    return choose({DType::kU8, DType::kU8, DType::kU8, DType::kF32, DType::kF32, DType::kI16, DType::kI32,
                   DType::kU16, DType::kF16});
  }
  Expr add_param(DType type, uint64_t bits) {
    case_.params.push_back(bits);
    case_.kernel.params.push_back({"", type});
    return param(static_cast<int>(case_.params.size()) - 1, type);
  }
  Expr float_param() { return add_param(DType::kF32, cell_from_double(DType::kF32, random_number()).bits); }
  Expr int_param(int low, int high) {
    return add_param(DType::kI64, cell_from_int(DType::kI64, pick(low, high)).bits);
  }

  void add_input();
  Image add_stage(Stage stage);
  void add_output(const Image& image);
  /// Mostly the newest image.
  const Image& some_image();
  Expr read(const Image& image, std::vector<Expr> at, Border border = Border::kNone);
  static std::vector<Expr> axes() { return {axis(0), axis(1), axis(2)}; }
  Border random_border() { return choose({Border::kClamp, Border::kReflect101, Border::kConstant}); }

  // fuzz_kernel.cpp: one of the following
  void add_step();

  // fuzz_kernel_arithmetic.cpp: element by element
  Expr to_type(Expr value, DType type);
  /// Some arithmetic on a number of any type.
  Expr mangle(Expr x);
  Expr mangle_float(Expr x);
  Expr mangle_int(Expr x);
  void add_pointwise();
  /// Bytes through a curve or two: what a table may stand for.
  void add_curve();
  /// mask * x + (1 - mask) * y, as policies choose.
  void add_choice();
  /// Arithmetic of 32 bits on bytes and on numbers that are mostly small: what fewer bits may hold.
  void add_small_integers();
  void add_channel_mix();

  // fuzz_kernel_windows.cpp: from other places
  /// Shifted, mirrored, with a border.
  void add_window_map();
  /// A place of the source as warps compute it: by the map's row, rounded down, within reach of 32 bits.
  Expr warp_index(const Expr& place);
  /// Computed indices: one or several pixels about a place, outside of the source a number or its edge.
  void add_warp();
  /// One thing inside of a box that need not lie inside of the image, another outside of it.
  void add_box();
  /// A crop or flip whose indices are inside for certain, as operators write them.
  void add_transpose();
  int64_t value_of(const Expr& extent);
  /// A window given by parameters, perhaps mirrored, that lies inside for certain; as crop_mirror_normalize
  /// writes it.
  void add_crop();
  /// The same stage again, and both together.
  void add_twin();
  /// A band with tables, as a resize writes it.
  void add_resampling();
  /// A band whose weights do not depend on the position.
  void add_filter();
  void add_groups();
  static Expr expand_weight(const Expr& w) { return w - unary(ScalarOp::kFloor, w); }

  // fuzz_kernel_reduce.cpp: from many elements
  /// A statistic of an image, and the image shifted by it.
  void add_reduction();
  /// The bin of a number, or a place outside of all bins.
  Expr bin_of(const Expr& x);
  /// Counts of an image, perhaps their prefixes, and the image looked up in them.
  void add_histogram();
  /// Prefixes along one axis of something of any rank.
  Stage scan_of(const Image& image, int along);
  void add_scan();

  std::mt19937_64 random_;
  FuzzCase case_;
  int num_channels_ = 1;
  Expr channels_;  ///< a parameter where only the call knows them
  bool may_swap_ = true;
  std::vector<Expr> extents_;
  std::vector<Image> images_;
};

}  // namespace galatea::testing
