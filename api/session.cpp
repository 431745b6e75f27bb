#include <algorithm>

#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "api/host_memory.h"
#include "api/host_tensor.h"
#include "api/sized.h"
#include "base/json.h"
#include "runtime/session_state.h"

using galatea::api::guard;
using galatea::api::HostLoan;
using galatea::api::make_api_error;
using galatea::api::misuse;

namespace {

/// A year is as good as forever, and cannot overflow a clock.
std::chrono::milliseconds patience_of(int64_t ms) {
  constexpr int64_t kYear = int64_t{366} * 24 * 3600 * 1000;
  return std::chrono::milliseconds(ms < 0 ? kYear : std::min(ms, kYear));
}

/// How a host feeds.
struct Feeding {
  std::shared_ptr<HostLoan> loan;           ///< what the samples' memory is lent on; null: they are copied
  std::optional<int64_t> patience_ms = {};  ///< negative: without end
};

galatea_error* feed(galatea_session* session, const char* input, const galatea_tensor* samples,
                    int32_t num_samples, const int64_t* ids, size_t tensor_size, const Feeding& how) {
  if (!session || !input || (num_samples > 0 && !samples)) return misuse("session, input or samples is NULL");
  galatea::api::HostTensors given;
  if (galatea_error* error = galatea::api::read_tensors(samples, num_samples, tensor_size, given))
    return error;
  std::vector<int64_t> numbers;
  if (ids && num_samples > 0) numbers.assign(ids, ids + num_samples);
  if (how.loan) galatea::api::lend(given.tensors, how.loan);
  galatea::runtime::FeedOptions options;
  options.layout = given.layout;
  if (how.patience_ms) options.patience = patience_of(*how.patience_ms);
  auto status = session->session->feed(input, given.tensors, numbers, options);
  return status ? nullptr : make_api_error(status.error(), session->session->sources());
}

/// A feed whose memory is lent: the host hears of its end, unless the call fails.
galatea_error* feed_borrowed(galatea_session* session, const char* input, const galatea_tensor* samples,
                             int32_t num_samples, const int64_t* ids, size_t tensor_size,
                             HostLoan::Release release, void* context, std::optional<int64_t> patience_ms) {
  const auto loan = std::make_shared<HostLoan>(release, context);
  galatea_error* error = feed(session, input, samples, num_samples, ids, tensor_size, {loan, patience_ms});
  if (!error) loan->arm();
  return error;
}

/// Has the consumer of the session wait where nothing was fed.
void make_waiting(galatea_session& session) {
  if (session.waiting) return;
  auto waiting = std::make_unique<galatea::api::WaitingSession>(std::move(session.session), session.shape);
  session.waiting = waiting.get();
  session.session = std::move(waiting);
}

nlohmann::json failures(const std::vector<galatea::runtime::SampleFailure>& list) {
  auto json = nlohmann::json::array();
  for (const auto& failure : list) {
    json.push_back({{"epoch", failure.epoch},
                    {"position", failure.position},
                    {"source", failure.source},
                    {"code", failure.diagnostic.code},
                    {"message", failure.diagnostic.message}});
  }
  return json;
}

std::string statistics_json(const galatea::runtime::SessionStatistics& s) {
  auto operators = nlohmann::json::array();
  for (const auto& time : s.operators)
    operators.push_back({{"name", time.name},
                         {"line", time.line},
                         {"kind", time.kind},
                         {"seconds", time.seconds},
                         {"calls", time.calls}});
  nlohmann::json json = {{"samples", s.samples},
                         {"batches", s.batches},
                         {"seconds", s.seconds},
                         {"read_seconds", s.read_seconds},
                         {"decode_seconds", s.decode_seconds},
                         {"compute_seconds", s.compute_seconds},
                         {"wait_seconds", s.wait_seconds},
                         {"peak_memory_bytes", s.peak_memory_bytes},
                         {"operators", operators},
                         {"num_skipped", s.num_skipped},
                         {"num_replaced", s.num_replaced},
                         {"skipped", failures(s.skipped)},
                         {"replaced", failures(s.replaced)}};
  const auto& d = s.device;
  if (!d.device.empty())
    json["device"] = {{"name", d.device},
                      {"enqueues", d.enqueues},
                      {"launches", d.launches},
                      {"calls", d.calls},
                      {"uploads", d.uploads},
                      {"parameter_uploads", d.parameter_uploads},
                      {"upload_bytes", d.upload_bytes},
                      {"downloads", d.downloads},
                      {"download_bytes", d.download_bytes},
                      {"device_copies", d.device_copies},
                      {"waits", d.waits},
                      {"storage", d.storage},
                      {"storage_reads", d.storage_reads},
                      {"storage_bytes", d.storage_bytes},
                      {"host_reads_because", d.host_reads_because},
                      {"graph_launches", d.graph_launches},
                      {"graph_commands", d.graph_commands},
                      {"graphs_made", d.graphs_made},
                      {"plain_runs", d.plain_runs},
                      {"graphs_off", d.graphs_off},
                      {"enqueue_seconds", d.enqueue_seconds},
                      {"peak_memory_bytes", d.peak_bytes},
                      {"peak_pinned_bytes", d.peak_pinned_bytes}};
  return galatea::json_text(json);
}

}  // namespace

