// Independent pieces of work on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace galatea::codegen {

/// body(0) … body(count - 1), on as many threads as there are processors and bodies. What a body throws is
/// thrown again here.
inline void for_each_parallel(size_t count, const std::function<void(size_t)>& body) {
  std::atomic<size_t> next = 0;
  std::vector<std::exception_ptr> thrown(count);
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  {
    const size_t helpers =
        std::min<size_t>(std::max<size_t>(count, 1), std::max(1U, std::thread::hardware_concurrency())) - 1;
    std::vector<std::jthread> threads;
    threads.reserve(helpers);
    try {
      for (size_t i = 0; i < helpers; ++i) threads.emplace_back(work);
    } catch (const std::exception&) {
      // No thread to be had, or no memory for it: those that started, and this one, do all.
    }
    work();
  }
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
}

}  // namespace galatea::codegen
