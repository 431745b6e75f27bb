// The canonical form against what black made of the same sources (recorded: make_black.py).
#include <gtest/gtest.h>

#include "base/json.h"
#include "dsl/formatter/file_formatter.h"
#include "dsl/formatter/formatter.h"
#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

TEST(Recorded, AsBlackWritesIt) {
  const std::string path = std::string(GALATEA_SOURCE_DIR) + "/tests/fmt/data/black.json";
  const nlohmann::json recorded = parse_json(read_file(path));
  EXPECT_EQ(recorded["line_length"], 100);
  int compared = 0, different = 0;
  for (const auto& entry : recorded["cases"]) {
    const std::string source = entry["source"], expected = entry["expected"], name = entry["name"];
    // The cases hold host code too, which the language only skips: no check of the syntax here.
    const std::string ours = formatter::format_text(source);
    if (entry.contains("differs")) {
      ++different;
      EXPECT_NE(ours, expected) << name << " does not differ any more: " << entry["differs"];
      EXPECT_EQ(formatter::format_text(ours), ours) << name;
      continue;
    }
    ++compared;
    EXPECT_EQ(ours, expected) << name << "\n" << unified_diff(name, expected, ours);
  }
  EXPECT_GE(compared, 110);
  EXPECT_LE(different, 5);
}

}  // namespace
}  // namespace galatea::dsl::testing
