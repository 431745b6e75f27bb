// Gathering of timed scopes, and their Chrome trace document.
#include "base/trace.h"

#include <atomic>
#include <iterator>
#include <new>

#include <fmt/format.h>

#include "base/json.h"

namespace galatea {
namespace {

/// A long run keeps its beginning: about 200 MB.
constexpr size_t kMaxEvents = 1'000'000;

/// Small numbers in the order in which threads first appear: readable in a trace, unlike the system's ids.
uint32_t this_thread_number() {
  static std::atomic<uint32_t> next{1};
  thread_local const uint32_t kNumber = next.fetch_add(1, std::memory_order_relaxed);
  return kNumber;
}

}  // namespace

int64_t Trace::now_ns() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_)
      .count();
}

void Trace::add(TraceEvent event) {
  if (event.thread == 0) event.thread = this_thread_number();
  std::lock_guard lock(mutex_);
  if (events_.size() < kMaxEvents) events_.push_back(std::move(event));
}

std::vector<TraceEvent> Trace::events() const {
  std::lock_guard lock(mutex_);
  return events_;
}

// Written piece by piece: as a document of Json objects, a long trace takes longer to write than to gather.
std::string trace_json(std::span<const NamedTrace> traces) {
  std::string text = "{\"traceEvents\":[";
  const char* separator = "";
  for (size_t process = 0; process < traces.size(); ++process) {
    if (const std::string& name = traces[process].name; !name.empty()) {
      fmt::format_to(std::back_inserter(text),
                     R"({}{{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", separator,
                     process + 1, json_quoted(name));
      separator = ",";
    }
    for (const TraceEvent& event : traces[process].trace->events()) {
      // "X" is a complete event; times are microseconds.
      fmt::format_to(
          std::back_inserter(text),
          R"({}{{"name":{},"cat":{},"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f}{}}})", separator,
          json_quoted(event.name), json_quoted(event.category), process + 1, event.thread,
          static_cast<double>(event.begin_ns) / 1000.0, static_cast<double>(event.duration_ns) / 1000.0,
          event.detail.empty() ? "" : fmt::format(R"(,"args":{{"detail":{}}})", json_quoted(event.detail)));
      separator = ",";
    }
  }
  return text + "],\"displayTimeUnit\":\"ms\"}";
}

TraceScope::TraceScope(Trace* trace, std::string name, std::string category, std::string detail)
    : trace_(trace) {
  if (trace_ == nullptr) return;
  event_.name = std::move(name);
  event_.category = std::move(category);
  event_.detail = std::move(detail);
  event_.begin_ns = trace_->now_ns();
}

TraceScope::~TraceScope() {
  if (trace_ == nullptr) return;
  event_.duration_ns = trace_->now_ns() - event_.begin_ns;
  try {
    trace_->add(std::move(event_));
  } catch (const std::bad_alloc&) {  // the trace lacks it
  }
}

}  // namespace galatea
