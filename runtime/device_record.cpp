#include "runtime/device_record.h"

#include <algorithm>

namespace galatea::runtime {

int32_t DeviceArena::acquire(int64_t bytes) {
  std::erase_if(live_, [&](int32_t block) { return blocks_[static_cast<size_t>(block)].references == 0; });
  Block made{0, device_bytes(bytes), 1};
  auto at = live_.begin();
  for (; at != live_.end(); ++at) {
    const Block& next = blocks_[static_cast<size_t>(*at)];
    if (next.offset - made.offset >= made.bytes) break;
    made.offset = next.offset + next.bytes;
  }
  live_.insert(at, static_cast<int32_t>(blocks_.size()));
  blocks_.push_back(made);
  peak_bytes_ = std::max(peak_bytes_, made.offset + made.bytes);
  return static_cast<int32_t>(blocks_.size()) - 1;
}

void DeviceArena::reset() {
  blocks_.clear();
  live_.clear();
  peak_bytes_ = 0;
}

void DeviceRecord::clear() {
  made.clear();
  made_bytes = 0;
  made_at = 0;
  calls.clear();
  tensors.clear();
  params.clear();
  guards.clear();
  downloads.clear();
  copies.clear();
  arena_bytes = 0;
}

}  // namespace galatea::runtime
