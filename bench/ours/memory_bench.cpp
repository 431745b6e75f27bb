// Runs a pipeline over pictures that lie in memory, through the C API, and measures batches.
//
// Comes in: a pipeline whose inputs are external_source; per input a file of raw rows that are fed in turn.
// Goes out: one line of JSON: samples, seconds; --dump FILE writes the first output of the first batch, raw.
//
// Feeding copies, and is not what is measured: all batches of an epoch are fed before the first is taken. The
// workers are ahead by the prefetch depth then, so the clock starts when a batch arrives that had to be
// waited for, and stops at the last one. In between the workers never wait and make exactly the batches that
// count.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/ours/host.h"
#include "include/galatea.h"

namespace {

using galatea::bench::fail;
using galatea::bench::require;
using Clock = std::chrono::steady_clock;

struct Arguments {
  galatea::bench::ProgramSettings program;
  std::vector<std::string> inputs;
  std::string dump;
  int batches = 16;
  double seconds = 0.3;
};

struct Element {
  const char* name;
  galatea_dtype dtype;
};
constexpr Element kElements[] = {{"u8", GALATEA_UINT8}, {"i32", GALATEA_INT32}, {"f32", GALATEA_FLOAT}};

/// Rows for one external input: "NAME=ELEMENT:EXTENTS:FILE", extents as in 375x500x3; none: scalars.
class Input {
 public:
  explicit Input(const std::string& text) {
    size_t equals = text.find('='), first = text.find(':'), second = text.find(':', first + 1);
    if (equals == std::string::npos || second == std::string::npos)
      fail("--input wants NAME=ELEMENT:EXTENTS:FILE, not " + text);
    name_ = text.substr(0, equals);
    element_ = element(text.substr(equals + 1, first - equals - 1));
    std::istringstream extents(text.substr(first + 1, second - first - 1));
    for (std::string extent; std::getline(extents, extent, 'x');) extents_.push_back(std::stoll(extent));
    auto row = static_cast<size_t>(galatea_dtype_size(element_));
    for (int64_t extent : extents_) row *= static_cast<size_t>(extent);
    std::string path = text.substr(second + 1);
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    if (row == 0 || bytes_.empty() || bytes_.size() % row != 0)
      fail(fmt::format("{} holds {} bytes, which are no rows of {} bytes", path, bytes_.size(), row));
    row_bytes_ = row;
  }

  void feed(galatea_session* session, int batch_size) {
    std::vector<galatea_tensor> samples(static_cast<size_t>(batch_size));
    for (galatea_tensor& sample : samples) {
      require(galatea_tensor_init(&sample, bytes_.data() + next_ * row_bytes_, element_,
                                  static_cast<int32_t>(extents_.size()), extents_.data()));
      next_ = (next_ + 1) % (bytes_.size() / row_bytes_);
    }
    require(galatea_session_feed(session, name_.c_str(), samples.data(), batch_size, nullptr));
  }
  void rewind() { next_ = 0; }

 private:
  static galatea_dtype element(const std::string& name) {
    for (const Element& one : kElements)
      if (name == one.name) return one.dtype;
    fail("--input: no element type " + name);
  }

