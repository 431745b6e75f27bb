// The routes of policies: what they answer, what they write, and what they refuse to write.
#include "tools/serve/policy_panel.h"

#include <gtest/gtest.h>

#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace galatea::tools::serve {
namespace {

using Json = nlohmann::ordered_json;
using galatea::testing::read_file;

constexpr const char* kPolicy = R"({
  "format": "augment-policy",
  "version": 1,
  "bins": 11,
  "augmentations": {
    "rotate": {"range": [0, 30], "negate": true},
    "brightness": {"range": [0, 0.9], "param": "one_plus"},
    "equalize": {}
  },
  "policy": {"seq": [
    ["rotate", 0.6, 9],
    {"choose": 1, "from": ["equalize", {"apply": "brightness", "mag": {"bin": 3}}], "weights": [1, 3]},
    {"choose": 1, "from": "*", "each": {"mag": {"bin": 5}}}
  ]}
}
)";

std::string pipeline() {
  return "from galatea import fn, pipeline_def\n"
         "from galatea.auto_aug import policy\n\n\n"
         "@pipeline_def(batch_size=2, num_threads=1)\n"
         "def train():\n"
         "    encoded, label = fn.readers.file(file_root=\"" +
         testing::build_folder("/samples") +
         "\")\n"
         "    image = fn.resize(fn.decoders.image(encoded), size=[64, 64])\n"
         "    return policy.load(\"policy.json\")(image), label\n";
}

class PolicyPanelTest : public ::testing::Test {
 protected:
  PolicyPanelTest()
      : document_(scratch_.write("policy.json", kPolicy)),
        panel_(host_, scratch_.write("train.dali-dsl", pipeline()), {}) {}

  Json get(const std::string& path) { return answer({"GET", path, "", {}, {}}); }
  Json post(const std::string& path, const Json& body) {
    return answer({"POST", "/api/policy/" + path, body.dump(), {}, {}});
  }
  Json answer(const Request& request) {
    const auto response = panel_.handle(request);
    status_ = response ? response->status : 0;
    return response ? Json::parse(response->body, nullptr, false) : Json();
  }
  /// The text of the one document, as the list gives it.
  std::string listed() { return get("/api/policy")["documents"][0]["text"]; }

  const galatea::testing::ScratchFolder scratch_;
  const std::string document_;
  const PipelineHost host_;
  PolicyPanel panel_;
  int status_ = 0;
};

TEST_F(PolicyPanelTest, ListsTheDocumentsThatThePipelineLoads) {
  const Json json = get("/api/policy");
  ASSERT_EQ(json["documents"].size(), 1u) << json;
  EXPECT_TRUE(json["documents"][0]["name"].get<std::string>().ends_with("policy.json"));
  EXPECT_EQ(json["documents"][0]["text"].get<std::string>(), kPolicy);
  EXPECT_FALSE(panel_.handle({"GET", "/api/pipeline", "", {}, {}}).has_value()) << "which others answer";
}

TEST_F(PolicyPanelTest, WeightsOfAllChoicesAreSharesAndCanBeChanged) {
  const std::string text = listed();
  const Json seen = post("look", {{"document", 0}, {"text", text}});
  ASSERT_EQ(seen["choices"].size(), 2u) << seen;
  EXPECT_EQ(seen["choices"][0]["place"], "policy.seq[1]");
  EXPECT_DOUBLE_EQ(seen["choices"][0]["members"][1]["weight"].get<double>(), 0.75);
  EXPECT_EQ(seen["choices"][1]["members"].size(), 3u) << "`*` is every row of the table";
  for (const auto& [choice, weights] :
       {std::pair{0, std::vector<double>{4, 1}}, {1, std::vector<double>{0, 2, 6}}}) {
    const Json changed =
        post("weights", {{"document", 0}, {"text", text}, {"choice", choice}, {"weights", weights}});
    ASSERT_EQ(status_, 200) << changed;
    const Json again = post("look", {{"document", 0}, {"text", changed["text"]}});
    EXPECT_DOUBLE_EQ(again["choices"][choice]["members"].back()["weight"].get<double>(),
                     choice == 0 ? 0.2 : 0.75);
  }
  EXPECT_EQ(read_file(document_), kPolicy) << "nothing is written";
}

