// Work that waits, and the faults that tests ask for.
#include "tests/fake_cuda/fake_state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "runtime/cuda/driver.h"

namespace galatea::fake_cuda {

namespace {

int64_t number(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoll(text, nullptr, 0) : otherwise;
}

void write_report() {
  const char* path = std::getenv("FAKE_CUDA_REPORT");
  if (!path || !*path) return;
  std::FILE* file = std::fopen(path, "w");
  if (!file) return;
  const FakeCudaCounters& c = State::get().counters;
  const auto line = [&](const char* name, int64_t value) {
    std::fprintf(file, "%s %lld\n", name, static_cast<long long>(value));
  };
  line("calls", c.calls);
  line("launches", c.launches);
  line("blocks", c.blocks);
  line("uploads", c.uploads);
  line("upload_bytes", c.upload_bytes);
  line("downloads", c.downloads);
  line("download_bytes", c.download_bytes);
  line("pageable_copies", c.pageable_copies);
  line("synchronizations", c.synchronizations);
  line("launched_graphs", c.graph_launches);
  line("graphs_made", c.graphs_made);
  line("spinning_waits", c.spinning_waits);
  line("stream_waits", c.stream_waits);
  line("event_records", c.event_records);
  line("allocations", c.allocations);
  line("live_contexts", c.live_contexts);
  line("live_streams", c.live_streams);
  line("live_events", c.live_events);
  line("live_modules", c.live_modules);
  line("live_graphs", c.live_graphs);
  line("live_graph_execs", c.live_graph_execs);
  line("live_allocations", c.live_allocations);
  line("live_pinned", c.live_pinned);
  line("errors", c.errors);
  std::fputs(State::get().errors.c_str(), file);
  std::fclose(file);
}

}  // namespace

State& State::get() {
  // Never destroyed: streams of the process may outlive everything.
  static State* const kState = new State;
  return *kState;
}

void State::read_environment() {
  settings.devices = static_cast<int>(number("FAKE_CUDA_DEVICES", 1));
  settings.driver_version = static_cast<int>(number("FAKE_CUDA_DRIVER_VERSION", 12080));
  settings.architecture = static_cast<int>(number("FAKE_CUDA_ARCHITECTURE", 90));
  settings.other_architecture =
      static_cast<int>(number("FAKE_CUDA_OTHER_ARCHITECTURE", settings.architecture));
  settings.init_code = static_cast<int>(number("FAKE_CUDA_INIT", settings.devices > 0 ? 0 : code::kNoDevice));
  settings.memory = number("FAKE_CUDA_MEMORY", int64_t{8} << 30);
  settings.eager = number("FAKE_CUDA_EAGER", 0) != 0;
  settings.permuted = number("FAKE_CUDA_PERMUTED", 0) != 0;
  static const bool kOnce = [this] {
    executes = number("FAKE_CUDA_EXECUTE", 1) != 0;
    fail_at(number("FAKE_CUDA_FAIL_CALL", 0),
            static_cast<int>(number("FAKE_CUDA_FAIL_CODE", code::kOutOfMemory)));
    std::atexit(write_report);
    return true;
  }();
  (void)kOnce;
}

Code State::enter(const char* entry) {
  ++counters.calls;
  if (const auto known = calls.find(entry); known != calls.end())
    ++known->second;
  else
    calls.emplace(entry, 1);
  if (lost_ != code::kSuccess) return lost_;
  if (fail_call_ == 0 || --fail_call_ > 0) return code::kSuccess;
  if (runtime::cuda::is_device_lost(fail_code_)) lost_ = fail_code_;
  return fail_code_;
}

thread_local std::vector<int> current_devices;
thread_local int thread_capture_mode = runtime::cuda::capture_mode::kGlobal;
thread_local bool thread_must_not_wait = false;

Code State::enter_unsafe(const char* entry) {
  const bool breaks = std::ranges::any_of(streams, [](const auto& each) {
    return each.second->capture_mode == runtime::cuda::capture_mode::kGlobal;
  });
  if (!breaks || thread_capture_mode == runtime::cuda::capture_mode::kRelaxed) return code::kSuccess;
  complain(std::string(entry) + " breaks a graph's capture, whose mode is global");
  return code::kCaptureUnsupported;
}

Code State::enter_waiting(const char* entry) {
  if (thread_must_not_wait)
    complain(std::string(entry) + " may wait for the device on a thread that must not");
  return enter_unsafe(entry);
}

std::shared_ptr<Stream> State::make_blocking() {
  auto out = std::make_shared<Stream>();
  out->number = take_number();
  out->is_blocking = true;
  out->device = current_devices.empty() ? 0 : current_devices.back();
  return out;
}

std::shared_ptr<Stream> State::stream_as_it_is(runtime::cuda::StreamHandle handle) {
  if (handle == runtime::cuda::legacy_stream()) {
    if (!legacy_) legacy_ = make_blocking();
    return legacy_;
  }
  if (handle == runtime::cuda::per_thread_stream()) {
    auto& mine = per_thread_[std::this_thread::get_id()];
    if (!mine) mine = make_blocking();
    return mine;
  }
  const auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

std::shared_ptr<Stream> State::stream(runtime::cuda::StreamHandle handle) {
  auto out = stream_as_it_is(handle);
  if (!out || !out->is_blocking) return out;
  if (out != legacy_) {
    if (legacy_) order(legacy_, out);
    return out;
  }
  for (const auto& [thread, each] : per_thread_) order(each, out);
  for (const auto& [key, each] : streams)
    if (each->is_blocking) order(each, out);
  return out;
}

void State::order(const std::shared_ptr<Stream>& earlier, const std::shared_ptr<Stream>& later) {
  later->clock.merge(earlier->clock);
  enqueue(later, "order", [earlier, point = earlier->enqueued](const Stream::Operation&) {
    State::get().finish(*earlier, point);
  });
}

bool State::legacy_is_captured() const {
  return std::ranges::any_of(
      streams, [](const auto& each) { return each.second->is_blocking && each.second->capture_mode >= 0; });
}

void State::fail_at(int64_t call, Code result) {
  fail_call_ = call;
  fail_code_ = result;
  lost_ = code::kSuccess;
}

void State::complain(const std::string& text) {
  ++counters.errors;
  errors += text + "\n";
}

void State::reset_counts() {
  FakeCudaCounters fresh;
  fresh.live_contexts = counters.live_contexts;
  fresh.live_streams = counters.live_streams;
  fresh.live_events = counters.live_events;
  fresh.live_modules = counters.live_modules;
  fresh.live_allocations = counters.live_allocations;
  fresh.live_pinned = counters.live_pinned;
  fresh.live_bytes = counters.live_bytes;
  fresh.live_graphs = counters.live_graphs;
  fresh.live_graph_execs = counters.live_graph_execs;
  counters = fresh;
  calls.clear();
  errors.clear();
}

void State::enqueue(const std::shared_ptr<Stream>& stream, std::string what,
                    std::function<void(const Stream::Operation&)> run) {
  stream->clock.merge(host);
  Stream::Operation operation;
  operation.tick = {stream->number, ++stream->enqueued, std::move(what)};
  stream->clock[stream->number] = stream->enqueued;
  operation.clock = stream->clock;
  operation.device = stream->device;
  operation.run = std::move(run);
  stream->waiting.push_back(std::move(operation));
  if (settings.eager) finish(*stream, stream->enqueued);
}

void State::finish(Stream& stream, uint64_t point) {
  while (stream.done < point) {
    const Stream::Operation next = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    ++stream.done;
    next.run(next);
  }
}

void State::finish_all() {
  for (const auto& [handle, stream] : streams) finish(*stream, stream->enqueued);
  for (const auto& [thread, stream] : per_thread_) finish(*stream, stream->enqueued);
  if (legacy_) finish(*legacy_, legacy_->enqueued);
}

Allocation* State::use(const void* address, const Stream::Operation& by, bool is_write, const char* name,
                       int64_t bytes) {
  Allocation* found = memory.find(address);
  if (!found) {
    complain(by.tick.what + " uses memory that nobody allocated, or that was freed: " + name);
    lose(code::kIllegalAddress);
    return nullptr;
  }
  if (!found->is_pinned && found->device != by.device)
    complain(by.tick.what + " on GPU " + std::to_string(by.device) + " uses memory of GPU " +
             std::to_string(found->device) + ": " + name);
  Range range;
  if (bytes > 0) {
    range.begin = static_cast<const uint8_t*>(address) - found->data;
    range.end = range.begin + bytes;
    if (!found->holds(address, bytes))
      complain(by.tick.what + " reaches past the end of its allocation: " + name);
  }
  if (const std::string conflict = found->use(by.tick, by.clock, is_write, range); !conflict.empty())
    complain(conflict);
  return found;
}

}  // namespace galatea::fake_cuda
