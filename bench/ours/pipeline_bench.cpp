// Runs a pipeline through the C API and measures whole epochs.
//
// Comes in: a pipeline file, its parameters, threads, batch size. Goes out: one line of JSON: samples,
// seconds, by how much memory grew while the clock ran (then warming up was too short); with --checksum a
// number that depends on every bit of every batch. --record FILE (the program pipeline_record) also writes
// which box of which file was decoded, in the order of delivery (for decode_limit);
// --dump FILE writes the first output of the first epoch, raw.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/ours/box_recorder.h"
#include "bench/ours/host.h"
#include "include/galatea.h"

namespace {

using Clock = std::chrono::steady_clock;
using galatea::bench::cpu_seconds;
using galatea::bench::require;

struct Arguments {
  galatea::bench::ProgramSettings program;
  std::string root, record, dump;
  int warm_up = 1, epochs = 3;
  bool checksum = false;
  bool from_session = false;  ///< the clock starts before the session is made, which begins to read
};

struct File {
  explicit File(const std::string& name) : stream(name.empty() ? nullptr : std::fopen(name.c_str(), "wb")) {
    if (!name.empty() && !stream) {
      fmt::print(stderr, "pipeline_bench: cannot write {}\n", name);
      std::exit(1);
    }
  }
  ~File() {
    if (stream) std::fclose(stream);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::FILE* stream;
};

/// What is done with batches outside of timed runs.
class Inspector {
 public:
  Inspector(const Arguments& arguments, galatea::bench::BoxRecorder& recorder)
      : arguments_(arguments), recorder_(recorder), record_(arguments.record), dump_(arguments.dump) {}

  void begin_epoch(int epoch) {
    epoch_ = epoch;
    if (record_.stream) fmt::print(record_.stream, "epoch {}\n", epoch);
  }

  void see(const galatea_batch* batch) {
    for (int32_t i = 0; i < galatea_batch_num_samples(batch); ++i) {
      galatea_tensor tensor;
      require(galatea_batch_tensor_borrow(batch, 0, i, &tensor));
      auto size = static_cast<size_t>(galatea_dtype_size(tensor.dtype));
      for (int32_t axis = 0; axis < tensor.ndim; ++axis) size *= static_cast<size_t>(tensor.extents[axis]);
      if (arguments_.checksum) add(static_cast<const uint8_t*>(tensor.data), size);
      if (dump_.stream && epoch_ == 0) std::fwrite(tensor.data, 1, size, dump_.stream);
      if (record_.stream) write_box(galatea_batch_sample_name_borrow(batch, i));
    }
  }
  uint64_t checksum() const { return checksum_; }

 private:
  void add(const uint8_t* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) checksum_ = (checksum_ ^ bytes[i]) * 0x100000001B3;
  }
  void write_box(const std::string& name) {
    std::string path = arguments_.root + "/" + name;
    auto box = recorder_.last(path);
    if (!box) {
      fmt::print(stderr, "pipeline_bench: no box of {} is known (only pipeline_record sees them)\n", path);
      std::exit(1);
    }
    fmt::print(record_.stream, "{} {} {} {} {}\n", box->y0, box->x0, box->y1, box->x1, path);
  }

