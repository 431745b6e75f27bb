// Feeding without a copy: what is read where it lies, and when the host gets it back.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "tests/api/host.h"

namespace {

using namespace galatea_host;

constexpr const char* kLent = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=3, num_threads=2)
def fed():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    return x * 2.0
)";

/// How often the host was told that its memory is its own again.
struct Host {
  std::atomic<int> releases{0};
  static void release(void* context) { ++static_cast<Host*>(context)->releases; }
};

galatea_tensor tensor_of(float* data, int64_t length) {
  galatea_tensor tensor;
  EXPECT_OK(galatea_tensor_init(&tensor, data, GALATEA_FLOAT, 1, &length));
  return tensor;
}

galatea_error* lend(galatea_session* session, const std::vector<galatea_tensor>& samples, Host& host) {
  return galatea_session_feed_borrowed(session, "x", samples.data(), static_cast<int32_t>(samples.size()),
                                       nullptr, Host::release, &host);
}

/// Pages of memory behind which nothing may be read.
class Pages {
 public:
  explicit Pages(size_t count)
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), size_((count + 1) * page_) {
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    base_ = static_cast<char*>(memory);
    EXPECT_EQ(mprotect(base_ + count * page_, page_, PROT_NONE), 0);
  }
  ~Pages() { munmap(base_, size_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  /// The last `count` floats.
  float* last(size_t count) { return reinterpret_cast<float*>(base_ + size_ - page_) - count; }

 private:
  size_t page_, size_;
  char* base_ = nullptr;
};

TEST(Borrow, IsReleasedOnceWhenNothingReadsItAnyMore) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kLent);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  alignas(256) float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  constexpr int kBatches = 40;
  Host hosts[kBatches];
  for (Host& host : hosts)
    ASSERT_OK(lend(session.get(), {tensor_of(numbers, 3), tensor_of(numbers + 3, 5)}, host));
  for (Host& host : hosts) {
    auto batch = next(session.get());
    ASSERT_TRUE(batch);
    EXPECT_EQ(floats(batch.get(), 0, 0), (std::vector<float>{2, 4, 6}));
    EXPECT_EQ(floats(batch.get(), 0, 1), (std::vector<float>{8, 10, 12, 14, 16}));
    EXPECT_EQ(host.releases, 1);
  }
  // An output that nobody asked for goes with the session.
  Host unread;
  ASSERT_OK(lend(session.get(), {tensor_of(numbers, 8)}, unread));
  session.reset();
  EXPECT_EQ(unread.releases, 1);
  for (Host& host : hosts) EXPECT_EQ(host.releases, 1);
}

constexpr const char* kHandedOn = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=3, num_threads=2)
def fed():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    twice = x * 2.0
    return x, x, twice
)";

const char* bytes_of(const galatea_batch* batch, int32_t output, int32_t sample) {
  galatea_tensor tensor;
  EXPECT_OK(galatea_batch_tensor_borrow(batch, output, sample, &tensor));
  return static_cast<const char*>(tensor.data);
}

TEST(Borrow, WhatAPipelineReturnsAsItIsIsTheHostsUntilTheBatchEnds) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kHandedOn);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  alignas(256) float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  Host host;
  ASSERT_OK(lend(session.get(), {tensor_of(numbers, 3), tensor_of(numbers + 3, 5)}, host));
  auto batch = next(session.get());
  ASSERT_TRUE(batch);
  session.reset();
  EXPECT_EQ(host.releases, 0);
  EXPECT_STREQ(galatea_batch_output_name_borrow(batch.get(), 2), "twice");
  EXPECT_STREQ(galatea_batch_output_name_borrow(batch.get(), 3), "");
  EXPECT_EQ(bytes_of(batch.get(), 0, 1), reinterpret_cast<const char*>(numbers + 3));
  // Whoever writes to one output writes to no other.
  EXPECT_NE(bytes_of(batch.get(), 1, 1), reinterpret_cast<const char*>(numbers + 3));
  numbers[3] = 50;
  EXPECT_EQ(floats(batch.get(), 0, 1), (std::vector<float>{50, 5, 6, 7, 8}));
  EXPECT_EQ(floats(batch.get(), 1, 1), (std::vector<float>{4, 5, 6, 7, 8}));
  EXPECT_EQ(floats(batch.get(), 2, 1), (std::vector<float>{8, 10, 12, 14, 16}));
  batch.reset();
  EXPECT_EQ(host.releases, 1);
}

