// A thread with a deep stack. See deep_stack.h.
#include "dsl/deep_stack.h"

#include <pthread.h>

#include <exception>
#include <system_error>

#include "base/fault.h"

namespace galatea::dsl {
namespace {

constexpr size_t kStackBytes = size_t{64} << 20;

struct Task {
  const std::function<void()>& work;
  std::exception_ptr failure;
};

void* run_task(void* argument) {
  auto* task = static_cast<Task*>(argument);
  make_ready_for_exceptions();
  try {
    task->work();
  } catch (...) {
    task->failure = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_deep(const std::function<void()>& work) {
  Task task{work, nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  int refused = pthread_attr_init(&attributes);
  if (refused == 0) {
    refused = pthread_attr_setstacksize(&attributes, kStackBytes);
    if (refused == 0) refused = pthread_create(&thread, &attributes, run_task, &task);
    pthread_attr_destroy(&attributes);
  }
  if (refused != 0)
    throw std::system_error(refused, std::generic_category(),
                            "a thread with a stack of 64 MiB, on which the text is evaluated");
  pthread_join(thread, nullptr);
  if (task.failure) std::rethrow_exception(task.failure);
}

}  // namespace galatea::dsl
