// The limit of pipelines over pictures in memory: nothing but reading their bytes and writing the result's.
//
// Comes in: bytes in and out per sample, threads, how many samples lie in memory. Goes out: one line of JSON
// with samples and seconds. The inputs are as many different buffers as the contestants have; the outputs go
// round in three batches, past the caches where the machine can. Blocks of both alternate, so that reads and
// writes overlap as in a kernel.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

struct Arguments {
  size_t bytes_in = 0, bytes_out = 0, distinct = 64, batch = 16;
  int threads = 1;
  double seconds = 0.3;
};

constexpr size_t kLine = 64;
constexpr size_t kBlock = 4096;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<uint8_t, Free>;

size_t rounded(size_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

Memory allocate(size_t bytes) {
  Memory memory(static_cast<uint8_t*>(std::aligned_alloc(kBlock, bytes)));
  if (!memory) {
    fmt::print(stderr, "stream_limit: no memory for {} bytes\n", bytes);
    std::exit(1);
  }
  std::memset(memory.get(), 1, bytes);
  return memory;
}

#if defined(__SSE2__)
using Line = __m128i;
Line load(const uint8_t* from) { return _mm_load_si128(reinterpret_cast<const __m128i*>(from)); }
Line fold(Line a, Line b) { return _mm_xor_si128(a, b); }
void store(uint8_t* to, Line value) { _mm_stream_si128(reinterpret_cast<__m128i*>(to), value); }
#else
using Line = uint64_t;
Line load(const uint8_t* from) { return *reinterpret_cast<const uint64_t*>(from); }
Line fold(Line a, Line b) { return a ^ b; }
void store(uint8_t* to, Line value) { *reinterpret_cast<uint64_t*>(to) = value; }
#endif

/// Reads all of `in` and writes all of `out`, in step with each other.
void stream(const uint8_t* in, size_t bytes_in, uint8_t* out, size_t bytes_out) {
  const size_t steps = (std::max(bytes_in, bytes_out) + kBlock - 1) / kBlock;
  Line sum = {};
  size_t read = 0, written = 0;
  for (size_t step = 1; step <= steps; ++step) {
    const size_t read_end = bytes_in * step / steps / kLine * kLine;
    const size_t write_end = bytes_out * step / steps / kLine * kLine;
    for (; read < read_end; read += sizeof(Line)) sum = fold(sum, load(in + read));
    for (; written < write_end; written += sizeof(Line)) store(out + written, sum);
  }
}

class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments),
        in_step_(rounded(arguments.bytes_in)),
        out_step_(rounded(arguments.bytes_out)),
        num_outputs_(3 * arguments.batch),
        in_(allocate(in_step_ * arguments.distinct)),
        out_(allocate(out_step_ * num_outputs_)) {}

  /// All inputs once; returns the seconds.
  double pass() {
    std::atomic<size_t> next = 0;
    auto begin = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < arguments_.threads; ++i) threads.emplace_back([&] { work(next); });
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  void work(std::atomic<size_t>& next) {
    for (size_t i = next++; i < arguments_.distinct; i = next++)
      stream(in_.get() + i * in_step_, arguments_.bytes_in, out_.get() + i % num_outputs_ * out_step_,
             arguments_.bytes_out);
  }

  const Arguments arguments_;
  const size_t in_step_, out_step_, num_outputs_;
  Memory in_, out_;
};

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
  bench.pass();
  double seconds = 0, cpu_begin = cpu_seconds();
  size_t samples = 0;
  while (seconds < arguments.seconds) {
    seconds += bench.pass();
    samples += arguments.distinct;
  }
  fmt::print("{{\"samples\": {}, \"seconds\": {:.6f}, \"cpu_seconds\": {:.6f}}}\n", samples, seconds,
             cpu_seconds() - cpu_begin);
  return 0;
}
