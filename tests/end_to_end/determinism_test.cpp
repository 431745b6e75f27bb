// Every example, end to end: one sample's values are the same bits whatever the batch size, threads, prefetch
// depth, shards, fusion, backend or executor.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/support/build_folder.h"
#include "tests/support/product.h"
#include "tests/support/tiers.h"

namespace galatea {
namespace {

using testing::product;

/// How a pipeline is run.
struct Way {
  std::string name;
  int batch_size = 8, threads = 2, prefetch = 2;
  bool fuse = true;
  std::string backend = "llvm";
  runtime::ExecutorKind executor = runtime::ExecutorKind::kCpu;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string on_error = "raise";
};

struct Outcome {
  std::map<int64_t, uint64_t> hash_of_sample;  ///< by number in the data set
  std::vector<int64_t> order;
  runtime::SessionStatistics statistics;
  std::string error;  ///< code and message of the first failure, with its place
};

uint64_t hash_bytes(uint64_t hash, const void* data, size_t size) {
  for (const auto* p = static_cast<const uint8_t*>(data); size > 0; --size, ++p)
    hash = (hash ^ *p) * 1099511628211U;
  return hash;
}

std::string describe(const Error& error) {
  std::string out;
  for (const Diagnostic& d : error.diagnostics) out += d.code + " " + d.message + "\n";
  return out;
}

Result<std::unique_ptr<runtime::Session>> open(const std::string& file,
                                               const std::optional<std::string>& text, const Way& way) {
  SourceMap sources;
  dsl::FrontendOptions options;
  options.parameters = way.parameters;
  options.host.batch_size = way.batch_size;
  options.host.num_threads = way.threads;
  options.host.prefetch_queue_depth = way.prefetch;
  options.host.on_error = way.on_error == "skip"      ? ir::OnError::kSkip
                          : way.on_error == "replace" ? ir::OnError::kReplace
                                                      : ir::OnError::kRaise;
  dsl::FrontendResult staged = dsl::stage_pipeline(file, text, options, product().registry, sources);
  if (!staged.ok) return std::unexpected(Error{ErrorKind::kUser, staged.diagnostics});
  std::string note;
  GALATEA_ASSIGN(auto backend, codegen::make_backend(way.backend, &note, codegen::default_cache_options(),
                                                     testing::tiers()));
  CompileOptions compile_options;
  compile_options.registry = &product().registry;
  compile_options.backend = backend.get();
  compile_options.fuse = way.fuse;
  GALATEA_ASSIGN(auto program, compile(*staged.graphs.at(0), sources, compile_options));
  runtime::SessionOptions session_options;
  session_options.executor = way.executor;
  return runtime::Session::create(program, product().natives, session_options);
}

/// One epoch.
Outcome run(const std::string& file, const std::optional<std::string>& text, const Way& way) {
  Outcome out;
  auto session = open(file, text, way);
  if (!session) {
    out.error = describe(session.error());
    return out;
  }
  while (true) {
    auto batch = (*session)->next();
    if (!batch) {
      out.error = describe(batch.error());
      break;
    }
    if (!*batch) break;
    const runtime::Batch& got = ***batch;
    for (int s = 0; s < got.num_samples(); ++s) {
      uint64_t hash = 14695981039346656037U;
      for (const auto& output : got.outputs) {
        const runtime::Tensor& tensor = output.samples[static_cast<size_t>(s)];
        hash = hash_bytes(hash, tensor.extents, sizeof(int64_t) * static_cast<size_t>(tensor.ndim));
        hash = hash_bytes(hash, tensor.data, static_cast<size_t>(tensor.volume() * size_of(tensor.dtype)));
      }
      out.hash_of_sample[got.sample_ids[static_cast<size_t>(s)]] = hash;
      out.order.push_back(got.sample_ids[static_cast<size_t>(s)]);
    }
  }
  out.statistics = (*session)->statistics();
  return out;
}

std::string example(const std::string& name) {
  return std::string(GALATEA_SOURCE_DIR) + "/examples/" + name + ".dali-dsl";
}

void expect_same_values(const std::string& file,
                        const std::vector<std::pair<std::string, std::string>>& parameters, bool interpreted,
                        const std::string& data = testing::build_folder("/samples"),
                        size_t num_samples = 18) {
  std::vector<Way> ways = {
      {.name = "as it is"},
      {.name = "one thread, one at a time", .batch_size = 1, .threads = 1, .prefetch = 1},
      {.name = "odd batches, four threads", .batch_size = 5, .threads = 4, .prefetch = 3},
      {.name = "unfused", .fuse = false},
      {.name = "in order", .executor = runtime::ExecutorKind::kInline}};
  if (interpreted) ways.push_back({.name = "interpreted", .backend = "interpreter"});
  std::optional<Outcome> expected;
  for (Way& way : ways) {
    way.parameters = parameters;
    way.parameters.emplace_back("data", data);
    Outcome outcome = run(file, {}, way);
    ASSERT_EQ(outcome.error, "") << way.name;
    EXPECT_EQ(outcome.order.size(), num_samples) << way.name << ": an epoch delivers each sample once";
    if (!expected) expected = outcome;
    EXPECT_EQ(outcome.hash_of_sample, expected->hash_of_sample) << way.name;
    EXPECT_EQ(outcome.order, expected->order) << way.name;
  }
}

TEST(EndToEnd, Hello) { expect_same_values(example("01_hello"), {}, false); }
TEST(EndToEnd, ImagenetTrain) { expect_same_values(example("02_imagenet_train"), {{"size", "40"}}, true); }
TEST(EndToEnd, Conditional) { expect_same_values(example("03_conditional"), {{"size", "40"}}, true); }
TEST(EndToEnd, ChooseOne) { expect_same_values(example("04_choose_one"), {}, false); }
TEST(EndToEnd, BlurByBrightness) { expect_same_values(example("05_blur_by_brightness"), {}, false); }
TEST(EndToEnd, TwoViews) { expect_same_values(example("06_two_views"), {}, false); }
TEST(EndToEnd, Pixel) { expect_same_values(example("08_pixel"), {{"size", "24"}}, true); }

TEST(EndToEnd, Speech) {
  expect_same_values(example("14_speech"), {}, true, GALATEA_SOURCE_DIR "/tests/readers/recorded/speech", 6);
}

TEST(EndToEnd, VideoClips) {
  if (!std::filesystem::exists(testing::build_folder("/lib/libgalatea_video.so")))
    GTEST_SKIP() << "SKIPPED: libav's headers are not here, so there is nothing that decodes films";
  expect_same_values(example("15_video_clips"), {}, true, GALATEA_SOURCE_DIR "/tests/video/films", 6);
}

TEST(EndToEnd, ExternalSourceWantsAHost) {
  auto session = open(example("07_external_source"), {}, {.name = "fed"});
  ASSERT_TRUE(session) << describe(session.error());
  runtime::Allocator allocator;
  auto image = runtime::allocate_tensor(allocator, DType::kU8, {10, 20, 3});
  ASSERT_TRUE(image);
  std::fill(image->data, image->data + 600, uint8_t{77});
  ASSERT_TRUE((*session)->feed("images", {*image}));
  ASSERT_TRUE((*session)->end_of_feed());
  auto batch = (*session)->next();
  ASSERT_TRUE(batch && *batch);
  const runtime::Tensor& mean = (**batch)->outputs.at(1).samples.at(0);
  EXPECT_EQ(cell_to_double(mean.dtype, load_cell(mean.dtype, mean.data)), 77.0);
}

constexpr const char* kSharded = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=4, num_threads=2, seed=3)
def sharded(data: str, shard_id: int = 0, num_shards: int = 1):
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True, shard_id=shard_id, num_shards=num_shards, stick_to_shard=True)
    image = fn.decoders.image_random_crop(encoded)
    image = fn.resize(image, size=[32, 32])
    image = fn.brightness(image, brightness=fn.random.uniform(range=[0.5, 1.5]))
    return image, label
)";

