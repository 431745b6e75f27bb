// Random pipelines as text: 3 to 12 operators on images, nested branches, several outputs.
//
// Two seeds: one decides the shape (which operators, arguments, arms, types), the other every number in it.
// So pipelines of one shape and a hundred sets of numbers can be made as well as a hundred shapes.
//
// Inputs: "encoded" (the bytes of an image file) or "image" (u8 HWC), and perhaps "other" (u8 HWC), three
// channels, any extents.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace galatea::testing {

/// One line of the function; shrinking takes lines away or replaces them.
struct PipelineLine {
  int indent = 0;
  std::string text;
  std::string shorter;  ///< what gives a value of the same type, or empty
};

struct GeneratedPipeline {
  std::vector<PipelineLine> lines;
  std::string text() const;
};

struct PipelineSeeds {
  uint64_t shape = 0, numbers = 0;
};

class PipelineGenerator {
 public:
  explicit PipelineGenerator(PipelineSeeds seeds);
  /// From here on branches ask images, the one at hand or "other", and their arms keep extents: what a GPU
  /// can decide by itself. (The one at hand is read whole by that, so that no window of it is enough.)
  PipelineGenerator& with_conditions_of_images() {
    conditions_of_images_ = true;
    return *this;
  }
  GeneratedPipeline make();
  /// The operators that pipelines are made of: all that take or make images.
  static std::vector<std::string> operators();

 private:
  struct Image {
    std::string name, dtype = "UINT8";
    int channels = 3;         ///< 3 or 1
    bool known = false;       ///< whether the text tells the channels
    bool fixed_size = false;  ///< static extents
  };
  /// A call on an image, and what it gives.
  struct Call {
    std::string text;
    Image result;
  };

  bool chance(int percent) { return below(100) < percent; }
  int below(int n) { return static_cast<int>(shape_() % static_cast<uint64_t>(n)); }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int>(from.size())))];
  }
  std::string fresh() { return "v" + std::to_string(++num_names_); }
  void line(std::string text, std::string shorter = {});

  // Numbers: the other seed's.
  std::string real(double low, double high);
  std::string whole(int low, int high);
  std::string extent();
  std::string extents() { return "[" + extent() + ", " + extent() + "]"; }
  /// A number, or one that differs from sample to sample.
  std::string scalar(double low, double high);
  std::string element_type() { return pick<std::string>({"UINT8", "FLOAT", "INT16", "UINT8"}); }

  void begin();
  Image step(const Image& from);
  Image branch(const Image& from, int depth);
  Image choice(const Image& from, int depth);
  Image turned(const Image& from);
  Image chain(Image from, int count, int depth);
  std::string condition(const Image& image);
  Image as_type(const Image& image, const Image& like);

  Call point(const Image& image);
  Call color(const Image& image);
  Call arithmetic(const Image& image);
  Call mirror(const Image& image);
  Call move(const Image& image);
  Call window(const Image& image);
  Call warp(const Image& image);
  Call sample(const Image& image);
  Call neighbours(const Image& image);
  Call filter(const Image& image);
  Call statistic(const Image& image);
  Call join(const Image& image);
  Call seldom(const Image& image);
  Call seldom_resize(const Image& image);
  Call seldom_preset(const Image& image);
  Call seldom_warp(const Image& image);
  Call seldom_statistic(const Image& image);
  Call seldom_batch(const Image& image);
  Call seldom_view(const Image& image);
  Call seldom_tensor(const Image& image);
  Call seldom_boxes(const Image& image);
  Call seldom_mask(const Image& image);
  Call seldom_pixel(const Image& image);

  std::mt19937_64 shape_, numbers_;
  int largest_extent_;  ///< of the images that operators make; large enough for several vectors a row in some
  std::vector<PipelineLine> lines_;
  std::vector<int> extents_;  ///< used so far: which extents are equal belongs to the shape
  int indent_ = 1, num_names_ = 0, budget_ = 0;
  bool conditions_of_images_ = false;
  bool pixel_functions_;  ///< in every fifth shape: tests know others by their seeds
  int arms_ = 0;          ///< around what is being made, of such branches
};

}  // namespace galatea::testing
