// What one sample asks of the device between two barriers.
//
// Comes in: the calls, copies and needs of a sample whose program runs on the host. Goes out: a record that
// the batch enqueues together with those of its other samples (device_session.h). Plain data; nothing here
// knows a driver.
//
// Memory of the device that a sample takes has a virtual address, a region and an offset, until its batch is
// enqueued: what all samples need is known only then. Views of it are offsets more, as anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device_alternative.h"
#include "runtime/kernel_abi.h"

namespace galatea::runtime {

/// Regions of virtual addresses. Every one is far larger than a tensor (dense_bytes()), and begins in the
/// middle of its range, so that an origin that lies in front of a window is of the same region.
namespace virtual_memory {

inline constexpr int kArena = 0;          ///< of the sample's intermediates
inline constexpr int kFirstOutput = 1;    ///< output k of the sample: kFirstOutput + k
inline constexpr int kMade = 8191;        ///< what alternatives make for the sample
inline constexpr int kFirstChunk = 8192;  ///< host bytes that go up with the batch, a region a chunk
inline constexpr int kEnd = 16384;

inline constexpr uint64_t kTag = uint64_t{1} << 62;
inline constexpr int kRegionShift = 48;
inline constexpr uint64_t kMiddle = uint64_t{1} << (kRegionShift - 1);

constexpr uint64_t address(int region, int64_t offset) {
  return kTag + (static_cast<uint64_t>(region) << kRegionShift) + kMiddle + static_cast<uint64_t>(offset);
}
/// No device and no host has addresses of that size.
constexpr bool holds(uint64_t address) { return (address & ~(kTag - 1)) == kTag; }
constexpr int region_of(uint64_t address) { return static_cast<int>((address & (kTag - 1)) >> kRegionShift); }
constexpr int64_t offset_of(uint64_t address) {
  return static_cast<int64_t>(address & ((uint64_t{1} << kRegionShift) - 1)) - static_cast<int64_t>(kMiddle);
}

}  // namespace virtual_memory

/// Blocks of the region kArena, counted by references as in Arena. Launches are in the order of calls, so
/// that what a sample releases it may take again at once.
class DeviceArena {
 public:
  /// A block of at least `bytes` bytes, with one reference.
  int32_t acquire(int64_t bytes);
  uint64_t address(int32_t block) const {
    return virtual_memory::address(virtual_memory::kArena, blocks_[static_cast<size_t>(block)].offset);
  }
  void retain(int32_t block) { ++blocks_[static_cast<size_t>(block)].references; }
  void release(int32_t block) { --blocks_[static_cast<size_t>(block)].references; }
  /// The bytes that all blocks since reset() lie in.
  int64_t peak_bytes() const { return peak_bytes_; }
  void reset();

 private:
  struct Block {
    int64_t offset = 0, bytes = 0;
    int references = 0;
  };
  std::vector<Block> blocks_;
  std::vector<int32_t> live_;  ///< by offset
  int64_t peak_bytes_ = 0;
};

/// Device memory is given out in multiples of this, which suits every access of a kernel.
inline constexpr int64_t kDeviceAlignment = 256;
constexpr int64_t device_bytes(int64_t bytes) {
  return (bytes + kBufferPadding + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

struct DeviceRecord {
  struct Call {
    int32_t call = 0;  ///< Program::kernel_calls
    int32_t location = -1;
    uint32_t first_tensor = 0, num_tensors = 0, first_param = 0, num_params = 0;
    uint32_t first_guard = 0, num_guards = 0;
    int64_t scratch_bytes = 0, blocks = 0;  ///< KernelCallSpec's; 0: not said
    int64_t bytes = 0;                      ///< of its tensors
  };
  /// A byte of the device, and what it, or `largest` if that is less, has to be for a call to run.
  struct Guard {
    uint64_t address = 0;
    uint32_t wanted = 1, largest = 1;
  };
  /// To memory of the host that the batch gave out for it.
  struct Download {
    uint64_t from = 0;
    uint8_t* to = nullptr;
    int64_t bytes = 0;
  };
  /// On the device, behind all calls.
  struct Copy {
    uint64_t from = 0, to = 0;
    int64_t bytes = 0;
  };
  /// In front of all calls, to a place in the region kMade.
  struct Made {
    std::unique_ptr<DeviceJob> job;  ///< null once it is enqueued
    int32_t alternative = 0;         ///< LoadedProgram::alternatives
    int64_t offset = 0;
  };
  std::vector<Made> made;
  std::vector<Call> calls;
  std::vector<KernelTensor> tensors;  ///< of the calls; addresses are of the device, virtual or not
  std::vector<uint64_t> params;
  std::vector<Guard> guards;
  std::vector<Download> downloads;
  std::vector<Copy> copies;
  int64_t arena_bytes = 0;
  int64_t made_bytes = 0;  ///< that those of `made` take
  uint64_t made_at = 0;    ///< where they lie on the device; 0: not yet

  bool empty() const { return made.empty() && calls.empty() && downloads.empty() && copies.empty(); }
  /// Keeps its memory.
  void clear();
};

}  // namespace galatea::runtime
