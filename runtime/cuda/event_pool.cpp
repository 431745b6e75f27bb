#include "runtime/cuda/event_pool.h"

#include <utility>

namespace galatea::runtime::cuda {

std::shared_ptr<EventPool> EventPool::make(std::shared_ptr<const Context> context) {
  return std::shared_ptr<EventPool>(new EventPool(std::move(context)));
}

Result<std::shared_ptr<Event>> EventPool::take() {
  std::unique_ptr<Event> out;
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      out = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!out) {
    GALATEA_ASSIGN(Event made, Event::create(context_));
    out = std::make_unique<Event>(std::move(made));
  }
  return std::shared_ptr<Event>(out.release(), [pool = shared_from_this()](Event* event) {
    pool->give_back(std::unique_ptr<Event>(event));
  });
}

void EventPool::give_back(std::unique_ptr<Event> event) {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(event));
}

}  // namespace galatea::runtime::cuda
