#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "api/host_memory.h"
#include "base/json.h"

using galatea::api::guard;
using galatea::api::HostLoan;
using galatea::api::make_api_error;
using galatea::api::misuse;

namespace {

/// The host's tensor as one of ours, which borrows its memory for the length of the call.
galatea::Result<galatea::runtime::Tensor> borrow(const galatea_tensor& given, int32_t number) {
  auto refuse = [&](std::string why) {
    return galatea::make_error(galatea::ErrorKind::kUser, "G0940", fmt::format("sample {}: {}", number, why),
                               "galatea_tensor_init() fills a tensor");
  };
  // The host may have written any number; an enumeration may not hold it.
  int32_t dtype = 0;
  static_assert(sizeof dtype == sizeof given.dtype);
  std::memcpy(&dtype, &given.dtype, sizeof dtype);
  if (dtype < 0 || dtype >= galatea::kNumDTypes) return refuse(fmt::format("{} is no element type", dtype));
  if (given.ndim < 0 || given.ndim > GALATEA_MAX_RANK)
    return refuse(fmt::format("{} dimensions are not within 0 … {}", given.ndim, GALATEA_MAX_RANK));
  galatea::runtime::Tensor tensor;
  tensor.data = static_cast<uint8_t*>(given.data);
  tensor.dtype = static_cast<galatea::DType>(dtype);
  tensor.ndim = given.ndim;
  for (int d = 0; d < given.ndim; ++d) {
    tensor.extents[d] = given.extents[d];
    tensor.strides[d] = given.strides[d];
  }
  return tensor;
}

/// `loan`: what the samples' memory is lent on; null: they are copied.
galatea_error* feed(galatea_session* session, const char* input, const galatea_tensor* samples,
                    int32_t num_samples, const int64_t* ids, const std::shared_ptr<HostLoan>& loan) {
  if (!session || !input || (num_samples > 0 && !samples)) return misuse("session, input or samples is NULL");
  std::vector<galatea::runtime::Tensor> tensors;
  for (int32_t k = 0; k < num_samples; ++k) {
    auto tensor = borrow(samples[k], k);
    if (!tensor) return make_api_error(tensor.error());
    tensors.push_back(std::move(*tensor));
  }
  std::vector<int64_t> numbers;
  if (ids && num_samples > 0) numbers.assign(ids, ids + num_samples);
  const char* layout = num_samples > 0 ? samples[0].layout : nullptr;
  if (loan) galatea::api::lend(tensors, loan);
  auto status = session->late ? session->late->feed_with_layout(input, tensors, numbers, layout ? layout : "")
                              : session->session->feed(input, tensors, numbers);
  return status ? nullptr : make_api_error(status.error(), session->session->sources());
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

void galatea_session_options_init(galatea_session_options* options) {
  if (!options) return;
  *options = galatea_session_options{};
  options->size = static_cast<int32_t>(sizeof(galatea_session_options));
  options->max_held_batches = galatea::runtime::SessionOptions{}.max_held_batches;
  options->device = -1;
  options->device_graphs = 1;
}

galatea_error* galatea_session_create(const galatea_program* program, const galatea_session_options* given,
                                      galatea_session** session) {
  if (session) *session = nullptr;
  return guard([&]() -> galatea_error* {
    if (!program || !session) return misuse("program or session is NULL");
    galatea_session_options defaults;
    galatea_session_options_init(&defaults);
    const galatea_session_options& options = given ? *given : defaults;
    if (options.size != defaults.size)
      return misuse("session options were not set up by galatea_session_options_init()");
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
    out.num_threads = options.num_threads;
    out.max_held_batches = options.max_held_batches;
    out.executor =
        options.synchronous ? galatea::runtime::ExecutorKind::kInline : galatea::runtime::ExecutorKind::kCpu;
    auto sources = std::make_unique<galatea::SourceMap>();
    out.sources = sources.get();
    if (program->late) {
      // The same numbers for the same files, so that spans of the program hold here.
      for (uint32_t id = 1; const galatea::SourceFile* file = program->sources.file(id); ++id)
        sources->add(file->name(), file->text());
      auto late = std::make_unique<galatea::api::LateSession>(program->maker, *program->late, out, *sources);
      galatea::api::LateSession* alias = late.get();
      *session = new galatea_session{program->library, nullptr, std::move(sources), std::move(late), alias};
      return nullptr;
    }
    auto started = galatea::runtime::Session::create(program->program, program->library->natives, out);
    if (!started) return make_api_error(started.error(), *sources);
    *session = new galatea_session{program->library, program->program, std::move(sources),
                                   std::move(*started), nullptr};
    return nullptr;
  });
}

void galatea_session_destroy(galatea_session* session) { delete session; }

galatea_error* galatea_session_next(galatea_session* session, int64_t timeout_ms, galatea_batch** batch) {
  if (batch) *batch = nullptr;
  return guard([&]() -> galatea_error* {
    if (!session || !batch) return misuse("session or batch is NULL");
    std::optional<std::chrono::milliseconds> timeout;
    // A year is as good as forever, and cannot overflow a clock.
    constexpr int64_t kYear = int64_t{366} * 24 * 3600 * 1000;
    if (timeout_ms >= 0) timeout = std::chrono::milliseconds(std::min(timeout_ms, kYear));
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

galatea_error* galatea_tensor_init(galatea_tensor* tensor, void* data, galatea_dtype dtype, int32_t ndim,
                                   const int64_t* extents) {
  return guard([&]() -> galatea_error* {
    if (!tensor || (ndim > 0 && !extents)) return misuse("tensor or extents is NULL");
    if (galatea_dtype_size(dtype) == 0)
      return misuse(fmt::format("{} is no element type", static_cast<int>(dtype)));
    if (ndim < 0 || ndim > GALATEA_MAX_RANK)
      return misuse(fmt::format("{} dimensions are not within 0 … {}", ndim, GALATEA_MAX_RANK));
    auto bytes = galatea::runtime::dense_bytes(static_cast<galatea::DType>(dtype),
                                               {extents, static_cast<size_t>(ndim)});
    if (!bytes) return make_api_error(bytes.error());
    *tensor = galatea_tensor{};
    tensor->data = data;
    tensor->dtype = dtype;
    tensor->ndim = ndim;
    tensor->layout = "";
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; --d) {
      tensor->extents[d] = extents[d];
      tensor->strides[d] = stride;
      stride *= extents[d];
    }
    return nullptr;
  });
}

galatea_error* galatea_session_feed(galatea_session* session, const char* input,
                                    const galatea_tensor* samples, int32_t num_samples, const int64_t* ids) {
  return guard([&] { return feed(session, input, samples, num_samples, ids, nullptr); });
}

galatea_error* galatea_session_feed_borrowed(galatea_session* session, const char* input,
                                             const galatea_tensor* samples, int32_t num_samples,
                                             const int64_t* ids, void (*release)(void* context),
                                             void* context) {
  return guard([&] {
    const auto loan = std::make_shared<HostLoan>(release, context);
    galatea_error* error = feed(session, input, samples, num_samples, ids, loan);
    if (!error) loan->arm();
    return error;
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
    const std::string text = statistics_json(session->session->statistics());
    *json = static_cast<char*>(std::malloc(text.size() + 1));
    if (!*json) return galatea::api::out_of_memory();
    std::memcpy(*json, text.c_str(), text.size() + 1);
    return nullptr;
  });
}

void galatea_string_destroy(char* string) { std::free(string); }

}  // extern "C"
