// Scoped timings, gathered per thread and written as a Chrome trace (chrome://tracing, Perfetto).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
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
  /// With the clock of another one, to stand beside it in one document.
  explicit Trace(const Trace& clock) : start_(clock.start_) {}
  Trace& operator=(const Trace&) = delete;
  int64_t now_ns() const;
  void add(TraceEvent event);
  std::vector<TraceEvent> events() const;

 private:
  std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_;
  std::vector<TraceEvent> events_;
};

/// A trace as one process of a document, with a name or without.
struct NamedTrace {
  std::string name;
  std::unique_ptr<Trace> trace;
};

/// The events as a Chrome trace document.
std::string trace_json(std::span<const NamedTrace> traces);

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
