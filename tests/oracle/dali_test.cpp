// What DALI recorded, run through galatea: the same pipeline text, the same inputs.
//
// Kernels run in the loop interpreter here (a thousand texts would mostly measure LLVM); that machine code
// agrees with it is the backends' test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "tests/oracle/run_case.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

/// Where galatea differs on purpose, and why. A case listed here must differ: an entry that has become wrong
/// fails the test.
const std::map<std::string, std::string>& intended_differences() {
  static const std::string kComparison =
      "DALI 2.4 compares negative integers with floats wrongly (-9 < -21.5 is recorded as true)";
  static const std::map<std::string, std::string> kDifferences = {
      {"pair_int8_float64", kComparison},
      {"pair_int16_float64", kComparison},
      {"pair_int32_float64", kComparison},
      {"pair_int64_float32", kComparison},
      {"pair_int64_float64", kComparison},
      {"pair_float32_int8", kComparison},
      {"pair_float32_int32", kComparison},
      {"pair_float64_int8", kComparison},
      {"pair_float64_int16", kComparison},
      {"pair_float64_int32", kComparison},
      {"pair_float64_int64", kComparison},
      {"empty_resize", "an image without pixels has nothing to resize; an error instead of a made-up image"},
      {"merge_list",
       "arms whose values differ in type are an error while compiling, also where that leaf is not read "
       "later"},
      {"resize_filter_per_sample",
       "interp_type takes an integer node as it is; there is no cast to INTERP_TYPE"},
  };
  return kDifferences;
}

/// Which cases of a group a run takes: its share, and without a sanitizer those whose text has a word that no
/// case before them had: an operator, an argument, a type, a layout. All of them where a run is whole.
class Share {
 public:
  bool takes(const OracleCase& oracle_case) {
    if (scale() == kWhole) return true;
    if (kSanitized) return in_share(oracle_case.name);
    const std::set<std::string> words = words_of(oracle_case.text);
    if (!in_share(oracle_case.name) && std::ranges::includes(seen_, words)) return false;
    seen_.insert(words.begin(), words.end());
    return true;
  }

 private:
  /// "fn.resize", "interp_type", "types.INTERP_NN", "HWC"
  static std::set<std::string> words_of(const std::string& text) {
    std::set<std::string> words;
    std::string word;
    for (const char c : text + " ") {
      const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) || c == '_';
      if (is_letter || (!word.empty() && (std::isdigit(static_cast<unsigned char>(c)) || c == '.'))) {
        word += c;
      } else if (!word.empty()) {
        words.insert(std::exchange(word, {}));
      }
    }
    return words;
  }

  std::set<std::string> seen_;
};

class Dali : public ::testing::TestWithParam<const char*> {};

TEST_P(Dali, GivesWhatWasRecorded) {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/data", GetParam());
  ASSERT_TRUE(group) << group.error();
  Share share;
  size_t failures = 0;
  for (const OracleCase& oracle_case : group->cases) {
    if (!share.takes(oracle_case)) continue;
    std::string problem;
    try {
      problem = run_case(oracle_case);
    } catch (const std::exception& error) {
      problem = std::string("exception: ") + error.what();
    }
    if (auto intended = intended_differences().find(oracle_case.name);
        intended != intended_differences().end()) {
      EXPECT_FALSE(problem.empty()) << oracle_case.name
                                    << " is as recorded, yet listed as different: " << intended->second;
      continue;
    }
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << oracle_case.name << ": " << problem;
  }
  RecordProperty("cases", static_cast<int>(group->cases.size()));
  EXPECT_EQ(failures, 0U) << "of " << group->cases.size() << " cases";
}

INSTANTIATE_TEST_SUITE_P(Recorded, Dali,
                         ::testing::Values("resize", "window", "colour", "filter", "warp", "transforms",
                                           "shape", "arithmetic", "indexing", "decode", "branch", "random",
                                           "pipeline", "values", "tables", "auto_augment", "sequences",
                                           "batch", "numbers", "volumes", "tensors", "cropped", "neighbours",
                                           "tensor_resize", "debayer", "placed", "arguments", "boxes",
                                           "box_rows", "pasted", "jpeg", "detection", "pictures", "space",
                                           "waveforms", "sound", "speech"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace galatea::testing