TEST(Borrow, CopiesThatAreHandedOnLieInARowAndAreTheBatchs) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kHandedOn);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  std::vector<float> numbers(16);
  std::vector<std::vector<float>> samples(3, numbers);
  for (int value = 0; value < 5; ++value) {
    // As soon as the call returns the host's memory is its own; batches that are held keep theirs.
    for (auto& sample : samples) std::fill(sample.begin(), sample.end(), static_cast<float>(value));
    ASSERT_OK(feed(session.get(), samples));
  }
  std::vector<Owned<galatea_batch>> held;
  for (int value = 0; value < 5; ++value) {
    held.push_back(next(session.get()));
    ASSERT_TRUE(held.back());
  }
  for (int value = 0; value < 5; ++value) {
    const galatea_batch* batch = held[static_cast<size_t>(value)].get();
    for (int32_t k = 0; k < 3; ++k) {
      EXPECT_EQ(floats(batch, 0, k), std::vector<float>(16, static_cast<float>(value)));
      EXPECT_EQ(bytes_of(batch, 0, k), bytes_of(batch, 0, 0) + 64 * k);
    }
  }
}

/// A synchronous session reads in next(): what the host writes in between tells where that is. (A host that
/// keeps to the contract never does.)
class InPlace : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    engine_ = make_engine();
    program_ = compile(engine_.get(), GetParam());
    ASSERT_TRUE(program_);
    session_ = start(program_.get(), 8, true);
  }
  std::vector<std::vector<float>> run() {
    auto batch = next(session_.get());
    std::vector<std::vector<float>> out;
    for (int32_t k = 0; batch && k < galatea_batch_num_samples(batch.get()); ++k)
      out.push_back(floats(batch.get(), 0, k));
    return out;
  }
  Owned<galatea_engine> engine_;
  Owned<galatea_program> program_;
  Owned<galatea_session> session_;
  Host host_;
};

TEST_P(InPlace, IsReadWhereItLies) {
  alignas(256) float numbers[4] = {1, 2, 3, 4};
  ASSERT_OK(lend(session_.get(), {tensor_of(numbers, 4)}, host_));
  EXPECT_EQ(host_.releases, 0);
  numbers[2] = 50;
  EXPECT_EQ(run(), (std::vector<std::vector<float>>{{2, 4, 100, 8}}));
  EXPECT_EQ(host_.releases, 1);
}

TEST_P(InPlace, WhatHasGapsOrNoAlignmentIsCopied) {
  alignas(256) float numbers[8] = {1, 9, 2, 9, 3, 9, 4, 9};
  alignas(256) char bytes[64] = {};
  galatea_tensor gaps = tensor_of(numbers, 4);
  gaps.strides[0] = 2;
  const float value = 5;
  std::memcpy(bytes + 1, &value, sizeof value);
  ASSERT_OK(lend(session_.get(), {gaps, tensor_of(reinterpret_cast<float*>(bytes + 1), 1)}, host_));
  EXPECT_EQ(host_.releases, 1);
  numbers[0] = 50;
  std::memset(bytes, 0, sizeof bytes);
  EXPECT_EQ(run(), (std::vector<std::vector<float>>{{2, 4, 6, 8}, {10}}));
}

TEST_P(InPlace, WhatEndsWhereMemoryMayEndIsCopied) {
  Pages pages(2);
  for (size_t behind : {size_t{0}, size_t{1}, size_t{15}}) {
    float* numbers = pages.last(5 + behind);
    std::fill_n(numbers, 5, 1.0F);
    ASSERT_OK(lend(session_.get(), {tensor_of(numbers, 5)}, host_));
    EXPECT_EQ(host_.releases.exchange(0), 1) << behind;
    EXPECT_EQ(run(), (std::vector<std::vector<float>>{{2, 2, 2, 2, 2}}));
  }
  // With all that may be read behind it, it is not.
  float* numbers = pages.last(5 + 16);
  std::fill_n(numbers, 5, 1.0F);
  ASSERT_OK(lend(session_.get(), {tensor_of(numbers, 5)}, host_));
  EXPECT_EQ(host_.releases, 0);
  EXPECT_EQ(run(), (std::vector<std::vector<float>>{{2, 2, 2, 2, 2}}));
  EXPECT_EQ(host_.releases, 1);
}

TEST_P(InPlace, OneArrayForABatchIsReadWhereItLiesButForItsEnd) {
  Pages pages(3);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE)) / sizeof(float);
  const auto length = static_cast<int64_t>(page);
  float* first = pages.last(2 * page);
  std::fill_n(first, 2 * page, 1.0F);
  ASSERT_OK(lend(session_.get(), {tensor_of(first, length), tensor_of(first + page, length)}, host_));
  EXPECT_EQ(host_.releases, 0);
  first[0] = first[page] = 3;
  const auto out = run();
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0][0], 6);  // read in place
  EXPECT_EQ(out[1][0], 2);  // copied
  EXPECT_EQ(host_.releases, 1);
}

