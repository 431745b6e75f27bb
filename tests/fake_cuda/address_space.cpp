// Mapping and the order of uses.
#include "tests/fake_cuda/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace galatea::fake_cuda {

namespace {

constexpr int64_t kPage = 4096, kAlignment = 256;

int64_t round_up(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

bool is_before(const Tick& tick, const Clock& clock) {
  if (tick.count == 0) return true;
  return clock.of(tick.stream) >= tick.count;
}

}  // namespace

uint64_t& Clock::operator[](int stream) {
  const auto place = std::ranges::lower_bound(counts_, stream, {}, &std::pair<int, uint64_t>::first);
  if (place != counts_.end() && place->first == stream) return place->second;
  return counts_.insert(place, {stream, 0})->second;
}

uint64_t Clock::of(int stream) const {
  const auto place = std::ranges::lower_bound(counts_, stream, {}, &std::pair<int, uint64_t>::first);
  return place != counts_.end() && place->first == stream ? place->second : 0;
}

void Clock::merge(const Clock& other) {
  for (const auto& [stream, count] : other.counts_) {
    uint64_t& mine = (*this)[stream];
    mine = std::max(mine, count);
  }
}

bool Allocation::holds(const void* address, int64_t bytes) const {
  const auto* at = static_cast<const uint8_t*>(address);
  return at >= data && at + bytes <= data + size;
}

std::string Allocation::use(const Tick& now, const Clock& clock, bool is_write, const Range& range) {
  std::string out;
  const auto complain = [&](const Tick& other, const char* verb) {
    if (out.empty() && !is_before(other, clock))
      out = now.what + " (stream " + std::to_string(now.stream) + ") " + (is_write ? "writes" : "reads") +
            " allocation " + std::to_string(number) + ", which " + other.what + " (stream " +
            std::to_string(other.stream) + ") " + verb + "; nothing orders the two";
  };
  for (const auto& [where, other] : written)
    if (where.meets(range)) complain(other, "writes");
  if (is_write)
    for (const auto& [stream, other] : read) complain(other, "reads");
  if (is_write) {
    std::erase_if(written, [&](const auto& other) { return range.holds(other.first); });
    written.emplace_back(range, now);
    if (range.holds(Range{})) read.clear();
  } else {
    read[now.stream] = now;
  }
  return out;
}

/// So that what is read before it is written shows. Of a block that is larger than tests write, the ends
/// alone: pages of it, and the thread sanitizer's records of them, would be there for nothing.
void AddressSpace::fill(uint8_t* data, int64_t size) {
  constexpr int64_t kFilledWhole = int64_t{8} << 20, kEnd = int64_t{1} << 20;
  if (size <= kFilledWhole) {
    std::memset(data, 0xCD, static_cast<size_t>(size));
    return;
  }
  std::memset(data, 0xCD, kEnd);
  std::memset(data + size - kEnd, 0xCD, kEnd);
}

AddressSpace::~AddressSpace() {
  if (base_) munmap(base_, static_cast<size_t>(kSlotBytes * kSlots));
}

int64_t AddressSpace::slot_of(const void* address) const {
  const auto* at = static_cast<const uint8_t*>(address);
  if (!base_ || at < base_ || at >= base_ + kSlotBytes * kSlots) return -1;
  return (at - base_) / kSlotBytes;
}

Allocation* AddressSpace::allocate(int64_t bytes, bool is_pinned) {
  if (!base_) {
    void* room = mmap(nullptr, static_cast<size_t>(kSlotBytes * kSlots), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    base_ = static_cast<uint8_t*>(room);
    slots_.resize(static_cast<size_t>(kSlots));
  }
  const int64_t size = round_up(std::max<int64_t>(bytes, 1), kAlignment), mapped = round_up(size, kPage);
  if (mapped > kSlotBytes / 4) return nullptr;
  for (int64_t turn = 0; turn < kSlots; ++turn) {
    // Freed places are taken last, so that a late use of them faults.
    const int64_t slot = next_++ % kSlots;
    Allocation& out = slots_[static_cast<size_t>(slot)];
    if (out.data) continue;
    uint8_t* begin = base_ + slot * kSlotBytes + kSlotBytes / 2;
    if (mprotect(begin, static_cast<size_t>(mapped), PROT_READ | PROT_WRITE) != 0) return nullptr;
    out = Allocation{};
    out.data = begin + mapped - size;
    out.size = size;
    out.is_pinned = is_pinned;
    out.number = count_++;
    fill(out.data, size);
    return &out;
  }
  return nullptr;
}

bool AddressSpace::free(const void* data) {
  Allocation* found = find(data);
  if (!found || found->data != data) return false;
  const int64_t mapped = round_up(found->size, kPage);
  uint8_t* begin = found->data + found->size - mapped;
  madvise(begin, static_cast<size_t>(mapped), MADV_DONTNEED);
  mprotect(begin, static_cast<size_t>(mapped), PROT_NONE);
  *found = Allocation{};
  return true;
}

Allocation* AddressSpace::find(const void* address) {
  const int64_t slot = slot_of(address);
  if (slot < 0 || !slots_[static_cast<size_t>(slot)].data) return nullptr;
  return &slots_[static_cast<size_t>(slot)];
}

}  // namespace galatea::fake_cuda
