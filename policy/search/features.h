// Numbers that say what a picture looks like, without training: colours, edges, responses of fixed filters.
//
// Comes in: a picture of bytes. Goes out: as many features for any picture, in groups that count alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace galatea::policy {

/// A picture of bytes, HWC, three channels; strides in bytes.
struct PictureView {
  const uint8_t* data = nullptr;
  int64_t height = 0, width = 0;
  int64_t row = 0, pixel = 3, channel = 1;
};

class Features {
 public:
  Features();
  /// Features of a picture that is not empty.
  std::vector<double> of(const PictureView& picture) const;
  size_t count() const { return weights_.size(); }
  /// How much each feature counts; adding up to 1, each group to the same.
  const std::vector<double>& weights() const { return weights_; }

 private:
  static constexpr int kFilters = 16, kFilterSize = 5;

  std::vector<float> filters_;  ///< [y][x][channel][filter]
  std::vector<double> weights_;
};

}  // namespace galatea::policy
