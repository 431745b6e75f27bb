#include "runtime/free_ranges.h"

#include <algorithm>

namespace galatea::runtime {

void FreeRanges::reset(int64_t size) {
  ranges_.assign(size > 0 ? 1 : 0, {0, size});
  num_cuts_ = 0;
}

int64_t FreeRanges::cut(int64_t size, bool exactly) {
  const auto range = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& r) {
    return exactly ? r.end - r.begin == size : r.end - r.begin >= size;
  });
  if (range == ranges_.end()) return -1;
  const auto at = range - ranges_.begin();
  if (ranges_.capacity() < num_cuts_ + 2) ranges_.reserve(2 * (num_cuts_ + 2));
  ++num_cuts_;
  Range& from = ranges_[static_cast<size_t>(at)];
  const int64_t begin = from.begin;
  from.begin += size;
  if (from.begin == from.end) ranges_.erase(ranges_.begin() + at);
  return begin;
}

void FreeRanges::give_back(int64_t begin, int64_t size) noexcept {
  --num_cuts_;
  auto next = std::find_if(ranges_.begin(), ranges_.end(),
                           [&](const Range& other) { return other.begin >= begin + size; });
  if (next != ranges_.end() && next->begin == begin + size) {
    next->begin = begin;
  } else {
    next = ranges_.insert(next, {begin, begin + size});
  }
  if (next != ranges_.begin() && std::prev(next)->end == next->begin) {
    std::prev(next)->end = next->end;
    ranges_.erase(next);
  }
}

}  // namespace galatea::runtime
