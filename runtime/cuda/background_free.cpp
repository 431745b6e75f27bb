#include "runtime/cuda/background_free.h"

#include <system_error>
#include <utility>

namespace galatea::runtime::cuda {

BackgroundFree::~BackgroundFree() {
  {
    std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void BackgroundFree::enqueue(std::function<void()> call) {
  try {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    calls_.push_back(std::move(call));
  } catch (const std::system_error&) {  // the system has no thread to give
    call();
    return;
  }
  changed_.notify_one();
}

void BackgroundFree::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_over_ || !calls_.empty(); });
    if (calls_.empty()) return;
    const std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    lock.lock();
  }
}

}  // namespace galatea::runtime::cuda
