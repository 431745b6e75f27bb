// Whether what a thread waits for is still wanted: for code that waits long and is not handed a context.
//
// Comes in: the flag of the session whose sample a thread reads. Goes out: the same flag, to who waits below.
#pragma once

#include <atomic>

namespace galatea::runtime {

class CancelScope {
 public:
  /// While it lives, this thread works for the session of this flag; null: for none.
  explicit CancelScope(const std::atomic<bool>* flag) : before_(current()) { current() = flag; }
  ~CancelScope() { current() = before_; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  /// Whether the session has been cancelled: an error may then end the work.
  static bool is_cancelled() { return current() && current()->load(std::memory_order_relaxed); }

 private:
  static const std::atomic<bool>*& current() {
    thread_local const std::atomic<bool>* flag = nullptr;
    return flag;
  }
  const std::atomic<bool>* before_;
};

}  // namespace galatea::runtime
