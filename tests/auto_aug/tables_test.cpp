// Parameters of the torchvision and timm families against what the libraries gave
// (tables/*_recorded.dali-dsl).
//
// The comparison is a text of the language: it asserts while it is evaluated.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/frontend.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

std::string file_name(const std::string& family) {
  return std::string(GALATEA_SOURCE_DIR) + "/tests/auto_aug/tables/check_" + family + ".dali-dsl";
}

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Codes and texts of what was reported.
std::vector<std::string> reports(const std::string& family, const std::string& text) {
  SourceMap sources;
  const dsl::FrontendResult result = dsl::stage_all(file_name(family), text, {}, product().registry, sources);
  std::vector<std::string> out;
  for (const Diagnostic& d : result.diagnostics) out.push_back(d.code + " " + d.message);
  return out;
}

/// One way of breaking the comparison, which must then fail.
struct Break {
  const char* family;
  const char* from;
  const char* to;
};

class Tables : public ::testing::TestWithParam<const char*> {};

TEST_P(Tables, AreTheLibrarys) {
  const std::string text = read(file_name(GetParam()));
  ASSERT_FALSE(text.empty());
  for (const std::string& report : reports(GetParam(), text)) ADD_FAILURE() << report;
}

INSTANTIATE_TEST_SUITE_P(Families, Tables, ::testing::Values("torchvision", "timm"),
                         [](const auto& test) { return std::string(test.param); });

TEST(TablesOfOthers, AComparisonThatIsWrongFails) {
  for (const Break& b :
       {Break{"torchvision", "8 - int(v)", "7 - int(v)"}, Break{"torchvision", "[1 + v for", "[1 - v for"},
        Break{"timm", "plus, f\"{name} at", "minus, f\"{name} at"},
        Break{"timm", "if p > 0]", "if p > 0.3]"}}) {
    std::string text = read(file_name(b.family));
    const size_t at = text.find(b.from);
    ASSERT_NE(at, std::string::npos) << b.from;
    text.replace(at, std::string(b.from).size(), b.to);
    const std::vector<std::string> said = reports(b.family, text);
    ASSERT_FALSE(said.empty()) << b.from;
    EXPECT_EQ(said[0].substr(0, 5), "G0227") << said[0];
  }
}

}  // namespace
}  // namespace galatea::testing