TEST_P(InPlace, WhatIsRefusedStaysTheHosts) {
  alignas(256) float numbers[4] = {1, 2, 3, 4};
  const std::vector<galatea_tensor> many(4, tensor_of(numbers, 4));
  EXPECT_EQ(code_of(lend(session_.get(), many, host_)), "G0906");  // four samples, the batch has three
  galatea_tensor no_size = tensor_of(numbers, 4);
  no_size.extents[0] = -3;
  EXPECT_NE(code_of(lend(session_.get(), {no_size}, host_)), "");
  no_size.extents[0] = std::numeric_limits<int64_t>::max();
  EXPECT_NE(code_of(lend(session_.get(), {no_size}, host_)), "");
  EXPECT_NE(code_of(lend(session_.get(), {tensor_of(nullptr, 4)}, host_)), "");
  EXPECT_NE(code_of(galatea_session_feed_borrowed(session_.get(), "y", many.data(), 1, nullptr, Host::release,
                                                  &host_)),
            "");
  EXPECT_NE(
      code_of(galatea_session_feed_borrowed(nullptr, "x", many.data(), 1, nullptr, Host::release, &host_)),
      "");
  EXPECT_EQ(host_.releases, 0);
  // Nothing of it is in the queue; a host that wants no word gives none to call.
  ASSERT_OK(galatea_session_feed_borrowed(session_.get(), "x", many.data(), 1, nullptr, nullptr, nullptr));
  EXPECT_EQ(run(), (std::vector<std::vector<float>>{{2, 4, 6, 8}}));
  EXPECT_EQ(host_.releases, 0);
}

constexpr const char* kLate = R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=3, num_threads=2)
def late():
    return fn.external_source(name="x") * 2.0
)";

INSTANTIATE_TEST_SUITE_P(TypesKnownAndFed, InPlace, testing::Values(kLent, kLate),
                         [](const auto& types) { return types.param == kLent ? "known" : "fed"; });

constexpr const char* kThrough = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=2, num_threads=2)
def through():
    return fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
)";

TEST(Borrow, ABatchThatHandsItOnKeepsItOrHasACopy) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kThrough);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  alignas(256) float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  Host host;
  ASSERT_OK(lend(session.get(), {tensor_of(numbers, 3), tensor_of(numbers + 3, 5)}, host));
  auto batch = next(session.get());
  session.reset();
  galatea_tensor tensor;
  ASSERT_OK(galatea_batch_tensor_borrow(batch.get(), 0, 1, &tensor));
  EXPECT_EQ(host.releases, tensor.data == numbers + 3 ? 0 : 1);
  EXPECT_EQ(floats(batch.get(), 0, 1), (std::vector<float>{4, 5, 6, 7, 8}));
  batch.reset();
  EXPECT_EQ(host.releases, 1);
}

TEST(Borrow, DoesNotCountTowardsTheMemoryLimit) {
  auto engine = make_engine();
  auto options = make_options();
  ASSERT_OK(galatea_program_options_set_memory_limit(options.get(), int64_t{4} << 20));
  constexpr const char* kSum = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=2, num_threads=2)
def total():
    return fn.reductions.sum(fn.external_source(name="x", dtype=types.FLOAT, ndim=1))
)";
  auto program = compile(engine.get(), kSum, options.get());
  ASSERT_TRUE(program);
  auto session = start(program.get());
  // Wherever the memory is: what may be read behind the sample lies on its last page.
  Pages pages((size_t{8} << 20) / static_cast<size_t>(sysconf(_SC_PAGESIZE)) + 1);
  const auto length = int64_t{2} << 20;
  float* numbers = pages.last(static_cast<size_t>(length) + 16);
  std::fill_n(numbers, length, 1.0F);
  const galatea_tensor sample = tensor_of(numbers, length);
  EXPECT_NE(code_of(galatea_session_feed(session.get(), "x", &sample, 1, nullptr)), "");
  Host host;
  ASSERT_OK(lend(session.get(), {sample}, host));
  auto batch = next(session.get());
  ASSERT_TRUE(batch);
  EXPECT_EQ(floats(batch.get(), 0, 0), (std::vector<float>{static_cast<float>(length)}));
  EXPECT_EQ(host.releases, 1);
}

}  // namespace