  const Arguments& arguments_;
  galatea::bench::BoxRecorder& recorder_;
  File record_, dump_;
  int epoch_ = 0;
  uint64_t checksum_ = 0xCBF29CE484222325;
};

/// One epoch; returns the number of samples.
int64_t run_epoch(galatea_session* session, Inspector* inspector) {
  int64_t samples = 0;
  while (true) {
    galatea_batch* batch = nullptr;
    require(galatea_session_next(session, -1, &batch));
    if (!batch) return samples;
    samples += galatea_batch_num_samples(batch);
    galatea_tensor whole;
    if (galatea_batch_is_dense(batch, 0)) require(galatea_batch_dense_borrow(batch, 0, &whole));
    if (inspector) inspector->see(batch);
    galatea_batch_destroy(batch);
  }
}

/// The most memory that the session ever had.
int64_t peak_memory(galatea_session* session) {
  char* statistics = nullptr;
  require(galatea_session_statistics_json_take(session, &statistics));
  constexpr std::string_view kName = "\"peak_memory_bytes\":";
  const char* at = std::strstr(statistics, kName.data());
  const int64_t bytes = at ? std::atoll(at + kName.size()) : 0;
  galatea_string_destroy(statistics);
  return bytes;
}

int run(const Arguments& arguments) {
  auto start = Clock::now();
  galatea::bench::BoxRecorder recorder;
  galatea_engine* engine = nullptr;
  require(recorder.make_engine(&engine));
  galatea_program* program = galatea::bench::compile(engine, arguments.program);
  galatea_session* session = nullptr;
  const auto session_begin = Clock::now();
  const double session_cpu = cpu_seconds();
  require(galatea_session_create(program, nullptr, &session));
  bool inspect = !arguments.record.empty() || !arguments.dump.empty() || arguments.checksum;
  {
    Inspector inspector(arguments, recorder);
    auto epoch = [&](int number) {
      if (inspect) inspector.begin_epoch(number);
      return run_epoch(session, inspect ? &inspector : nullptr);
    };
    for (int i = 0; i < arguments.warm_up; ++i) epoch(i);
    const int64_t memory_before = peak_memory(session);
    auto begin = arguments.from_session ? session_begin : Clock::now();
    double cpu_before = arguments.from_session ? session_cpu : cpu_seconds();
    double start_up = std::chrono::duration<double>(begin - start).count();
    int64_t samples = 0;
    for (int i = 0; i < arguments.epochs; ++i) samples += epoch(arguments.warm_up + i);
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    double cpu = cpu_seconds() - cpu_before;
    char* statistics = nullptr;
    require(galatea_session_statistics_json_take(session, &statistics));
    fmt::print(
        "{{\"samples\": {}, \"seconds\": {:.6f}, \"cpu_seconds\": {:.6f}, \"warm_up_seconds\": {:.6f}, "
        "\"grew_bytes\": {}, \"checksum\": \"{:016x}\", \"statistics\": {}}}\n",
        samples, seconds, cpu, start_up, peak_memory(session) - memory_before, inspector.checksum(),
        statistics);
    galatea_string_destroy(statistics);
  }
  galatea_session_destroy(session);
  galatea_program_destroy(program);
  galatea_engine_destroy(engine);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  CLI::App app("Runs a pipeline through the C API and measures whole epochs.");
  app.add_option("file", arguments.program.file, "the pipeline")->required();
  app.add_option("--pipeline", arguments.program.pipeline, "which pipeline of the file");
  app.add_option("--set", arguments.program.parameters, "a parameter: name=value");
  app.add_option("--root", arguments.root, "folder that sample names are relative to (for --record)");
  app.add_option("--threads", arguments.program.threads, "worker threads");
  app.add_option("--batch-size", arguments.program.batch_size, "samples in a batch");
  app.add_option("--epochs", arguments.epochs, "epochs that are timed, after those that warm up");
  app.add_option("--warm-up", arguments.warm_up, "epochs before the clock starts");
  app.add_flag("--from-session", arguments.from_session,
               "the clock starts before the session, which reads ahead (cold runs, without --warm-up)");
  app.add_option("--seed", arguments.program.seed, "seed of draws and shuffling");
  app.add_flag("!--inexact", arguments.program.exact, "allow forms that change values slightly");
  app.add_option("--record", arguments.record, "write the boxes that were decoded (not for timing)");
  app.add_option("--dump", arguments.dump, "write the first output of the first epoch (not for timing)");
  app.add_flag("--checksum", arguments.checksum, "depends on every bit of the first output (not for timing)");
  CLI11_PARSE(app, count, values);
  return run(arguments);
}
