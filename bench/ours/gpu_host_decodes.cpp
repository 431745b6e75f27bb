// See gpu_host_decodes.h. Photographs of 375 x 500, one thread, two batches in flight.
#include "bench/ours/gpu_host_decodes.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>

#include "stdlib_ops/native/nvjpeg/jpeg_decoder.h"
#include "tests/cuda/fake_cuda_control.h"
#include "tests/fake_cuda/fake_nvjpeg.h"
#include "tests/native/encoders.h"

namespace galatea::bench {
namespace {

namespace cuda = runtime::cuda;
using Clock = std::chrono::steady_clock;
using Job = std::unique_ptr<runtime::DeviceJob>;

constexpr int64_t kHeight = 375, kWidth = 500, kBytes = kHeight * kWidth * 3;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// What nvJPEG has taken so far.
double nvjpeg_microseconds() {
  static auto* const kCount = [] {
    void* library = dlopen((testing::fake_cuda_folder() + "/libnvjpeg.so.12").c_str(),
                           RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library ? reinterpret_cast<FakeNvjpegCount*>(dlsym(library, "fake_nvjpeg_count")) : nullptr;
  }();
  FakeNvjpegCounters counters;
  if (kCount) kCount(&counters);
  return 1e-3 * static_cast<double>(counters.nanoseconds);
}

struct Phase {
  std::vector<double> all, own;
  template <typename Work>
  Status time(Work work) {
    const double nvjpeg = nvjpeg_microseconds();
    const auto begin = Clock::now();
    GALATEA_TRY(work());
    all.push_back(microseconds_since(begin));
    own.push_back(all.back() - (nvjpeg_microseconds() - nvjpeg));
    return {};
  }
};

struct Cost {
  Phase begin, run;
};

Result<Cost> measure(int batch_size, int batches) {
  GALATEA_ASSIGN(auto driver, cuda::Driver::open());
  GALATEA_ASSIGN(std::shared_ptr<const cuda::Context> context, cuda::Context::open(driver, 0));
  GALATEA_ASSIGN(auto library, native::Nvjpeg::open());
  const auto device = cuda::MemoryPool::make(context, cuda::MemoryKind::kDevice);
  const auto pinned = cuda::MemoryPool::make(context, cuda::MemoryKind::kPinned);
  GALATEA_ASSIGN(auto decoder,
                 native::JpegDecoder::create(library, context, cuda::Priority::kDefault, device, pinned));
  std::vector<native::File> files;
  for (int n = 0; n < batch_size; ++n)
    files.push_back(native::encode_jpeg(native::make_picture(kHeight, kWidth, 3, static_cast<uint32_t>(n)),
                                        {.h = 2, .v = 2}));
  Cost cost;
  std::deque<cuda::MemoryBlock> in_flight;
  for (int batch = 0; batch < batches; ++batch) {
    std::vector<Job> jobs;
    const auto begin_all = [&]() -> Status {
      for (const native::File& file : files) {
        GALATEA_ASSIGN(Job job, decoder->begin({file, kHeight, kWidth}));
        jobs.push_back(std::move(job));
      }
      return {};
    };
    GALATEA_TRY(cost.begin.time(begin_all));
    if (in_flight.size() == 2) {
      GALATEA_TRY(decoder->stream()->synchronize());
      in_flight.pop_front();
    }
    GALATEA_ASSIGN(in_flight.emplace_back(), device->acquire(batch_size * kBytes, decoder->stream()));
    cuda::DevicePointer to = in_flight.back().device();
    const auto run_all = [&]() -> Status {
      for (Job& job : jobs) {
        GALATEA_TRY(decoder->run(job, to));
        to += kBytes;
      }
      return decoder->finish();
    };
    GALATEA_TRY(cost.run.time(run_all));
  }
  return cost;
}

}  // namespace

std::string measure_decodes(int batch_size, int batches) {
  const auto cost = measure(batch_size, batches);
  if (!cost) {
    fmt::print(stderr, "gpu_host_bench: {}\n", cost.error().message());
    return {};
  }
  return fmt::format(
      "{{\"batch_size\": {}, \"begin_us\": {:.1f}, \"begin_own_us\": {:.1f}, \"run_us\": {:.1f}, "
      "\"run_own_us\": {:.1f}}}\n",
      batch_size, median(cost->begin.all), median(cost->begin.own), median(cost->run.all),
      median(cost->run.own));
}

}  // namespace galatea::bench
