// Calls of the driver that may wait for the device, made by a thread of their own.
//
// Comes in: calls, from any thread. Goes out: the same calls, in order; all are made when the destructor
// returns. The thread begins with the first call.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace galatea::runtime::cuda {

class BackgroundFree {
 public:
  BackgroundFree() = default;
  ~BackgroundFree();
  BackgroundFree(const BackgroundFree&) = delete;
  BackgroundFree& operator=(const BackgroundFree&) = delete;

  /// Made at once, by this thread, where there can be no other.
  void enqueue(std::function<void()> call);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> calls_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace galatea::runtime::cuda