extern "C" {

void galatea_session_options_init_sized(galatea_session_options* options, size_t options_size) {
  if (!options) return;
  galatea_session_options defaults{};
  defaults.size = static_cast<int32_t>(options_size);
  defaults.max_held_batches = galatea::runtime::SessionOptions{}.max_held_batches;
  defaults.device = -1;
  defaults.device_graphs = 1;
  galatea::api::write_struct(defaults, options, options_size);
}

void(galatea_session_options_init)(galatea_session_options* options) {
  galatea_session_options_init_sized(options, galatea::api::kFirstSessionOptionsSize);
}

galatea_error* galatea_session_create(const galatea_program* program, const galatea_session_options* given,
                                      galatea_session** session) {
  if (session) *session = nullptr;
  return guard([&]() -> galatea_error* {
    if (!program || !session) return misuse("program or session is NULL");
    galatea_session_options options;
    galatea_session_options_init(&options);
    if (given) {
      const auto size = static_cast<size_t>(std::max(given->size, 0));
      if (galatea_error* error = galatea::api::read_struct("galatea_session_options", given, size,
                                                           galatea::api::kFirstSessionOptionsSize, options))
        return error;
    }
    if (options.num_threads < 0)
      return misuse(fmt::format("num_threads is {}; it must be 0 or more", options.num_threads));
    if (options.device < -1)
      return misuse(fmt::format("device is {}; it must be the number of a GPU, or -1", options.device));
    if (options.device_memory_limit < 0)
      return misuse(
          fmt::format("device_memory_limit is {}; it must be 0 or more", options.device_memory_limit));
    galatea::runtime::SessionOptions out;
    using Priority = galatea::runtime::DevicePriority;
    out.device.number = options.device;
    out.device.priority = options.device_priority < 0   ? Priority::kLow
                          : options.device_priority > 0 ? Priority::kHigh
                                                        : Priority::kDefault;
    out.device.memory_limit = options.device_memory_limit;
    out.device.graphs = options.device_graphs != 0;
    out.shard = {.number = options.shard_id, .count = options.num_shards == 0 ? 1 : options.num_shards};
    out.num_threads = options.num_threads;
    out.max_held_batches = options.max_held_batches;
    out.executor =
        options.synchronous ? galatea::runtime::ExecutorKind::kInline : galatea::runtime::ExecutorKind::kCpu;
    if (options.state) {
      out.state = options.state;
      if (auto state = galatea::runtime::parse_session_state(out.state); !state)
        return make_api_error(state.error());
    }
    out.on_failure = [log = program->library->log](const galatea::runtime::SampleFailure& failure,
                                                   bool replaced) {
      log->tell(GALATEA_LOG_WARNING,
                fmt::format("epoch {}, sample {} ({}) {}: [{}] {}", failure.epoch, failure.position,
                            failure.source, replaced ? "was replaced" : "was left out",
                            failure.diagnostic.code, failure.diagnostic.message));
    };
    auto result = std::make_unique<galatea_session>();
    result->library = program->library;
    result->sources = std::make_unique<galatea::SourceMap>();
    galatea::SourceMap& sources = *result->sources;
    out.sources = &sources;
    result->shape.synchronous = options.synchronous != 0;
    if (program->late) {
      // The same numbers for the same files, so that spans of the program hold here.
      sources.add_all(program->sources);
      for (const auto& input : program->late->inputs) result->shape.inputs.push_back(input.name);
      result->shape.batch_size = program->late->options.batch_size;
      result->shape.limits_memory = program->late->options.memory_limit > 0;
      result->late = program->late;
      result->session =
          std::make_unique<galatea::api::LateSession>(program->maker, *program->late, out, sources);
    } else {
      for (const auto& input : program->program->external_inputs) {
        result->shape.inputs.push_back(input.port.name);
        result->shape.has_parts |= input.parts >= 0;
      }
      result->shape.batch_size = program->program->batch_size;
      result->shape.limits_memory = program->program->memory_limit > 0;
      auto started = galatea::runtime::Session::create(program->program, program->library->natives, out);
      if (!started) return make_api_error(started.error(), sources);
      result->program = program->program;
      result->session = std::move(*started);
    }
    if (options.wait_for_feed) make_waiting(*result);
    *session = result.release();
    return nullptr;
  });
}

void galatea_session_destroy(galatea_session* session) { delete session; }

galatea_error* galatea_session_next(galatea_session* session, int64_t timeout_ms, galatea_batch** batch) {
  if (batch) *batch = nullptr;
  return guard([&]() -> galatea_error* {
    if (!session || !batch) return misuse("session or batch is NULL");
    std::optional<std::chrono::milliseconds> timeout;
    if (timeout_ms >= 0) timeout = patience_of(timeout_ms);
    auto result = session->session->next(timeout);
    if (!result) return make_api_error(result.error(), session->session->sources());
    if (!*result) return nullptr;
    auto out = std::make_unique<galatea_batch>();
    out->batch = std::move(**result);
    for (const auto& output : out->batch->outputs)
      out->dense_layouts.push_back(
          output.spec.port.layout_text().empty() ? "" : "N" + output.spec.port.layout_text());
    *batch = out.release();
    return nullptr;
  });
}

galatea_error* galatea_tensor_init_sized(galatea_tensor* tensor, void* data, galatea_dtype dtype,
                                         int32_t ndim, const int64_t* extents, size_t tensor_size) {
  return guard([&]() -> galatea_error* {
    if (!tensor || (ndim > 0 && !extents)) return misuse("tensor or extents is NULL");
    if (galatea_error* error =
            galatea::api::check_struct_size("galatea_tensor", tensor_size, galatea::api::kFirstTensorSize))
      return error;
    if (galatea_dtype_size(dtype) == 0)
      return misuse(fmt::format("{} is no element type", static_cast<int>(dtype)));
    if (ndim < 0 || ndim > GALATEA_MAX_RANK)
      return misuse(fmt::format("{} dimensions are not within 0 … {}", ndim, GALATEA_MAX_RANK));
    auto bytes = galatea::runtime::dense_bytes(static_cast<galatea::DType>(dtype),
                                               {extents, static_cast<size_t>(ndim)});
    if (!bytes) return make_api_error(bytes.error());
    galatea_tensor out{};
    out.data = data;
    out.dtype = dtype;
    out.ndim = ndim;
    out.layout = "";
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; --d) {
      out.extents[d] = extents[d];
      out.strides[d] = stride;
      stride *= extents[d];
    }
    galatea::api::write_struct(out, tensor, tensor_size);
    return nullptr;
  });
}

