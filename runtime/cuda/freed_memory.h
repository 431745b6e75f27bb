// What pools gave back to the driver: a graph that names such memory is not launched any more.
//
// Comes in: address ranges, from any thread. Goes out: those since the last question.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace galatea::runtime::cuda {

class FreedMemory {
 public:
  struct Range {
    uint64_t begin = 0, bytes = 0;
    bool holds(uint64_t address) const { return address - begin < bytes; }
  };
  /// Before the driver may give the addresses out again.
  void note(Range range) {
    std::lock_guard lock(mutex_);
    ranges_.push_back(range);
  }
  std::vector<Range> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(ranges_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Range> ranges_;
};

}  // namespace galatea::runtime::cuda
