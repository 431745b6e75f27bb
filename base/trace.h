// Scoped timings, gathered per thread and written as a Chrome trace (chrome://tracing, Perfetto).
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace galatea {

/// One finished scope.
struct TraceEvent {
  std::string name;
  std::string category;  ///< "compile", "read", "decode", "compute", "wait"
  uint32_t thread = 0;
  int64_t begin_ns = 0;  ///< since the trace was made
  int64_t duration_ns = 0;
  std::string detail;  ///< sample, batch, or empty
};

/// Collects events of any number of threads. A null Trace* everywhere means "do not trace".
class Trace {
 public:
  Trace() : start_(std::chrono::steady_clock::now()) {}
  int64_t now_ns() const;
  void add(TraceEvent event);
  std::vector<TraceEvent> events() const;
  /// The events as a Chrome trace document.
  std::string to_json() const;

 private:
  std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_;
  std::vector<TraceEvent> events_;
};

/// Times its own life. Does nothing without a trace.
class TraceScope {
 public:
  TraceScope(Trace* trace, std::string name, std::string category, std::string detail = {});
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* trace_;
  TraceEvent event_;
};

}  // namespace galatea