galatea_error*(galatea_tensor_init)(galatea_tensor* tensor, void* data, galatea_dtype dtype, int32_t ndim,
                                    const int64_t* extents) {
  return galatea_tensor_init_sized(tensor, data, dtype, ndim, extents, galatea::api::kFirstTensorSize);
}

galatea_error* galatea_session_feed_sized(galatea_session* session, const char* input,
                                          const galatea_tensor* samples, int32_t num_samples,
                                          const int64_t* ids, size_t tensor_size) {
  return guard([&] { return feed(session, input, samples, num_samples, ids, tensor_size, {}); });
}

galatea_error*(galatea_session_feed)(galatea_session* session, const char* input,
                                     const galatea_tensor* samples, int32_t num_samples, const int64_t* ids) {
  return galatea_session_feed_sized(session, input, samples, num_samples, ids,
                                    galatea::api::kFirstTensorSize);
}

galatea_error* galatea_session_feed_borrowed_sized(galatea_session* session, const char* input,
                                                   const galatea_tensor* samples, int32_t num_samples,
                                                   const int64_t* ids, void (*release)(void* context),
                                                   void* context, size_t tensor_size) {
  return guard([&] {
    return feed_borrowed(session, input, samples, num_samples, ids, tensor_size, release, context, {});
  });
}

