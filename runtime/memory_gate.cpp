#include "runtime/memory_gate.h"

#include "runtime/arena.h"

namespace galatea::runtime {

int64_t claimed_bytes(int64_t bytes) { return round_up_capacity(bytes) + kBufferPadding; }

bool MemoryGate::try_claim(int64_t bytes) { return !waiting_.load() && claim_in_turn(bytes); }

bool MemoryGate::claim_in_turn(int64_t bytes) {
  // The lock makes the sum whole: a claim for outputs ends under it, after they were counted as memory.
  std::lock_guard lock(mutex_);
  if (counted() > limit() - bytes) return false;
  claimed_ += bytes;
  return true;
}

void MemoryGate::release(int64_t bytes) {
  std::lock_guard lock(mutex_);
  claimed_ -= bytes;
}

void MemoryGate::rest(int64_t claim, int64_t kept) {
  std::lock_guard lock(mutex_);
  claimed_ -= claim;
  idle_ += kept;
}

void MemoryGate::wake(int64_t kept) {
  std::lock_guard lock(mutex_);
  claimed_ += kept;
  idle_ -= kept;
}

void MemoryGate::idle_shrank(int64_t bytes) {
  std::lock_guard lock(mutex_);
  idle_ -= bytes;
}

int64_t MemoryGate::bytes_free() const {
  std::lock_guard lock(mutex_);
  return limit() - counted();
}

}  // namespace galatea::runtime
