// The examples, run as a user runs them, on the sample photographs.
#include <gtest/gtest.h>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace {

namespace fs = std::filesystem;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;

class Examples : public testing::TestWithParam<const char*> {
 protected:
  std::string file() const {
    return std::string(GALATEA_SOURCE_DIR) + "/examples/" + GetParam() + ".dali-dsl";
  }
  static std::string samples() { return build_folder() + "/samples"; }
  Outcome run(std::vector<std::string> arguments) {
    return galatea::testing::run_galatea(std::move(arguments), folder_);
  }
  /// Everything that a run saved, by path.
  std::map<std::string, std::string> saved(const std::string& name, std::vector<std::string> options) {
    std::vector<std::string> arguments = {
        "run", file(), "--set", "data=" + samples(), "--save", (folder_ / name).string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Outcome o = run(arguments);
    EXPECT_EQ(o.status, 0) << o.err;
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / name)) {
      if (entry.is_regular_file()) {
        files[entry.path().lexically_relative(folder_ / name).string()] = read_file(entry.path());
      }
    }
    return files;
  }

  const galatea::testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

/// The numbers between brackets: "[3,224,?]" gives {3, 224, -1}.
std::vector<int64_t> extents_of(const std::string& text) {
  std::vector<int64_t> extents;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.find_first_not_of(' ') == std::string::npos) continue;
    // "h" or "2*w" differs from sample to sample.
    const size_t first = part.find_first_not_of(' ');
    const bool known = part.find_first_not_of("0123456789", first) == std::string::npos;
    extents.push_back(known ? std::atoll(part.c_str()) : -1);
  }
  return extents;
}

TEST_P(Examples, DeliverWhatCheckPromises) {
  Outcome check = run({"check", file()});
  ASSERT_EQ(check.status, 0) << check.err;
  auto files = saved("once", {});
  // Each output that check prints, "name f32[3,224,224] CHW", against the headers of the arrays that came
  // out.
  std::string promised = check.out.substr(check.out.find("->"));
  int outputs = 0;
  for (size_t open = promised.find('['); open != std::string::npos;
       open = promised.find('[', open + 1), ++outputs) {
    const auto expected = extents_of(promised.substr(open + 1, promised.find(']', open) - open - 1));
    for (int sample = 0; sample < 18; ++sample) {
      char name[64];
      std::snprintf(name, sizeof name, "out%d/%06d.npy", outputs, sample);
      ASSERT_TRUE(files.contains(name)) << name;
      const std::string& npy = files[name];
      const size_t shape = npy.find("'shape': (") + 10;
      const auto actual = extents_of(npy.substr(shape, npy.find(')', shape) - shape));
      ASSERT_EQ(actual.size(), expected.size()) << name;
      for (size_t d = 0; d < actual.size(); ++d) {
        EXPECT_EQ(expected[d] < 0 ? expected[d] : actual[d], expected[d]) << name;
      }
    }
  }
  EXPECT_GE(outputs, 2);
  EXPECT_EQ(files.size(), static_cast<size_t>(18 * outputs));
}

TEST_P(Examples, GiveTheSameBitsInAnyBatchAndOnAnyNumberOfThreads) {
  auto files = saved("a", {"--threads", "1", "--batch-size", "18"});
  EXPECT_EQ(files.size() % 18, 0u);
  EXPECT_TRUE(saved("b", {"--threads", "3", "--batch-size", "5", "--prefetch", "1"}) == files);
}

TEST_P(Examples, ExplainSaysEachReasonOnce) {
  const std::string page = run({"explain", file(), "--set", "data=" + samples()}).out;
  std::istringstream lines(page);
  std::set<std::string> reasons;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const bool begins = line.starts_with("  because   ");
    if (begins) reasons.clear();
    inside = begins || (inside && line.starts_with("            "));
    EXPECT_TRUE(!inside || reasons.insert(line.substr(12)).second) << line;
  }
}

/// What explain calls enough for pictures such as the samples (none is larger than 480 x 640 or 640 x 480)
/// is.
TEST_P(Examples, RunWithinTheMemoryThatExplainTells) {
  const std::string page = run({"explain", file(), "--set", "data=" + samples()}).out;
  const size_t end = page.find(" MiB in all, where pictures are no larger than 1080 x 1920");
  if (end == std::string::npos) {
    EXPECT_TRUE(contains(page, "unknown before the run"));
    return;
  }
  const auto number_before = [&](size_t at) { return std::atof(page.c_str() + page.rfind(' ', at - 1) + 1); };
  const double mebibytes = number_before(end);
  ASSERT_GT(mebibytes, 0);
  const size_t whole = page.find(" MiB in all, of files decoded whole", end);
  ASSERT_NE(whole, std::string::npos) << page;
  EXPECT_GT(number_before(whole), mebibytes);
  const auto limit = static_cast<int64_t>(mebibytes * (1 << 20));
  Outcome o = run({"run", file(), "--set", "data=" + samples(), "--batches", "6", "--memory-limit",
                   std::to_string(limit), "--stats=json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const auto stats = parse_json(o.out);
  EXPECT_EQ(stats["skipped"], 0);
  EXPECT_LE(stats["peak_memory_bytes"], limit);
}

TEST_P(Examples, GoOnWithoutBrokenPhotographs) {
  const std::string data = "data=" + samples() + "-corrupt";
  EXPECT_EQ(run({"run", file(), "--set", data}).status, 1);
  Outcome o = run({"run", file(), "--set", data, "--on-error", "skip", "--stats=json"});
  ASSERT_EQ(o.status, 0) << o.err;
  auto stats = parse_json(o.out);
  EXPECT_EQ(stats["samples"], 4);
  EXPECT_EQ(stats["skipped"], 2);
}

INSTANTIATE_TEST_SUITE_P(All, Examples,
                         testing::Values("01_hello", "02_imagenet_train", "03_conditional", "04_choose_one",
                                         "05_blur_by_brightness", "06_two_views", "08_pixel", "11_detection"),
                         [](const auto& example) { return std::string(example.param); });

}  // namespace
