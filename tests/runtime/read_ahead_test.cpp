// Sources hear which samples will be read soon: each once, a bounded number ahead, from one batch to the next.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "program_maker.h"
#include "runtime/read_ahead.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

struct Log {
  std::mutex mutex;
  std::set<int64_t> announced, read;
  std::condition_variable has_heard;
  size_t most_ahead = 0;
  int num_again = 0, num_alone = 0;
};

constexpr int64_t kSize = 250;
/// That many samples behind the one that is read are waited for.
constexpr int64_t kAhead = 16;

class ListeningSource final : public SampleSource {
 public:
  explicit ListeningSource(std::shared_ptr<Log> log) : log_(std::move(log)) {}
  int64_t size() const override { return kSize; }
  std::string describe(int64_t index) const override { return std::to_string(index); }
  void will_read(int64_t index) const override {
    std::lock_guard lock(log_->mutex);
    log_->num_again += !log_->announced.insert(index).second;
    size_t ahead = 0;
    for (int64_t one : log_->announced) ahead += 1 - log_->read.count(one);
    log_->most_ahead = std::max(log_->most_ahead, ahead);
    log_->has_heard.notify_all();
  }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    {
      std::unique_lock lock(log_->mutex);
      log_->read.insert(index);
      const int64_t further = std::min(index + kAhead, kSize - 1);
      const auto has_heard = [&] {
        return log_->announced.contains(further) || log_->read.contains(further);
      };
      // One that is not told of in time is enough to know.
      if (log_->num_alone == 0)
        log_->num_alone += !log_->has_heard.wait_for(lock, std::chrono::seconds(120), has_heard);
    }
    GALATEA_TRY(allocate(0, DType::kU8, {1}));
    GALATEA_TRY(allocate(1, DType::kI64, {}));
    return {};
  }

 private:
  std::shared_ptr<Log> log_;
};

TEST(ReadAhead, TellsTheSourceInTimeAndOnce) {
  for (const int batch_size : {1, 8, 100}) {
    auto log = std::make_shared<Log>();
    NativeTable natives = {};
    natives.add(
        SourceFactory{"test.numbers", [log](const std::string&) -> Result<std::unique_ptr<SampleSource>> {
                        return std::make_unique<ListeningSource>(log);
                      }});
    ProgramMaker m;
    m.program.batch_size = batch_size;
    auto data = m.read(m.source(R"({})"));
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
    EXPECT_EQ(log->read.size(), static_cast<size_t>(kSize));
    EXPECT_EQ(log->num_again, 0);
    // And one that a thread has taken and not begun to read.
    EXPECT_LE(log->most_ahead, static_cast<size_t>(ReadAhead::kMost) + 1);
    EXPECT_EQ(log->num_alone, 0) << "a sample was read before the one " << kAhead << " places on was told of";
  }
}

}  // namespace
}  // namespace galatea::runtime
