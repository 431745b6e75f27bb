// Events that are used again, since making one is a call of the driver and giving it back another.
//
// Comes in: nothing. Goes out: events that return with their last reference, on any thread; streams that
// were told to wait for one have seen where it stood then. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/context.h"

namespace galatea::runtime::cuda {

class EventPool : public std::enable_shared_from_this<EventPool> {
 public:
  static std::shared_ptr<EventPool> make(std::shared_ptr<const Context> context);
  Result<std::shared_ptr<Event>> take();

 private:
  explicit EventPool(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  void give_back(std::unique_ptr<Event> event);

  std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Event>> idle_;
};

}  // namespace galatea::runtime::cuda
