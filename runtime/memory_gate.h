// The byte semaphore: who may take how much of a session's memory limit.
//
// Comes in: claims (promises to take at most so much). Goes out: whether a claim fits. Only sessions with a
// limit have a gate. Thread-safe.
//
// What counts: claims, arenas that rest (their blocks wait for the next sample), and all memory outside of
// arenas (outputs, what was fed). A claim covers the memory of its arena; a claim for outputs ends when they
// are allocated.
//
// Invariant: what counts never exceeds the limit, so that whoever stays within its claim is never refused
// memory.
#pragma once

#include <atomic>
#include <mutex>

#include "runtime/tensor.h"

namespace galatea::runtime {

class MemoryGate {
 public:
  explicit MemoryGate(const Allocator& allocator) : allocator_(allocator) {}

  int64_t limit() const { return allocator_.limit(); }
  /// Claims `bytes` unless they do not fit, or samples wait: those come first.
  bool try_claim(int64_t bytes);
  /// The same for the sample whose turn it is.
  bool claim_in_turn(int64_t bytes);
  void release(int64_t bytes);
  void set_waiting(bool waiting) { waiting_ = waiting; }

  /// An arena rests: its claim ends, what it keeps still counts.
  void rest(int64_t claim, int64_t kept);
  /// What a resting arena keeps becomes its claim.
  void wake(int64_t kept);
  /// A resting arena gave this much back.
  void idle_shrank(int64_t bytes);
  int64_t bytes_free() const;

 private:
  int64_t counted() const { return claimed_ + idle_ + allocator_.bytes_outside_arenas(); }

  const Allocator& allocator_;
  mutable std::mutex mutex_;
  int64_t claimed_ = 0, idle_ = 0;
  std::atomic<bool> waiting_{false};
};

/// What a buffer of this size costs at most: rounded up as arenas and pools do, and padded.
int64_t claimed_bytes(int64_t bytes);

}  // namespace galatea::runtime
