// The pages of operators, as `galatea ops --pages` writes them: one for each, whose examples check, whose
// links lead somewhere, and whose pictures can be drawn.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/json.h"
#include "tests/docs/markdown.h"
#include "tests/support/build_folder.h"
#include "tests/support/own_folder.h"
#include "tests/tools/program.h"

namespace galatea::docs {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;

class OperatorPages : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = galatea::testing::make_own_folder("galatea_ops");
    const Outcome made = galatea({"ops", "--pages", (folder_ / "ops").string()});
    ASSERT_EQ(made.status, 0) << made.err;
    const Outcome listed = galatea({"ops", "--json"});
    ASSERT_EQ(listed.status, 0) << listed.err;
    operators_ = parse_json(listed.out).at("operators");
    ASSERT_GE(operators_.size(), 80U);
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  static Outcome galatea(std::vector<std::string> arguments) {
    return testing::run_galatea(std::move(arguments), folder_);
  }
  static std::string page(const std::string& name) {
    return testing::read_file(folder_ / "ops" / (name + ".md"));
  }

  static inline fs::path folder_;
  static inline nlohmann::json operators_;
};

TEST_F(OperatorPages, EachHasOneThatSaysWhatTheRegistryKnows) {
  const std::string index = testing::read_file(folder_ / "ops/README.md");
  for (const auto& op : operators_) {
    const std::string name = op.at("name");
    const std::string text = page(name);
    EXPECT_TRUE(text.starts_with("# fn." + name + "\n")) << name;
    EXPECT_TRUE(index.contains("[fn." + name + "](" + name + ".md)")) << name << " is not in the index";
    EXPECT_TRUE(text.contains(op.at("summary").get<std::string>())) << name;
    for (const auto& [argument, facts] : op.at("args").items())
      EXPECT_TRUE(text.contains("| `" + argument + "` | ")) << name << ", " << argument;
  }
  // What a sample can do wrong stands there as the definition says it.
  EXPECT_TRUE(page("rotate").contains("the angle … is no angle in degrees")) << page("rotate");
  EXPECT_TRUE(page("clahe").contains("| input | HWC, CHW or HW | UINT8 | ")) << page("clahe");
  EXPECT_TRUE(page("noise.gaussian").contains("| `seed` | int | default -1 |")) << page("noise.gaussian");
}

TEST_F(OperatorPages, ExamplesAndEffectsCheck) {
  fs::create_directories(folder_ / "examples");
  size_t examples = 0;
  for (const auto& op : operators_) {
    const std::string name = op.at("name");
    const std::vector<Block> all = blocks(folder_ / "ops" / (name + ".md"));
    if (all.empty()) continue;
    ++examples;
    std::ofstream(folder_ / "examples" / (name + ".dali-dsl")) << all.front().text;
  }
  EXPECT_GE(examples, 80U);
  for (const char* folder : {"examples", "ops"}) {
    const Outcome checked = galatea({"check", (folder_ / folder).string()});
    EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  }
}

TEST_F(OperatorPages, LinksLeadSomewhere) {
  size_t pictures = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "ops")) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = testing::read_file(entry.path());
    for (size_t at = 0; (at = text.find("](", at)) != std::string::npos; ++at) {
      fs::path target = text.substr(at + 2, text.find(')', at) - at - 2);
      // `./dev docs` draws a picture by the pipeline beside it.
      if (target.extension() == ".png") {
        ++pictures;
        target.replace_extension(".dali-dsl");
      }
      EXPECT_TRUE(fs::exists(folder_ / "ops" / target)) << entry.path() << ": no " << target;
    }
  }
  EXPECT_GE(pictures, 24U);
}

TEST_F(OperatorPages, AnEffectCanBeDrawn) {
  const fs::path draw = fs::path(testing::build_folder()) / "bin/galatea-samples";
  const std::string command = "'" + draw.string() + "' '" + (folder_ / "samples").string() + "' > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const fs::path picture = folder_ / "flip.png";
  const Outcome drawn = galatea({"view", (folder_ / "ops/flip.dali-dsl").string(), "-o", picture.string(),
                                 "--samples", "1", "--set", "data=" + (folder_ / "samples").string()});
  ASSERT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_GT(fs::file_size(picture), 10'000U);
}

}  // namespace
}  // namespace galatea::docs
