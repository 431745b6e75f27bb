#include "tests/pipelines/pipeline_runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/scalar_op.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "tests/native/encoders.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

struct Extents {
  int h = 1, w = 1;
};

/// Four images: a common size, a flat one, a high one, and now and then a single pixel.
std::vector<Extents> image_extents(std::mt19937_64& random) {
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  std::vector<Extents> out = {{8 + below(12), 8 + below(12)}, {7 + below(3), 17 + below(20)}};
  out.push_back({20 + below(10), 6 + below(4)});
  out.push_back(below(4) == 0 ? Extents{6, 6} : Extents{9 + below(8), 11 + below(8)});
  return out;
}

native::Picture picture(Extents extents, std::mt19937_64& random) {
  native::Picture out(extents.h, extents.w, 3);
  // Smooth with noise on top, so that both rounding and clamping happen.
  const double fy = static_cast<double>(random() % 100) / 200, fx = static_cast<double>(random() % 100) / 200;
  for (int y = 0; y < extents.h; ++y)
    for (int x = 0; x < extents.w; ++x)
      for (int c = 0; c < 3; ++c) {
        const double wave = 128 + 120 * std::sin(fy * y + fx * x + 2 * c);
        out.at(y, x, c) = std::clamp(static_cast<int>(wave) + static_cast<int>(random() % 41) - 20, 0, 255);
      }
  return out;
}

Result<runtime::Tensor> tensor_of(runtime::Allocator& allocator, const std::string& input,
                                  const native::Picture& from) {
  if (input == "encoded") {
    const native::File file = native::encode_bmp(from, {});
    GALATEA_ASSIGN(runtime::Tensor tensor,
                   runtime::allocate_tensor(allocator, DType::kU8, {static_cast<int64_t>(file.size())}));
    std::memcpy(tensor.data, file.data(), file.size());
    return tensor;
  }
  GALATEA_ASSIGN(runtime::Tensor tensor,
                 runtime::allocate_tensor(allocator, DType::kU8, {from.height, from.width, 3}));
  for (size_t i = 0; i < from.values.size(); ++i) tensor.data[i] = static_cast<uint8_t>(from.values[i]);
  return tensor;
}

/// The bytes of a sample; payloads and signs of NaN carry no meaning.
std::string bytes_of(const runtime::Tensor& tensor) {
  std::string out(reinterpret_cast<const char*>(tensor.data),
                  static_cast<size_t>(tensor.volume() * size_of(tensor.dtype)));
  if (tensor.dtype != DType::kF32) return out;
  for (size_t at = 0; at + 4 <= out.size(); at += 4) {
    float value = 0;
    std::memcpy(&value, out.data() + at, 4);
    if (std::isnan(value)) out.replace(at, 4, "NaN.");
  }
  return out;
}

std::string words(const Error& error, const SourceMap& sources) {
  std::string out;
  for (const Diagnostic& d : error.diagnostics) out += render_text(d, sources);
  return out.empty() ? error.message() : out;
}

}  // namespace

std::vector<runtime::Tensor> feed_of(runtime::Allocator& allocator, const std::string& input, uint64_t images,
                                     int scale) {
  std::mt19937_64 random(images);
  std::vector<runtime::Tensor> samples;
  for (const Extents& extents : image_extents(random)) {
    const int by = input == "other" ? 1 : scale;
    auto tensor = tensor_of(allocator, input, picture({extents.h * by, extents.w * by}, random));
    GALATEA_CHECK(tensor.has_value(), "no memory for a test's image");
    samples.push_back(std::move(*tensor));
  }
  return samples;
}

namespace {

void add_samples(const runtime::Batch& batch, PipelineOutcome& out) {
  out.outputs.resize(batch.outputs.size());
  for (size_t o = 0; o < batch.outputs.size(); ++o) {
    for (const runtime::Tensor& sample : batch.outputs[o].samples) {
      std::string head = fmt::format("{} [", short_name(sample.dtype));
      for (int d = 0; d < sample.ndim; ++d) head += fmt::format("{},", sample.extents[d]);
      out.outputs[o].push_back(head + "]" + bytes_of(sample));
    }
  }
}

}  // namespace

