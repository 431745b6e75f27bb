#include "tools/summary.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/json.h"

namespace galatea::tools {
namespace {

struct Shares {
  double read = 0, decode = 0, compute = 0, wait = 0;
};

/// Parts of the threads' time; together 1, or all 0 where nothing was measured.
Shares shares_of(const runtime::SessionStatistics& s) {
  const double total = s.read_seconds + s.decode_seconds + s.compute_seconds + s.wait_seconds;
  if (total <= 0) return {};
  return {s.read_seconds / total, s.decode_seconds / total, s.compute_seconds / total,
          s.wait_seconds / total};
}

double rate_of(const runtime::SessionStatistics& s) {
  return s.seconds > 0 ? static_cast<double>(s.samples) / s.seconds : 0;
}

std::string bytes_text(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1 << 30) return fmt::format("{:.2f} GiB", value / (1 << 30));
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", value / (1 << 20));
  return fmt::format("{:.0f} KiB", value / 1024);
}

std::vector<runtime::OperatorTime> slowest_first(std::vector<runtime::OperatorTime> operators) {
  std::stable_sort(operators.begin(), operators.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return operators;
}

/// Of what all operators took together.
double share_of(const runtime::OperatorTime& op, const runtime::SessionStatistics& s) {
  double total = 0;
  for (const runtime::OperatorTime& other : s.operators) total += other.seconds;
  return total > 0 ? op.seconds / total : 0;
}

double microseconds_per_sample(const runtime::OperatorTime& op, const runtime::SessionStatistics& s) {
  return s.samples > 0 ? 1e6 * op.seconds / static_cast<double>(s.samples) : 0;
}

std::string failures_text(const char* what, const std::vector<runtime::SampleFailure>& failures) {
  constexpr size_t kListed = 20;
  std::string text = fmt::format("{:<10} {}\n", what, failures.size());
  for (size_t i = 0; i < std::min(failures.size(), kListed); ++i) {
    text += fmt::format("  {}: {}\n", failures[i].source, failures[i].diagnostic.message);
  }
  if (failures.size() > kListed) text += fmt::format("  … {} more\n", failures.size() - kListed);
  return text;
}

double per_batch(int64_t count, const runtime::SessionStatistics& s) {
  return s.batches > 0 ? static_cast<double>(count) / static_cast<double>(s.batches) : 0;
}

std::string device_text(const runtime::SessionStatistics& s) {
  const runtime::DeviceStatistics& d = s.device;
  std::string text = fmt::format("device     {}: {:.1f} launches, {:.1f} uploads, {:.1f} downloads a batch\n",
                                 d.device, per_batch(d.launches, s),
                                 per_batch(d.uploads + d.parameter_uploads, s), per_batch(d.downloads, s));
  if (!d.decoder.empty()) text += fmt::format("decoding   {}: {} images\n", d.decoder, d.decodes);
  if (!d.storage.empty() || !d.host_reads_because.empty())
    text += fmt::format("reading    {}{}{}\n",
                        d.storage.empty() ? "by the host"
                                          : fmt::format("{}: {} files, {} bytes", d.storage, d.storage_reads,
                                                        d.storage_bytes),
                        d.storage.empty() || d.host_reads_because.empty() ? "" : ", the host ",
                        d.host_reads_because.empty() ? ""
                        : d.storage.empty()          ? ", since " + d.host_reads_because
                                                     : d.host_reads_because);
  if (!d.graphs_off.empty()) return text + fmt::format("graphs     off: {}\n", d.graphs_off);
  return text + fmt::format("graphs     {} of {} runs of commands ({} graphs made)\n", d.graph_launches,
                            d.graph_launches + d.plain_runs, d.graphs_made);
}

nlohmann::ordered_json device_json(const runtime::DeviceStatistics& d) {
  return {{"name", d.device},
          {"enqueues", d.enqueues},
          {"launches", d.launches},
          {"uploads", d.uploads + d.parameter_uploads},
          {"upload_bytes", d.upload_bytes},
          {"downloads", d.downloads},
          {"download_bytes", d.download_bytes},
          {"waits", d.waits},
          {"decoder", d.decoder},
          {"decodes", d.decodes},
          {"storage", d.storage},
          {"storage_reads", d.storage_reads},
          {"storage_bytes", d.storage_bytes},
          {"host_reads_because", d.host_reads_because},
          {"enqueue_seconds", d.enqueue_seconds},
          {"peak_memory_bytes", d.peak_bytes},
          {"peak_pinned_bytes", d.peak_pinned_bytes},
          {"graphs",
           {{"launches", d.graph_launches},
            {"commands", d.graph_commands},
            {"made", d.graphs_made},
            {"plain_runs", d.plain_runs},
            {"off", d.graphs_off}}}};
}

void add(std::vector<runtime::OperatorTime>& to, const runtime::OperatorTime& op) {
  const auto same = std::find_if(to.begin(), to.end(), [&](const runtime::OperatorTime& other) {
    return other.name == op.name && other.line == op.line && other.kind == op.kind;
  });
  if (same == to.end()) {
    to.push_back(op);
    return;
  }
  same->seconds += op.seconds;
  same->calls += op.calls;
}

}  // namespace

runtime::SessionStatistics together(std::vector<runtime::SessionStatistics> parts) {
  runtime::SessionStatistics out = std::move(parts.front());
  for (size_t k = 1; k < parts.size(); ++k) {
    const runtime::SessionStatistics& part = parts[k];
    out.samples += part.samples;
    out.batches += part.batches;
    out.seconds = std::max(out.seconds, part.seconds);
    out.read_seconds += part.read_seconds;
    out.decode_seconds += part.decode_seconds;
    out.compute_seconds += part.compute_seconds;
    out.wait_seconds += part.wait_seconds;
    out.peak_memory_bytes += part.peak_memory_bytes;
    for (const runtime::OperatorTime& op : part.operators) add(out.operators, op);
    out.skipped.insert(out.skipped.end(), part.skipped.begin(), part.skipped.end());
    out.replaced.insert(out.replaced.end(), part.replaced.begin(), part.replaced.end());
    out.num_skipped += part.num_skipped;
    out.num_replaced += part.num_replaced;
  }
  return out;
}

std::string summary_text(const RunSummary& summary) {
  const runtime::SessionStatistics& s = summary.statistics;
  const Shares shares = shares_of(s);
  std::string text;
  if (!summary.stopped.empty()) text += fmt::format("stopped    {}\n", summary.stopped);
  text += fmt::format("samples    {} in {} batches\n", s.samples, s.batches);
  text += fmt::format("time       {:.3f} s, {:.0f} samples/s; start-up {:.3f} s\n", s.seconds, rate_of(s),
                      summary.startup_seconds);
  text += fmt::format("share      read {:.0f} %, decode {:.0f} %, compute {:.0f} %, wait {:.0f} %\n",
                      100 * shares.read, 100 * shares.decode, 100 * shares.compute, 100 * shares.wait);
  text += fmt::format("memory     {} at most\n", bytes_text(s.peak_memory_bytes));
  if (summary.parts.empty() && !s.device.device.empty()) text += device_text(s);
  for (const runtime::SessionStatistics& part : summary.parts)
    if (!part.device.device.empty()) text += device_text(part);
  text += fmt::format("kernels    {} compiled, {} from the cache\n", summary.kernels_compiled,
                      summary.kernels_cached);
  if (summary.first_tier > 0)
    text += fmt::format(
        "tiers      {} began with quick code, {} have the best by now ({:.3f} s beside the run)\n",
        summary.first_tier, summary.replaced, summary.background_seconds);
  text += fmt::format("seed       {}\n", summary.seed);
  const auto operators = slowest_first(s.operators);
  if (!operators.empty()) text += "operators  share  µs/sample     calls  line\n";
  for (const runtime::OperatorTime& op : operators) {
    text += fmt::format("           {:>3.0f} %  {:>9.1f}  {:>8}  {:>4}  {} ({})\n", 100 * share_of(op, s),
                        microseconds_per_sample(op, s), op.calls, op.line, op.name, op.kind);
  }
  if (!s.skipped.empty()) text += failures_text("skipped", s.skipped);
  if (!s.replaced.empty()) text += failures_text("replaced", s.replaced);
  return text;
}

std::string summary_json(const RunSummary& summary) {
  using Json = nlohmann::ordered_json;
  const runtime::SessionStatistics& s = summary.statistics;
  const Shares shares = shares_of(s);
  Json operators = Json::array();
  for (const runtime::OperatorTime& op : slowest_first(s.operators)) {
    operators.push_back({{"name", op.name},
                         {"line", op.line},
                         {"kind", op.kind},
                         {"seconds", op.seconds},
                         {"share", share_of(op, s)},
                         {"microseconds_per_sample", microseconds_per_sample(op, s)},
                         {"calls", op.calls}});
  }
  Json document = {{"samples", s.samples},
                   {"batches", s.batches},
                   {"startup_seconds", summary.startup_seconds},
                   {"seconds", s.seconds},
                   {"samples_per_second", rate_of(s)},
                   {"share",
                    {{"read", shares.read},
                     {"decode", shares.decode},
                     {"compute", shares.compute},
                     {"wait", shares.wait}}},
                   {"peak_memory_bytes", s.peak_memory_bytes},
                   {"kernels",
                    {{"compiled", summary.kernels_compiled},
                     {"cached", summary.kernels_cached},
                     {"first_tier", summary.first_tier},
                     {"replaced", summary.replaced},
                     {"background_seconds", summary.background_seconds}}},
                   {"operators", std::move(operators)},
                   {"skipped", s.skipped.size()},
                   {"replaced", s.replaced.size()},
                   {"seed", summary.seed}};
  if (summary.parts.empty() && !s.device.device.empty()) document["device"] = device_json(s.device);
  for (const runtime::SessionStatistics& part : summary.parts) {
    if (part.device.device.empty()) continue;
    Json device = {{"samples", part.samples}, {"batches", part.batches}};
    device.update(device_json(part.device));
    document["devices"].push_back(std::move(device));
  }
  return json_text(document) + "\n";
}

}  // namespace galatea::tools
