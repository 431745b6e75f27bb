// Every fuzz target over its kept inputs, over shorter forms of them, and over new ones: kept inputs that were changed
// blindly, by a number, the same in each run. Nothing steers the changes: ./dev fuzz NAME does that, for longer.
//
// A target that fails ends the program. What it was given lies in build/fuzz/NAME.input.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include <gtest/gtest.h>

#include "base/fault.h"
#include "tests/fuzz/target.h"
#include "tests/support/build_folder.h"
#include "tests/support/cases.h"
#include "tests/support/damage.h"

namespace galatea::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostMemory = int64_t{1} << 30;
constexpr int kFull = 20;  ///< times the inputs of a usual run

/// The input of which a target says no more than that it ended the program.
class LastInput {
 public:
  explicit LastInput(const std::string& name) {
    const fs::path folder = fs::path(testing::build_folder()) / "fuzz";
    fs::create_directories(folder);
    file_ = ::open((folder / (name + ".input")).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  ~LastInput() { ::close(file_); }
  LastInput(const LastInput&) = delete;
  LastInput& operator=(const LastInput&) = delete;

  bool keep(std::span<const uint8_t> input) const {
    return ::ftruncate(file_, 0) == 0 &&
           ::pwrite(file_, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size());
  }

 private:
  int file_ = -1;
};

int64_t most_memory_so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

class FuzzTarget : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    for (const auto& entry :
         fs::directory_iterator(fs::path(GALATEA_SOURCE_DIR) / "tests/fuzz/corpus" / target_.name))
      names_.push_back(entry.path());
    std::ranges::sort(names_);
    for (const fs::path& name : names_) {
      const auto bytes = read_whole_file(name.string());
      ASSERT_TRUE(bytes) << name;
      kept_.emplace_back(bytes->begin(), bytes->end());
    }
    ASSERT_FALSE(kept_.empty()) << "no kept inputs of " << target_.name;
  }

  void run(std::span<const uint8_t> input) {
    ASSERT_TRUE(last_.keep(input));
    // A copy of its own size: what is read behind it is found.
    const std::vector<uint8_t> copy(input.begin(), input.end());
    target_.run(copy.data(), copy.size());
    ASSERT_LT(most_memory_so_far(), kMostMemory);
  }

  const Target target_ = GetParam();
  const LastInput last_{target_.name};
  std::vector<fs::path> names_;
  std::vector<std::vector<uint8_t>> kept_;
};

TEST_P(FuzzTarget, SurvivesKeptInputsAndTheirBeginnings) {
  constexpr size_t kParts = 8;
  for (size_t k = 0; k < kept_.size(); ++k) {
    SCOPED_TRACE(names_[k]);
    for (size_t part = 0; part <= kParts; ++part)
      ASSERT_NO_FATAL_FAILURE(run(std::span(kept_[k]).first(kept_[k].size() * part / kParts)));
  }
}

TEST_P(FuzzTarget, SurvivesChangedInputs) {
  std::mt19937 random(1);
  const int64_t number = testing::cases(int64_t{kFull} * target_.inputs, target_.inputs);
  for (int64_t k = 0; k < number; ++k) {
    const std::vector<uint8_t>& input = kept_[random() % kept_.size()];
    if (target_.change && random() % 2 == 0) {
      const std::vector<uint8_t>& other = kept_[random() % kept_.size()];
      const std::string changed =
          target_.change({input.begin(), input.end()}, {other.begin(), other.end()}, random);
      ASSERT_NO_FATAL_FAILURE(
          run(std::span(reinterpret_cast<const uint8_t*>(changed.data()), changed.size())));
    } else {
      ASSERT_NO_FATAL_FAILURE(run(testing::Damager(static_cast<uint32_t>(random())).damaged(input)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTarget, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace galatea::fuzz
