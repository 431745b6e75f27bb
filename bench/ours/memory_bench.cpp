// Runs a pipeline over pictures that lie in memory, through the C API, and measures batches.
//
// Comes in: a pipeline whose inputs are external_source; per input a file of raw rows that are fed in turn.
// Goes out: one line of JSON: samples, seconds; --dump FILE writes the first output of the first batch, raw.
//
// Feeding is part of what is measured, and takes no copy: pictures are read where they lie, each from a
// buffer of its own (--batches batches of them, in turn), as a library reads the arrays that it is called
// with. For every batch that arrives another is fed, so that the workers never wait.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
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

/// Memory laid out as NumPy's arrays are, which peers read: from 4 MB on it asks for large pages.
class Array {
 public:
  explicit Array(size_t size) : bytes_(static_cast<char*>(std::malloc(size)), std::free) {
    if (!bytes_) fail("out of memory for pictures");
    constexpr size_t kLarge = size_t{4} << 20, kPage = 4096;
    if (size < kLarge) return;
    const size_t offset = (kPage - reinterpret_cast<uintptr_t>(data()) % kPage) % kPage;
    madvise(data() + offset, size - offset, MADV_HUGEPAGE);  // without them it is slower, no more
  }
  char* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<char, void (*)(void*)> bytes_;
};

/// Rows for one external input: "NAME=ELEMENT:EXTENTS:FILE", extents as in 375x500x3; none: scalars.
class Input {
 public:
  Input(const std::string& text, int distinct) {
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
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (row == 0 || bytes.empty() || bytes.size() % row != 0)
      fail(fmt::format("{} holds {} bytes, which are no rows of {} bytes", path, bytes.size(), row));
    row_ = row;
    count_ = static_cast<size_t>(distinct);
    rows_.emplace(row_ * count_);
    for (size_t k = 0; k < count_; ++k)
      std::memcpy(rows_->data() + k * row, bytes.data() + k % (bytes.size() / row) * row, row);
  }

  void feed(galatea_session* session, int batch_size) {
    std::vector<galatea_tensor> samples(static_cast<size_t>(batch_size));
    for (galatea_tensor& sample : samples) {
      require(galatea_tensor_init(&sample, rows_->data() + next_ * row_, element_,
                                  static_cast<int32_t>(extents_.size()), extents_.data()));
      next_ = (next_ + 1) % count_;
    }
    // The rows outlive the session.
    require(galatea_session_feed_borrowed(session, name_.c_str(), samples.data(), batch_size, nullptr,
                                          nullptr, nullptr));
  }

 private:
  static galatea_dtype element(const std::string& name) {
    for (const Element& one : kElements)
      if (name == one.name) return one.dtype;
    fail("--input: no element type " + name);
  }

  std::string name_;
  galatea_dtype element_ = GALATEA_UINT8;
  std::vector<int64_t> extents_;
  std::optional<Array> rows_;
  size_t row_ = 0, count_ = 0, next_ = 0;
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

/// Batches in flight: those that the workers have, and one to be begun.
int batches_ahead(const Arguments& arguments) { return arguments.program.prefetch_depth + 2; }

class Flow {
 public:
  Flow(galatea_session* session, std::vector<Input>& inputs, const Arguments& arguments)
      : session_(session), inputs_(inputs), arguments_(arguments) {
    for (int i = 0; i < batches_ahead(arguments); ++i) feed();
    auto first = next();
    if (!arguments.dump.empty()) dump(first.get(), arguments.dump);
  }

  struct Measured {
    int64_t samples = 0;
    double seconds = 0, cpu_seconds = 0;
  };
  /// Batches in turn until the time is over.
  Measured run(double seconds) {
    Measured measured;
    const Clock::time_point begin = Clock::now();
    const double cpu_begin = galatea::bench::cpu_seconds();
    while (measured.seconds < seconds) {
      measured.samples += galatea_batch_num_samples(next().get());
      measured.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    measured.cpu_seconds = galatea::bench::cpu_seconds() - cpu_begin;
    return measured;
  }

 private:
  using Batch = std::unique_ptr<galatea_batch, void (*)(galatea_batch*)>;
  void feed() {
    for (Input& input : inputs_) input.feed(session_, arguments_.program.batch_size);
  }
  Batch next() {
    galatea_batch* taken = nullptr;
    require(galatea_session_next(session_, -1, &taken));
    Batch batch(taken, galatea_batch_destroy);
    galatea_tensor whole;
    if (galatea_batch_is_dense(taken, 0)) require(galatea_batch_dense_borrow(taken, 0, &whole));
    feed();
    return batch;
  }

  galatea_session* session_;
  std::vector<Input>& inputs_;
  const Arguments& arguments_;
};

int run(const Arguments& arguments) {
  galatea_engine* engine = nullptr;
  require(galatea_engine_create(&engine));
  galatea_program* program = galatea::bench::compile(engine, arguments.program);
  galatea_session* session = nullptr;
  require(galatea_session_create(program, nullptr, &session));
  std::vector<Input> inputs;
  for (const std::string& input : arguments.inputs)
    inputs.emplace_back(input, arguments.batches * arguments.program.batch_size);
  Flow flow(session, inputs, arguments);
  flow.run(std::min(arguments.seconds, 0.5));  // warm-up
  const Flow::Measured measured = flow.run(arguments.seconds);
  fmt::print("{{\"samples\": {}, \"seconds\": {:.6f}, \"cpu_seconds\": {:.6f}}}\n", measured.samples,
             measured.seconds, measured.cpu_seconds);
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
  app.add_option("--batches", arguments.batches, "batches of different buffers that are fed, in turn");
  app.add_option("--seconds", arguments.seconds, "time at least so long");
  app.add_option("--dump", arguments.dump, "write the first output of the first batch");
  app.add_flag("!--inexact", arguments.program.exact, "allow forms that change values slightly");
  CLI11_PARSE(app, count, values);
  if (arguments.batches < batches_ahead(arguments))
    fail(fmt::format("memory_bench: --batches must be at least {}", batches_ahead(arguments)));
  return run(arguments);
}
