// Bad programs of many mistakes: what their help says to write can be written all at once, and each has a twin
// without the mistakes. (mistakes_test.cpp has those of one mistake.)
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

using Said = std::multiset<std::pair<std::string, std::string>>;

// Errors and warnings, without their places, which edits move.
Said said_of(const Staged& staged) {
  Said said;
  for (const Diagnostic& diagnostic : staged.result.diagnostics)
    if (diagnostic.severity != Severity::kNote) said.emplace(diagnostic.code, diagnostic.message);
  return said;
}

std::vector<std::string> bad_programs() {
  std::vector<std::string> paths = golden_files("error"), more = golden_files("newcomer");
  paths.insert(paths.end(), more.begin(), more.end());
  return paths;
}

// What comes to light when all edits of a file are made, as the mistakes there hid it.
const std::map<std::string, std::set<std::string>> kHidden = {
    {"01_torchvision_names", {"G0406"}},  // arguments by position of an operator that exists now
    {"12_argument_names", {"G0434"}},     // a mean of pixels in 0 to 1, beside a type that was none
    {"pixel", {"G0435"}},                 // a result that nobody uses
    {"nodes", {"G0435"}},                 // a type that nobody uses
    {"imports_more", {"G0435"}},          // a name that exists now is a result that nobody uses
    {"operators", {"G0435", "G0460"}},    // the same; and a resize without a size
    {"poison", {"G0301"}},                // the reader that was misspelt
};

TEST(Edits, OfManyMistakesAtOnceMendThemAndMakeNoOthers) {
  size_t with_edits_made = 0;
  for (const std::string& path : bad_programs()) {
    const Staged wrong = stage(path, std::nullopt);
    uint32_t file = 0;  // the file itself, which is read before those that it imports
    for (const Diagnostic& diagnostic : wrong.result.diagnostics)
      for (const Edit& edit : diagnostic.edits)
        file = file == 0 ? edit.span.file : std::min(file, edit.span.file);
    if (file == 0) continue;
    size_t applied = 0;
    const std::string mended = with_edits(read_file(path), file, wrong.result.diagnostics, true, applied);
    ASSERT_GE(applied, 1u) << path;
    ++with_edits_made;
    const Staged right = stage(path, mended);
    const Said before = said_of(wrong), after = said_of(right);
    Said gone;
    std::ranges::set_difference(before, after, std::inserter(gone, gone.end()));
    EXPECT_GE(gone.size(), applied) << path << "\n" << mended << right.diagnostics;
    const auto hidden = kHidden.find(std::filesystem::path(path).stem().string());
    std::set<std::string> came_up;
    for (const auto& said : after) {
      if (after.count(said) <= before.count(said)) continue;
      if (hidden != kHidden.end() && hidden->second.contains(said.first)) {
        came_up.insert(said.first);
        continue;
      }
      ADD_FAILURE() << path << ": " << said.first << " " << said.second << "\n" << mended;
    }
    if (hidden != kHidden.end()) {
      EXPECT_EQ(came_up, hidden->second) << path;
    }
  }
  EXPECT_GE(with_edits_made, 15u);
}

// In the folder `right` beside each: the file as it was meant.
TEST(Edits, BadProgramsHaveTwinsOfWhichNothingIsSaid) {
  size_t tried = 0;
  for (const std::string& path : bad_programs()) {
    const std::filesystem::path bad(path);
    const std::string twin = (bad.parent_path() / "right" / bad.filename()).string();
    ASSERT_TRUE(std::filesystem::exists(twin)) << twin << " is missing";
    const Staged right = stage(twin, std::nullopt);
    EXPECT_EQ(said_of(right), Said()) << twin << "\n" << right.diagnostics;
    EXPECT_TRUE(right.result.ok) << twin;
    ++tried;
  }
  EXPECT_GE(tried, 64u);
}

}  // namespace
}  // namespace galatea::dsl::testing
