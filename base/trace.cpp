// Gathering of timed scopes, and their Chrome trace document.
#include "base/trace.h"

#include <atomic>

#include <nlohmann/json.hpp>

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

std::string Trace::to_json() const {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const TraceEvent& event : events()) {
    // "X" is a complete event; times are microseconds.
    Json entry = {{"name", event.name},
                  {"cat", event.category},
                  {"ph", "X"},
                  {"pid", 1},
                  {"tid", event.thread},
                  {"ts", static_cast<double>(event.begin_ns) / 1000.0},
                  {"dur", static_cast<double>(event.duration_ns) / 1000.0}};
    if (!event.detail.empty()) entry["args"] = {{"detail", event.detail}};
    list.push_back(std::move(entry));
  }
  Json document = {{"traceEvents", std::move(list)}, {"displayTimeUnit", "ms"}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  trace_->add(std::move(event_));
}

}  // namespace galatea