TEST_F(PolicyPanelTest, RefusesWeightsThatAreNone) {
  const std::string text = listed();
  for (const Json& weights : {Json{0, 0}, Json{-1, 2}, Json{1, 2, 3}, Json::array()}) {
    post("weights", {{"document", 0}, {"text", text}, {"choice", 0}, {"weights", weights}});
    EXPECT_EQ(status_, 422) << weights;
  }
  post("weights", {{"document", 0}, {"text", text}, {"choice", 9}, {"weights", {1, 2}}});
  EXPECT_EQ(status_, 422);
}

TEST_F(PolicyPanelTest, SavesATextThatIsRightOverTheOneThatWasSeen) {
  const std::string text = listed();
  std::string other = text;
  other.replace(other.find("0.6"), 3, "0.2");
  post("save", {{"document", 0}, {"text", "{}"}, {"was", text}});
  EXPECT_EQ(status_, 422);
  post("save", {{"document", 0}, {"text", other}, {"was", other}});
  EXPECT_EQ(status_, 409);
  EXPECT_EQ(read_file(document_), kPolicy);
  post("save", {{"document", 0}, {"text", other}, {"was", text}});
  EXPECT_EQ(status_, 200);
  EXPECT_EQ(read_file(document_), other);
}

TEST_F(PolicyPanelTest, AnswersRequestsThatAreNone) {
  listed();
  EXPECT_EQ(post("look", {{"document", 7}, {"text", ""}})["ok"], false);
  EXPECT_EQ(status_, 400);
  for (const Json& body : {Json(), Json::array(), Json::object(), Json{{"document", "../x"}, {"text", ""}},
                           Json{{"document", 0}, {"text", 3}}}) {
    for (const char* path : {"look", "weights", "grid", "save"}) {
      post(path, body);
      EXPECT_EQ(status_, 400) << path << " " << body;
    }
  }
  get("/api/policy/picture");
  EXPECT_EQ(status_, 400);
  post("rm", Json{{"document", 0}, {"text", ""}});
  EXPECT_EQ(status_, 404);
}

TEST_F(PolicyPanelTest, TheGridHasPicturesOfEveryMagnitudeAndWhatTheyTake) {
  const std::string text = listed();
  const Json grid = post("grid", {{"document", 0}, {"text", text}, {"sample", 1}});
  ASSERT_EQ(status_, 200) << grid;
  ASSERT_EQ(grid["rows"].size(), 3u);
  EXPECT_EQ(grid["rows"][0]["labels"].size(), 5u);
  EXPECT_EQ(grid["rows"][2]["labels"].size(), 1u) << "without magnitudes";
  EXPECT_GT(grid["microseconds"].get<double>(), 0);
  const auto picture = [&](const char* row, const char* column) {
    Request request{"GET", "/api/policy/picture", "", {}, {}};
    for (const auto& [name, value] : {std::pair{"grid", "1"}, {"row", row}, {"column", column}})
      request.query.emplace(name, value);
    const auto response = panel_.handle(request);
    return response->status == 200 ? response->body : std::to_string(response->status);
  };
  EXPECT_TRUE(picture("0", "4").starts_with("\x89PNG"));
  EXPECT_NE(picture("0", "4"), picture("0", "0")) << "a stronger magnitude";
  EXPECT_NE(picture("0", "4"), picture("-1", "0"));
  EXPECT_EQ(picture("3", "0"), "404");
  EXPECT_EQ(picture("0", "5"), "404");
}

}  // namespace
}  // namespace galatea::tools::serve
