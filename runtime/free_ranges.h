// The unused parts of a piece of memory from which blocks of any size are cut.
//
// Comes in: sizes. Goes out: offsets, each the lowest that has room, so that memory is used again as early as
// possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace galatea::runtime {

class FreeRanges {
 public:
  FreeRanges() = default;
  explicit FreeRanges(int64_t size) { reset(size); }
  /// Everything is free.
  void reset(int64_t size);
  /// -1: no range has room. `exactly`: only a range of that size will do. Makes room for what giving back
  /// needs.
  int64_t cut(int64_t size, bool exactly = false);
  /// Takes no memory: destructors call it.
  void give_back(int64_t begin, int64_t size) noexcept;
  /// Whether nothing is cut from `size` bytes.
  bool is_whole(int64_t size) const {
    return ranges_.size() == 1 && ranges_[0].end - ranges_[0].begin == size;
  }

 private:
  struct Range {
    int64_t begin = 0, end = 0;
  };
  std::vector<Range> ranges_;  ///< in order, never adjacent; with room for one more than there are cuts
  size_t num_cuts_ = 0;        ///< that have not been given back
};

}  // namespace galatea::runtime