TEST(EndToEnd, ShardsTogetherAreTheWhole) {
  Outcome whole = run("sharded.dali-dsl", kSharded,
                      {.name = "whole", .parameters = {{"data", testing::build_folder("/samples")}}});
  ASSERT_EQ(whole.error, "");
  std::map<int64_t, uint64_t> together;
  size_t delivered = 0;
  for (int shard = 0; shard < 4; ++shard) {
    Outcome part = run("sharded.dali-dsl", kSharded,
                       {.name = "part",
                        .parameters = {{"data", testing::build_folder("/samples")},
                                       {"shard_id", std::to_string(shard)},
                                       {"num_shards", "4"}}});
    ASSERT_EQ(part.error, "");
    delivered += part.order.size();
    together.insert(part.hash_of_sample.begin(), part.hash_of_sample.end());
  }
  EXPECT_EQ(delivered, whole.order.size());
  EXPECT_EQ(together, whole.hash_of_sample);
}

TEST(EndToEnd, CorruptFilesAreNamedSkippedOrReplaced) {
  std::string corrupt = std::string(testing::build_folder("/samples")) + "-corrupt";
  Way way{.name = "raise", .parameters = {{"data", corrupt}}};
  Outcome raised = run(example("01_hello"), {}, way);
  EXPECT_NE(raised.error.find("G08"), std::string::npos) << raised.error;
  way.on_error = "skip";
  Outcome skipped = run(example("01_hello"), {}, way);
  EXPECT_EQ(skipped.error, "");
  EXPECT_GE(skipped.statistics.skipped.size(), 2U);
  way.on_error = "replace";
  Outcome replaced = run(example("01_hello"), {}, way);
  EXPECT_EQ(replaced.error, "");
  EXPECT_EQ(replaced.statistics.replaced.size(), skipped.statistics.skipped.size());
  EXPECT_EQ(replaced.order.size(), skipped.order.size() + replaced.statistics.replaced.size());
  for (const runtime::SampleFailure& failure : skipped.statistics.skipped)
    EXPECT_NE(failure.source.find("broken"), std::string::npos) << failure.source;
}

constexpr const char* kWhole = R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=2, num_threads=2, seed=3)
def whole(data: str):
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True)
    image = fn.decoders.image(encoded)
    return fn.resize(image, size=[32, 32]), fn.resize(image, size=[8, 8]), label
)";

/// In order on one thread, so that the peak does not depend on which samples happen to be in flight together:
/// every photograph has come by long before batch 300, and from then on nothing may grow, not by a byte.
TEST(EndToEnd, MemoryIsFlatOverAThousandBatches) {
  auto session = open("whole.dali-dsl", kWhole,
                      {.name = "long",
                       .batch_size = 2,
                       .executor = runtime::ExecutorKind::kInline,
                       .parameters = {{"data", testing::build_folder("/samples")}}});
  ASSERT_TRUE(session) << describe(session.error());
  int64_t early = 0;
  for (int batches = 0; batches < 1000;) {
    auto batch = (*session)->next();
    ASSERT_TRUE(batch) << describe(batch.error());
    if (!*batch) continue;
    ++batches;
    if (batches == 300) early = (*session)->statistics().peak_memory_bytes;
  }
  EXPECT_EQ((*session)->statistics().peak_memory_bytes, early) << "the peak grew after the first 300 batches";
}

}  // namespace
}  // namespace galatea
