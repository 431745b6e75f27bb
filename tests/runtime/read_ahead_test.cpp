// Sources hear which samples will be read soon: each once, before it is read, a bounded number ahead.
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "program_maker.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

struct Log {
  std::mutex mutex;
  std::set<int64_t> announced, read;
  size_t most_ahead = 0;
  int num_late = 0, num_again = 0;
};

class ListeningSource final : public SampleSource {
 public:
  ListeningSource(std::shared_ptr<Log> log, int64_t size) : log_(std::move(log)), size_(size) {}
  int64_t size() const override { return size_; }
  std::string describe(int64_t index) const override { return std::to_string(index); }
  void will_read(int64_t index) const override {
    std::lock_guard lock(log_->mutex);
    log_->num_again += !log_->announced.insert(index).second;
    log_->num_late += static_cast<int>(log_->read.count(index));
    size_t ahead = 0;
    for (int64_t one : log_->announced) ahead += 1 - log_->read.count(one);
    log_->most_ahead = std::max(log_->most_ahead, ahead);
  }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    {
      std::lock_guard lock(log_->mutex);
      log_->read.insert(index);
    }
    GALATEA_TRY(allocate(0, DType::kU8, {1}));
    GALATEA_TRY(allocate(1, DType::kI64, {}));
    return {};
  }

 private:
  std::shared_ptr<Log> log_;
  int64_t size_;
};

TEST(ReadAhead, TellsTheSourceInTimeAndOnce) {
  for (int batch_size : {1, 8, 100}) {
    auto log = std::make_shared<Log>();
    NativeTable natives = {};
    natives.add(
        SourceFactory{"test.numbers", [log](const std::string&) -> Result<std::unique_ptr<SampleSource>> {
                        return std::make_unique<ListeningSource>(log, 250);
                      }});
    ProgramMaker m;
    m.program.batch_size = batch_size;
    auto data = m.read(m.source(R"({"random_shuffle": true})"));
    m.output("bytes", DType::kU8, {-1});
    SessionOptions options;
    options.num_threads = 1;
    auto session = Session::create(m.finish({data[0]}), natives, options);
    ASSERT_TRUE(session.has_value());
    while (true) {
      auto batch = (*session)->next();
      ASSERT_TRUE(batch.has_value());
      if (!*batch) break;
    }
    EXPECT_EQ(log->read.size(), 250u);
    EXPECT_EQ(log->num_late, 0);
    EXPECT_EQ(log->num_again, 0);
    EXPECT_LE(log->most_ahead, 17u);
    // The first sample of a batch cannot be known before the batch is.
    EXPECT_EQ(log->announced.size(), batch_size == 1 ? 0u
                                                     : 250u - (250 + static_cast<size_t>(batch_size) - 1) /
                                                                  static_cast<size_t>(batch_size));
  }
}

}  // namespace
}  // namespace galatea::runtime