galatea_error*(galatea_session_feed_borrowed)(galatea_session* session, const char* input,
                                              const galatea_tensor* samples, int32_t num_samples,
                                              const int64_t* ids, void (*release)(void* context),
                                              void* context) {
  return galatea_session_feed_borrowed_sized(session, input, samples, num_samples, ids, release, context,
                                             galatea::api::kFirstTensorSize);
}

galatea_error* galatea_session_feed_within_sized(galatea_session* session, int64_t timeout_ms,
                                                 const char* input, const galatea_tensor* samples,
                                                 int32_t num_samples, const int64_t* ids,
                                                 void (*release)(void* context), void* context,
                                                 size_t tensor_size) {
  return guard([&] {
    return release ? feed_borrowed(session, input, samples, num_samples, ids, tensor_size, release, context,
                                   timeout_ms)
                   : feed(session, input, samples, num_samples, ids, tensor_size, {nullptr, timeout_ms});
  });
}

galatea_error* galatea_session_pull_input(galatea_session* session, const char* name,
                                          const galatea_pulled_input* given) {
  return guard([&]() -> galatea_error* {
    if (!session || !name || !given) return misuse("session, name or input is NULL");
    galatea_pulled_input host;
    if (galatea_error* error = galatea::api::read_struct("galatea_pulled_input", given,
                                                         static_cast<size_t>(std::max(given->size, 0)),
                                                         galatea::api::kFirstPulledInputSize, host))
      return error;
    if (!host.pull) return misuse("pull is NULL: nothing can make samples");
    make_waiting(*session);
    auto status = session->waiting->pull_input(name, std::make_unique<galatea::api::PulledInput>(name, host));
    return status ? nullptr : make_api_error(status.error(), session->session->sources());
  });
}

galatea_error* galatea_session_end_of_feed(galatea_session* session) {
  return guard([&]() -> galatea_error* {
    if (!session) return misuse("session is NULL");
    auto status = session->session->end_of_feed();
    return status ? nullptr : make_api_error(status.error(), session->session->sources());
  });
}

int64_t galatea_session_epoch_size(const galatea_session* session) {
  return session ? session->session->epoch_size() : -1;
}

void galatea_session_cancel(galatea_session* session) {
  if (session) session->session->cancel();
}

galatea_error* galatea_session_statistics_json_take(const galatea_session* session, char** json) {
  if (json) *json = nullptr;
  return guard([&]() -> galatea_error* {
    if (!session || !json) return misuse("session or json is NULL");
    return galatea::api::take_string(statistics_json(session->session->statistics()), json);
  });
}

galatea_error* galatea_session_ports_json_take(const galatea_session* session, char** json) {
  if (json) *json = nullptr;
  return guard([&]() -> galatea_error* {
    if (!session || !json) return misuse("session or json is NULL");
    const auto* late = session->late ? &*session->late : nullptr;
    return galatea::api::take_string(galatea::api::ports_json(session->session->program(), late), json);
  });
}

galatea_error* galatea_session_state_take(const galatea_session* session, char** state) {
  if (state) *state = nullptr;
  return guard([&]() -> galatea_error* {
    if (!session || !state) return misuse("session or state is NULL");
    auto text = session->session->state();
    if (!text) return make_api_error(text.error(), session->session->sources());
    return galatea::api::take_string(*text, state);
  });
}

}  // extern "C"
