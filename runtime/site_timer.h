// What the instructions of one place of a program take, for statistics and the trace.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "runtime/sample_program.h"

namespace galatea::runtime {

/// Adds its own life to a site, and to the trace if there is one.
class SiteTimer {
 public:
  SiteTimer(const LoadedProgram& loaded, size_t site, Worker& worker, std::string detail)
      : total_(worker.site_times[site]),
        begin_(now_ns()),
        scope_(worker.trace, worker.trace ? loaded.sites[site].name : std::string(),
               worker.trace ? loaded.sites[site].trace_category : std::string(), std::move(detail)) {}
  ~SiteTimer() { total_.add({now_ns() - begin_, 1}); }
  SiteTimer(const SiteTimer&) = delete;
  SiteTimer& operator=(const SiteTimer&) = delete;

 private:
  static int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  SiteTime& total_;
  int64_t begin_;
  TraceScope scope_;
};

}  // namespace galatea::runtime
