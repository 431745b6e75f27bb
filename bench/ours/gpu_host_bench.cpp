// What a batch on a GPU costs the host: recording, and enqueueing by whoever is last. The fake driver of
// tests/fake_cuda takes the calls and does nothing, so that it works without a GPU.
//
// Comes in: batch size, number of batches. Goes out: one line of JSON: microseconds a batch (the least and
// the median), what of enqueueing is not the fake driver's, calls of the driver, launches, pinned memory
// taken. The program has three kernel calls a sample with ten parameters, one input of the host and an
// output on the device, as a policy has.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/ours/gpu_host_decodes.h"
#include "tests/cuda/twin_program.h"

namespace {

using galatea::DType;
using galatea::testing::FakeCuda;
using galatea::testing::TwinMaker;

std::vector<int32_t> three_calls(TwinMaker& m) {
  const int32_t source = m.source("{\"size\": 1048576}");
  const auto data = m.read(source);
  const int32_t n = m.extent(data[0], 0);
  m.device_output("bytes", DType::kU8, {7});
  const int32_t first = m.call("scale", {data[0]}, {n, m.real(1.5), m.real(2)}, DType::kU8, {n});
  const int32_t second = m.call("scale", {first}, {n, m.real(0.5), m.real(-2)}, DType::kU8, {n});
  // Its first element seven times, so that the batch has equal extents.
  const int32_t seven = m.value(7);
  const int32_t window = m.strided(second, seven, m.value(0), 0);
  return {m.call_output(0, "scale", {window}, {seven, m.real(1), m.real(3)}, DType::kU8, {seven})};
}

struct Cost {
  std::vector<double> enqueue, own, record;
};

double microseconds(std::vector<double> values, bool least) {
  std::sort(values.begin(), values.end());
  return 1e6 * (least ? values.front() : values[values.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  int batch_size = 32, batches = 400;
  bool graphs = true, decodes = false;
  CLI::App app("what a batch on a GPU costs the host");
  app.add_option("--batch-size", batch_size)->check(CLI::Range(1, 4096));
  app.add_option("--batches", batches)->check(CLI::Range(10, 100000));
  app.add_option("--graphs", graphs, "launches that come again are one call");
  app.add_flag("--decodes", decodes, "instead of the program: images that nvJPEG decodes");
  CLI11_PARSE(app, argc, argv);
  FakeCuda fake;
  if (decodes) {
    fake.execute(false);
    const std::string line = galatea::bench::measure_decodes(batch_size, batches);
    fmt::print("{}", line);
    return line.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
  }
  const auto program = galatea::testing::make_twins(three_calls, batch_size, 2).gpu;
  galatea::runtime::SessionOptions options;
  options.executor = galatea::runtime::ExecutorKind::kInline;
  options.device.graphs = graphs;
  auto session = galatea::runtime::Session::create(program, galatea::testing::twin_natives(), options);
  if (!session) {
    fmt::print(stderr, "gpu_host_bench: {}\n", session.error().message());
    return EXIT_FAILURE;
  }
  fake.execute(false);
  Cost cost;
  double enqueued = 0, recorded = 0;
  int64_t calls = 0, taken = 0;
  for (int k = -20; k < batches; ++k) {
    fake.reset();
    if (auto batch = (*session)->next(); !batch || !*batch) {
      fmt::print(stderr, "gpu_host_bench: no batch\n");
      return EXIT_FAILURE;
    }
    const auto statistics = (*session)->statistics();
    double recording = 0;
    for (const auto& each : statistics.operators)
      if (each.kind == "kernel") recording += each.seconds;
    if (k >= 0) {
      const double enqueue = statistics.device.enqueue_seconds - enqueued;
      const auto counters = fake.counters();
      cost.enqueue.push_back(enqueue);
      cost.own.push_back(enqueue - 1e-9 * static_cast<double>(counters.work_nanoseconds));
      taken += counters.pinned_allocations;
      cost.record.push_back(recording - recorded);
      calls = fake.counters().calls;
    }
    enqueued = statistics.device.enqueue_seconds;
    recorded = recording;
  }
  const auto counters = fake.counters();
  fmt::print(
      "{{\"batch_size\": {}, \"enqueue_us\": {:.1f}, \"enqueue_least_us\": {:.1f}, \"own_us\": {:.1f}, "
      "\"record_us\": {:.1f}, \"record_least_us\": {:.1f}, \"driver_calls\": {}, \"pinned_taken\": {}, "
      "\"launches\": {}, \"uploads\": {}, \"synchronizations\": {}, \"graphs\": {}, \"graph_launches\": "
      "{}}}\n",
      batch_size, microseconds(cost.enqueue, false), microseconds(cost.enqueue, true),
      microseconds(cost.own, false), microseconds(cost.record, false), microseconds(cost.record, true), calls,
      taken, counters.launches, counters.uploads, counters.synchronizations, graphs, counters.graph_launches);
  return EXIT_SUCCESS;
}
