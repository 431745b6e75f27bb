// Memory in which every allocation stands alone.
//
// Comes in: sizes. Goes out: readable memory whose last byte is the last of a page, with nothing mapped for
// half a GiB on both sides: overruns fault, and an address near an allocation (the origin of a window) still
// says which one is meant.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace galatea::fake_cuda {

/// What a stream has seen: for each stream, how many of its operations.
class Clock {
 public:
  uint64_t& operator[](int stream);
  /// 0: nothing of it.
  uint64_t of(int stream) const;
  void merge(const Clock& other);

 private:
  std::vector<std::pair<int, uint64_t>> counts_;  ///< by streams, in their order
};

struct Tick {
  int stream = 0;
  uint64_t count = 0;
  std::string what;  ///< "kernel resize"
};

/// Bytes of an allocation, from `begin` up to `end`.
struct Range {
  int64_t begin = 0, end = INT64_MAX;
  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
  bool holds(const Range& other) const { return begin <= other.begin && other.end <= end; }
};

struct Allocation {
  uint8_t* data = nullptr;
  int64_t size = 0;
  bool is_pinned = false;
  int device = 0;      ///< of what is not pinned
  int64_t number = 0;  ///< in order of allocation, for messages
  // The order of uses.
  std::vector<std::pair<Range, Tick>> written;  ///< the last of each byte
  std::map<int, Tick> read;                     ///< per stream, the last, of whatever bytes

  bool holds(const void* address, int64_t bytes) const;
  /// Notes a use; a text if another one is not ordered before it.
  std::string use(const Tick& now, const Clock& clock, bool is_write, const Range& range = {});
};

class AddressSpace {
 public:
  ~AddressSpace();
  /// Null: no room.
  Allocation* allocate(int64_t bytes, bool is_pinned);
  /// False: nothing lives there.
  bool free(const void* data);
  /// The allocation at or near an address; null: none.
  Allocation* find(const void* address);

 private:
  static void fill(uint8_t* data, int64_t size);
  static constexpr int64_t kSlotBytes = int64_t{1} << 30, kSlots = 1024;
  int64_t slot_of(const void* address) const;

  uint8_t* base_ = nullptr;
  std::vector<Allocation> slots_;
  int64_t next_ = 0, count_ = 0;
};

}  // namespace galatea::fake_cuda