  std::string name_;
  galatea_dtype element_ = GALATEA_UINT8;
  std::vector<int64_t> extents_;
  std::vector<char> bytes_;
  size_t row_bytes_ = 0, next_ = 0;
};

void dump(const galatea_batch* batch, const std::string& name) {
  std::FILE* out = std::fopen(name.c_str(), "wb");
  if (!out) fail("cannot write " + name);
  for (int32_t i = 0; i < galatea_batch_num_samples(batch); ++i) {
    galatea_tensor tensor;
    require(galatea_batch_tensor_borrow(batch, 0, i, &tensor));
    auto size = static_cast<size_t>(galatea_dtype_size(tensor.dtype));
    for (int32_t axis = 0; axis < tensor.ndim; ++axis) size *= static_cast<size_t>(tensor.extents[axis]);
    std::fwrite(tensor.data, 1, size, out);
  }
  if (std::fclose(out) != 0) fail("cannot write " + name);
}

struct Measured {
  int64_t samples = 0;
  double seconds = 0, cpu_seconds = 0;
};

Measured run_epoch(galatea_session* session, std::vector<Input>& inputs, const Arguments& arguments,
                   const std::string& dump_to) {
  for (Input& input : inputs) input.rewind();
  for (int i = 0; i < arguments.batches; ++i)
    for (Input& input : inputs) input.feed(session, arguments.program.batch_size);
  require(galatea_session_end_of_feed(session));
  Measured measured;
  const int ahead = arguments.program.prefetch_depth + 1;
  Clock::time_point begin, end;
  double cpu_begin = 0;
  for (int index = 0;; ++index) {
    galatea_batch* batch = nullptr;
    require(galatea_session_next(session, -1, &batch));
    if (!batch) break;
    galatea_tensor whole;
    if (galatea_batch_is_dense(batch, 0)) require(galatea_batch_dense_borrow(batch, 0, &whole));
    end = Clock::now();
    if (index == ahead - 1) {
      begin = end;
      cpu_begin = galatea::bench::cpu_seconds();
    }
    if (index >= ahead) measured.samples += galatea_batch_num_samples(batch);
    if (index == arguments.batches - 1) measured.cpu_seconds = galatea::bench::cpu_seconds() - cpu_begin;
    if (index == 0 && !dump_to.empty()) dump(batch, dump_to);
    galatea_batch_destroy(batch);
  }
  measured.seconds = std::chrono::duration<double>(end - begin).count();
  return measured;
}

int run(const Arguments& arguments) {
  galatea_engine* engine = nullptr;
  require(galatea_engine_create(&engine));
  galatea_program* program = galatea::bench::compile(engine, arguments.program);
  galatea_session* session = nullptr;
  require(galatea_session_create(program, nullptr, &session));
  std::vector<Input> inputs(arguments.inputs.begin(), arguments.inputs.end());
  run_epoch(session, inputs, arguments, arguments.dump);  // warm-up
  Measured sum;
  while (sum.seconds < arguments.seconds) {
    Measured epoch = run_epoch(session, inputs, arguments, "");
    sum.samples += epoch.samples;
    sum.seconds += epoch.seconds;
    sum.cpu_seconds += epoch.cpu_seconds;
  }
  fmt::print("{{\"samples\": {}, \"seconds\": {:.6f}, \"cpu_seconds\": {:.6f}}}\n", sum.samples, sum.seconds,
             sum.cpu_seconds);
  galatea_session_destroy(session);
  galatea_program_destroy(program);
  galatea_engine_destroy(engine);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  arguments.program.prefetch_depth = 2;
  CLI::App app("Runs a pipeline over pictures in memory through the C API and measures batches.");
  app.add_option("file", arguments.program.file, "the pipeline")->required();
  app.add_option("--pipeline", arguments.program.pipeline, "which pipeline of the file");
  app.add_option("--set", arguments.program.parameters, "a parameter: name=value");
  app.add_option("--input", arguments.inputs, "an external input: NAME=ELEMENT:EXTENTS:FILE of raw rows")
      ->required();
  app.add_option("--threads", arguments.program.threads, "worker threads");
  app.add_option("--batch-size", arguments.program.batch_size, "samples in a batch");
  app.add_option("--batches", arguments.batches,
                 "batches in an epoch; all are fed before the first is taken");
  app.add_option("--seconds", arguments.seconds, "time at least so long");
  app.add_option("--dump", arguments.dump, "write the first output of the first batch");
  app.add_flag("!--inexact", arguments.program.exact, "allow forms that change values slightly");
  CLI11_PARSE(app, count, values);
  if (arguments.batches < arguments.program.prefetch_depth + 3)
    fail(fmt::format("memory_bench: --batches must be at least {}", arguments.program.prefetch_depth + 3));
  return run(arguments);
}
