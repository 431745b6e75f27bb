// The limit of pipelines over pictures in memory: nothing but reading their bytes and writing the result's.
//
// Comes in: bytes in and out per sample, threads, how many samples lie in memory. Goes out: one line of JSON
// with samples and seconds, and the form that was taken. The inputs are as many different buffers as the
// contestants have; the outputs go round in three batches; both lie in huge pages where the system has them.
// Which way is the fastest depends on the machine and on what its caches hold, so all are tried: vectors of
// every width that the processor has, results past the caches or through them, the input asked for a page
// ahead or not.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/limit/stream_form.h"

namespace {

struct Arguments {
  size_t bytes_in = 0, bytes_out = 0, distinct = 64, batch = 16;
  int threads = 1;
  double seconds = 0.3;
};

struct Way {
  int width = 0;  ///< of vectors, in bytes
  StreamFunction run = nullptr;
  StreamForm form;

  std::string words() const {
    return fmt::format("vectors of {} bytes, {} bytes in a row, results {} the caches{}", width, form.block,
                       form.past_cache ? "past" : "through", form.ahead ? ", asked for ahead" : "");
  }
};

std::vector<Way> all_ways() {
  std::vector<Way> widths = {{16, stream_by_16, {}}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) widths.push_back({32, stream_by_32, {}});
  if (__builtin_cpu_supports("avx512f")) widths.push_back({64, stream_by_64, {}});
#endif
  std::vector<Way> ways;
  for (const Way& width : widths)
    for (const bool past_cache : {false, true})
      for (const bool ahead : {false, true})
        for (const size_t block : {size_t{256}, kPage})
          ways.push_back({width.width, width.run, {past_cache, ahead, block}});
  return ways;
}

constexpr size_t kHugePage = size_t{1} << 21;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<uint8_t, Free>;

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

Memory allocate(size_t bytes) {
  bytes = rounded(bytes, kHugePage);
  Memory memory(static_cast<uint8_t*>(std::aligned_alloc(kHugePage, bytes)));
  if (!memory) {
    fmt::print(stderr, "stream_limit: no memory for {} bytes\n", bytes);
    std::exit(1);
  }
#if defined(MADV_HUGEPAGE)
  (void)::madvise(memory.get(), bytes, MADV_HUGEPAGE);  // a wish
#endif
  std::memset(memory.get(), 1, bytes);
  return memory;
}

class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments),
        in_step_(rounded(arguments.bytes_in, kPage)),
        out_step_(rounded(arguments.bytes_out, kPage)),
        num_outputs_(3 * arguments.batch),
        in_(allocate(in_step_ * arguments.distinct + kPage)),  // what is asked for ahead
        out_(allocate(out_step_ * num_outputs_)) {}

  /// All inputs, `passes` times; returns the seconds.
  double run(const Way& way, size_t passes) {
    std::atomic<size_t> next = 0;
    const size_t samples = passes * arguments_.distinct;
    auto work = [&] {
      for (size_t i = next++; i < samples; i = next++)
        way.run(in_.get() + i % arguments_.distinct * in_step_, arguments_.bytes_in,
                out_.get() + i % num_outputs_ * out_step_, arguments_.bytes_out, way.form);
    };
    const auto begin = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < arguments_.threads; ++i) others.emplace_back(work);
      work();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  const Arguments arguments_;
  const size_t in_step_, out_step_, num_outputs_;
  Memory in_, out_;
};

/// By the least of a few runs, in turns.
Way fastest(Bench& bench, const std::vector<Way>& ways) {
  constexpr int kRounds = 2;
  Way best;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round)
    for (const Way& way : ways)
      if (const double seconds = bench.run(way, 1); seconds < least) least = seconds, best = way;
  return best;
}

double cpu_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  CLI::App app("Reads and writes as many bytes per sample as a pipeline does, and nothing else.");
  app.add_option("--in", arguments.bytes_in, "bytes read per sample")->required();
  app.add_option("--out", arguments.bytes_out, "bytes written per sample")->required();
  app.add_option("--distinct", arguments.distinct, "samples that lie in memory")->check(CLI::PositiveNumber);
  app.add_option("--batch-size", arguments.batch, "samples in a batch")->check(CLI::PositiveNumber);
  app.add_option("--threads", arguments.threads, "threads")->check(CLI::PositiveNumber);
  app.add_option("--seconds", arguments.seconds, "time at least so long");
  CLI11_PARSE(app, count, values);
  Bench bench(arguments);
  const Way way = fastest(bench, all_ways());
  const double once = bench.run(way, 1), cpu_begin = cpu_seconds();
  const auto passes = static_cast<size_t>(std::clamp(arguments.seconds / once, 0.0, 1e6)) + 1;
  const double seconds = bench.run(way, passes);
  fmt::print("{{\"samples\": {}, \"seconds\": {:.6f}, \"cpu_seconds\": {:.6f}, \"way\": \"{}\"}}\n",
             passes * arguments.distinct, seconds, cpu_seconds() - cpu_begin, way.words());
  return 0;
}