int batch_size_of_example(const std::string& text) {
  return text.contains("external_source") ? 4 : static_cast<int>(scaled(4, 2));
}

PipelineOutcome run_pipeline(const std::string& text, uint64_t images, const PipelineWay& way,
                             const std::string& data) {
  PipelineOutcome out;
  SourceMap sources;
  dsl::FrontendOptions frontend;
  frontend.host.batch_size = way.batch_size;
  frontend.host.device = way.gpu ? "gpu" : "cpu";
  if (!data.empty() && text.find("(data: str") != std::string::npos)
    frontend.parameters.emplace_back("data", data);
  dsl::FrontendResult staged =
      dsl::stage_pipeline("pipeline.dali-dsl", text, frontend, product().registry, sources);
  if (!staged.ok) {
    out.staging = "refused";
    for (const Diagnostic& d : staged.diagnostics) out.staging += "\n" + render_text(d, sources);
    return out;
  }
  if (staged.graphs.empty()) {
    out.error = "the first batch that is fed decides what the pipeline is";
    return out;
  }
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = way.backend;
  options.fuse = way.fuse;
  options.run_passes = way.passes;
  options.gpu = way.gpu;
  options.outputs_on_cpu = true;
  auto program = compile(*staged.graphs.at(0), sources, options);
  if (!program) {
    out.error = words(program.error(), sources);
    return out;
  }
  out.program = *program;
  runtime::SessionOptions session_options;
  session_options.executor = way.threads > 1 ? runtime::ExecutorKind::kCpu : runtime::ExecutorKind::kInline;
  session_options.num_threads = way.threads;
  session_options.sources = &sources;
  session_options.device.graphs = way.graphs;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  if (!session) {
    out.error = words(session.error(), sources);
    return out;
  }
  runtime::Allocator allocator;
  for (const runtime::ExternalInput& input : (*program)->external_inputs) {
    const std::vector<runtime::Tensor> samples = feed_of(allocator, input.port.name, images, way.scale);
    if (Status fed = (*session)->feed(input.port.name, samples); !fed)
      out.error = words(fed.error(), sources);
  }
  if (!(*program)->external_inputs.empty())
    if (Status end = (*session)->end_of_feed(); !end) out.error = words(end.error(), sources);
  if (!out.error.empty()) return out;
  for (int turn = 0; turn < way.batches; ++turn) {
    auto batch = (*session)->next();
    if (batch && !*batch) batch = (*session)->next();  // the next epoch's
    if (!batch || !*batch) {
      out.error = batch ? "no batch" : words(batch.error(), sources);
      return out;
    }
    add_samples(***batch, out);
  }
  out.device = (*session)->statistics().device;
  return out;
}

std::string difference(const PipelineOutcome& expected, const PipelineOutcome& found) {
  if (expected.staging != found.staging) return "one is a pipeline, the other is not";
  if (expected.error.empty() != found.error.empty())
    return "one fails, the other does not:\n" + expected.error + found.error;
  if (!expected.error.empty()) return {};
  if (expected.outputs.size() != found.outputs.size()) return "another number of outputs";
  for (size_t o = 0; o < expected.outputs.size(); ++o) {
    if (expected.outputs[o].size() != found.outputs[o].size()) return "another number of samples";
    for (size_t s = 0; s < expected.outputs[o].size(); ++s) {
      const std::string &a = expected.outputs[o][s], &b = found.outputs[o][s];
      if (a == b) continue;
      const std::string head_a = a.substr(0, a.find(']') + 1), head_b = b.substr(0, b.find(']') + 1);
      if (head_a != head_b) return fmt::format("output {}, sample {}: {} and {}", o, s, head_a, head_b);
      size_t count = 0, first = a.size();
      for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i] == b[i]) continue;
        ++count;
        first = std::min(first, i);
      }
      const size_t at = first - head_a.size();
      return fmt::format(
          "output {}, sample {}, {}: {} of {} bytes, the first at byte {}: {:#04x} and {:#04x}", o, s, head_a,
          count, a.size() - head_a.size(), at, static_cast<uint8_t>(a[first]),
          static_cast<uint8_t>(b[first]));
    }
  }
  return {};
}

}  // namespace galatea::testing
